// Which family a model belongs to, and how large it is. The model_type of its config.json decides, or the
// family that the caller states. Names of tensors do not tell families apart; they only show which family
// the model cannot be.
import * as check from '../check.js';
import { listed } from '../listed.js';
import { type Header, quoted, shapeOf } from './checkpoint.js';
import {
  allTensors,
  type Config,
  commonSizes,
  distinguishingTensors,
  type FamilyDescriptor,
  identifyingTensors,
  type LayerNames,
  layerTensor,
  type TensorNames,
} from './descriptor.js';
import { type FamilyId, familyIds, modelFamilies, namesOf } from './families.js';

/** The family of a model, its sizes, and the names of its tables in the file. */
export interface Layout {
  /** The family whose tensors these are. */
  readonly family: FamilyId;
  /** What that family computes and what its tensors are called. */
  readonly descriptor: FamilyDescriptor;
  /** What the names of all of the model's tensors begin with in this file. */
  readonly prefix: string;
  /** The full names of the tables. */
  readonly tables: TensorNames['tables'];
  /** Width of a state. */
  readonly d_model: number;
  /** Rows of the token table. */
  readonly vocabulary: number;
  /** How many tokens a sentence may have where no layer has a window; 0 where nothing says it. */
  readonly positions: number;
  /** The row of the position table that the first token gets. */
  readonly firstRow: number;
  /** The id that fills up the shorter sentences of a batch; undefined for a family without padding. */
  readonly padding: number | undefined;
  /** Rows of a sentence whose token the family fixes. */
  readonly excludedRows: readonly number[];
}

/**
 * The error when nothing says which family a model belongs to.
 *
 * @category Decompose a model
 */
export class FamilyUnknown extends RangeError {
  override readonly name = 'FamilyUnknown';

  /** `families` are the families whose tensors the file has. */
  constructor(readonly families: readonly FamilyId[]) {
    super(
      `There is no config.json with a model_type, and tensors alone do not tell which model this is: it may be ${namesOf(families, 'or')}. Put its config.json beside it, or state the family: ${listed(families, 'or')}.`,
    );
  }
}

/**
 * Recognizes a model by its header and config.json. `family` is the family that the caller states. Throws
 * FamilyUnknown if neither config.json nor the caller says the family, and a RangeError that says why a file
 * is refused.
 */
export function recognize(header: Header, config: Config, family: FamilyId | undefined): Layout {
  refuseQuantized(header);
  const id = familyOf(config, family);
  if (id === undefined) throw new FamilyUnknown(familiesWith(header));
  const prefix = prefixIn(header, id);
  if (prefix === undefined) refuseTensors(header, [id]);
  refuseUnknownTensor(header, prefix, id);
  checkConfig(modelFamilies[id], config);
  return layoutOf(header, config, id, prefix);
}

/** The full name of a layer's tensor, without `.weight` or `.bias`. */
export const nameIn = ({ prefix, descriptor }: Layout, layer: number, part: keyof LayerNames): string =>
  `${prefix}${layerTensor(descriptor, layer, part)}`;

/** How many layers a file has without a gap. A file that was cut short has fewer than its model. */
export function layersIn(tensors: ReadonlyMap<string, unknown>, layout: Layout): number {
  let count = 0;
  while (tensors.has(`${nameIn(layout, count, 'down')}.weight`)) count += 1;
  return count;
}

/** The family by config.json, or else by the caller; undefined where neither says one. */
function familyOf({ model_type }: Config, stated: FamilyId | undefined): FamilyId | undefined {
  if (stated !== undefined) check.oneOf('family', stated, familyIds);
  if (model_type == null) return stated;
  if (typeof model_type !== 'string') check.refuse('model_type in config.json', 'a text', model_type, false);
  const typesOf = (family: FamilyId): readonly string[] => modelFamilies[family].modelTypes;
  const family = familyIds.find((id) => typesOf(id).includes(model_type));
  if (family === undefined) {
    throw new RangeError(
      `config.json has the model_type ${check.shown(model_type)}, which is not among those that can be read here: ${listed(familyIds.flatMap(typesOf))}.`,
    );
  }
  if (stated !== undefined && stated !== family) {
    throw new RangeError(
      `family is ${check.shown(stated)}, but config.json has the model_type ${check.shown(model_type)}: ${namesOf([family])}. Leave family out.`,
    );
  }
  return family;
}

// ---------------------------------------------------------------- names of tensors

/** The prefix after which the file has the tensors that identify a family; undefined where it lacks them. */
function prefixIn(header: Header, family: FamilyId): string | undefined {
  const [token, query] = identifyingTensors(modelFamilies[family]);
  const prefixes = [...header.keys()]
    .filter((name) => name.endsWith(token))
    .map((name) => name.slice(0, name.length - token.length))
    .filter((prefix) => (prefix === '' || prefix.endsWith('.')) && header.has(prefix + query));
  if (prefixes.length > 1) {
    throw new RangeError(
      `The file has ${prefixes.length} models: their tensors begin with ${prefixes.slice(0, 5).map(quoted).join(', ')}. Save one of them in a file of its own.`,
    );
  }
  return prefixes[0];
}

/** The families whose tensors the file has. Throws if there is none. */
function familiesWith(header: Header): FamilyId[] {
  const identified = familyIds.filter((family) => prefixIn(header, family) !== undefined);
  const [first] = identified;
  if (first === undefined) refuseTensors(header, familyIds);
  const families = identified.filter((family) => {
    const prefix = prefixIn(header, family) as string;
    return (
      unknownTensor(header, prefix, family) === undefined &&
      distinguishingTensors(modelFamilies[family]).every((name) => header.has(`${prefix}${name}`))
    );
  });
  if (families.length === 0) refuseUnknownTensor(header, prefixIn(header, first) as string, first);
  return families;
}

/**
 * A tensor that the family does not have, though its name begins like one that the family has; undefined
 * where there is none. Names that begin otherwise belong to what was trained on top of the model.
 */
function unknownTensor(header: Header, prefix: string, family: FamilyId): string | undefined {
  const descriptor: FamilyDescriptor = modelFamilies[family];
  const names = allTensors(descriptor);
  const known = new Set(names);
  const beginnings = new Set(names.map((name) => name.split('.', 1)[0]));
  for (const name of header.keys()) {
    if (!name.startsWith(prefix)) continue;
    const behind = name.slice(prefix.length);
    if (!beginnings.has(behind.split('.', 1)[0])) continue;
    const isInLayer = behind.startsWith(`${descriptor.tensors.layers}.`);
    if (!known.has(isInLayer ? behind.replace(/\.\d+\./, '.#.') : behind)) return name;
  }
  return undefined;
}

function refuseUnknownTensor(header: Header, prefix: string, family: FamilyId): void {
  const name = unknownTensor(header, prefix, family);
  if (name !== undefined) {
    throw new RangeError(
      `The file has a tensor ${quoted(name)}, which ${modelFamilies[family].name} does not have, so its effect on the scores is unknown. Pass a checkpoint without it.`,
    );
  }
}

/** Throws a RangeError: the file does not have the tensors of any of these families. */
function refuseTensors(header: Header, families: readonly FamilyId[]): never {
  const adapter = [...header.keys()].find((name) => /\.lora_[AB]\b/.test(name));
  if (adapter !== undefined) {
    throw new RangeError(
      `The file has ${quoted(adapter)}, of an adapter (LoRA). Merge it into the weights that it changes, and give those.`,
    );
  }
  if (families.length === 1) {
    const required = identifyingTensors(modelFamilies[families[0] as FamilyId]);
    const missing = required.filter((end) => ![...header.keys()].some((name) => name.endsWith(end)));
    if (missing.length === 1) {
      throw new RangeError(
        `The file lacks a tensor ${quoted(missing[0] as string)}, which ${namesOf(families)} has. Give the whole checkpoint, or another family.`,
      );
    }
  }
  const names = [...header.keys()].slice(0, 3).map(quoted).join(', ');
  throw new RangeError(
    `These are not the tensors of ${namesOf(families, 'or')} (${names || 'there are none'}).`,
  );
}

const quantizedNames =
  /\.(qweight|qzeros|g_idx|scales|W_q|weight_scale|weight_scale_inv|input_scale|SCB|absmax|quant_map|nested_absmax)$|\.quant_state\./;

/** Throws a RangeError for a file whose weights are quantized: codes of numbers instead of the numbers. */
function refuseQuantized(header: Header): void {
  for (const [name, { dtype }] of header) {
    const isFloat8 = dtype.startsWith('F8');
    if (quantizedNames.test(name) || isFloat8) {
      throw new RangeError(
        `The file is quantized: it has ${quoted(name)}${isFloat8 ? ` of dtype ${quoted(dtype)}` : ''}. Take the checkpoint of F32, F16 or BF16 that it was made of.`,
      );
    }
  }
}

// ---------------------------------------------------------------- members of config.json

/**
 * Throws a RangeError for members of config.json by which the model would not be the one that the descriptor
 * describes.
 */
function checkConfig(descriptor: FamilyDescriptor, config: Config): void {
  const { name, sizes, causal } = descriptor;
  const allowedValues: FamilyDescriptor['config'] = { is_causal: [causal], ...descriptor.config };
  for (const [member, allowed] of Object.entries(allowedValues)) {
    const value = config[member];
    // A member that may be left out to mean false may also be null.
    const isAllowed =
      value === undefined || allowed.includes(value) || (value === null && allowed.includes(false));
    if (!isAllowed) {
      throw new RangeError(
        `config.json says ${member} ${check.shown(value)}; ${name} can be read with ${listed(allowed.map(check.shown), 'or')} alone.`,
      );
    }
  }
  if (config.auto_map != null) {
    throw new RangeError(`config.json has an auto_map: its model is custom code, which cannot be run here.`);
  }
  for (const quantization of ['quantization_config', 'quantization']) {
    if (config[quantization] != null) {
      throw new RangeError(
        `config.json has a ${quantization}: its weights are quantized. Take the checkpoint of F32, F16 or BF16 that it was made of.`,
      );
    }
  }
  // If config.json also gives a size under the name that most families use, both must agree.
  for (const [size, commonName] of Object.entries(commonSizes)) {
    const member = sizes[size as keyof typeof commonSizes];
    const [value, other] = [config[member], config[commonName]];
    if (other !== undefined && value !== other) {
      throw new RangeError(
        `config.json says ${commonName} ${check.shown(other)}, which ${name} has as ${member}, and that is ${value === undefined ? 'left out' : check.shown(value)}. Give it as ${member} alone.`,
      );
    }
  }
}

/** Throws a RangeError where config.json gives another size than the tensors. */
export function checkSizes(config: Config, sizes: Readonly<Record<string, number | undefined>>): void {
  for (const [member, size] of Object.entries(sizes)) {
    const value = config[member];
    if (value != null && size !== undefined && value !== size) {
      throw new RangeError(
        `config.json says ${member} ${check.shown(value)}, but by its tensors the model has ${size}.`,
      );
    }
  }
}

function layoutOf(header: Header, config: Config, family: FamilyId, prefix: string): Layout {
  const descriptor: FamilyDescriptor = modelFamilies[family];
  const { sizes, positions, markers, tensors } = descriptor;
  const firstRow = positions.kind === 'added' ? positions.firstRow : 0;
  const fullName = (name: string | undefined) => name && `${prefix}${name}.weight`;
  const token = `${prefix}${tensors.tables.token}.weight`;
  const position = fullName(tensors.tables.position);
  const segment = fullName(tensors.tables.segment);
  const [vocabulary, d_model] = shapeOf(header, token, ['vocabulary', 'd']) as [number, number];
  const [rows] = position ? shapeOf(header, position, ['positions', d_model]) : [];
  const [segments] = segment ? shapeOf(header, segment, ['segments', d_model]) : [];
  checkSizes(config, {
    [sizes.vocabulary]: vocabulary,
    [sizes.d_model]: d_model,
    ...(rows !== undefined && { [sizes.positions]: rows }),
    ...(sizes.segments && { [sizes.segments]: segments }),
  });
  const longest = config[sizes.positions];
  const longestByConfig = typeof longest === 'number' ? longest : 0;
  const padding = firstRow > 0 ? firstRow - 1 : (config.pad_token_id ?? 0);
  return {
    family,
    descriptor,
    prefix,
    tables: { token, ...(position && { position }), ...(segment && { segment }) },
    d_model,
    vocabulary,
    positions: rows === undefined ? longestByConfig : rows - firstRow,
    firstRow,
    padding: markers.after ? check.integer('pad_token_id in config.json', padding, 0) : undefined,
    excludedRows: markers.before ? [0] : [],
  };
}
