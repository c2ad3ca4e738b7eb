// Embeds in Chromium; tests/engines covers Firefox and WebKit.
import { openChromium } from '../engines/chromium.ts';
import { testEmbeds } from './support/embeds.ts';

testEmbeds(openChromium);
