// Figure "Other ways to say where, on the same tokens": the scores of every scheme on the same tokens, and
// the terms and the attention of the chosen one.
import { anovaTerms, type SchemeInfo, schemeTermOf } from 'add-or-concatenate';
import { aboutPercent, percent, readable, signed } from '../plot/format.js';
import { colourKey, curve, largestMagnitude, map, textAt, tickText, vertical } from '../plot/parts.js';
import type { Mark, Scene } from '../plot/scene.js';
import type { Compute, Figure, ReadoutPiece } from './figure.js';
import {
  aboutMean,
  arrange,
  askedIn,
  dependsOn,
  kernelPlane,
  shareBar,
  shownTerms,
  signedOffset,
  termPiece,
} from './schemesPicture.js';
import {
  controls,
  type Data,
  ids,
  mapRounding,
  n,
  type OffsetMap,
  offsetMap,
  positionWidths,
  type State,
  scoresOfAll,
  shape,
} from './schemesScores.js';
import { anovaLabels, kinds } from './schemeTexts.js';

export const compute: Compute<typeof controls, Data> = async (library, state) => {
  const superpose = await library.superpose();
  const registry = library.memoize('schemes: registry', '', () => superpose.schemeRegistry());
  const computed = scoresOfAll(library, superpose, registry, state);
  const entry = registry.find(({ id }) => id === state.scheme) as SchemeInfo;
  const { scores } = computed[state.scheme];
  const zero = termRounding * largestMagnitude([scores.logits]);
  const terms = anovaTerms.map((name) => ({ name, values: schemeTermOf(scores, 0, name).slice() }));
  return {
    n,
    schemes: Object.fromEntries(
      Object.entries(computed).map(([id, { shown }]) => [id, shown]),
    ) as Data['schemes'],
    terms: terms
      .filter(({ values }) => largestMagnitude([values]) > zero)
      .map(({ name, values }) => ({ name, ...offsetMap(superpose, values) })),
    name: entry.name,
    tex: (!state.causal && entry.bidirectionalFormula) || entry.formula,
    parameters: superpose.schemeParameters(state.scheme, {
      ...shape,
      clip: entry.clip,
      d_position: positionWidths[state.scheme] ?? shape.d_model,
      d_position_head: shape.d_head,
    }),
  };
};

type Places = ReturnType<typeof arrange>;
type Drawn = Pick<Scene, 'marks' | 'regions'>;

/** A term is 0 if it stays below this part of the largest score: terms are summed in double precision. */
const termRounding = 1e-13;

/** Marks and regions that `put` adds maps to. */
function drawing() {
  const drawn: Drawn = { marks: [], regions: [] };
  const put = ({ marks, region }: ReturnType<typeof map>) => {
    drawn.marks.push(...marks);
    drawn.regions.push(region);
    return region;
  };
  return { ...drawn, put };
}

/** Every scheme's map, the chosen one's in a frame. */
function gallery(data: Data, state: State, at: Places): Drawn {
  const { n } = data;
  const { marks, regions, put } = drawing();
  ids.forEach((id, place) => {
    const area = at.tile(place);
    const { logits, shares } = data.schemes[id];
    // A map that varies by rounding alone is drawn in one colour.
    const limit = logits.depends === 'nothing' ? 1 : logits.limit;
    const tile = put(
      map(area, {
        values: logits.values,
        ...aboutMean(logits, limit),
        rows: n,
        columns: n,
        title: kinds[id].label,
        subtitle: dependsOn(logits),
      }),
    );
    tile.sets = { scheme: id };
    marks.push(...shareBar(shares, { x: tile.x, y: tile.y + tile.height + 3, width: tile.width, height: 6 }));
    if (id === state.scheme) {
      const { x, y, width, height } = tile;
      marks.push({ mark: 'box', x, y, width, height, stroke: 'accent', wide: 2.5 });
    }
  });
  marks.push(
    ...colourKey(0, at.tilesKey, {
      low: -1,
      high: 1,
      scale: 'diverging',
      label: at.roomy ? 'each by itself; queries down, keys across' : 'each map by itself',
      print: (value) => (value < 0 ? 'lowest' : value > 0 ? 'highest' : '0'),
    }),
  );
  return { marks, regions };
}

/** The chosen scheme's score, its terms and its attention. */
function mapsOfChosen(data: Data, state: State, at: Places): Drawn {
  const { n } = data;
  const { marks, regions, put } = drawing();
  const chosen = data.schemes[state.scheme];
  const largest = Math.max(chosen.logits.limit, ...data.terms.map((term) => term.limit));
  const limit = largest > mapRounding ? largest : 1;
  const most = largestMagnitude([chosen.softmax]);
  const scoreMap = (offsetMap: OffsetMap) => ({
    values: offsetMap.values,
    rows: n,
    columns: n,
    ...aboutMean(offsetMap, limit),
  });
  put(map(at.part(0), { ...scoreMap(chosen.logits), title: 'the score' }));
  shownTerms(data).forEach((shown, place) => {
    const { label, ink, term } = anovaLabels[shown.name];
    put(map(at.part(place + 1), { ...scoreMap(shown), title: label, ink, term }));
  });
  put(
    map(at.part(shownTerms(data).length + 1), {
      values: chosen.softmax,
      rows: n,
      columns: n,
      low: 0,
      high: most,
      scale: 'sequential',
      title: 'softmax',
    }),
  );
  marks.push(
    ...colourKey(at.scoreKey.x, at.scoreKey.y, {
      low: -limit,
      high: limit,
      scale: 'diverging',
      label: 'less mean',
      print: readable,
    }),
    ...colourKey(at.softmaxKey.x, at.softmaxKey.y, {
      low: 0,
      high: most,
      scale: 'sequential',
      label: 'softmax weight',
      print: (value) => tickText(Number(value.toPrecision(2))),
    }),
  );
  return { marks, regions };
}

export const figure: Figure<typeof controls, Data> = {
  name: 'schemes',
  title: 'Other ways to say where, on the same tokens',
  controls,
  source: () => 'seeded',
  unused: ({ words }) => (words === 'same' ? ['common'] : []),

  scene(data, state, width) {
    const at = arrange(data, state, width);
    const [tiles, maps] = [gallery(data, state, at), mapsOfChosen(data, state, at)];
    const { x, y, marks: axes } = kernelPlane(data, state, at.kernel);
    const { kernel } = data.schemes[state.scheme].logits.offsets;
    const offsets = Array.from(kernel, (_, place) => place - data.n + 1);
    const marks: Mark[] = [
      ...tiles.marks,
      ...at.legend,
      textAt(at.x, at.name, data.name, { ink: 'accent', size: 15, bold: true }),
      ...at.lines.map(
        ({ text, spans }, line): Mark =>
          textAt(at.x, at.name + 23 * (line + 1), text, {
            ...(spans && { spans }),
            ink: 'ink',
            size: spans ? 15 : 13,
          }),
      ),
      ...maps.marks,
      ...axes,
      curve({ x, y }, offsets, kernel, { stroke: 'accent', wide: 2 }),
    ];
    return { width, height: at.height, marks, regions: [...tiles.regions, ...maps.regions] } satisfies Scene;
  },

  /** A line at the offset of the cursor's pair. */
  focus(data, state, { i, j }, width) {
    const { x, inner } = kernelPlane(data, state, arrange(data, state, width).kernel);
    const at = x(j - i);
    return [vertical({ inner }, at, { ink: 'ink', wide: 1.5 })];
  },

  describe(data, state) {
    const { logits, shares } = data.schemes[state.scheme];
    const finding = {
      nothing: 'the scores do not vary.',
      places: `the offset explains ${aboutPercent(logits.offsets.share)} of the variation.`,
      offset: 'for the same two tokens only the offset matters.',
    }[logits.depends];
    const head = `${data.name}: ${finding}`;
    const parameters = `It adds ${data.parameters === 0 ? 'no' : data.parameters.toLocaleString('en')} parameters to a model of BERT-base’s shape.`;
    if (state.words === 'many') {
      return `${head} ${askedIn(shares)} With ${data.n} different tokens, scores vary with the tokens too; without any position the offset explains ${aboutPercent(data.schemes.none.logits.offsets.share)}, by chance. ${parameters}`;
    }
    return `${head} With one token in all ${data.n} positions, every difference comes from position. ${parameters}`;
  },

  cells: ({ n }) => ({ rows: n, columns: n }),
  firstCursor: ({ n }) => ({ i: Math.min(6, n - 1), j: Math.min(4, n - 1) }),

  readout(data, state, { i, j }) {
    const cell = i * data.n + j;
    const { softmax, logits } = data.schemes[state.scheme];
    const terms = data.terms.flatMap(({ name, values }): ReadoutPiece[] => [
      termPiece(name, signed(values[cell] ?? Number.NaN)),
      ' ',
    ]);
    return [
      `${data.name}: query ${i}, key ${j}: `,
      ...terms,
      `= score ${readable(logits.values[cell] ?? Number.NaN)}; softmax ${percent(softmax[cell] ?? Number.NaN)}. The mean at offset ${signedOffset(j - i)} is ${readable(logits.offsets.means[j - i + data.n - 1] ?? Number.NaN)}.`,
    ];
  },

  table(data, state) {
    const rows: (string | number)[][] = [];
    for (let cell = 0; cell < data.n ** 2; cell++) {
      const [i, j] = [Math.floor(cell / data.n), cell % data.n];
      rows.push([
        i,
        j,
        ...ids.map((id) => data.schemes[id].logits.values[cell] as number),
        ...data.terms.map(({ values }) => values[cell] as number),
        data.schemes[state.scheme].softmax[cell] as number,
      ]);
    }
    return {
      columns: [
        'query',
        'key',
        ...ids.map((id) => `score: ${kinds[id].label}`),
        ...data.terms.map(({ name }) => `${kinds[state.scheme].label}: ${anovaLabels[name].label}`),
        `${kinds[state.scheme].label}: softmax`,
      ],
      rows,
    };
  },
};
