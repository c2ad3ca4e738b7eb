// Chromium, closed after the tests of a file.
import { afterAll } from 'vitest';
import { chromium, closeChromium } from '../../engines/chromium.ts';

afterAll(closeChromium);

export const openChromium = chromium;
