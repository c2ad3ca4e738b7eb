// Attributes that mirror a figure's state, groups, and what a page's script can call, on pages where nothing
// is computed at all.
import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { openPage, painted, scriptOf } from './support/module.ts';

const script = scriptOf('mirror');
const figure = (attributes: string) =>
  `<superpose-figure ${attributes}><img alt="" src="data:,"></superpose-figure>`;

async function mirrored(body: string, head = '', messages: string[] = []): Promise<Page> {
  const page = await openPage(body, head);
  page.on('console', (message) => messages.push(message.text()));
  await page.addScriptTag({ content: await script });
  await page.evaluate(
    'embed.defineMirrored(); window.all = [...document.querySelectorAll("superpose-figure")]',
  );
  // The figures' code is bundled, but is still loaded asynchronously.
  await page.evaluate('Promise.all(all.map((one) => one.loaded()))');
  await painted(page);
  return page;
}
/** A figure's attributes, and some of the settings in its state. */
const shown = (page: Page, place = 0) =>
  page.evaluate(
    `(({ attributes, state: { n, d, scale } }) => ({
      attributes: Object.fromEntries([...attributes].map(({ name, value }) => [name, value])), n, d, scale }))(all[${place}])`,
  ) as Promise<{ attributes: Record<string, string>; n: number; d: number; scale: number }>;
const doing = async (page: Page, code: string) => {
  const text = await page.evaluate(code);
  await painted(page);
  return text;
};

test('whenLive() is over with the first result, and at once where there is one', async () => {
  const page = await mirrored(figure('name="dot-products"'));
  await doing(page, 'window.told = []; window.wait = () => all[0].whenLive().then(() => told.push("live"))');
  expect(await doing(page, 'wait(), told')).toEqual([]);
  expect(await doing(page, 'all[0].dispatchEvent(new Event("superpose-drawn")), told')).toEqual([]);
  expect(await doing(page, 'told')).toEqual(['live']);
  await doing(page, 'Object.defineProperty(all[0], "result", { value: {} }); wait(); 0');
  expect(await doing(page, 'told')).toEqual(['live', 'live']);
});

describe('attributes', () => {
  test('set the state whenever one changes; removing one restores the initial value', async () => {
    const page = await mirrored(figure('name="dot-products" n="5"'));
    const { d, scale } = await shown(page);
    expect(await shown(page)).toMatchObject({ n: 5 });
    await doing(page, "all[0].setAttribute('d', '64')");
    expect(await shown(page)).toMatchObject({ n: 5, d: 64, scale });
    await doing(page, "all[0].removeAttribute('n'); all[0].classList.add('busy')");
    const { n } = await shown(page);
    expect(n).not.toBe(5);
    await doing(page, "all[0].removeAttribute('d')");
    expect(await shown(page)).toEqual({ attributes: { name: 'dot-products', class: 'busy' }, n, d, scale });
  });

  test('show what the script has set, leaving out initial values unless they were there before', async () => {
    const page = await mirrored(figure('name="dot-products"'));
    const initial = await shown(page);
    await doing(page, 'all[0].set({ n: 9 })');
    expect(await shown(page)).toEqual({ ...initial, attributes: { name: 'dot-products', n: '9' }, n: 9 });
    await doing(page, `all[0].set({ n: ${initial.n}, d: 128 })`);
    expect((await shown(page)).attributes).toEqual({ name: 'dot-products', n: String(initial.n), d: '128' });
  });

  test('that change in quick succession, or together with the script, all take effect', async () => {
    const page = await mirrored(figure('name="dot-products" n="5"'));
    await doing(page, 'Promise.all([all[0].set({ d: 16 }), all[0].set({ scale: 2 })])');
    expect(await shown(page)).toMatchObject({
      n: 5,
      d: 16,
      scale: 2,
      attributes: { n: '5', d: '16', scale: '2' },
    });
    await doing(page, "all[0].setAttribute('n', '7'); all[0].set({ scale: 0.5 })");
    expect(await shown(page)).toMatchObject({ n: 7, d: 16, scale: 0.5 });
    await doing(
      page,
      `(async () => { for (const [name, text] of [['n', '9'], ['d', '128'], ['scale', '1']]) {
        all[0].setAttribute(name, text);
        await undefined;
      } })()`,
    );
    expect(await shown(page)).toMatchObject({ n: 9, d: 128, scale: 1 });
    // A refused setting does not hold up the next one.
    await doing(page, 'Promise.allSettled([all[0].set({ d: 65 }), all[0].set({ n: 3 })])');
    expect(await shown(page)).toMatchObject({ n: 3, d: 128 });
  });
});

describe('attributes that no figure reads', () => {
  test('nor a setting that keep does not find, nor a value that cannot be used: they are named, too', async () => {
    const messages: string[] = [];
    const page = await mirrored(figure('name="dot-products" keep="n scael" scale="99" n="5"'), '', messages);
    expect(await shown(page)).toMatchObject({ n: 5, scale: 1 });
    expect([...messages].sort()).toEqual([
      expect.stringMatching(
        /^Superpose, figure dot-products: Unknown setting `keep\.scael`\. .*Did you mean `scale`\?$/,
      ),
      expect.stringMatching(
        /^Superpose, figure dot-products: “99” is not a value of .* Its first value is used instead\.$/,
      ),
    ]);
  });

  test('are named in the console, each once, with those that exist and the nearest', async () => {
    const messages: string[] = [];
    const page = await mirrored(
      figure('name="dot-products" postions="random" n="5"') +
        figure('name="dot-products" postions="random"') +
        figure('name="gram" postions="8"'),
      '',
      messages,
    );
    expect([...messages].sort()).toEqual([
      expect.stringMatching(
        /^Superpose, figure dot-products: Unknown attribute `postions`\. Attributes: name, theme, keep, group, .*\bpositions\b.*\. Did you mean `positions`\?$/,
      ),
      expect.stringMatching(/^Superpose, figure gram: Unknown attribute `postions`\./),
    ]);
    await doing(page, "all[0].setAttribute('seeed', '1'); all[0].setAttribute('postions', 'x')");
    await doing(page, "all[0].setAttribute('seeed', '2')");
    expect(messages.slice(2)).toEqual([expect.stringContaining('Did you mean `seed`?')]);
  });

  test('but for those that any element may have, and those of frameworks', async () => {
    const others =
      'id="a" class="b" style="color:red" lang="en" dir="ltr" title="t" hidden slot="s" part="p" tabindex="0" role="group" translate="no" inert itemprop="x" is="y" exportparts="z" contenteditable spellcheck="false" nonce="n" data-any="1" aria-label="l" onclick="" v-if="x" :n="5" @change="y" x-data="{}" _ngcontent-abc="" astro-cid-abc="" client:load="" typeof="ImageObject"';
    const messages: string[] = [];
    await mirrored(
      figure(`name="dot-products" ${others} theme="dark" keep="n" group="g" n="5"`),
      '',
      messages,
    );
    expect(messages).toEqual([]);
  });
});

describe('a reset', () => {
  /** Changes settings as the reader does. */
  const reader = (page: Page, settings: Record<string, unknown>) =>
    doing(
      page,
      `for (const [name, value] of Object.entries(${JSON.stringify(settings)})) all[0].request.change(name, value, true); 0`,
    );
  const reset = (page: Page) => doing(page, 'all[0].request.reset()');

  test('goes back to what the author gave, also in settings that the reader does not see', async () => {
    const page = await mirrored(figure('name="dot-products" n="5" scale="2" keep="n d"'));
    const { d } = await shown(page);
    await reader(page, { n: 9, d: 128, scale: 0.5 });
    expect(await shown(page)).toMatchObject({ n: 9, d: 128, scale: 0.5 });
    await reset(page);
    expect(await shown(page)).toMatchObject({
      n: 5,
      d,
      scale: 2,
      attributes: { n: '5', scale: '2', keep: 'n d' },
    });
  });

  test('goes back to what the author has given since, and not to what the reader has set', async () => {
    const page = await mirrored(figure('name="dot-products" n="5"'));
    const { d } = await shown(page);
    await reader(page, { d: 128 });
    await doing(page, "all[0].setAttribute('n', '7')");
    await reader(page, { n: 9 });
    await reset(page);
    expect(await shown(page)).toMatchObject({ n: 7, d });
    await doing(page, "all[0].setAttribute('n', 'many')");
    await reader(page, { n: 8 });
    await reset(page);
    expect(await shown(page)).toMatchObject({ n: 7, d });
  });

  test('is offered while it would change anything, and no longer once the page has set the same', async () => {
    const page = await mirrored(figure('name="dot-products" n="5"'));
    const offered = () => page.evaluate('all[0].request.isEdited');
    expect(await offered()).toBe(false);
    await reader(page, { n: 9 });
    expect(await offered()).toBe(true);
    await doing(page, 'window.updates = 0; all[0].addController({ hostUpdated: () => updates++ }), 0');
    await doing(page, "all[0].setAttribute('n', '9')");
    expect(await offered()).toBe(false);
    expect(await page.evaluate('updates')).toBe(1);
    await reader(page, { n: 8 });
    await reset(page);
    expect(await offered()).toBe(false);
    expect((await shown(page)).n).toBe(9);
  });

  test('of another figure goes back to what that was given', async () => {
    const page = await mirrored(figure('name="gram" n="9"'));
    await doing(page, "all[0].name = 'dot-products'; all[0].loaded()");
    const initial = (await shown(page)).n;
    await reader(page, { n: 3 });
    await reset(page);
    expect((await shown(page)).n).toBe(initial);
  });
});

test.each(['__proto__', 'constructor'])('name="%s" is refused', async (name) => {
  const page = await mirrored(figure(`name="${name}"`));
  const text = await page.evaluate('all[0].shadowRoot.querySelector(".problem")?.textContent ?? ""');
  expect(text).toContain(`Unknown figure \`${name}\`. Figures: `);
});

test('members that a script sets to anything are said in our words, and the next are taken', async () => {
  const page = await mirrored(figure('name="dot-products"'));
  const readText = () => page.evaluate('all[0].shadowRoot.querySelector(".problem")?.textContent ?? ""');
  for (const no of ['null', '5', '{}', '"x"', 'NaN']) {
    for (const member of ['keep', 'group', 'theme']) await doing(page, `all[0].${member} = ${no}`);
    if (no !== 'null')
      expect(await readText()).toMatch(/^“.+” is not a theme; there are light, dark and auto\.$/);
    await doing(page, `all[0].theme = ''; all[0].name = ${no}; all[0].loaded()`);
    expect(await readText()).toMatch(/^Unknown figure `.*`\. Figures: /);
    await doing(page, 'all[0].name = "dot-products"; all[0].set({ n: 6 })');
    expect(await shown(page)).toMatchObject({ n: 6 });
  }
});

test('drawing an older state does not reset an attribute that has just been set', async () => {
  const page = await mirrored(figure('name="dot-products" n="5"'));
  const text = await doing(
    page,
    `(async () => {
      await all[0].set({ n: 9 });
      await all[0].updateComplete;
      all[0].requestUpdate();
      all[0].setAttribute('n', '7');
      await all[0].updateComplete;
      return all[0].getAttribute('n');
    })()`,
  );
  expect(text).toBe('7');
  expect(await shown(page)).toMatchObject({ n: 7, attributes: { n: '7' } });
});

describe('a page’s script', () => {
  test('sets what it names, in texts or in their own kind, and is told what cannot be', async () => {
    const page = await mirrored(figure('name="dot-products" n="6"') + figure('name="nonesuch"'));
    await doing(page, "all[0].set({ n: '8', scale: 0.5 })");
    expect(await shown(page)).toMatchObject({ n: 8, scale: 0.5 });
    const refused = (code: string) =>
      page.evaluate(`${code}.catch((error) => error.name + ': ' + error.message)`);
    expect(await refused('all[0].set({ d: 65, n: 3, m: 1 })')).toMatch(
      /^TypeError: “65” is not a value of .*Unknown setting `m`\. Settings: \w.* Nothing has changed\.$/,
    );
    expect((await shown(page)).n).toBe(8);
    for (const no of ['null', '5', '"x"', 'NaN', 'undefined'])
      expect(await refused(`all[0].set(${no})`)).toBe(
        'TypeError: set() takes an object of settings. Nothing has changed.',
      );
    for (const no of ['null', '{}', 'NaN', '[1]'])
      expect(await refused(`all[0].set({ n: ${no} })`)).toMatch(
        /^TypeError: “.*” is not a value of .*Nothing/,
      );
    expect(await refused('all[1].set({ n: 3 })')).toBe('TypeError: There is no figure called “nonesuch”.');
  });

  test('hears of what the reader changes, from anywhere above', async () => {
    const page = await mirrored(`<main>${figure('name="dot-products"')}</main>`);
    const heard = await doing(
      page,
      `(() => { const heard = [];
        document.querySelector('main').addEventListener('change', ({ detail, target }) => heard.push([detail, target === all[0]]));
        all[0].dispatchEvent(new CustomEvent('superpose-change', { detail: 'what' }));
        return heard; })()`,
    );
    expect(heard).toEqual([['what', true]]);
  });
});

describe('a group', () => {
  /** Does what the reader does: changes the state, and has the figure announce it. */
  const changed = (page: Page, place: number, settings: [string, string][]) =>
    doing(
      page,
      `(async () => {
        const one = all[${place}];
        const now = new Map(Object.entries(one.state).map(([name, value]) => [
          name,
          typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value),
        ]));
        for (const [name, text] of ${JSON.stringify(settings)}) now.set(name, text);
        await one.show([...now]);
        one.dispatchEvent(new CustomEvent('superpose-change', { detail: {} }));
        await new Promise((later) => setTimeout(later, 20));
      })()`,
    );

  test('shares what is changed with those that are in it, and not what differs', async () => {
    const page = await mirrored(
      [
        'name="dot-products" group="a" d="16"',
        'name="dot-products" group="a" d="64"',
        'name="dot-products" group="b"',
        'name="dot-products"',
      ]
        .map(figure)
        .join(''),
    );
    const other = (await shown(page, 2)).n;
    await changed(page, 0, [['n', '9']]);
    const ns = async () => Promise.all([0, 1, 2, 3].map(async (place) => (await shown(page, place)).n));
    expect(await ns()).toEqual([9, 9, other, other]);
    expect((await shown(page, 1)).d).toBe(64);
    expect((await shown(page, 1)).attributes.n).toBe('9');
    await changed(page, 1, [['n', '11']]);
    expect(await ns()).toEqual([11, 11, other, other]);
    await changed(page, 3, [['n', '5']]);
    expect(await ns()).toEqual([11, 11, other, 5]);
    // A removed figure hears nothing, and hears again when it is back.
    await doing(page, 'all[1].remove()');
    await changed(page, 0, [['n', '6']]);
    expect(await ns()).toEqual([6, 11, other, 5]);
    await doing(page, 'document.body.append(all[1])');
    await changed(page, 0, [['n', '7']]);
    expect(await ns()).toEqual([7, 7, other, 5]);
  });

  test('shares with another figure what that has and can take', async () => {
    const page = await mirrored(
      figure('name="dot-products" group="a"') + figure('name="encoding" group="a"'),
    );
    const before = await shown(page, 1);
    await changed(page, 0, [
      ['d', '128'],
      ['scale', '0.5'],
    ]);
    expect((await shown(page, 1)).d).toBe(128);
    expect((await shown(page, 1)).scale).toBe(before.scale);
  });
});

describe('the theme around', () => {
  const schemes = (page: Page) =>
    page.evaluate(
      'all.map((one) => [one.surroundings.pageTheme, one.querySelector("img").style.colorScheme])',
    );

  test('is the figure’s and its picture’s, and is followed for as long as it is in the page', async () => {
    const page = await mirrored(
      figure('name="gram"') + figure('name="gram" theme="light"'),
      '<style>body { background: #fff } .dark body { background: #111 }</style>',
    );
    expect(await schemes(page)).toEqual([
      ['light', 'light'],
      ['light', 'light'],
    ]);
    await doing(page, "document.documentElement.className = 'dark'");
    expect(await schemes(page)).toEqual([
      ['dark', 'dark'],
      ['dark', 'light'],
    ]);
    await doing(page, "all[0].remove(); document.documentElement.className = ''");
    expect(await schemes(page)).toEqual([
      ['dark', 'dark'],
      ['light', 'light'],
    ]);
    await doing(page, 'document.body.append(all[0])');
    expect(await schemes(page)).toEqual([
      ['light', 'light'],
      ['light', 'light'],
    ]);
  });
});
