// Pages with MooTools or Prototype.js, which replace functions of the language by their own. The replacements
// are imitated here, from the libraries' documentation.
import { describe, expect, inject, test } from 'vitest';
import { openChromium } from '../engines/chromium.ts';
import { figure, inPage, openBlog, page, patience, script, settled } from './support/embeds.ts';
import { findingOf, readFigures } from './support/figures.ts';

/**
 * MooTools 1.2 to 1.5: Array.from makes arrays of array-likes and wraps everything else, and prototypes have
 * enumerable members.
 */
function likeMooTools() {
  const all = window as unknown as Record<string, unknown>;
  const isEnumerable = (item: unknown) =>
    item != null && typeof (item as ArrayLike<unknown>).length === 'number' && typeof item !== 'function';
  const from = (item: unknown) =>
    item == null
      ? []
      : isEnumerable(item) && typeof item !== 'string'
        ? Array.isArray(item)
          ? item
          : Array.prototype.slice.call(item)
        : [item];
  Object.assign(Array, { from, each: (list: unknown[], fn: () => void) => list.forEach(fn) });
  Object.assign(String, { from: (item: unknown) => `${item}` });
  Object.assign(Function, { from: (item: unknown) => (typeof item === 'function' ? item : () => item) });
  Object.assign(Object, {
    append: Object.assign,
    values: (of: Record<string, unknown>) => Object.keys(of).map((key) => of[key]),
    map: (of: Record<string, unknown>, fn: (item: unknown) => unknown) =>
      Object.fromEntries(Object.entries(of).map(([key, item]) => [key, fn(item)])),
    each: (of: Record<string, unknown>, fn: (item: unknown) => void) => Object.values(of).forEach(fn),
  });
  Object.assign(Array.prototype, {
    each(this: unknown[], fn: (item: unknown) => void) {
      this.forEach(fn);
    },
    clone(this: unknown[]) {
      return this.slice();
    },
    contains(this: unknown[], item: unknown) {
      return this.indexOf(item) >= 0;
    },
    include(this: unknown[], item: unknown) {
      if (this.indexOf(item) < 0) this.push(item);
      return this;
    },
    erase(this: unknown[], item: unknown) {
      const at = this.indexOf(item);
      if (at >= 0) this.splice(at, 1);
      return this;
    },
    empty(this: unknown[]) {
      this.length = 0;
      return this;
    },
  });
  Object.assign(Function.prototype, { extend() {}, implement() {}, pass() {}, delay() {}, periodical() {} });
  Object.assign(String.prototype, { contains() {}, clean() {}, camelCase() {}, toInt() {} });
  Object.assign(Number.prototype, { limit() {}, round() {}, times() {} });
  const native = window.Element;
  all.Element = Object.assign((tag: string) => document.createElement(tag), { prototype: native.prototype });
  Object.assign(native.prototype, {
    set(this: Element, name: string, to: string) {
      this.setAttribute(name, to);
      return this;
    },
    get(this: Element, name: string) {
      return this.getAttribute(name);
    },
    dispose(this: Element) {
      return this.parentNode ? this.parentNode.removeChild(this) : this;
    },
    erase(this: Element, name: string) {
      this.removeAttribute(name);
      return this;
    },
    clone() {},
    grab() {},
    inject() {},
    addEvent() {},
  });
  // MooTools 1.2 has its own Event, which wraps one of the browser's.
  all.Event = function (this: { event: unknown }, event: unknown) {
    this.event = event;
  };
}

/**
 * Prototype.js 1.6 and 1.7: $A in place of Array.from, Enumerable in arrays, and a toJSON that makes arrays
 * texts.
 */
function likePrototype() {
  const all = window as unknown as Record<string, unknown>;
  const stop = {};
  const listOf = (from: unknown): unknown[] => {
    if (!from) return [];
    const { toArray } = Object(from);
    if (toArray) return toArray.call(from);
    let at = (from as ArrayLike<unknown>).length || 0;
    const list = new Array(at);
    while (at--) list[at] = (from as ArrayLike<unknown>)[at];
    return list;
  };
  all.$A = listOf;
  Object.assign(Array, { from: listOf });
  type Visit = (item: unknown, at: number) => unknown;
  const each = function (this: unknown[], visit: Visit, context?: unknown) {
    try {
      for (let at = 0; at < this.length; at++) visit.call(context, this[at], at);
    } catch (error) {
      if (error !== stop) throw error;
    }
    return this;
  };
  const collect = function (this: unknown[], make: Visit = (item) => item, context?: unknown) {
    const list: unknown[] = [];
    each.call(this, (item, at) => list.push(make.call(context, item, at)));
    return list;
  };
  const findAll = function (this: unknown[], accepts: Visit, context?: unknown) {
    const list: unknown[] = [];
    each.call(this, (item, at) => accepts.call(context, item, at) && list.push(item));
    return list;
  };
  const detect = function (this: unknown[], accepts: Visit, context?: unknown) {
    let result: unknown;
    each.call(this, (item, at) => {
      if (!accepts.call(context, item, at)) return;
      result = item;
      throw stop;
    });
    return result;
  };
  const allOf = function (this: unknown[], holds: Visit = (item) => item, context?: unknown) {
    let result = true;
    each.call(this, (item, at) => {
      result = result && !!holds.call(context, item, at);
      if (!result) throw stop;
    });
    return result;
  };
  const any = function (this: unknown[], holds: Visit = (item) => item, context?: unknown) {
    let result = false;
    each.call(this, (item, at) => {
      result = !!holds.call(context, item, at);
      if (result) throw stop;
    });
    return result;
  };
  const toArray = function (this: unknown[]) {
    return this.concat();
  };
  const native = Array.prototype.reverse;
  Object.assign(Array.prototype, {
    each,
    all: allOf,
    any,
    collect,
    detect,
    findAll,
    map: collect,
    filter: findAll,
    select: findAll,
    find: detect,
    every: allOf,
    some: any,
    toArray,
    clone: toArray,
    entries: toArray,
    include(this: unknown[], item: unknown) {
      return this.indexOf(item) >= 0;
    },
    reverse(this: unknown[], inline?: boolean) {
      return native.call(inline === false ? this.concat() : this);
    },
    first(this: unknown[]) {
      return this[0];
    },
    last(this: unknown[]) {
      return this[this.length - 1];
    },
    size(this: unknown[]) {
      return this.length;
    },
    inspect(this: unknown[]) {
      return `[${this.join(', ')}]`;
    },
    toJSON(this: unknown[]) {
      return `[${this.join(', ')}]`;
    },
  });
  Object.assign(String.prototype, {
    toArray(this: string) {
      return this.split('');
    },
    toJSON(this: string) {
      return `"${this}"`;
    },
    startsWith(this: string, start: string) {
      return this.lastIndexOf(start, 0) === 0;
    },
    endsWith(this: string, end: string) {
      const at = this.length - end.length;
      return at >= 0 && this.indexOf(end, at) === at;
    },
    strip() {},
    times() {},
    gsub() {},
    sub() {},
    scan() {},
  });
  Object.assign(Number.prototype, {
    toJSON(this: number) {
      return Number.isFinite(+this) ? this.toString() : 'null';
    },
    succ() {},
    times() {},
  });
  Object.assign(Object, {
    extend: Object.assign,
    values: (of: Record<string, unknown>) => {
      const list: unknown[] = [];
      for (const name in of) list.push(of[name]);
      return list;
    },
  });
  Object.assign(Function.prototype, {
    bind(this: (...args: unknown[]) => unknown, context: unknown, ...first: unknown[]) {
      if (first.length === 0 && context === undefined) return this;
      return (...rest: unknown[]) => this.apply(context, [...first, ...rest]);
    },
    wrap() {},
    curry() {},
    delay() {},
    defer() {},
    methodize() {},
    argumentNames() {},
  });
  const element = window.Element;
  all.Element = Object.assign((tag: string) => document.createElement(tag), { prototype: element.prototype });
  const methods = {
    remove(this: Element) {
      this.parentNode?.removeChild(this);
      return this;
    },
    update(this: Element, text = '') {
      this.textContent = text;
      return this;
    },
    show(this: HTMLElement) {
      this.style.display = '';
      return this;
    },
    hide(this: HTMLElement) {
      this.style.display = 'none';
      return this;
    },
    scrollTo(this: Element) {
      this.scrollIntoView();
      return this;
    },
    observe() {},
    fire() {},
    select() {},
    up() {},
    down() {},
    next() {},
    replace() {},
    wrap() {},
    insert() {},
  };
  for (const kind of [element, HTMLElement]) Object.assign(kind.prototype, methods);
}

const libraries = { MooTools: likeMooTools, 'Prototype.js': likePrototype };

describe.each(Object.entries(libraries))('a page with %s', (_, library) => {
  const open = async (body: string) => {
    const chromium = await openChromium();
    const warned: string[] = [];
    chromium.page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !message.location().url.endsWith('favicon.ico'))
        warned.push(message.text());
    });
    const { engine, servers } = await openBlog(
      async () => chromium,
      ({ site }) => ({ html: page(`<script>(${library})()</script>${body}${script(site)}`) }),
    );
    return { engine, servers, warned, browserPage: chromium.page };
  };

  test('has figures that answer, save and are driven as anywhere', async () => {
    const { engine, warned, browserPage } = await open(figure('name="dot-products" n="6"'));
    const [shownFigure] = await settled(inPage(engine));
    expect(shownFigure).toMatchObject({
      finding: await findingOf('dot-products', { n: '6' }),
      problem: '',
      runsIn: 'blob worker',
    });
    await browserPage.locator('superpose-figure').evaluate(async (element) => {
      await (element as unknown as { set(settings: object): Promise<void> }).set({ n: 5 });
    });
    const finding = await findingOf('dot-products', { n: '5' });
    await expect.poll(async () => (await inPage(engine)())[0]?.finding, patience).toBe(finding);
    expect(await browserPage.locator('superpose-figure').getAttribute('n')).toBe('5');
    await browserPage.getByText('Tools').click();
    const download = browserPage.waitForEvent('download');
    await browserPage.getByRole('button', { name: 'JSON' }).click();
    const stream = await (await download).createReadStream();
    const saved = JSON.parse((await stream.toArray()).join(''));
    expect(saved).toMatchObject({ figure: 'dot-products', state: { n: 5 } });
    expect(Array.isArray(saved.rows)).toBe(true);
    expect([...engine.complaints, ...warned]).toEqual([]);
  });

  // The figures whose code uses most of the replaced functions.
  const drawn = ['gram', 'collisions', 'oblique', 'language', ...(inject('withModel') ? ['heads'] : [])];
  test('draws figures of all kinds', async () => {
    const body = drawn.map((name) => figure(`name="${name}"`)).join('');
    const { engine, warned } = await open(body);
    const shown = await settled(inPage(engine), drawn.length);
    const without = await openBlog(openChromium, ({ site }) => ({ html: page(body + script(site)) }));
    expect(shown.map(({ finding, problem }) => ({ finding, problem }))).toEqual(
      (await settled(inPage(without.engine), drawn.length)).map(({ finding }) => ({ finding, problem: '' })),
    );
    expect([...engine.complaints, ...warned]).toEqual([]);
  });

  test('frames figures, and says its theme and hears their heights', async () => {
    const chromium = await openChromium();
    const { engine } = await openBlog(
      async () => chromium,
      ({ site }) => ({
        html: page(
          `<script>(${library})()</script><script src="${site}resize.js"></script><iframe sandbox="allow-scripts" title="F" style="height:100px" src="${site}figures/dot-products/#v=1&figure=dot-products&n=6"></iframe>`,
          '<style>body{background:#111}</style>',
        ),
      }),
    );
    await settled(() => engine.evaluateInFrame(readFigures));
    const height = () => engine.evaluate(() => document.querySelector('iframe')?.clientHeight ?? 0);
    await expect.poll(height, patience).toBeGreaterThan(300);
    const theme = () => engine.evaluateInFrame(() => document.body.dataset.around);
    await expect.poll(theme, patience).toBe('dark');
    expect(engine.complaints).toEqual([]);
  });
});

test('a page that has replaced what no figure can do without keeps its pictures, and the console says why', async () => {
  const chromium = await openChromium();
  const warned: string[] = [];
  chromium.page.on('console', (message) => {
    if (message.type() === 'warning') warned.push(message.text());
  });
  const { engine } = await openBlog(
    async () => chromium,
    // Array.prototype.reduce as in Prototype.js before 1.7.
    ({ site }) => ({
      html: page(
        `<script>Array.prototype.reduce = function () { return this.length > 1 ? this : this[0] }</script>${figure()}${script(site)}`,
      ),
    }),
  );
  await expect
    .poll(() => warned, patience)
    .toEqual([
      'Superpose cannot draw on this page, and the pictures stay: a script of the page has replaced Array.prototype.reduce. In a frame, figures work here.',
    ]);
  expect(await chromium.page.locator('superpose-figure img').isVisible()).toBe(true);
  expect(engine.complaints).toEqual([]);
});
