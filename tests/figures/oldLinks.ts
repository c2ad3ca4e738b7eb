// For each former name of a figure, a state of its day: as settings were written, and what shows it now.
export interface OldLink {
  name: string;
  was: [setting: string, text: string][];
  figure: string;
  is: Record<string, string | number | boolean>;
}

const link = (name: string, was: string, figure: string, is: OldLink['is']): OldLink => ({
  name,
  was: [...new URLSearchParams(was)],
  figure,
  is,
});

export const oldLinks: OldLink[] = [
  link('collision-error', 'vocabulary=500&words=all&bound=yes&seed=7', 'collisions', {
    of: 'lost',
    vocabulary: 500,
    looked: 'all',
    words: 'trained',
    bound: true,
    seed: 7,
  }),
  link(
    'cost',
    'model=own&d_position=32&d=512&layers=8&heads=16&vocabulary=8000&positions=1024&context=64&segments=0&pooler=no',
    'three-concats',
    {
      model: 'own',
      d_position: 32,
      d_model: 512,
      d: 64,
      layers: 8,
      heads: 16,
      vocabulary: 8000,
      pooler: false,
    },
  ),
  // A figure's own page carries what its sentence's positions need, and no more of the model.
  link(
    'mixing',
    'tokens=sentence&word=3&first=2&second=9&d=64&scale=0.5&seed=7&text=The+river+bank+was+closed,+so+she+walked+to+the+other+bank.',
    'sum',
    { of: 'channels', word: 3, first: 2, second: 9, scale: 0.5 },
  ),
  link('normalising', 'weights=seeded&head=2&gauge=raw&n=8&seed=7&centred=yes&text=hello', 'gauge', {
    of: 'parts',
    weights: 'seeded',
    head: 2,
    gauge: 'raw',
    n: 8,
    seed: 7,
    centred: true,
    text: 'hello',
  }),
  link('quoted', 'channel=-1', 'tables', { of: 'quoted', channel: '-1' }),
  link(
    'sandbox',
    'tokens=seeded&weights=seeded&positions=fairseq&scale=0.5&d=16&n=8&heads=2&head=1&seed=7&weightSeed=9&text=hello',
    'one-score',
    {
      weights: 'seeded',
      positions: 'fairseq',
      scale: 0.5,
      d: 16,
      n: 8,
      heads: 2,
      head: 1,
      seed: 7,
      weightSeed: 9,
      text: 'hello',
      layer: 'bare',
      tables: true,
      gauge: 'raw',
      centred: false,
    },
  ),
  link('shift', 'k=9&p=4&d=256&scale=0.5&seed=7', 'gram', {
    of: 'shift',
    k: 9,
    p: 4,
    d: 256,
    scale: 0.5,
    seed: 7,
  }),
  link('subspaces', 'd=256&k1=100&k2=30&seed=7', 'cosines', {
    of: 'subspaces',
    d: 256,
    k1: 100,
    k2: 30,
    seed: 7,
  }),
];
