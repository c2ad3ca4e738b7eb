// Lists that must agree: platforms and hosts, snippets and documents, schemes and what the page says about
// them.
import { readFileSync } from 'node:fs';
import { load } from 'add-or-concatenate';
import { beforeAll, describe, expect, test } from 'vitest';
import { pageFolders, sourceOf } from '../../web/build/places.ts';
import { pictureWidths } from '../../web/element/exports.ts';
import * as schemes from '../../web/figures/schemes.ts';
import { platforms } from '../../web/page/platforms.ts';
import { iframe, scriptTag } from '../../web/page/snippets.ts';
import { wishOf } from '../embed/support/figures.ts';
import { run } from '../figures/support.ts';
import { hosts } from '../hosts/hosts.ts';

// What the Embed dialog offers to paste, and what `npm run hosts` builds sites with.
describe('platforms', () => {
  test('each platform of the Embed dialog has a host that uses its texts, except the file, which is its own', () => {
    const used = new Set(Object.values(hosts).flatMap(({ ways }) => ways));
    expect([...used, 'file'].sort()).toEqual(Object.keys(platforms).sort());
  });
});

// README.md and docs/hosts.md have what the dialog makes of a figure's first view, and their links lead
// somewhere.
describe('the documents', () => {
  const documents = ['README.md', 'docs/hosts.md'] as const;
  const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
  const blocksOf = (text: string) =>
    [...text.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, block]) => block);

  test.each(documents)('%s has snippets as the code makes them', async (name) => {
    const request = await wishOf('dot-products', {}, 'https://example.org/superpose/');
    const texts = Object.values(platforms).flatMap(({ pieces }) =>
      pieces(request).flatMap(({ into, text }) => (into === 'a .bib file' ? [] : [text])),
    );
    const blocks = blocksOf(read(name));
    const expected = name === 'README.md' ? [scriptTag(request), iframe(request)] : texts;
    for (const text of expected) expect(blocks).toContain(text);
    // No other snippet is written by hand beside them.
    const others = blocks.filter((block) => !texts.includes(block ?? ''));
    expect(others.filter((block) => /<iframe|pictures\/|style="/.test(block ?? ''))).toEqual([]);
  });

  test('docs/hosts.md calls each way what the dialog calls it', () => {
    const [, table = ''] =
      read('docs/hosts.md').match(/^\| in the dialog .*\n\| ---.*\n((?:\|.*\n)+)/m) ?? [];
    const named = [...table.matchAll(/^\| \*(.*?)\* \|/gm)].map(([, name]) => name);
    expect(named).toEqual(Object.values(platforms).map(({ label }) => label));
  });

  test('docs/hosts.md says how wide a picture of the site is', () => {
    expect(read('docs/hosts.md')).toContain(`${pictureWidths.wide} pixels, if it is one of the site's`);
  });

  test('a rule for a style sheet says what the snippet’s style says', async () => {
    const request = await wishOf('dot-products', {}, 'https://example.org/superpose/');
    const [rule = ''] = blocksOf(read('docs/hosts.md')).filter((block) =>
      block?.startsWith('superpose-figure {\n  display'),
    );
    const [, style = ''] = scriptTag(request).match(/ style="([^"]*)"/) ?? [];
    const [, inside = ''] = rule.match(/^superpose-figure \{([^}]*)\}/) ?? [];
    expect(inside.replace(/\s*([:;])\s*/g, '$1').trim()).toBe(`${style};`);
  });

  test('each link to a place in docs/hosts.md has its heading', () => {
    const headings = [...read('docs/hosts.md').matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
      text
        .toLowerCase()
        .replace(/[^a-z0-9 -]/g, '')
        .replace(/ /g, '-'),
    );
    const links = [
      ...read('README.md').matchAll(/docs\/hosts\.md#([^)]*)\)/g),
      ...read('docs/hosts.md').matchAll(/\]\(#([^)]*)\)/g),
    ].map(([, to]) => to);
    expect(links.length).toBeGreaterThan(20);
    for (const link of links) expect(headings).toContain(link);
  });
});

// What the page says about all schemes: the table of formulas, and how many depend on the offset alone.
describe('schemes', () => {
  const html = pageFolders.map(sourceOf).join('');
  const page = html.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');
  const expectOnPage = (sentence: string) => expect(page).toContain(sentence);

  let superpose: Awaited<ReturnType<typeof load>>;
  beforeAll(async () => {
    superpose = await load();
  });

  test('how many schemes depend on the offset alone', async () => {
    expectOnPage(
      'More than half of them give scores that depend on the offset between two positions and on nothing else. All do so by construction but one.',
    );
    for (const seed of [1, 2, 3]) {
      const { data } = await run(schemes, { seed });
      const depends = Object.entries(data.schemes as Record<string, { logits: { depends: string } }>);
      const ofOffset = depends.filter(([, { logits }]) => logits.depends === 'offset');
      expect(ofOffset.length).toBeGreaterThan(depends.length / 2);
      const of = Object.fromEntries(depends.map(([id, { logits }]) => [id, logits.depends]));
      expect(of['concat-raw']).toBe('offset');
      for (const id of ['add', 'concat-full', 'concat-block-diagonal']) expect(of[id]).toBe('places');
    }
  });

  test('the table of formulas is the registry', () => {
    const row =
      /<tr><th scope="row">(.*?)<small>(.*?)<\/small><\/th><td><tex>(.*?)<\/tex><\/td><td><tex>(.*?)<\/tex><\/td><\/tr>/g;
    const rows = [...html.matchAll(row)].map(([, name, source, formula, parameters]) => ({
      name,
      formula,
      parameters,
      source: source?.replace(/<[^>]*>/g, ''),
    }));
    expect(rows).toEqual(
      superpose.schemeRegistry().map(({ name, formula, bidirectionalFormula, parameters, source }) => ({
        name,
        formula: bidirectionalFormula || formula,
        parameters,
        source,
      })),
    );
  });
});
