// Chromium as everything here starts it: the tests, the bench and what is measured by hand.
import { which } from './steps.mjs';

/** The whole browser, Debian's or another on PATH; nothing is downloaded. */
export const wholeChromium = which('chromium');

/** The same engine without windows, where it is there. */
export const chromiumPath = which('chromium-headless-shell') ?? wholeChromium;

/** For Playwright. Without a program it fails, and says where it looked. */
export const chromiumOptions = {
  executablePath: chromiumPath ?? '/usr/bin/chromium',
  args: [
    // Chromium refuses to run as root with it.
    '--no-sandbox',
    '--disable-gpu',
    // No request of the browser's own.
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};
