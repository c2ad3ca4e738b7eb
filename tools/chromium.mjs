// Starts Chromium, in the same way for tests, bench and measurements by hand.
import { which } from './steps.mjs';

/** The full browser, Debian's or another on PATH; nothing is downloaded. */
export const wholeChromium = which('chromium');

/** The same engine without windows, where it is installed. */
export const chromiumPath = which('chromium-headless-shell') ?? wholeChromium;

/** Options for Playwright. Without a program at this path it fails, and says where it looked. */
export const chromiumOptions = {
  executablePath: chromiumPath ?? '/usr/bin/chromium',
  args: [
    // Chromium refuses to run as root without this.
    '--no-sandbox',
    '--disable-gpu',
    // Stop the browser's own requests.
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};
