// Says how Chromium is started, for tests, the bench and measurements by hand alike.
import { which } from './steps.mjs';

/** The path of the full browser, Debian's or another on PATH; nothing is downloaded. */
export const fullChromium = which('chromium');

/** The path of the same engine without windows where that is installed, otherwise of the full browser. */
export const chromiumPath = which('chromium-headless-shell') ?? fullChromium;

/** Options for Playwright. If no program is at this path, it fails and says where it looked. */
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
