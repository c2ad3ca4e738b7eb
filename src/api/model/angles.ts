// By which angles queries and keys turn, as config.json says it. Source: transformers' modeling_rope_utils.py.
import * as check from '../check.js';
import type { Stretch } from '../encodings/rotary.js';
import type { Config } from './family.js';

/**
 * As rotaryFrequencies() takes them. `usual` is the base where config.json leaves it out. Throws RangeError or TypeError for
 * what is not run here.
 */
export function anglesIn(config: Config, [member, usual]: readonly [string, number]) {
  // Newer files have one object for what older ones spread over several members; files in between have both.
  const found = ['rope_parameters', 'rope_scaling'].filter((where) => config[where] != null);
  const [angles, others] = found.map((where) => anglesAt(config, where, member, usual));
  if (others && JSON.stringify(angles) !== JSON.stringify(others))
    throw new RangeError(
      'config.json has rope_parameters and rope_scaling, and they disagree. Keep the one that the model was trained with.',
    );
  return angles ?? anglesAt(config, 'rope_scaling', member, usual);
}

function anglesAt(config: Config, where: string, member: string, usual: number) {
  const given = (config[where] ?? {}) as Config;
  check.object(`${where} in config.json`, given);
  if ((given.partial_rotary_factor ?? 1) !== 1)
    check.refuse(`partial_rotary_factor of ${where}`, '1', given.partial_rotary_factor);
  const said =
    config[member] === undefined ? undefined : check.positive(`${member} in config.json`, config[member]);
  if (given.rope_theta === undefined) return { base: said ?? usual, stretch: stretchIn(given, where) };
  const base = check.positive(`rope_theta of ${where}`, given.rope_theta);
  if (said !== undefined && said !== base)
    throw new RangeError(
      `config.json says ${member} ${said}, and in ${where} rope_theta ${base}. Keep the one that the model was trained with.`,
    );
  return { base, stretch: stretchIn(given, where) };
}

function stretchIn(given: Config, where: string): Stretch | undefined {
  const { rope_type, type = rope_type } = given;
  const kind = rope_type ?? type ?? 'default';
  if (type !== kind && type != null)
    throw new RangeError(
      `config.json says rope_type ${check.shown(kind)} and type ${check.shown(type)} in ${where}. Keep one of them.`,
    );
  const nested = Object.entries(given).find(([, one]) => typeof one === 'object' && one !== null);
  if (nested && !Array.isArray(nested[1]))
    throw new RangeError(
      `config.json has ${where} by kind of layer, as ${check.shown(nested[0])}; layers that turn by different angles are not computed here. Open a model with one rope_type for all.`,
    );
  if (rope_type == null && type == null && given.factor != null)
    throw new RangeError(
      `config.json has a factor in ${where} and no rope_type, which says what it does. Give the one that the model was trained with: default, linear or llama3.`,
    );
  if (kind === 'default') return undefined;
  if (kind !== 'linear' && kind !== 'llama3')
    throw new RangeError(
      `config.json has the rope_type ${check.shown(kind)} in ${where}, whose angles are not computed here; those of default, linear and llama3 are. Open a model with one of these. This one without its stretch, which is another model, opens with the rope_type "default" in a copy of its config.json.`,
    );
  const number = (name: string) => check.positive(`${name} of ${where} in config.json`, given[name]);
  const factor = check.number(`factor of ${where} in config.json`, given.factor, 1, 1e6);
  if (kind === 'linear') return { way: 'interpolate', factor };
  const trained = number('original_max_position_embeddings');
  const [alpha, beta] = [number('low_freq_factor'), number('high_freq_factor')];
  if (beta <= alpha)
    check.refuse(`high_freq_factor of ${where} in config.json`, `above low_freq_factor, ${alpha}`, beta);
  // Pairs that turn often stay, those that turn seldom are slowed by the factor: the paper's “by parts”.
  return { way: 'parts', factor, trained, alpha, beta };
}
