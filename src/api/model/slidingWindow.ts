// In which layers a query sees the nearest keys alone. Source: transformers' configurations of Mistral, Qwen2 and Qwen3.
import * as check from '../check.js';
import { listed } from '../listed.js';
import type { Config, Family } from './family.js';

/** A window is not computed here; a sentence no longer than that is the same without one. */
export interface SlidingWindow {
  /** How many keys a query sees, itself counted. */
  readonly keys: number;
  /** The layers where that is so; queries of the others see all keys that they may. */
  readonly layers: readonly number[];
}

/** More are taken for a mistake; so are lists as long as that. */
const mostLayers = 10_000;

/** The window of a model of so many layers; undefined where no layer slides. Throws RangeError or TypeError. */
export function slidingWindowIn(
  { name, sizes, window }: Family,
  config: Config,
  inFile: number,
): SlidingWindow | undefined {
  const kinds = kindsIn(config);
  const keys = window && keysIn(window, config);
  if (kinds?.includes('sliding_attention') && keys === undefined)
    throw new RangeError(
      'config.json has “sliding_attention” in layer_types, but no sliding_window in use. Give use_sliding_window true and a sliding_window.',
    );
  // A file that was cut short has fewer layers than its model.
  const said = config[sizes.layers] ?? inFile;
  const count = Math.max(inFile, check.integer(`${sizes.layers} in config.json`, said, 0, mostLayers));
  if (kinds && count > 0 && kinds.length !== count)
    throw new RangeError(
      `layer_types in config.json must have ${check.counted(count, 'entry').replace(/ys$/, 'ies')}, one for each layer; it has ${kinds.length}.`,
    );
  if (!window || keys === undefined) return undefined;
  const all = Array.from({ length: count }, (_, layer) => layer);
  if (!window.from) {
    if (kinds?.includes('full_attention'))
      throw new RangeError(
        `config.json has a sliding_window, which ${name} has in all layers, and “full_attention” in layer_types. Keep the one that the model was trained with.`,
      );
    return slidingOf(keys, all);
  }
  const [member, usual] = window.from;
  const from = check.integer(`${member} in config.json`, config[member] ?? usual, 0);
  return slidingOf(
    keys,
    all.filter((layer) => (kinds ? kinds[layer] === 'sliding_attention' : layer >= from)),
  );
}

const slidingOf = (keys: number, layers: readonly number[]) =>
  layers.length > 0 ? { keys, layers } : undefined;

/** The kind of each layer; undefined where config.json does not list them. */
function kindsIn({ layer_types: kinds }: Config): readonly string[] | undefined {
  if (kinds == null) return undefined;
  if (!Array.isArray(kinds)) check.refuse('layer_types in config.json', 'a list', kinds, false);
  for (const one of kinds)
    check.oneOf('an entry of layer_types in config.json', one, ['full_attention', 'sliding_attention']);
  return kinds;
}

function keysIn({ member, usual, used }: NonNullable<Family['window']>, config: Config): number | undefined {
  if (used !== undefined && !check.flag(`${used} in config.json`, config[used] ?? false)) return undefined;
  const keys = config[member] === undefined ? usual : config[member];
  return keys === null ? undefined : check.integer(`${member} in config.json`, keys, 1);
}

/** What is said of it: “In layers 2 to 5 a query sees …”. */
export function aboutWindow({ keys, layers }: SlidingWindow): string {
  const [first = 0, ...others] = layers;
  const last = layers.at(-1) as number;
  const isRun = last - first === others.length;
  const named = layers.length > 8 ? [...layers.slice(0, 8), `${layers.length - 8} more`] : layers;
  const several = isRun ? `layers ${first} to ${last}` : `layers ${listed(named.map(String))}`;
  return `In ${others.length > 0 ? several : `layer ${first}`} a query sees ${check.counted(keys, 'key')}, itself and those before it (sliding_window).`;
}

/** The error for a sentence of so many tokens that a layer with a window would read. */
export function beyondWindow({ keys, layers: [first = 0] }: SlidingWindow, count: number): RangeError {
  const without =
    first > 0
      ? ` Without that layer and those after it a sentence may be longer: forward() takes layers: ${first}.`
      : '';
  return new RangeError(
    `A sentence must have from 1 to ${keys} tokens; it has ${count}. In layer ${first} a query sees ${check.counted(keys, 'key')} (sliding_window), and a window is not computed here.${without}`,
  );
}
