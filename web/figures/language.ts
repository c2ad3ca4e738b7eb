// Figure “Language models”: recorded decoders that differ in how position gets in, a dot a run.
import { counted, listed, minus } from '../plot/format.js';
import { curve, linear, namedLines, plane, textAt, wrapped } from '../plot/parts.js';
import type { Ink, Mark } from '../plot/scene.js';
import type { Figure } from './figure.js';
import {
  controls,
  type Data,
  endOf,
  firstWays,
  groupOf,
  groups,
  type LanguageWay,
  type Lead,
  labelOf,
  leadOf,
  type ProjectionStart,
  type Result,
  type Row,
  type Run,
  type State,
  schemeOf,
  sentenceOf,
} from './languageRuns.js';

export { compute } from './languageRuns.js';

const trainedBy = ({ ours, device }: Result) =>
  `${ours ? 'the project’s script' : 'a first implementation'} on ${device}`;
const unitOf = ({ view }: State) => (view === 'masked' ? 'nats a hidden token' : 'bits per byte of English');
const printed = (value: number) => minus(value.toFixed(3));
const runsOf = (row: Row | undefined): Run[] => row?.results.flatMap(({ runs }) => runs) ?? [];
/** The mean curve of a result: the part of the training, and nats a token. */
const curveOf = (result: Result | undefined): (readonly [number, number])[] =>
  result?.parts.map((part, k) => [part, result.curve[k] as number] as const) ?? [];
/** At the input, adding is black and concatenating orange, as in other figures. */
const inkOf = (way: LanguageWay): Ink => {
  if (groupOf(way) === 'input') return way.startsWith('add') ? 'ink' : 'concatenated';
  return groupOf(way) === 'nowhere' ? 'quiet' : 'second';
};

/** The part of the figure of schemes that a link needs; the page's first screen fetches no more of it. */
const opened = {
  name: 'schemes',
  title: 'Other ways to say where, on the same tokens',
  controls: {
    scheme: { kind: 'choice', label: 'Scheme', options: {}, initial: 'add' },
    words: { kind: 'choice', label: 'Tokens', options: {}, initial: 'same' },
  },
} as const;

/** How the matrix of a projection starts: in a row’s name, and in a sentence. */
const startTexts: Record<ProjectionStart, { short: string; long: string }> = {
  normal: { short: 'small at the start', long: 'its matrix drawn like every other at the start' },
  'fan-in': { short: 'scaled at the start', long: 'its matrix scaled to keep lengths at the start' },
  identity: { short: 'identity at the start', long: 'its matrix leaving tokens as they are at the start' },
};
const rowLabelOf = ({ way, start, device }: Row): string =>
  [labelOf(way), ...(start ? [startTexts[start].short] : []), ...(device ? [`on ${device}`] : [])].join(', ');

/** Its label without what the label has in brackets. */
const shortOf = (way: LanguageWay) => labelOf(way).replace(/ \(.+\)/, '');
const capitalized = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** A way’s leads over adding: the project’s own, and another implementation’s. */
type Leads = [Lead | undefined, Lead | undefined];
const leadsOf = (rows: readonly Row[], way: LanguageWay): Leads => {
  const results = rows.find((row) => row.way === way)?.results ?? [];
  const [ours, others] = [true, false].map((isOurs) => results.find(({ ours }) => ours === isOurs));
  return [ours && leadOf(ours), others && leadOf(others)];
};

/** “0.019 ± 0.009”, whoever is ahead. */
const margins = ({ lead, margin }: Lead): string =>
  `${printed(Math.abs(lead))} ± ${printed(margin)}${Math.abs(lead) <= margin ? ', which includes 0' : ''}`;
const isBehind = ({ lead }: Lead) => lead < 0;
/** “0.047 ± 0.009 (0.043 ± 0.006)”, the other implementation’s in brackets. */
const byBoth = ([ours, others]: Leads): string =>
  ours ? `${margins(ours)}${others ? ` (${margins(others)})` : ''}` : '';

/** Ways whose label is no subject of a sentence. */
const subjects: Partial<Record<LanguageWay, string>> = {
  'concat-quarter': 'concatenating at the same width',
  'add-to-first-attention': 'position in the first layer’s attention only',
  'add-to-first-queries-keys': 'position in the first layer’s queries and keys only',
  'add-normalized-to-first-queries-keys': 'the same, normalized separately,',
  'add-normalized-to-queries-keys': 'position in every layer’s queries and keys',
};

/** “by 0.047 ± 0.009 (0.043 ± 0.006) after 24.6 million tokens and by …”, for every length. */
function leadsAfter(lengths: readonly (readonly Row[])[], way: LanguageWay): string {
  const parts = lengths.flatMap((rows) => {
    const leads = leadsOf(rows, way);
    const behind = leads[0] && isBehind(leads[0]) ? 'was behind ' : '';
    return leads[0]
      ? [`${behind}by ${byBoth(leads)} after ${rows[0]?.tokens.toFixed(1)} million tokens`]
      : [];
  });
  // The unit is said once in a list.
  return parts.map((part, k) => (k > 0 ? part.replace(' tokens', '') : part)).join(' and ');
}

/** How many runs each side of a lead has: “3 to 6”. */
function seedsOf(lengths: readonly (readonly Row[])[], ways: readonly LanguageWay[]): string {
  const counts = lengths.flatMap((rows) =>
    ways.flatMap((way) => leadsOf(rows, way).flatMap((lead) => (lead ? [lead.seeds, lead.addedSeeds] : []))),
  );
  return [...new Set([Math.min(...counts), Math.max(...counts)])].join(' to ');
}

/** By how much each way beat adding, a sentence for each, so that no lead stands without its tokens. */
function ahead(
  groups: { where: string; lengths: readonly (readonly Row[])[] }[],
  ways: readonly LanguageWay[],
) {
  const sentences = ways.flatMap((way) => {
    const parts = groups.flatMap(({ where, lengths }) => {
      const leads = leadsAfter(lengths, way);
      return leads ? [`${where}${leads}`] : [];
    });
    const subject = capitalized(subjects[way] ?? shortOf(way));
    return parts.length > 0 ? [` ${subject} beat adding ${parts.join('; ')}.`] : [];
  });
  const lengths = groups.flatMap((group) => group.lengths);
  return `${sentences.join('')} Bits per byte ± Welch’s 95\u202f% interval over all seeds, ${seedsOf(lengths, ways)} of each; in brackets, another implementation.`;
}

/** How far models with a projection back were from adding, for every start of its matrix that has a row. */
function projectedSentence(rows: readonly Row[]): string {
  const parts = rows.flatMap(({ way, start, results: [first] }) => {
    const lead = first && leadOf(first);
    if (way !== 'project' || !start || !lead) return [];
    const whose = first.ours ? '' : ' (another implementation)';
    const where = isBehind(lead) ? 'behind' : 'ahead';
    return [`${where} by ${margins(lead)}, ${startTexts[start].long}${whose}`];
  });
  return parts.length > 0
    ? ` Concatenated and projected back, compared with adding: ${parts.join('; ')}.`
    : '';
}

/** What another learning rate changed, and of which runs that is known. */
function rateSentence({ byRate: { most, ways, ours } }: Data): string {
  if (ways.length === 0) return ' One learning rate.';
  const code = ours ? '' : ' by the other implementation, after 24.6 million tokens';
  return ` Another learning rate, tried for ${counted(ways.length, 'way')}${code}, moved means by up to ${printed(most)}.`;
}

/** “8.4 to 9.2”, in millions. */
function weightsOf(rows: readonly Row[]): string {
  const millions = rows.flatMap(runsOf).map(({ weights }) => weights / 1e6);
  const ends = [Math.min(...millions), Math.max(...millions)].map((count) => count.toFixed(1));
  return [...new Set(ends)].join(' to ');
}

/** The rows that are in sight first, of the first length. */
const firstRows = ({ rows }: Data, { view }: State): Row[] =>
  rows.filter(
    ({ way, steps, device }) => firstWays[view].includes(way) && steps === rows[0]?.steps && !device,
  );

/** Whether every run with position in scores alone is ahead of every one with it at the input. */
const scoresLead = (rows: readonly Row[]): boolean =>
  [true, false].every((isOurs) => {
    const of = (group: keyof typeof groups) =>
      rows
        .filter(({ way }) => groupOf(way) === group)
        .flatMap(({ results }) => results.filter(({ ours }) => ours === isOurs))
        .flatMap(({ runs }) => runs.map(endOf));
    return Math.max(...of('scores')) < Math.min(...of('input'));
  });

/** Whether each step of the ladder is ahead of the one before it. */
function ladderFalls(rows: readonly Row[]): boolean {
  const steps = rows.filter(({ way }) => way !== 'concat-quarter').map(({ results }) => results);
  const before = (k: number, isOurs: boolean) =>
    steps[k]?.find(({ ours }) => ours === isOurs)?.mean ?? Infinity;
  return steps.slice(1).every((results, k) => results.every(({ ours, mean }) => mean < before(k, ours)));
}

function headOf(rows: readonly Row[], { view }: State): string {
  if (view === 'ladder')
    return ladderFalls(rows) ? 'In this small model each step to every layer’s scores gained.' : '';
  return scoresLead(rows) ? 'Position in every layer’s scores did better than at the input.' : '';
}

/** What concatenating and adding came to, at each length of the masked models. */
function maskedTo({ rows }: Data): string {
  const sentences = [...new Set(rows.map(({ steps }) => steps))].map((steps) => {
    const rowsThen = rows.filter((row) => row.steps === steps);
    const [added, other] = ['add', 'concat-quarter'].map((name) => rowsThen.find(({ way }) => way === name));
    const [ends, others] = [added, other].map((row) => runsOf(row).map(endOf)) as [number[], number[]];
    if (!added || !other) return '';
    const least = Math.min(...ends);
    // A run that learned next to nothing says more than a mean with it.
    const far = ends.filter((value) => value > least + 1).map((value) => value.toFixed(2));
    const still = far[0] ? `; ${far.length} of these stayed at ${listed(far)}, so no mean` : '';
    const lead = other.results[0] && leadOf(other.results[0]);
    const means = [other, added].map(({ results }) => printed(results[0]?.mean ?? Number.NaN));
    const came =
      Math.max(...others) < least
        ? `each concatenated run was below all ${ends.length} added ones`
        : `means were ${means[0]} concatenated, ${means[1]} added${lead ? `, a lead of ${margins(lead)}` : ''}`;
    return ` After ${steps.toLocaleString('en')} steps, ${added.tokens.toFixed(1)} million tokens, ${came}${still}.`;
  });
  return sentences.join('');
}

/** Where everything stands: rows below the headings of their groups, the best of a group last. */
function placed({ rows }: Data, state: State, width: number) {
  const beside = width >= 560;
  const [left, right] = [beside ? 216 : 20, width - 56];
  const values = rows.flatMap(runsOf).map(endOf);
  const least = Math.min(...values);
  // A run that learned next to nothing would leave no room for the others.
  const near = values.filter((value) => value < least + 1);
  const pad = 0.05 * (Math.max(...near) - least) || 0.1;
  const x = linear([least - pad, Math.max(...near) + pad], [left, right]);
  const meanOf = ({ results }: Row) => results[0]?.mean ?? Number.NaN;
  const order = Object.keys(groups);
  // Not entries(), which is another function on pages with Prototype.js.
  const sorted = rows
    .map((row, i) => [i, row] as const)
    .sort(([, a], [, b]) => {
      if (state.view === 'ladder') return 0;
      const group = order.indexOf(groupOf(a.way)) - order.indexOf(groupOf(b.way));
      return a.steps - b.steps || group || meanOf(b) - meanOf(a);
    });
  const several = new Set(rows.map(({ steps }) => steps)).size > 1;
  let y = 24;
  let before = '';
  const items = sorted.map(([i, row]) => {
    const group = `${groups[groupOf(row.way)]}${several ? `, ${row.steps.toLocaleString('en')} steps` : ''}`;
    const heading = group === before ? [] : wrapped(group, beside ? left + 60 : width, 7.3);
    const headings = heading.map((text, k) => textAt(0, y + 16 + 17 * k, text));
    if (heading.length > 0) y += 7 + 17 * heading.length;
    before = group;
    const name = { y: y + 16, lines: beside ? wrapped(rowLabelOf(row), left - 24) : [rowLabelOf(row)] };
    const top = beside ? y : y + 20;
    const dots = row.results.map((result, k) => {
      const middle = top + 13 + pitch * k;
      const across = result.runs.map((run) => Math.min(right, x(endOf(run))));
      const up = spread(across);
      return { ...result, y: middle, at: across.map((x, run) => ({ x, y: middle + (up[run] as number) })) };
    });
    y = Math.max(top + pitch * dots.length + 8, y + 18 * name.lines.length + 8);
    return { i, row, headings, name, dots };
  });
  return { x, beside, left, right, items, bottom: y + 4 };
}

/**
 * Pixels from one implementation's dots to the next's, and a dot's radius: three of them fit above one
 * another.
 */
const pitch = 20;
const radius = 3.2;
/** How far each dot stands up or down from its line, so that it covers no other. */
function spread(xs: readonly number[]): number[] {
  const last = [-Infinity, -Infinity, -Infinity];
  const offsets = xs.map(() => 0);
  for (const [k, x] of xs.map((x, k) => [k, x] as const).sort(([, a], [, b]) => a - b)) {
    const clear = last.map((before) => Math.min(2 * radius + 0.8, x - before));
    const level = clear.indexOf(Math.max(...clear));
    last[level] = x;
    offsets[k] = [0, -6.6, 6.6][level] as number;
  }
  return offsets;
}

const disc = ({ x, y }: { x: number; y: number }) =>
  `M${(x - radius).toFixed(1)},${y}a${radius},${radius} 0 1,0 ${2 * radius},0a${radius},${radius} 0 1,0 ${-2 * radius},0Z`;

function drawRows(data: Data, state: State, width: number) {
  const { x, beside, left, right, items, bottom } = placed(data, state, width);
  const ticks = x.ticks(width < 560 ? 4 : 6);
  const digits = Math.max(...ticks.map((tick) => String(Number(tick.toFixed(3))).split('.')[1]?.length ?? 0));
  // Names that stand above their dots are not crossed.
  const lines = beside
    ? [[24, bottom]]
    : items.map(({ dots }) => [(dots[0]?.y ?? 0) - 10, (dots.at(-1)?.y ?? 0) + 10]);
  const marks: Mark[] = ticks.flatMap((tick): Mark[] => [
    ...lines.map(([y1 = 0, y2 = 0]): Mark => ({ mark: 'line', x1: x(tick), x2: x(tick), y1, y2 })),
    textAt(x(tick), bottom + 16, tick.toFixed(digits), { anchor: 'middle' }),
  ]);
  const points = { x: [] as number[], y: [] as number[], cursors: [] as { i: number; j: number }[] };
  for (const { i, row, headings, name, dots } of items) {
    const ink = inkOf(row.way);
    marks.push(...headings);
    const bold = ink !== 'second' && ink !== 'quiet';
    name.lines.forEach((line, k) => {
      marks.push(textAt(8, name.y + 17 * k, line, { ink: 'ink', size: 13, bold }));
    });
    let j = 0;
    for (const { ours, runs, mean, y, at } of dots) {
      marks.push({ mark: 'path', d: at.map(disc).join(''), [ours ? 'fill' : 'stroke']: ink, wide: 1.2 });
      // With a run beyond the axis, a mean would stand where no run is.
      const far = runs.map(endOf).find((value) => x(value) > right);
      const label = far === undefined ? printed(mean) : `${far.toFixed(2)} →`;
      if (far === undefined)
        marks.push({ mark: 'line', x1: x(mean), x2: x(mean), y1: y - 9, y2: y + 9, ink, wide: 2 });
      marks.push(textAt(width, y + 5, label, { anchor: 'end', ink: ours ? 'ink' : 'quiet' }));
      for (const dot of at) {
        points.x.push(dot.x);
        points.y.push(dot.y);
        points.cursors.push({ i, j: j++ });
      }
    }
  }
  const signs = Object.entries({ '●': true, '○': false }).flatMap(([sign, isOurs]) =>
    data.rows.some(({ results }) => results.some(({ ours }) => ours === isOurs)) ? [sign] : [],
  );
  const key = `${signs.join(' ')} ${signs.length > 1 ? 'two implementations' : 'a run'}`;
  marks.push(
    // Short enough for a phone.
    textAt(0, 14, `${key}  | mean`),
    textAt(width, bottom + 34, `← better · ${unitOf(state)}`, { anchor: 'end' }),
  );
  const area = { x: left, y: 24, width: right - left, height: bottom - 24 };
  return { width, height: bottom + 40, marks, regions: [{ ...area, rows: 0, columns: 0, pick: { points } }] };
}

/**
 * A line a way: the mean curve of the project’s script, or of the first implementation where it alone has
 * runs.
 */
function drawCurves(data: Data, state: State, width: number) {
  const { parts } = data;
  const lines = firstRows(data, state).map(({ way, results }) => ({
    label: shortOf(way),
    ink: inkOf(way),
    curve: curveOf(results[0]),
  }));
  const named = namedLines({ x: 0, y: 0, width, height: 340 }, lines, 330);
  const values = lines.flatMap(({ curve }) => curve.map(([, loss]) => loss));
  const across = { from: 0, to: parts.at(-1) ?? 1, label: 'part of the training', nice: false };
  const up = { from: Math.min(...values), to: Math.max(...values), label: 'nats a token, not bits per byte' };
  const drawn = plane(named.area, across, up);
  const marks = lines.map(
    (line): Mark =>
      curve(
        drawn,
        line.curve.map(([part]) => part),
        line.curve.map(([, loss]) => loss),
        { stroke: line.ink, wide: 2 },
      ),
  );
  const points = {
    x: parts.map(drawn.x),
    y: parts.map(() => drawn.inner.y + drawn.inner.height),
    cursors: parts.map((_, j) => ({ i: 0, j })),
  };
  const ends = lines.map((line) => drawn.y(line.curve.at(-1)?.[1] ?? Number.NaN));
  return {
    width,
    height: named.area.height + named.below,
    marks: [...drawn.marks, ...marks, ...named.names(drawn, ends)],
    regions: [{ ...drawn.inner, rows: 0, columns: 0, pick: { points } }],
  };
}

export const figure: Figure<typeof controls, Data> = {
  name: 'language',
  title: 'Language models that differ in how position gets in',
  controls,
  source: () => 'recorded',

  scene: (data, state, width) =>
    state.curves ? drawCurves(data, state, width) : drawRows(data, state, width),

  describe(data, state) {
    const first = firstRows(data, state);
    const added = first.find(({ way }) => way === 'add');
    if (!added) return 'The file has no runs of added positions here.';
    const weights = ` The models have ${weightsOf(data.rows)} million weights.`;
    const curves = state.curves
      ? ` The curves are in nats a token, on the first 256 windows; the last look is after ${data.parts.at(-1)} of the training.`
      : '';
    if (state.view === 'masked')
      return `${headOf(first, state)} No causal mask; the models guess hidden tokens.${maskedTo(data)}${weights}${curves}`.trim();
    const shown = firstWays[state.view].filter((way) => !['add', 'none'].includes(way));
    const larger = [data.larger.short, data.larger.long];
    const steps = [...new Set(data.rows.map((row) => row.steps))];
    const small = steps.map((length) => data.rows.filter((row) => row.steps === length));
    const leads = ahead(
      state.view === 'ladder'
        ? [
            { where: '', lengths: small },
            { where: 'in larger models ', lengths: larger },
          ]
        : [{ where: '', lengths: larger }],
      shown,
    );
    const rest = state.ways === 'all' ? projectedSentence(data.rows) + rateSentence(data) : '';
    return `${headOf(first, state)}${leads}${weights}${rest}${curves}`.trim();
  },

  cells: ({ rows, parts }, { curves }) =>
    curves
      ? { rows: 1, columns: parts.length }
      : { rows: rows.length, columns: Math.max(...rows.map((row) => runsOf(row).length)) },
  follows: ['view', 'ways', 'curves'],
  firstCursor: ({ rows }, { curves }) => ({
    i: curves
      ? 0
      : Math.max(
          0,
          rows.findIndex(({ way }) => way === 'add'),
        ),
    j: 0,
  }),
  /** Of masked models the few are all, and curves are of few. */
  unused: ({ view, curves }) => (view === 'masked' || curves ? ['ways'] : []),

  readout(data, state, { i, j }) {
    if (state.curves) {
      const part = data.parts[j] as number;
      const at = firstRows(data, state).flatMap(({ way, results }) => {
        const loss = curveOf(results[0]).find(([at]) => at === part)?.[1];
        return loss === undefined ? [] : [`${labelOf(way)} ${printed(loss)}`];
      });
      return [{ text: `After ${part} of the training`, strong: true }, `, nats a token: ${at.join('; ')}.`];
    }
    const row = data.rows[i];
    const run = runsOf(row)[j];
    if (!row) return [];
    const result = row.results.find(({ runs }) => runs.includes(run as Run));
    const lead = result && leadOf(result);
    const beside = lead
      ? ` All ${lead.seeds} seeds beside all ${lead.addedSeeds} of adding: ${isBehind(lead) ? 'behind' : 'ahead'} by ${margins(lead)}.`
      : '';
    const started = run?.start ? `, ${startTexts[run.start].long}` : '';
    const details =
      run && result
        ? ` Seed ${run.seed}, ${trainedBy(result)}: ${printed(endOf(run))} ${unitOf(state)}, ${run.weights.toLocaleString('en')} weights${started}.${beside}`
        : ' No further run.';
    return [{ text: rowLabelOf(row), strong: true }, `: ${sentenceOf(row.way)}${details}`];
  },

  /** Joins the runs of one seed. */
  focus(data, state, { i, j }, width) {
    const run = runsOf(data.rows[i])[j];
    if (!run || state.curves) return [];
    const same = placed(data, state, width).items.flatMap(({ dots }) =>
      dots.flatMap(({ runs, at }) =>
        at.flatMap(({ x, y }, k) => {
          const { seed, source, steps } = runs[k] as Run;
          return seed === run.seed && source === run.source && steps === run.steps ? [`${x},${y}`] : [];
        }),
      ),
    );
    return [{ mark: 'path', d: `M${same.join('L')}`, stroke: 'quiet', wide: 1.5, dashed: true }];
  },

  opens: ({ rows }, { curves }, { i }) =>
    curves || !rows[i]
      ? undefined
      : {
          figure: opened,
          // Without positions, scores of one token repeated are all the same.
          state: {
            scheme: schemeOf(rows[i].way),
            words: groupOf(rows[i].way) === 'nowhere' ? 'many' : 'same',
          },
          label: `Scores of “${shortOf(rows[i].way)}” with random weights, taken apart`,
        },

  remark: ({ problems }) => problems.join(' '),

  table: ({ rows, parts }) => ({
    columns: [
      ...[
        'way',
        'position gets in',
        'implementation',
        'steps',
        'seed',
        'weights',
        'nats a token',
        'bits per byte',
        'ahead of adding',
        '± 95 % (Welch)',
      ],
      ...parts.map((part) => `nats at ${part}`),
    ],
    rows: rows.flatMap((row) =>
      row.results.flatMap((result) =>
        result.runs.map(({ steps, seed, weights, loss, bitsPerByte = '', losses }) => [
          ...[rowLabelOf(row), groups[groupOf(row.way)], trainedBy(result), steps, seed],
          ...[weights, loss, bitsPerByte, result.lead ?? '', result.margin ?? ''],
          ...parts.map((part) => losses[result.parts.indexOf(part)] ?? ''),
        ]),
      ),
    ),
  }),
};
