// Which family a model is of, and how large it is. The model_type of its config.json decides, or whoever opens the
// file: names of tensors do not tell families apart, and only show which it cannot be.

import * as check from '../check.js';
import { listed } from '../listed.js';
import { type FamilyId, familyIds, type Layout, modelFamilies, namesOf } from './families.js';
import { type Config, type Family, usualSizes } from './family.js';
import { type Header, quoted, refuseSizes, shapeOf } from './tensors.js';

/** Nothing says which family a model is of. */
export class FamilyUnknown extends RangeError {
  override readonly name = 'FamilyUnknown';

  /** `families` are those that its tensors fit. */
  constructor(readonly families: readonly FamilyId[]) {
    super(
      `There is no config.json with a model_type, and tensors alone do not tell which model this is: it may be ${namesOf(families, 'or')}. Put its config.json beside it, or state the family: ${listed(families, 'or')}.`,
    );
  }
}

/** Reads a header. `stated` is the family that the caller states. Throws a RangeError that says why a file is refused. */
export function recognized(header: Header, config: Config, stated: FamilyId | undefined): Layout {
  refuseQuantized(header);
  const family = familyOf(config, stated);
  if (family === undefined) throw new FamilyUnknown(fitting(header));
  const prefix = prefixOf(header, family);
  if (prefix === undefined) unlike(header, [family]);
  refuseStranger(header, prefix, family);
  const facts: Family = modelFamilies[family];
  for (const [member, allowed] of Object.entries({ is_causal: [facts.causal], ...facts.config }))
    refuseOther(facts.name, member, config[member], allowed);
  refuseForeign(facts, config);
  return layoutOf(header, config, family, prefix);
}

/** The family that config.json says, or else the caller; undefined where neither says any. */
function familyOf({ model_type }: Config, stated: FamilyId | undefined): FamilyId | undefined {
  if (stated !== undefined) check.oneOf('family', stated, familyIds);
  if (model_type == null) return stated;
  if (typeof model_type !== 'string') check.refuse('model_type in config.json', 'a text', model_type, false);
  const typesOf = (family: FamilyId): readonly string[] => modelFamilies[family].types;
  const found = familyIds.find((family) => typesOf(family).includes(model_type));
  if (found === undefined)
    throw new RangeError(
      `config.json has the model_type ${check.shown(model_type)}, which is not among those that can be read here: ${listed(familyIds.flatMap(typesOf))}.`,
    );
  if (stated !== undefined && stated !== found)
    throw new RangeError(
      `family is ${check.shown(stated)}, but config.json has the model_type ${check.shown(model_type)}: ${namesOf([found])}. Leave family out.`,
    );
  return found;
}

/** The prefix after which the file has the token table and the first queries; undefined where there is none. */
function prefixOf(header: Header, family: FamilyId): string | undefined {
  const { tables, stack, layer }: Family = modelFamilies[family];
  const [token, query] = [`${tables.token}.weight`, `${stack}.0.${layer.query}.weight`];
  const prefixes = [...header.keys()]
    .filter((name) => name.endsWith(token))
    .map((name) => name.slice(0, name.length - token.length))
    .filter((prefix) => (prefix === '' || prefix.endsWith('.')) && header.has(prefix + query));
  if (prefixes.length > 1)
    throw new RangeError(
      `The file has ${prefixes.length} models: their tensors begin with ${prefixes.slice(0, 5).map(quoted).join(', ')}. Save one of them in a file of its own.`,
    );
  return prefixes[0];
}

/** The families that these tensors fit. Throws where there is none. */
function fitting(header: Header): FamilyId[] {
  const near = familyIds.filter((family) => prefixOf(header, family) !== undefined);
  const [first] = near;
  if (first === undefined) unlike(header, familyIds);
  const fit = near.filter((family) => {
    const prefix = prefixOf(header, family) as string;
    const { tables, stack, layer }: Family = modelFamilies[family];
    const needed = [tables.segment, layer.queryNorm && `${stack}.0.${layer.queryNorm}`];
    return (
      strangerIn(header, prefix, family) === undefined &&
      needed.every((name) => name === undefined || header.has(`${prefix}${name}.weight`))
    );
  });
  if (fit.length === 0) refuseStranger(header, prefixOf(header, first) as string, first);
  return fit;
}

/**
 * A name after the prefix that the family does not have, though it begins like one that it has; undefined where there is
 * none. Names that begin otherwise are of what is trained on top.
 */
function strangerIn(header: Header, prefix: string, family: FamilyId): string | undefined {
  const facts: Family = modelFamilies[family];
  const { tables, embeddingNorm, stack, layer, finalNorm, besides = [] } = facts;
  const norm = (name: string | undefined) =>
    name === undefined ? [] : ['weight', 'bias', 'gamma', 'beta'].map((part) => `${name}.${part}`);
  const names = [
    ...Object.values(tables).map((name) => `${name}.weight`),
    ...norm(embeddingNorm),
    ...norm(finalNorm),
    ...Object.values(layer).flatMap((name) => norm(`${stack}.#.${name}`)),
    ...besides,
  ];
  const known = new Set(names);
  const beginnings = new Set(names.map((name) => name.split('.', 1)[0]));
  for (const name of header.keys()) {
    if (!name.startsWith(prefix)) continue;
    const own = name.slice(prefix.length);
    if (!beginnings.has(own.split('.', 1)[0])) continue;
    const inStack = own.startsWith(`${stack}.`) ? own.replace(/\.\d+\./, '.#.') : own;
    if (!known.has(inStack)) return name;
  }
  return undefined;
}

function refuseStranger(header: Header, prefix: string, family: FamilyId): void {
  const stranger = strangerIn(header, prefix, family);
  if (stranger !== undefined)
    throw new RangeError(
      `The file has a tensor ${quoted(stranger)}, which ${modelFamilies[family].name} has not; what it does to the scores is not known. Give a checkpoint without it.`,
    );
}

/** Throws: the file has the names of none of these. */
function unlike(header: Header, families: readonly FamilyId[]): never {
  const adapter = [...header.keys()].find((name) => /\.lora_[AB]\b/.test(name));
  if (adapter !== undefined)
    throw new RangeError(
      `The file has ${quoted(adapter)}, of an adapter (LoRA). Merge it into the weights that it changes, and give those.`,
    );
  if (families.length === 1) {
    const { tables, stack, layer }: Family = modelFamilies[families[0] as FamilyId];
    const needed = [`${tables.token}.weight`, `${stack}.0.${layer.query}.weight`];
    const lacks = needed.filter((one) => ![...header.keys()].some((name) => name.endsWith(one)));
    if (lacks.length === 1)
      throw new RangeError(
        `The file lacks a tensor ${quoted(lacks[0] as string)}, which ${namesOf(families)} has. Give the whole checkpoint, or another family.`,
      );
  }
  const names = [...header.keys()].slice(0, 3).map(quoted).join(', ');
  throw new RangeError(
    `These are not the tensors of ${namesOf(families, 'or')} (${names || 'there are none'}).`,
  );
}

const quantized =
  /\.(qweight|qzeros|g_idx|scales|W_q|weight_scale|weight_scale_inv|input_scale|SCB|absmax|quant_map|nested_absmax)$|\.quant_state\./;

/** Throws a RangeError for a file of weights that are not numbers as they stand. */
function refuseQuantized(header: Header): void {
  for (const [name, { dtype }] of header) {
    const small = dtype.startsWith('F8');
    if (quantized.test(name) || small)
      throw new RangeError(
        `The file is quantized: it has ${quoted(name)}${small ? ` of dtype ${quoted(dtype)}` : ''}. Take the checkpoint of F32, F16 or BF16 that it was made of.`,
      );
  }
}

function refuseOther(name: string, member: string, value: unknown, allowed: readonly unknown[]): void {
  // Where false is meant by leaving it out, so it is by null.
  if (value === undefined || allowed.includes(value) || (value === null && allowed.includes(false))) return;
  throw new RangeError(
    `config.json says ${member} ${check.shown(value)}; ${name} can be read with ${listed(allowed.map(check.shown), 'or')} alone.`,
  );
}

/** Throws for members that make another model of it, and for a size under another family's name that disagrees. */
function refuseForeign({ name, sizes }: Family, config: Config): void {
  if (config.auto_map != null)
    throw new RangeError(`config.json has an auto_map: its model is code of its own, which is not run here.`);
  for (const quantization of ['quantization_config', 'quantization'])
    if (config[quantization] != null)
      throw new RangeError(
        `config.json has a ${quantization}: its weights are quantized. Take the checkpoint of F32, F16 or BF16 that it was made of.`,
      );
  for (const [size, usual] of Object.entries(usualSizes)) {
    const own = sizes[size as keyof typeof usualSizes];
    const [said, other] = [config[own], config[usual]];
    if (other !== undefined && said !== other)
      throw new RangeError(
        `config.json says ${usual} ${check.shown(other)}, which ${name} has as ${own}, and that is ${said === undefined ? 'left out' : check.shown(said)}. Give it as ${own} alone.`,
      );
  }
}

function layoutOf(header: Header, config: Config, family: FamilyId, prefix: string): Layout {
  const facts: Family = modelFamilies[family];
  const { sizes, firstPosition = 0, markers } = facts;
  const padding = firstPosition > 0 ? firstPosition - 1 : (config.pad_token_id ?? 0);
  const whole = (name: string | undefined) => name && `${prefix}${name}.weight`;
  const [token, position, segment] = [
    whole(facts.tables.token) as string,
    whole(facts.tables.position),
    whole(facts.tables.segment),
  ];
  const [vocabulary, d_model] = shapeOf(header, token, ['vocabulary', 'd']) as [number, number];
  const [rows] = position ? shapeOf(header, position, ['positions', d_model]) : [];
  const longest = config[sizes.positions];
  const [segments] = segment ? shapeOf(header, segment, ['segments', d_model]) : [];
  refuseSizes(config, {
    [sizes.vocabulary]: vocabulary,
    [sizes.d_model]: d_model,
    ...(rows !== undefined && { [sizes.positions]: rows }),
    ...(sizes.segments && { [sizes.segments]: segments }),
  });
  return {
    family,
    facts,
    prefix,
    tables: { token, ...(position && { position }), ...(segment && { segment }) },
    d_model,
    vocabulary,
    positions: rows === undefined ? (typeof longest === 'number' ? longest : 0) : rows - firstPosition,
    padding: markers.after ? check.integer('pad_token_id in config.json', padding, 0) : undefined,
    excludedRows: markers.before ? [0] : [],
  };
}
