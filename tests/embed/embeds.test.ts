// Embeds in Chromium; tests/engines has the other two.
import { openChromium } from './support/chromium.ts';
import { testEmbeds } from './support/embeds.ts';

testEmbeds(openChromium);
