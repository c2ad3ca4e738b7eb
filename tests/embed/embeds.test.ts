// Embeds in Chromium; tests/engines covers Firefox and WebKit.
import { openChromium } from './support/chromium.ts';
import { testEmbeds } from './support/embeds.ts';

testEmbeds(openChromium);
