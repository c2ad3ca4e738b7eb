// By which angles queries and keys turn, as config.json says it. Source: transformers' modeling_rope_utils.py.
import * as check from '../check.js';
import type { Stretch } from '../encodings/rotary.js';
import type { Config } from './header.js';

export interface Angles {
  /** Pair m of a head's d_h channels turns by base^(−2m/d_h) radians a position. */
  readonly base: number;
  /** How the angles are changed for more positions than the model was trained with. */
  readonly stretch: Stretch | undefined;
}

/** `usual` is the base where config.json leaves it out. Throws RangeError or TypeError for what is not run here. */
export function anglesIn(config: Config, [member, usual]: readonly [string, number]): Angles {
  // Newer files have one object for what older ones spread over several members.
  const where = config.rope_parameters == null ? 'rope_scaling' : 'rope_parameters';
  const given = (config[where] ?? {}) as Config;
  check.object(`${where} in config.json`, given);
  if ((given.partial_rotary_factor ?? 1) !== 1)
    check.refuse(`partial_rotary_factor of ${where}`, '1', given.partial_rotary_factor);
  const base =
    given.rope_theta === undefined
      ? check.positive(`${member} in config.json`, config[member] ?? usual)
      : check.positive(`rope_theta of ${where}`, given.rope_theta);
  return { base, stretch: stretchIn(given, where) };
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
  const number = (name: string) => check.positive(`${name} of ${where} in config.json`, given[name]);
  const factor = check.number(`factor of ${where} in config.json`, given.factor, 1, 1e6);
  if (kind === 'linear') return { way: 'interpolate', factor };
  // Pairs that turn often stay, those that turn seldom are slowed by the factor: the paper's “by parts”.
  return {
    way: 'parts',
    factor,
    trained: number('original_max_position_embeddings'),
    alpha: number('low_freq_factor'),
    beta: number('high_freq_factor'),
  };
}
