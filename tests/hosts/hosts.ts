// Every host that `npm run hosts` tries.
import { astro } from './astro/host.ts';
import { frame, html } from './html/host.ts';
import { react } from './react/host.ts';
import type { Host } from './support/host.ts';

export const hosts: Readonly<Record<string, Host>> = { html, frame, react, astro };
