// Encoders in the module's memory: what a caller gives is checked here, and what comes back gets its names.
import type { Heads } from '../../wasm/bound.js';
import * as check from '../check.js';
import { held } from '../handle.js';
import type { RawModule } from '../module.js';
import {
  checkedNames,
  checkedNormalization,
  checkedTables,
  type Normalization,
} from '../scores/decompose.js';
import { checkedGauge } from '../scores/gauge.js';
import { fitsScores, type Scores } from '../scores/scores.js';
import { type Floats, type FloatsOf, type Linear, type Precision, type Table, table } from '../table.js';
import { checkedMeans, checkedParts, checkedRotary } from './encoderChecks.js';
import {
  activationNames,
  type Encoder,
  type EncoderApi,
  type EncoderDecomposeInput,
  type EncoderForward,
  type EncoderInput,
  type ForwardInput,
  type OutputVariation,
  type ScoreMeans,
  type StateMeans,
  ways,
} from './encoderTypes.js';
import { inside, positionMeans } from './positionMeans.js';
import { inSteps, type ReadLayer, type ReadMap, type ReadTensor, type Steps } from './steps.js';
import { breath } from './watch.js';

export type * from './encoderTypes.js';

const layerMembers = ['query', 'key', 'value', 'output', 'up', 'gate', 'down'] as const;
const noNorm = { kind: 0, gamma: undefined, beta: undefined, epsilon: 0 };

/** How many multiplications a forward goes on for before it looks at its signal: ten milliseconds or so. */
const stepLength = 2 ** 28;

const isRead = <A extends Floats>(map: unknown): map is ReadMap<A> =>
  typeof (map as ReadMap<A> | undefined)?.weight?.read === 'function';

export function encoderApi(raw: RawModule): EncoderApi {
  return {
    encoder<P extends Precision = 'float32'>(input: EncoderInput<P>): Encoder<FloatsOf<P>> {
      return encoderOf<FloatsOf<P>>(raw, input as EncoderInput<Precision>);
    },
    positionMeans: (input) => positionMeans(raw, input),
  };
}

function encoderOf<A extends Floats>(raw: RawModule, input: EncoderInput<Precision>): Encoder<A> {
  check.object('input', input);
  const d = check.integer('d_model', input.d_model, 1);
  const precision = check.precision(input.precision ?? 'float32');
  const single = precision === 'float32';
  const d_head =
    input.d_head === undefined
      ? check.headWidth(input.heads, d, 'd_model', 'channels')
      : check.integer('d_head', input.d_head, 1);
  const heads = check.integer('heads', input.heads, 1);
  const keyHeads = check.integer('keyHeads', input.keyHeads ?? heads, 1);
  if (heads % keyHeads !== 0)
    throw new RangeError(`keyHeads must divide the ${heads} heads; ${keyHeads} does not.`);
  const [ofQueries, ofKeys] = [heads * d_head, keyHeads * d_head];
  const norm = check.placeOf('norm', input.norm ?? 'post', ['post', 'pre']);
  const activation = check.placeOf('activation', input.activation ?? 'gelu', activationNames);
  const causal = check.flag('causal', input.causal ?? false);
  const like = (single ? new Float32Array() : new Float64Array()) as Floats as A;
  const suffix = single ? 'F32' : 'F64';
  const normOf = (name: string, given: Normalization | undefined, columns: number) => {
    if (given === undefined) return noNorm;
    const checked = checkedNormalization(given, columns, single, name);
    check.samePrecision({
      precision: like,
      [`${name}.gamma`]: checked.gamma,
      [`${name}.beta`]: checked.beta,
    });
    return checked;
  };
  const embeddingNorm = normOf('embeddingNorm', input.embeddingNorm, d);
  const finalNorm = normOf('finalNorm', input.finalNorm, d);

  const mine = held(
    raw,
    'encoder',
    0,
    () =>
      raw[`encoder${suffix}`]({
        heads,
        keyHeads,
        preNorm: norm === 1,
        causal,
        activation,
        embeddingNorm,
        finalNorm,
      }),
    (address) => raw[`deleteEncoder${suffix}`](address),
  );
  let layers = 0;
  /** The most values a token has inside an MLP. */
  let widest = 0;
  let newest: object | undefined;
  // Memory held by the layers and the last forward.
  const releases: (() => void)[] = [];
  let [heldByRun, releaseRun] = [0, () => {}];
  const releaseAll = () => {
    raw.kept.delete(releaseAll);
    newest = undefined;
    for (const release of [releaseRun, ...releases]) release();
  };
  raw.kept.add(releaseAll);
  const alive = () => mine.address();
  const free = () => {
    mine.handle.delete();
    releaseAll();
  };

  /** Lets go of what is under way. */
  const stop = () => {
    if (mine.handle.isAlive()) raw[`stopEncoder${suffix}`](mine.address());
  };

  /** Checks a layer, and places its maps but for those that are still to be read, which it hands back by tensor. */
  const begunLayer = (layer: ReadLayer<A>) => {
    const encoder = alive();
    check.object('layer', layer);
    const inner = layer.up?.weight?.rows;
    const shape: Record<(typeof layerMembers)[number], check.Extents> = {
      query: { rows: ofQueries, columns: d },
      key: { rows: ofKeys, columns: d },
      value: { rows: ofKeys, columns: d },
      output: { rows: d, columns: ofQueries },
      up: { columns: d },
      gate: { rows: inner, columns: d },
      down: { rows: d, columns: inner },
    };
    const maps: [place: number, map: Linear<A> | ReadMap<A>][] = [];
    let [bytes, copied] = [0, 0];
    for (const [place, name] of layerMembers.entries()) {
      const map = layer[name];
      if (name === 'gate' && map === undefined) continue;
      if (!isRead(map)) {
        const { weight, bias } = check.linear(name, map, shape[name]);
        check.samePrecision({
          precision: like,
          [`${name}.weight.data`]: weight.data,
          [`${name}.bias`]: bias,
        });
        copied = Math.max(copied, weight.data.byteLength);
      }
      const found = map as Linear<A> | ReadMap<A>;
      maps.push([place, found]);
      bytes += found.weight.rows * found.weight.columns * like.BYTES_PER_ELEMENT;
    }
    const checked = {
      attentionNorm: normOf('attentionNorm', layer.attentionNorm, d),
      mlpNorm: normOf('mlpNorm', layer.mlpNorm, d),
      queryNorm: normOf('queryNorm', layer.queryNorm, d_head),
      keyNorm: normOf('keyNorm', layer.keyNorm, d_head),
      frequencies: checkedRotary(layer.rotary, d_head),
    };
    // While a map is placed, a copy exists beside what stays.
    check.fits(`A layer of ${d} channels`, bytes + copied);
    const release = check.hold(bytes);
    releases.push(release);
    const read = (place: number, rows: Table<A>, from: number) =>
      raw[`readEncoderMap${suffix}`](alive(), place, rows, from);
    const tensors = new Map<ReadTensor<A>, number[]>();
    for (const [place, map] of maps) {
      const { rows, columns } = map.weight;
      const alone = { place: 0, of: 1, transposed: false, bias: map.bias };
      raw[`beginEncoderMap${suffix}`](encoder, place, rows, columns, isRead(map) ? map : alone);
      if (!isRead(map)) read(place, map.weight, 0);
      else tensors.set(map.weight.read, [...(tensors.get(map.weight.read) ?? []), place]);
    }
    return {
      tensors,
      read,
      end() {
        raw[`addEncoderLayer${suffix}`](alive(), checked);
        widest = Math.max(widest, (layer.gate ? 2 : 1) * (inner as number));
        layers += 1;
      },
      drop() {
        release();
        stop();
      },
    };
  };

  /** Checks what a forward is given; `begin` begins it, and `end` says what came of it. */
  const begunForward = (summands: Readonly<Record<string, Table<A>>>, given: ForwardInput<A> = {}) => {
    const encoder = alive();
    check.object('summands', summands);
    const names = checkedNames(Object.keys(summands));
    const taken = names.find((name) => ['attention', 'mlp'].includes(name));
    if (taken) throw new RangeError(`No summand may be named '${taken}': that is a part of its own.`);
    const { rows: n, data } = checkedTables(summands, names, d);
    check.samePrecision({ precision: like, summands: data });
    if (n === 0) check.refuseCount('summands', 'at least 1 row', 0);
    check.object('input', given);
    const through = check.integer('layers', given.layers ?? layers, 0, layers);
    const { attended, withheld } = given;
    const trace = check.flag('scores', given.scores ?? true);
    const projections = check.flag('projections', given.projections ?? false);
    if (attended !== undefined) {
      if (!Array.isArray(attended)) check.refuse('attended', `a list of ${n} flags`, attended, false);
      if (attended.length !== n) check.refuseCount('attended', `${n} flags`, attended.length);
      for (const one of attended) check.flag('an entry of attended', one);
      if (!attended.includes(true)) throw new RangeError('attended must leave a token; it leaves none.');
    }
    const taking = (name: string, one: Table<A>) => {
      check.table(name, one, { rows: n, columns: d });
      check.samePrecision({ precision: like, [`${name}.data`]: one.data });
    };
    const byLayer = <T>(
      name: 'unread' | 'uncarried' | 'attention',
      ask: (name: string, one: T) => void,
    ): (T | undefined)[] => {
      const rows = given[name] ?? {};
      check.object(name, rows);
      const all = Array<T | undefined>(through).fill(undefined);
      for (const [layer, one] of Object.entries(rows)) {
        const place = check.index(`a layer of ${name}`, Number(layer), through);
        ask(`${name}.${layer}`, one as T);
        all[place] = one as T;
      }
      return all;
    };
    const unread = byLayer<Table<A>>('unread', taking);
    const uncarried = byLayer<Table<A>>('uncarried', taking);
    const attention = byLayer<A>('attention', (name, weights) => {
      check.floats(name, weights, heads * n * n);
      check.samePrecision({ precision: like, [name]: weights });
    });
    const altered = [unread, uncarried, attention].some((layers) => layers.some((one) => one !== undefined));
    if (withheld !== undefined) taking('withheld', withheld);
    const cells = through * n;
    const kept =
      (trace ? cells * (2 * heads * n + 4 * d + ofQueries + ofKeys) : cells * d) +
      (projections ? cells * (ofQueries + ofKeys) : 0);
    // A traced run also keeps the parts that were asked for last.
    const parts = trace && through > 0 ? (names.length + 3) * n * d : 0;
    const within = 7 * d + Math.max(2 * ofQueries + 3 * ofKeys, widest) + 2 * n;
    const bytes = (kept + parts + n * within + names.length * n * d) * like.BYTES_PER_ELEMENT;
    // The last forward makes room for this one, but stays if that is refused.
    releaseRun();
    try {
      check.fits(`A forward of ${n} tokens through ${through} layers`, bytes);
      heldByRun = bytes;
    } finally {
      releaseRun = check.hold(heldByRun);
    }
    const asked = {
      layers: through,
      trace,
      projections,
      attended: attended?.map(Number),
      unread,
      uncarried,
      attention: attention.map((weights) => weights && table(weights, heads * n, n)),
      withheld,
    };
    const begin = (multiplications: number): A | undefined => {
      newest = undefined;
      const tables = names.map((name) => summands[name] as Table<A>);
      return raw[`runEncoder${suffix}`](encoder, tables, asked, multiplications) as A | undefined;
    };
    const end = (pooled: A) => {
      const here = () => {
        const now = alive();
        if (newest !== found) {
          throw new Error(
            'The encoder has run again since; take what is wanted of a forward before the next.',
          );
        }
        return now;
      };
      const traced = () => {
        const now = here();
        if (!trace) throw new Error('This forward kept no scores; run it with scores: true.');
        return now;
      };
      const scoresOf = (layer: number, only: readonly number[] | undefined, attention: boolean): A => {
        const now = traced();
        check.index('layer', layer, through);
        const chosen = check.chosenHeads(only, heads);
        return raw[`encoderScores${suffix}`](now, layer, attention, chosen) as A;
      };
      const stateAt = (now: number, count: number) =>
        table(raw[`encoderState${suffix}`](now, count) as A, n, d);
      const found: EncoderForward<A> = {
        n,
        layers: through,
        summands: names,
        embeddings: table(pooled, through + 1, d),
        embedding: pooled.subarray(through * d) as A,
        state: (count) => stateAt(here(), check.integer('layers', count, 0, through)),
        last: () => stateAt(here(), -1),
        logits: (layer, only) => scoresOf(layer, only, false),
        attention: (layer, only) => scoresOf(layer, only, true),
        decompose(wanted) {
          if (wanted?.way === 'mechanism') return byMechanism(wanted);
          const { now, of, named } = partsOf(wanted);
          const widest = 2 * Math.max(d, ofQueries);
          fitsScores(n, of.parts, named.heads.length, widest, like);
          const result = raw[`decomposeEncoder${suffix}`](now, ...of.call, named.heads) as Heads<A>;
          return { n, parts: of.names, ...named, causal, ...result };
        },
        parts(wanted) {
          const { now, of } = partsOf(wanted);
          check.fits(`The ${of.parts} parts of ${n} tokens`, 4 * of.parts * n * d * like.BYTES_PER_ELEMENT);
          const found = raw[`encoderParts${suffix}`](now, ...of.call);
          const constant = of.names[of.constant] as string;
          const names = [...of.names.filter((name) => name !== constant), constant];
          const rows = (place: number) => found.slice(place * n * d, (place + 1) * n * d) as A;
          return Object.fromEntries(names.map((name, place) => [name, table(rows(place), n, d)]));
        },
        headOutputs(wanted) {
          const { now, of, named } = partsOf(wanted);
          const withOutputs = check.flag('outputs', wanted.outputs ?? false);
          const constant = of.names[of.constant] as string;
          const others = of.names.filter((name) => name !== constant);
          const contrast = named.apart.length > 0 && named.gauge !== 'raw';
          const parts = [...others, ...(contrast ? ['apart'] : []), constant];
          if (others.includes('apart') && contrast) {
            throw new RangeError(
              "No group may be named 'apart': the rows that stand apart are a part of their own.",
            );
          }
          const widest = Math.max(d, ofQueries);
          const values = (2 * of.parts + 3 * parts.length + 8) * n * widest + 4 * d * widest;
          const results = named.heads.length * ((withOutputs ? parts.length * n * d : 0) + n * n);
          check.fits(
            `The outputs of ${named.heads.length} heads in ${parts.length} parts for ${n} tokens`,
            8 * (values + 2 * results),
          );
          const found = raw[`encoderOutputs${suffix}`](now, ...of.call, named.heads, withOutputs);
          const count = named.heads.length;
          // The heads’ rows and then the layer’s, over queries and then from uniform.
          const cut = (all: Float64Array, kind: number, width: number): [Float64Array, Float64Array] => {
            const from = kind * (count + 1) * width;
            const layer = from + count * width;
            return [all.slice(from, layer), all.slice(layer, layer + width)];
          };
          const variation = (kind: number, place: 0 | 1): OutputVariation => ({
            shares: cut(found.shares, kind, parts.length)[place],
            covariances: cut(found.covariances, kind, parts.length)[place],
            variances: cut(found.variances, kind, 1)[place],
          });
          const both = (place: 0 | 1) => ({
            overQueries: variation(0, place),
            fromUniform: variation(1, place),
            residuals: cut(found.residuals, 0, 1)[place],
          });
          const { weighted, outputs } = found;
          return { n, parts, ...named, ...both(0), layer: both(1), weighted, outputs };
        },
      };
      /** Refuses a forward whose scores are not those of its summands. */
      const whole = () => {
        const now = traced();
        if (attended?.includes(false)) {
          throw new Error('A padded sentence has the terms of the sentence without padding; run that.');
        }
        // What was subtracted or replaced is no part of the summands, so nothing would add up.
        if (withheld !== undefined || altered) {
          throw new Error(
            'The scores of a forward with withheld, unread, uncarried or attention are not those of its summands; run it without them.',
          );
        }
        return now;
      };
      const mechanismOf = (wanted: EncoderDecomposeInput<A>) => {
        const now = whole();
        const layer = check.index('layer', wanted.layer, through);
        const only = check.chosenHeads(wanted.only, heads);
        const { groups } = checkedParts(names, wanted);
        if ((wanted.gauge ?? 'canonical') !== 'canonical' || wanted.apart !== undefined) {
          throw new RangeError(
            "The way 'mechanism' takes its gauge and the rows that stand apart from its means; leave out gauge and apart.",
          );
        }
        check.object('means', wanted.means);
        const { query, key } = wanted.means as ScoreMeans<A>;
        const means = {
          query: checkedMeans(query, n, ofQueries, like, 'means.query'),
          key: checkedMeans(key, n, ofKeys, like, 'means.key'),
        };
        if (means.query.first !== means.key.first)
          check.refuse('means.key.first', `${means.query.first}, as means.query.first is`, means.key.first);
        const apart = Array.from({ length: Math.min(n, means.query.first as number) }, (_, row) => row);
        const parts = groups.names;
        // Terms are formed in double, from copies of queries, keys and their means.
        fitsScores(n, parts.length, only.length, 2 * Math.max(d, ofQueries), like);
        check.fits(`${n} tokens by mechanism`, 8 * (24 * n * n + 8 * n * (ofQueries + ofKeys)));
        const call = [now, layer, means, apart, groups.of, parts.length, only] as const;
        return { call, named: { heads: only, parts } };
      };
      const byMechanism = (wanted: EncoderDecomposeInput<A>): Scores<A> => {
        const { call, named } = mechanismOf(wanted);
        const [, , , apart] = call;
        const found = raw[`mechanism${suffix}`](...call) as Heads<A>;
        return { n, ...named, gauge: 'canonical', apart, causal, ...found };
      };
      /** What decompose() and headOutputs() hand on of the layer's parts. */
      const partsOf = (wanted: EncoderDecomposeInput<A>) => {
        const now = whole();
        check.object('input', wanted);
        const layer = check.index('layer', wanted.layer, through);
        const { way, groups } = checkedParts(names, wanted);
        if (ways[way] === 'mechanism')
          throw new RangeError("The way 'mechanism' splits scores alone, not what a layer reads or writes.");
        const only = check.chosenHeads(wanted.only, heads);
        const byMeans = ways[way] === 'mean';
        const means = byMeans ? checkedMeans(wanted.means as StateMeans<A>, n, d, like) : undefined;
        const gauge = checkedGauge(wanted, names, d, like, n);
        if (byMeans && gauge.name === 'means') {
          throw new RangeError("gauge must be 'raw' or 'canonical' for the way 'mean', which has its means.");
        }
        const call = [layer, way, means, gauge, groups.of, groups.names.length] as const;
        const constant = groups.of.at(-1) as number;
        return {
          now,
          of: { call, names: groups.names, parts: groups.of.length, constant },
          named: { heads: only, gauge: gauge.name, apart: gauge.apart },
        };
      };
      newest = found;
      const projected = projections ? { query: ofQueries, key: ofKeys } : undefined;
      inside.set(found, { raw, of: () => ({ suffix, address: here(), n, d, projected }), attended });
      return found;
    };
    const drop = () => {
      releaseRun();
      heldByRun = 0;
      stop();
    };
    return { begin, end, drop };
  };

  const steps: Steps<A> = {
    async addLayer(layer) {
      const { tensors, read, end, drop } = begunLayer(layer);
      try {
        for (const [tensor, places] of tensors)
          await tensor((block, from) => {
            for (const one of places) read(one, block, from);
          });
        end();
      } catch (error) {
        drop();
        throw error;
      }
    },
    async forward(summands, given, signal) {
      const { begin, end, drop } = begunForward(summands, given);
      try {
        let pooled = begin(stepLength);
        while (!pooled) {
          await breath();
          signal?.throwIfAborted();
          pooled = raw[`stepEncoder${suffix}`](alive(), stepLength) as A | undefined;
        }
        return end(pooled);
      } catch (error) {
        drop();
        throw error;
      }
    },
  };
  return {
    get layers() {
      return layers;
    },
    addLayer(layer) {
      begunLayer(layer).end();
    },
    forward(summands, given) {
      const { begin, end } = begunForward(summands, given);
      return end(begin(Infinity) as A);
    },
    [inSteps]: steps,
    ...mine.handle,
    delete: free,
    ...(Symbol.dispose && { [Symbol.dispose]: free }),
  } as Encoder<A>;
}
