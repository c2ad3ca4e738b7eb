// What config.json says about a model that rotates queries and keys: by which angles, and in which layers a
// query sees only the nearest keys. Pages fetch this only for such models. Source: transformers'
// modeling_rope_utils.py, and its configurations of Mistral, Qwen2 and Qwen3.
import * as check from '../check.js';
import type { Stretch } from '../encodings/rotary.js';
import { listed } from '../listed.js';
import type { Config, FamilyDescriptor, Member, Window } from './descriptor.js';

/** Base and stretch of the angles, as rotaryFrequencies() takes them. */
export interface Angles {
  /** The base of the frequencies, such as 10000. */
  readonly base: number;
  /** How the frequencies change beyond the trained length; undefined if they do not. */
  readonly stretch: Stretch | undefined;
}

/**
 * Reads the angles from config.json, where `member` gives their base. Throws RangeError or TypeError for
 * angles that are not computed here.
 */
export function anglesIn(config: Config, member: Member<number>): Angles {
  // Newer files have one object for what older ones spread over several members; files in between have both.
  const places = ['rope_parameters', 'rope_scaling'].filter((place) => config[place] != null);
  const [angles, others] = places.map((place) => anglesAt(config, place, member));
  if (others && JSON.stringify(angles) !== JSON.stringify(others)) {
    throw new RangeError(
      'config.json has rope_parameters and rope_scaling, and they disagree. Keep the one that the model was trained with.',
    );
  }
  return angles ?? anglesAt(config, 'rope_scaling', member);
}

function anglesAt(config: Config, place: string, base: Member<number>): Angles {
  const parameters = (config[place] ?? {}) as Config;
  check.object(`${place} in config.json`, parameters);
  if ((parameters.partial_rotary_factor ?? 1) !== 1) {
    check.refuse(`partial_rotary_factor of ${place}`, '1', parameters.partial_rotary_factor);
  }
  const outer =
    config[base.member] === undefined
      ? undefined
      : check.positive(`${base.member} in config.json`, config[base.member]);
  if (parameters.rope_theta === undefined) {
    return { base: outer ?? base.default, stretch: stretchIn(parameters, place) };
  }
  const inner = check.positive(`rope_theta of ${place}`, parameters.rope_theta);
  if (outer !== undefined && outer !== inner) {
    throw new RangeError(
      `config.json says ${base.member} ${outer}, and in ${place} rope_theta ${inner}. Keep the one that the model was trained with.`,
    );
  }
  return { base: inner, stretch: stretchIn(parameters, place) };
}

function stretchIn(parameters: Config, place: string): Stretch | undefined {
  const { rope_type, type = rope_type } = parameters;
  const kind = rope_type ?? type ?? 'default';
  if (type !== kind && type != null) {
    throw new RangeError(
      `config.json says rope_type ${check.shown(kind)} and type ${check.shown(type)} in ${place}. Keep one of them.`,
    );
  }
  const nested = Object.entries(parameters).find(([, value]) => typeof value === 'object' && value !== null);
  if (nested && !Array.isArray(nested[1])) {
    throw new RangeError(
      `config.json has ${place} by kind of layer, as ${check.shown(nested[0])}; layers that rotate by different angles are not computed here. Open a model with one rope_type for all.`,
    );
  }
  if (rope_type == null && type == null && parameters.factor != null) {
    throw new RangeError(
      `config.json has a factor in ${place} and no rope_type, which says what it does. Give the one that the model was trained with: default, linear or llama3.`,
    );
  }
  if (kind === 'default') return undefined;
  if (kind !== 'linear' && kind !== 'llama3') {
    throw new RangeError(
      `config.json has the rope_type ${check.shown(kind)} in ${place}, whose angles are not computed here; those of default, linear and llama3 are. Open a model with one of these. This one without its stretch, which is another model, opens with the rope_type "default" in a copy of its config.json.`,
    );
  }
  const number = (name: string) => check.positive(`${name} of ${place} in config.json`, parameters[name]);
  const factor = check.number(`factor of ${place} in config.json`, parameters.factor, 1, 1e6);
  if (kind === 'linear') return { way: 'interpolate', factor };
  const trained = number('original_max_position_embeddings');
  const [alpha, beta] = [number('low_freq_factor'), number('high_freq_factor')];
  if (beta <= alpha) {
    check.refuse(`high_freq_factor of ${place} in config.json`, `above low_freq_factor, ${alpha}`, beta);
  }
  // Fast pairs keep their speed and slow ones are slowed by the factor: “by parts” in the paper.
  return { way: 'parts', factor, trained, alpha, beta };
}

/**
 * A sliding window. It is not computed here, but makes no difference to a sentence that is no longer than
 * the window.
 */
export interface SlidingWindow {
  /** How many keys a query sees, itself included. */
  readonly keys: number;
  /** The layers with a window; queries of the other layers see every key that the causal mask allows. */
  readonly layers: readonly number[];
}

/** A larger number of layers, or a longer list of them, is taken for a mistake. */
const mostLayers = 10_000;

/**
 * The window of a model whose file has `layersInFile` layers; undefined where no layer has one. Throws
 * RangeError or TypeError.
 */
export function slidingWindowIn(
  { name, sizes }: FamilyDescriptor,
  window: Window | undefined,
  config: Config,
  layersInFile: number,
): SlidingWindow | undefined {
  const kinds = layerTypesIn(config);
  const keys = window && keysIn(window, config);
  if (kinds?.includes('sliding_attention') && keys === undefined) {
    throw new RangeError(
      'config.json has “sliding_attention” in layer_types, but no sliding_window in use. Give use_sliding_window true and a sliding_window.',
    );
  }
  // A file that was cut short has fewer layers than its model.
  const layersByConfig = config[sizes.layers] ?? layersInFile;
  const count = Math.max(
    layersInFile,
    check.integer(`${sizes.layers} in config.json`, layersByConfig, 0, mostLayers),
  );
  if (kinds && count > 0 && kinds.length !== count) {
    throw new RangeError(
      `layer_types in config.json needs ${check.counted(count, 'entry', 'entries')}, one for each layer; got ${kinds.length}.`,
    );
  }
  if (!window || keys === undefined) return undefined;
  const all = Array.from({ length: count }, (_, layer) => layer);
  if (!window.firstLayer) {
    if (kinds?.includes('full_attention')) {
      throw new RangeError(
        `config.json has a sliding_window, which ${name} has in all layers, and “full_attention” in layer_types. Keep the one that the model was trained with.`,
      );
    }
    return windowOf(keys, all);
  }
  const { member, default: usual } = window.firstLayer;
  const first = check.integer(`${member} in config.json`, config[member] ?? usual, 0);
  return windowOf(
    keys,
    all.filter((layer) => (kinds ? kinds[layer] === 'sliding_attention' : layer >= first)),
  );
}

const windowOf = (keys: number, layers: readonly number[]) =>
  layers.length > 0 ? { keys, layers } : undefined;

/** The kind of each layer; undefined where config.json does not list them. */
function layerTypesIn({ layer_types: types }: Config): readonly string[] | undefined {
  if (types == null) return undefined;
  if (!Array.isArray(types)) check.refuse('layer_types in config.json', 'a list', types, false);
  for (const type of types) {
    check.oneOf('an entry of layer_types in config.json', type, ['full_attention', 'sliding_attention']);
  }
  return types;
}

function keysIn({ keys, flag }: Window, config: Config): number | undefined {
  if (flag !== undefined && !check.flag(`${flag} in config.json`, config[flag] ?? false)) return undefined;
  const value = config[keys.member] === undefined ? keys.default : config[keys.member];
  return value === null ? undefined : check.integer(`${keys.member} in config.json`, value, 1);
}

/** A sentence about a window: “In layers 2 to 5 a query sees …”. */
export function aboutWindow({ keys, layers }: SlidingWindow): string {
  const [first = 0, ...others] = layers;
  const last = layers.at(-1) as number;
  const isConsecutive = last - first === others.length;
  const named = layers.length > 8 ? [...layers.slice(0, 8), `${layers.length - 8} more`] : layers;
  const several = isConsecutive ? `layers ${first} to ${last}` : `layers ${listed(named.map(String))}`;
  return `In ${others.length > 0 ? several : `layer ${first}`} a query sees ${check.counted(keys, 'key')}, itself and those before it (sliding_window).`;
}

/** The error for a sentence of `count` tokens, which is too long for a layer with a window. */
export function beyondWindow({ keys, layers: [first = 0] }: SlidingWindow, count: number): RangeError {
  const advice =
    first > 0
      ? ` Without that layer and those after it a sentence may be longer: forward() takes layers: ${first}.`
      : '';
  return new RangeError(
    `A sentence needs from 1 to ${keys} tokens; got ${count}. In layer ${first} a query sees ${check.counted(keys, 'key')} (sliding_window), and a window is not computed here.${advice}`,
  );
}
