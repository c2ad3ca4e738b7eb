// Names that figures and schemes had once: whoever uses one, in a link, an attribute, an address or a command, is
// led to what shows the same today.

/** Schemes’ ids of today by former ones. */
export const formerSchemes: Readonly<Record<string, string>> = {
  added: 'add',
  'concatenated-raw': 'concat-raw',
  'concatenated-full': 'concat-full',
  'concatenated-block-diagonal': 'concat-block-diagonal',
  wide_concat: 'concat-wide',
  wide: 'concat-wide',
  widened: 'concat-wide',
  divided: 'concat',
  every_layer: 'every-layer',
  row_gate: 'row-gate',
  sinusoid: 'add-sinusoid',
  frozen: 'add-frozen',
  floor: 'zero',
};

export type Settings = [name: string, text: string][];

interface Today {
  figure: string;
  /** Settings that make it show what the former figure showed. */
  shows?: Readonly<Record<string, string>>;
  /** What settings of the former figure are called; “” for one that there is no more. */
  renamed?: Readonly<Record<string, string>>;
  /** Settings that several of the former ones make together. */
  together?(given: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
}

export const formerNames: Readonly<Record<string, Today>> = {
  'collision-error': { figure: 'collisions', shows: { of: 'lost' }, renamed: { words: 'looked' } },
  cost: { figure: 'three-concats', renamed: { d: 'd_model' } },
  mixing: {
    figure: 'sum',
    shows: { of: 'channels' },
    // Its drawn tokens are gone: the rows are the sentence’s.
    renamed: { tokens: '', d: '', seed: '' },
  },
  normalising: { figure: 'gauge', shows: { of: 'parts', head: '3' } },
  quoted: { figure: 'tables', shows: { of: 'quoted' } },
  sandbox: {
    figure: 'one-score',
    shows: {
      weights: 'seeded',
      head: '0',
      gauge: 'raw',
      centred: 'no',
      tables: 'yes',
      positions: 'paper',
      layer: 'bare',
      d: '64',
      n: '24',
      heads: '4',
    },
    renamed: { tokens: '' },
    together: ({ tokens, weights, positions }) => ({
      ...((tokens || weights) && {
        weights: tokens !== 'sentence' ? 'seeded' : weights === 'trained' ? 'trained' : 'mixed',
      }),
      // A sentence had the model’s own.
      ...(tokens === 'sentence' && positions === 'learned' && { positions: 'own' }),
    }),
  },
  'own-table-sandbox': {
    figure: 'own-table-one-score',
    shows: { gauge: 'raw', centred: 'no', tables: 'yes', layer: 'bare' },
  },
  shift: { figure: 'gram', shows: { of: 'shift', d: '64' } },
  subspaces: { figure: 'cosines', shows: { of: 'subspaces' } },
  'own-table-subspaces': { figure: 'own-table-cosines' },
};

const formerly = (figure: string): Today | undefined =>
  Object.hasOwn(formerNames, figure) ? formerNames[figure] : undefined;

/** A setting's name of today; “” if it is no more. */
function nameOf(figure: string, setting: string): string {
  const names = formerly(figure)?.renamed ?? {};
  return Object.hasOwn(names, setting) ? (names[setting] as string) : setting;
}

/** A list of settings that the reader can change, by their names of today. */
export const keptOf = (figure: string, keep: string): string[] =>
  keep
    .split(/\s+/)
    .map((setting) => nameOf(figure, setting))
    .filter(Boolean);

/** A figure's settings under their names of today; a frame's address has a list of such names among them. */
export function renamed(figure: string, settings: Settings): Settings {
  return settings.flatMap(([setting, text]): Settings => {
    const now = nameOf(figure, setting);
    if (setting === 'keep') return [[setting, keptOf(figure, text).join(' ')]];
    return now === '' ? [] : [[now, text]];
  });
}

/** The figure that a name stands for today, with its settings; a name that is no former one stays. */
export function today(figure: string, settings: Settings = []): { figure: string; settings: Settings } {
  const found = formerly(figure);
  if (!found) return { figure, settings };
  const together = found.together?.(Object.fromEntries(settings)) ?? {};
  const given = [
    ...renamed(figure, settings).filter(([name]) => !Object.hasOwn(together, name)),
    ...Object.entries(together),
  ];
  const names = new Set(given.map(([name]) => name));
  const shows = Object.entries(found.shows ?? {}).filter(([name]) => !names.has(name));
  return { figure: found.figure, settings: [...shows, ...given] };
}

/** What a setting of today was called in the figure of that name. */
export function formerSetting(figure: string, setting: string): string {
  const names = formerly(figure)?.renamed ?? {};
  return Object.keys(names).find((was) => names[was] === setting) ?? setting;
}
