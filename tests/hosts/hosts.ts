// Every host that `npm run hosts` tries, by the name of its folder.
import { astro } from './astro/host.ts';
import { feed } from './feed/host.ts';
import { ghost } from './ghost/host.ts';
import { html } from './html/host.ts';
import { hugo } from './hugo/host.ts';
import { jekyll } from './jekyll/host.ts';
import { jupyter } from './jupyter/host.ts';
import { mkdocs } from './mkdocs/host.ts';
import { oembed } from './oembed/host.ts';
import { react } from './react/host.ts';
import { reveal } from './reveal/host.ts';
import type { Host } from './support/host.ts';
import { svelte } from './svelte/host.ts';
import { vitepress } from './vitepress/host.ts';
import { vue } from './vue/host.ts';
import { wordpress } from './wordpress/host.ts';

export const hosts: Readonly<Record<string, Host>> = {
  html,
  jekyll,
  hugo,
  mkdocs,
  vitepress,
  astro,
  reveal,
  jupyter,
  ghost,
  react,
  vue,
  svelte,
  wordpress,
  feed,
  oembed,
};
