// Figure "What drives each head": how the variation of every head's scores is shared out among the four
// terms and the rest, for one sentence or ten, and what averaging over heads hides.

import type { PoolableScores, Sentence, SmallSuperpose, Table } from 'add-or-concatenate';
import { ticks } from 'd3-array';
import { about, aboutPercent, listed, percent } from '../plot/format.js';
import { boxAt, lineAt, textAt } from '../plot/parts.js';
import type { Mark } from '../plot/scene.js';
import type { Controls } from './controls.js';
import type { Compute, Figure, Job, LayerScoresOptions, Library, ReadoutPiece } from './figure.js';
import { groups, laterGroups, type HeadShares as Row, sharedOut, termKinds } from './terms.js';
import {
  excludedRows,
  fetching,
  firstLayer,
  gaugeControl,
  headControl,
  mostTokens,
  nothingToShare,
  oneScoreTitle,
  sentenceControl,
  sentenceRemark,
  textModel,
  watching,
} from './trainedModel.js';
import { gaugeOf, hasTerms, inputOf, layerOf, modelRemark } from './userModelControls.js';

const controls = {
  sentences: {
    kind: 'choice',
    label: 'Sentences',
    options: { yours: 'Your sentence', ten: 'Ten fixed ones (6 MB)' },
    initial: 'yours',
    radio: true,
  },
  gauge: { ...gaugeControl, more: true },
  layer: {
    kind: 'steps',
    more: true,
    label: 'Layer (3.6 MB)',
    values: [0, 1, 2, 3, 4, 5],
    initial: 0,
  },
  text: sentenceControl,
} as const satisfies Controls;

/** The mean lengths of the rows that are added up for a sentence, before the LayerNorm. */
interface Lengths {
  token: number;
  position: number;
  /** The length of the row that all tokens of a sentence share, if the model adds one. */
  segment?: number | undefined;
}

interface Data {
  /**
   * A row for each head, one for their mean, and one for all heads pooled, which weights each head by how
   * much its scores vary.
   */
  rows: Row[];
  /** The first of the sentences. */
  text: string;
  tokens: readonly string[];
  dropped: number;
  /** Known for one sentence, of a model that adds positions. */
  lengths?: Lengths | undefined;
}

export const tenSentences = [
  'the quick brown fox jumps over the lazy dog near the river bank while the sun is setting behind the hills',
  'attention scores between two tokens depend on what the words mean and on where they stand in the sentence',
  'She said that she would never go back to the old house because the garden had been sold to a stranger.',
  'In 1969 the first astronauts walked on the moon, and millions of people watched the broadcast on television.',
  'The bank raised interest rates again, so many small companies decided to delay their plans for new buildings.',
  'Water boils at a lower temperature on a high mountain because the pressure of the air is smaller there.',
  'He opened the book, read the first page, closed the book, and put the book back on the shelf.',
  'A good recipe needs fresh vegetables, a little salt, some olive oil, and enough time for slow cooking.',
  'The doctor told the patient that the test results were normal and that there was no reason to worry.',
  'When the train finally arrived at the station, most of the passengers had already left for the city by bus.',
];

export const compute: Compute<typeof controls, Data> = async (
  library,
  { sentences, text, gauge, layer },
  job,
) => {
  const superpose = await library.small();
  const model = await textModel(library);
  const texts = sentences === 'yours' ? [text] : tenSentences;
  const scores: PoolableScores[] = [];
  let tokens: readonly string[] = [];
  let dropped = 0;
  let lengths: Lengths | undefined;
  for (const [place, each] of texts.entries()) {
    job.signal.throwIfAborted();
    const sentence = await model.tokenize(each, mostTokens);
    scores.push(await layerScores(library, sentence, { layer, gauge }, job));
    if (sentences === 'yours') {
      ({ tokens, dropped } = sentence);
      lengths = lengthsOf(superpose, await model.rows(sentence));
    } else {
      job.progress((place + 1) / texts.length);
      await new Promise((resolve) => setTimeout(resolve));
    }
  }
  return { rows: sharedOut(superpose, scores), text: texts[0] as string, tokens, dropped, lengths };
};

/** The scores of a layer's heads in three groups. */
async function layerScores(
  library: Library,
  sentence: Sentence,
  { layer, gauge }: LayerScoresOptions,
  job: Job,
): Promise<PoolableScores> {
  if (library.userModel) return library.userModel.layerScores(sentence, { layer, gauge, ...watching(job) });
  const model = await library.miniLM();
  if (layer > 0) {
    return model.decompose(sentence, { groups: laterGroups, gauge, layer, signal: job.signal });
  }
  const summands = await model.rows(sentence);
  return (await firstLayer(library)).decompose({ summands, groups, gauge, excludedRows });
}

/** The names of the five terms beside their colours. */
function termKey(width: number): { marks: Mark[]; height: number } {
  const columns = width >= 700 ? 5 : width >= 330 ? 2 : 1;
  const marks = termKinds.flatMap(({ label, term }, place): Mark[] => {
    const at = { x: (place % columns) * (width / columns), y: Math.floor(place / columns) * 20 };
    return [
      { mark: 'box', x: at.x, y: at.y + 2, width: 14, height: 12, fill: term, term },
      textAt(at.x + 20, at.y + 12, label, { ink: 'ink', term }),
    ];
  });
  return { marks, height: 20 * Math.ceil(termKinds.length / columns) };
}

/** The lengths of the rows that are added up, or undefined for a model without a table of positions. */
function lengthsOf(
  superpose: SmallSuperpose,
  { token, position, token_type }: { readonly [name: string]: Table | undefined },
): Lengths | undefined {
  const length = (rows: Table) => superpose.summary(superpose.rowLengths(rows)).mean;
  if (!token || !position) return undefined;
  return { token: length(token), position: length(position), segment: token_type && length(token_type) };
}

/** A sentence about the lengths, or nothing. */
function lengthsSentence({ lengths }: Data): string {
  if (!lengths) return '';
  const { token, position, segment } = lengths;
  const ofSegment =
    segment === undefined ? '' : `, and the segment’s row, the same for all of them, has ${about(segment)}`;
  return ` Before the LayerNorm, raw, its token rows have length ${about(token)} on average, its position rows have ${about(position)}${ofSegment}.`;
}

/** The rows of single heads; the last two rows are about all of them. */
const headsOf = ({ rows }: Data) => rows.slice(0, -2);
const row = 24;
/** Whether the head's scores vary along their rows; otherwise there is nothing to share out. */
const varies = ({ shares }: Row) => shares.every(Number.isFinite);

/** As much of the figure "one-score" as a link to it needs. */
const oneScore = {
  name: 'one-score',
  title: oneScoreTitle,
  controls: { head: headControl, gauge: gaugeControl, text: sentenceControl },
};

export const figure: Figure<typeof controls, Data> = {
  name: 'heads',
  title: 'What drives each head',
  controls,
  module: 'small',
  source: () => 'trained',
  waiting: fetching,
  unused: ({ sentences }) => (sentences === 'yours' ? [] : ['text']),

  forModel(model) {
    if (!hasTerms(model)) return undefined;
    const [input, layer] = [inputOf(model), layerOf(model)];
    return {
      fixed: { sentences: 'yours', ...gaugeOf(model), ...input.fixed, ...layer.fixed },
      controls: { ...layer.controls, ...input.controls },
      remark: modelRemark(model),
    };
  },

  /** The figure that takes single scores apart shows the first layer only. */
  opens: (data, { gauge, layer }, { i }) =>
    layer === 0 && i < headsOf(data).length
      ? {
          figure: oneScore,
          label: `Open head ${i}`,
          state: { head: i, gauge, text: data.text },
        }
      : undefined,

  scene(data, { gauge }, width) {
    const { rows } = data;
    const heads = headsOf(data).length;
    const known = rows.filter(varies);
    // Negative shares are stacked to the left of zero, the others to the right.
    const below = (shares: number[]) => shares.reduce((sum, share) => sum + Math.min(0, share), 0);
    const above = (shares: number[]) => shares.reduce((sum, share) => sum + Math.max(0, share), 0);
    const low = Math.min(0, ...known.map(({ shares }) => below(shares)));
    const high = Math.max(1, ...known.map(({ shares }) => above(shares)));
    const key = termKey(width);
    const keyHeight = key.height + 34;
    const left = 62;
    const right = width - 10;
    const x = (share: number) => left + ((share - low) / (high - low)) * (right - left);
    const top = keyHeight + 20;
    const yOf = (place: number) => top + place * row;
    const bottom = yOf(rows.length);
    const { marks } = key;
    marks.push(textAt(0, keyHeight - 8, `Shares of variation, ${gauge} gauge`, { ink: 'ink' }));
    // Percents of more than three digits need more room.
    for (const tick of ticks(low, high, high - low < 20 ? 3 : 2)) {
      marks.push(lineAt([x(tick), top - 4], [x(tick), bottom], { ink: tick === 0 ? 'quiet' : 'line' }), {
        mark: 'text',
        x: x(tick),
        y: bottom + 16,
        text: `${Math.round(100 * tick)} %`.replace('-', '−'),
        // No label goes beyond the picture.
        anchor: x(tick) + 18 > width ? 'end' : 'middle',
      });
    }
    rows.forEach(({ label, shares }, place) => {
      const y = yOf(place);
      marks.push(textAt(0, y + row / 2 + 4, label, { ink: 'ink', bold: place >= heads }));
      let [before, after] = [0, 0];
      shares.forEach((share, kind) => {
        if (!Number.isFinite(share) || share === 0) return;
        const from = share < 0 ? before + share : after;
        if (share < 0) before += share;
        else after += share;
        const { term } = termKinds[kind] as (typeof termKinds)[0];
        marks.push(
          boxAt([x(from), y + 3, x(from + Math.abs(share)) - x(from), row - 6], { fill: term, term }),
        );
      });
    });
    const between = yOf(heads);
    marks.push({ mark: 'line', x1: 0, x2: width, y1: between, y2: between, ink: 'quiet' });
    return {
      width,
      height: bottom + 24,
      marks,
      regions: [
        {
          x: 0,
          y: top,
          width,
          height: rows.length * row,
          pick: 'cells',
          rows: rows.length,
          columns: 1,
        },
      ],
    };
  },

  describe(data, { sentences, gauge, layer = 0 }) {
    const heads = headsOf(data);
    const [mean, pooled] = data.rows.slice(-2) as [Row, Row];
    const still = heads.filter((head) => !varies(head));
    if (still.length === heads.length) return nothingToShare(data.tokens.length);
    const byPosition = heads.map(({ shares }) => shares[3] as number);
    const most = byPosition.indexOf(Math.max(...byPosition));
    const crossed = heads.map(({ cross }) => cross);
    const largest = crossed.indexOf(Math.max(...crossed));
    const least = crossed.indexOf(Math.min(...crossed));
    const whose = sentences === 'yours' ? 'For this sentence' : 'Over the ten sentences';
    const where =
      layer === 0
        ? ''
        : `, in layer ${layer}, by ${gauge in gaugeControl.options ? 'the direct path' : 'mechanism'}`;
    if (still.length > 0)
      return `The scores of ${listed(still.map(({ label }) => label))} do not vary along their rows. ${whose}${where}, in the ${gauge} gauge, the cross terms make up ${aboutPercent(pooled.cross)} of the variation of the others, pooled.${lengthsSentence(data)}`;
    const head = `Cross terms are ${aboutPercent(mean.cross)} of the average head, ${aboutPercent(crossed[largest] as number)} of head ${largest}.`;
    return `${head} ${whose}${where}, in the ${gauge} gauge, the cross terms make up ${aboutPercent(mean.cross)} of the average head and ${aboutPercent(pooled.cross)} of all heads’ variation pooled, but ${aboutPercent(crossed[largest] as number)} of head ${largest} and ${aboutPercent(crossed[least] as number)} of head ${least}. Head ${most} is ${aboutPercent(byPosition[most] as number)} position → position; pooled, that term has ${aboutPercent(pooled.shares[3] as number)}.${lengthsSentence(data)}`;
  },

  cells: ({ rows }) => ({ rows: rows.length, columns: 1 }),
  firstCursor: () => ({ i: 2, j: 0 }),

  readout(data, _, { i }) {
    const { label, shares, cross } = data.rows[i] as Row;
    return [
      { text: label[0]?.toUpperCase() + label.slice(1), strong: true },
      ': ',
      ...termKinds.flatMap(({ label: name, term }, kind): ReadoutPiece[] => [
        { text: `${name} ${percent(shares[kind] as number)}`, term },
        kind === termKinds.length - 1 ? '.' : ', ',
      ]),
      ` Cross terms together ${percent(cross)}.`,
    ];
  },

  remark: ({ tokens, dropped }, { sentences }) =>
    sentences === 'yours' ? sentenceRemark(tokens, dropped) : '',

  table: (data, { gauge }) => ({
    columns: ['head', ...termKinds.map(({ label }) => label), 'cross terms', 'gauge'],
    rows: data.rows.map(({ label, shares, cross }) => [label, ...shares, cross, gauge]),
  }),
};
