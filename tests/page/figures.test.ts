// The numbers on the page are the library's, at the place and under the name where a reader looks for them.
import { load, loadMiniLM, type MiniLM } from 'superpose';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import {
  dotProductsFor,
  firstSentence,
  fourTerms,
  mapsFor,
  mostTokens,
  numbersIn,
  printed1,
  printed2,
  quoted1,
  sixteenTerms,
  type View,
} from './support/computed.ts';
import { readFigure1, readFigure2, readMaps } from './support/shown.ts';
import { figure1, figure2, modelTest, surface, type Visit, visit } from './support/visit.ts';

const superpose = await load();
let model: MiniLM;
beforeAll(async () => {
  if (inject('withModel')) model = await loadMiniLM(superpose);
});

describe('adding versus concatenating', () => {
  /** Waits until everything that figure 1 says is right for the settings that it says it has. */
  const agrees = async ({ page }: Visit, text?: string) => {
    await expect
      .poll(
        async () => {
          const shown = await page.evaluate(readFigure1);
          if (!shown) return 'nothing yet';
          const found = await dotProductsFor(superpose, shown, model, text);
          expect(shown).toMatchObject(printed1(found, shown.places));
          expect(numbersIn(shown.finding)).toEqual(quoted1(found));
          return 'the same numbers';
        },
        { timeout: 10_000 },
      )
      .toBe('the same numbers');
    return (await page.evaluate(readFigure1)) as NonNullable<ReturnType<typeof readFigure1>>;
  };

  test('begins with 32 random tokens of width 64, at the pair that adding moves farthest', async () => {
    const shown = await agrees(await visit());
    expect(shown).toMatchObject({ source: 'seeded', d: 64, scale: 1, n: 32, seed: 1 });
    const { added, concatenated } = await dotProductsFor(superpose, shown);
    const gap = (cell: number) => Math.abs((added[cell] as number) - (concatenated[cell] as number));
    const [i, j] = shown.places as [number, number];
    expect(gap(i * 32 + j)).toBe(
      Math.max(...Array.from(added, (_, cell) => (cell % 33 === 0 ? 0 : gap(cell)))),
    );
  });

  test('follows every slider and both drawings of positions', async () => {
    const visited = await visit();
    const { page } = visited;
    await agrees(visited);
    const slide = (name: string, value: string) => figure1(page).locator(`input[name=${name}]`).fill(value);

    await slide('d', '0');
    expect(await agrees(visited)).toMatchObject({ d: 2, n: 32 });
    await slide('d', '12');
    await slide('n', '128');
    expect(await agrees(visited)).toMatchObject({ d: 1024, n: 128 });
    await slide('d', '5');
    await slide('n', '2');
    await slide('scale', '0');
    // One pair has no correlation; without positions nothing is left to add.
    expect(await agrees(visited)).toMatchObject({ d: 32, n: 2, scale: 0, tokenPosition: '+0.000' });
    await slide('n', '11');
    await slide('scale', '2.35');
    for (const encoding of ['random', 'concatenated', 'interleaved']) {
      await figure1(page).getByLabel('Positions').selectOption(encoding);
      expect(await agrees(visited)).toMatchObject({ encoding, n: 11, scale: 2.35 });
    }
  });

  test('draws again with the next seed, and nothing else changes', async () => {
    const visited = await visit();
    const before = await agrees(visited);
    const picture = () => figure1(visited.page).locator('canvas').screenshot();
    const first = await picture();
    await figure1(visited.page).getByRole('button', { name: 'Draw again' }).click();
    await expect.poll(async () => (await visited.page.evaluate(readFigure1))?.added).not.toBe(before.added);
    const after = await agrees(visited);
    const { source, encoding, d, scale, n } = before;
    expect(after).toMatchObject({ source, encoding, d, scale, n, seed: before.seed + 1 });
    expect((await picture()).equals(first)).toBe(false);
  });

  test('the arrow keys choose the pair, and never a token with itself', async () => {
    const visited = await visit();
    const { places } = await agrees(visited);
    const [i, j] = places as [number, number];
    await surface(figure1(visited.page)).focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowLeft']) await visited.page.keyboard.press(key);
    expect((await agrees(visited)).places).toEqual([i + 2, j - 1]);
    await visited.page.keyboard.press('Home');
    for (let step = 0; step < i + 2; step++) await visited.page.keyboard.press('ArrowRight');
    // From (i, i - 1) the next to the right is (i, i), which is no pair.
    expect((await agrees(visited)).places).toEqual([i + 2, i + 3]);
  });

  modelTest('takes the tables that MiniLM has for the sentence', async () => {
    const visited = await visit();
    const { page } = visited;
    await agrees(visited);
    await figure1(page).getByLabel('Your sentence in MiniLM').check();
    const { tokens } = model.tokenize(firstSentence);
    expect(await agrees(visited)).toMatchObject({ source: 'sentence', encoding: 'learned' });
    expect(await page.evaluate(readFigure1)).toMatchObject({ d: model.d_model, n: tokens.length });

    await figure1(page).getByLabel('Positions').selectOption('random');
    await figure1(page).getByRole('button', { name: 'Draw again' }).click();
    expect(await agrees(visited)).toMatchObject({ encoding: 'random', seed: 2 });
    await figure1(page).getByRole('textbox').fill('Dogs chase cats');
    await expect.poll(async () => (await page.evaluate(readFigure1))?.n).toBe(5);
    await agrees(visited, 'Dogs chase cats');
  });
});

describe.runIf(inject('withModel'))('one score, four questions', () => {
  const agrees = async ({ page }: Visit, text: string, view: View) => {
    const scores = await model.decompose(model.tokenize(text, mostTokens), { only: [view.head] });
    const computed = printed2(scores, view);
    await expect.poll(() => page.evaluate(readFigure2), { timeout: 10_000 }).toMatchObject(computed);
    const shown = (await page.evaluate(readFigure2)) as NonNullable<ReturnType<typeof readFigure2>>;
    // Every share that the finding quotes is one that stands in the list, and the head is this one.
    const [first, ...quoted] = numbersIn(shown.finding.replace(/ of what head (\d+)/, ''));
    expect(Object.values(computed.shares)).toEqual(expect.arrayContaining([first, ...quoted]));
    expect(shown.finding).toContain(`head ${view.head} `);
    return { scores, shown };
  };
  const choose = ({ page }: Visit, head: number) =>
    figure2(page).getByRole('combobox').selectOption(String(head));
  const text = 'Colourless green ideas sleep furiously.';

  test('the sentence typed, the head chosen, the cell stepped to', async () => {
    const visited = await visit();
    const { page } = visited;
    await agrees(visited, firstSentence, { head: 2, cell: [3, 2] });
    await page.locator('superpose-sentence textarea').fill(text);
    await agrees(visited, text, { head: 2, cell: [3, 2] });
    await surface(figure2(page)).focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    for (const head of [0, 8, 11]) {
      await choose(visited, head);
      await agrees(visited, text, { head, cell: [5, 3] });
    }
    await page.keyboard.press('Tab');
    await surface(figure2(page)).focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowUp');
    const { shown } = await agrees(visited, text, {
      head: 11,
      cell: [4, model.tokenize(text).tokens.length - 1],
    });
    expect(shown.key[0]).toBe('[SEP]');
  });

  test('four terms, sixteen terms, and rows that are centred', async () => {
    const visited = await visit();
    const { page } = visited;
    await choose(visited, 8);
    await agrees(visited, firstSentence, { head: 8, cell: [3, 2] });
    await figure2(page).getByLabel('Centre each row').check();
    await agrees(visited, firstSentence, { head: 8, cell: [3, 2], centred: true });
    await figure2(page).getByLabel('All sixteen terms').check();
    const { shown } = await agrees(visited, firstSentence, {
      head: 8,
      cell: [3, 2],
      centred: true,
      all: true,
    });
    expect(Object.keys(shown.terms)).toEqual(sixteenTerms);
    await figure2(page).getByLabel('Centre each row').uncheck();
    await agrees(visited, firstSentence, { head: 8, cell: [3, 2], all: true });
    await figure2(page).getByLabel('Four questions').check();
    const four = await agrees(visited, firstSentence, { head: 8, cell: [3, 2] });
    expect(Object.keys(four.shown.terms)).toEqual([...fourTerms, 'the rest']);
  });

  test('what softmax is taken of follows the switches', async () => {
    const visited = await visit();
    const { page } = visited;
    const term = (name: string) => figure2(page).getByRole('checkbox', { name, exact: true });
    const at = { head: 2, cell: [3, 2] } as const;
    await agrees(visited, firstSentence, at);
    await term('position → position').uncheck();
    await agrees(visited, firstSentence, { ...at, off: ['position → position'] });
    await term('the rest').uncheck();
    await agrees(visited, firstSentence, { ...at, off: ['position → position', 'the rest'] });
    await term('position → position').check();
    await agrees(visited, firstSentence, { ...at, off: ['the rest'] });
    await term('the rest').check();
    await agrees(visited, firstSentence, at);
    await figure2(page).getByLabel('All sixteen terms').check();
    await term('token → constant').uncheck();
    await agrees(visited, firstSentence, { ...at, all: true, off: ['token → constant'] });
  });

  test('without any term, attention is the same everywhere', async () => {
    const visited = await visit();
    const { page } = visited;
    await agrees(visited, firstSentence, { head: 2, cell: [3, 2] });
    const off = [...fourTerms, 'the rest'];
    for (const name of off) await figure2(page).getByRole('checkbox', { name, exact: true }).uncheck();
    const { shown } = await agrees(visited, firstSentence, { head: 2, cell: [3, 2], off });
    expect(shown).toMatchObject({ kept: '0.000', softmax: '6.3\u202f%' });
  });

  test('each map paints query i in row i and key j in column j, on the scale of its legend', async () => {
    const visited = await visit();
    await choose(visited, 5);
    const { scores } = await agrees(visited, firstSentence, { head: 5, cell: [3, 2] });
    const { terms, score, softmax } = mapsFor(scores, { head: 5, cell: [3, 2] });
    const { maps, legends } = await visited.page.evaluate(readMaps);
    const largest = Math.max(...[...Object.values(terms), score].flatMap((map) => Array.from(map, Math.abs)));

    // Whatever the colours are: a scale has 256 steps, and one step has one colour in all maps of a scale.
    const paint = (
      scale: Map<number, string>,
      name: string,
      map: Float64Array,
      low: number,
      high: number,
    ) => {
      expect(maps[name], name).toHaveLength(map.length);
      map.forEach((value, cell) => {
        const step = Math.round((255 * (value - low)) / (high - low));
        const colour = maps[name]?.[cell] as string;
        expect(colour, `${name}, cell ${cell}`).toBe(scale.get(step) ?? colour);
        scale.set(step, colour);
      });
    };
    const diverging = new Map<number, string>();
    for (const [name, map] of Object.entries(terms)) paint(diverging, name, map, -largest, largest);
    paint(diverging, 'logits', score, -largest, largest);
    const sequential = new Map<number, string>();
    paint(sequential, 'softmax', softmax, 0, 1);
    expect(new Set(diverging.values()).size).toBeGreaterThan(100);

    const [low, high] = legends.diverging as [string, string];
    const [none] = legends.sequential as [string];
    // Only one end of the scale has the largest magnitude in it.
    const painted = diverging.has(0) ? [diverging.get(0), low] : [diverging.get(255), high];
    expect(painted[0]).toBe(painted[1]);
    expect(sequential.get(0)).toBe(none);
  });
});
