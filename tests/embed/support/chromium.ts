// Chromium, closed when the tests of a file are over.
import { afterAll } from 'vitest';
import { chromium, closeChromium } from '../../engines/chromium.ts';

afterAll(closeChromium);

export const openChromium = chromium;
