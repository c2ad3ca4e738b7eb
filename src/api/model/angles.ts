// By which angles a layer turns queries and keys, as config.json says it. Source: transformers' modeling_rope_utils.py.
import * as check from '../check.js';
import type { Stretch } from '../encodings/rotary.js';

/** As in headerTensors.ts, which needs this file. */
type Config = Readonly<Record<string, unknown>>;

/** What every layer that turns has in common. */
export interface Angles {
  /** Pair m of r channels that turn does so by base^(−2m/r) radians a position. */
  readonly base: number;
  /** Which part of a head's channels turns, from 0 to 1. */
  readonly share: number;
  /** How the angles are changed for more positions than the model was trained with. */
  readonly stretch: Stretch | undefined;
}

/** A member of config.json, and what it is where it is left out. */
export type Member<T> = readonly [name: string, usual: T];

/** Kinds of layers, as layer_types names them. */
export const layerKinds = ['full_attention', 'sliding_attention'] as const;
export type LayerKind = (typeof layerKinds)[number];

/**
 * `kind` is that of the layer, in a family whose kinds turn by angles of their own. Throws RangeError or TypeError for
 * what is not run here.
 */
export function anglesIn(
  config: Config,
  base: Member<number>,
  share?: Member<number>,
  kind?: LayerKind,
): Angles {
  // Newer files have one object for what older ones spread over several members.
  const where = config.rope_parameters == null ? 'rope_scaling' : 'rope_parameters';
  const given = ofKind((config[where] ?? {}) as Config, where, kind);
  const number = <T>([name, usual]: Member<T>, also: string): [string, unknown] => {
    const inner = given[also];
    return inner === undefined
      ? [`${name} in config.json`, config[name] ?? usual]
      : [`${also} of ${where}`, inner];
  };
  const turns = share ? number(share, 'partial_rotary_factor') : (['partial_rotary_factor', 1] as const);
  if (!share && (given.partial_rotary_factor ?? 1) !== 1)
    check.refuse(`partial_rotary_factor of ${where}`, '1', given.partial_rotary_factor);
  return {
    base: check.positive(...number(base, 'rope_theta')),
    share: check.number(turns[0], turns[1], 0, 1),
    stretch: stretchIn(given, where),
  };
}

/** The object of such a layer. What older files call rope_scaling is that of layers without a window. */
function ofKind(given: Config, where: string, kind: LayerKind | undefined): Config {
  check.object(`${where} in config.json`, given);
  if (kind === undefined) return given;
  if (where === 'rope_scaling') return kind === 'full_attention' ? given : {};
  const own = given[kind];
  check.object(`${kind} of rope_parameters in config.json`, own);
  return own as Config;
}

function stretchIn(given: Config, where: string): Stretch | undefined {
  const kind = given.rope_type ?? given.type ?? 'default';
  const nested = Object.entries(given).find(([, one]) => typeof one === 'object' && one !== null);
  if (nested && !Array.isArray(nested[1]))
    throw new RangeError(
      `config.json has ${where} by kind of layer, as “${nested[0]}”; one for all layers can be run here.`,
    );
  if (kind === 'default') return undefined;
  if (kind !== 'linear' && kind !== 'llama3')
    throw new RangeError(
      `config.json has the rope_type ${check.shown(kind)} in ${where}; default, linear and llama3 can be run here.`,
    );
  const member = (name: string) => check.positive(`${name} of ${where} in config.json`, given[name]);
  const factor = check.number(`factor of ${where} in config.json`, given.factor, 1, 1e6);
  if (kind === 'linear') return { way: 'interpolate', factor };
  // Pairs that turn often stay, those that turn seldom are slowed by the factor: the paper's “by parts”.
  return {
    way: 'parts',
    factor,
    trained: member('original_max_position_embeddings'),
    alpha: member('low_freq_factor'),
    beta: member('high_freq_factor'),
  };
}
