// The page without a network, in Chromium; tests/engines has the other engines.
import { openChromium } from '../engines/chromium.ts';
import { testOffline } from './support/offline.ts';

testOffline(openChromium);
