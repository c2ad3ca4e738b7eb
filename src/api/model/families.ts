// Which family a model is of, and where its tensors are. The model_type of its config.json decides, or whoever
// opens the file: names of tensors do not tell families apart, and only show which it cannot be. Sources: the
// reference implementations in Hugging Face's transformers, and timm for its vision transformers.
import * as check from '../check.js';
import { decoderFamilies } from './decoderFamilies.js';
import { encoderFamilies } from './encoderFamilies.js';
import {
  type Config,
  type FamilyRow,
  type Header,
  matching,
  membersOf,
  quoted,
  strangerIn,
  tensorsBehind,
} from './headerTensors.js';
import { imageFamilies } from './imageFamilies.js';
import { type FamilyId, familyIds, type Layout, listed, modelFamilies, namesOf } from './layout.js';
import { refuseQuantized, refuseTensors, refuseType } from './refusedFamilies.js';

const ofTables: readonly FamilyRow[] = [...decoderFamilies, ...imageFamilies, ...encoderFamilies];

/** The rows of these families, and of others; all where none are given. Those without a table of positions come later. */
async function rowsFor(families: readonly FamilyId[] | undefined): Promise<readonly FamilyRow[]> {
  const known = (family: FamilyId) => ofTables.some((row) => row.family === family);
  if (families?.every(known)) return ofTables;
  const { relativeFamilies } = await import('./relativeFamilies.js');
  return [...decoderFamilies, ...relativeFamilies, ...imageFamilies, ...encoderFamilies];
}

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

/** Models that may share a file: CLIP's text and vision, Whisper's encoder and decoder. */
const fileOf = (family: FamilyId) => family.replace(/-.*/, '');

/**
 * Reads a header into layouts, one for each model in the file. `stated` is the family that the caller states. Throws
 * a RangeError whose sentence says why the file is refused.
 */
export async function recognized(
  header: Header,
  config: Config,
  stated: FamilyId | undefined,
): Promise<Layout[]> {
  refuseQuantized(header);
  const families = familiesOf(config, stated);
  if (families === undefined) refuseTensors(header);
  const rows = await rowsFor(families);
  if (families === undefined) throw new FamilyUnknown(fitting(header, rows));
  const asked = rows.filter(({ family }) => families.includes(family));
  const found = asked.flatMap((row) => {
    const prefix = matching(header, row.sign);
    return prefix === undefined ? [] : [{ row, prefix }];
  });
  refuseTensors(header);
  if (found.length === 0) unlike(header, asked);
  for (const { row, prefix } of found) refuseStranger(header, prefix, row);
  return found.map(({ row, prefix }) => {
    const { config: members, name, ...facts } = modelFamilies[row.family];
    const own = membersOf(config, 'within' in facts ? facts.within : undefined);
    for (const [member, allowed] of Object.entries(members)) refuseOther(name, member, own[member], allowed);
    return row.read(tensorsBehind(header, prefix), config);
  });
}

/** The families that config.json and the caller leave; undefined where neither says any. */
function familiesOf({ model_type }: Config, stated: FamilyId | undefined): FamilyId[] | undefined {
  if (stated !== undefined) check.oneOf('family', stated, familyIds);
  const of = (family: FamilyId) => familyIds.filter((one) => fileOf(one) === fileOf(family));
  if (model_type == null) return stated && of(stated);
  if (typeof model_type !== 'string') check.refuse('model_type in config.json', 'a text', model_type, false);
  const typed = familyIds.filter((family) =>
    (modelFamilies[family].types as readonly string[]).includes(model_type),
  );
  if (typed.length === 0) refuseType(model_type);
  if (stated !== undefined && !typed.includes(stated))
    throw new RangeError(
      `family is ${check.shown(stated)}, but config.json has the model_type ${check.shown(model_type)}: ${namesOf(typed)}. Leave family out.`,
    );
  return typed;
}

/** The families that these tensors fit. Throws where there is none. */
function fitting(header: Header, rows: readonly FamilyRow[]): FamilyId[] {
  const near = rows.flatMap((row) => {
    const prefix = matching(header, row.sign);
    return prefix === undefined ? [] : [{ row, prefix }];
  });
  const fit = near.filter(({ row, prefix }) => strangerIn(header, prefix, row) === undefined);
  const [first] = near;
  if (!first) unlike(header, rows);
  if (fit.length === 0) refuseStranger(header, first.prefix, first.row);
  return familyIds.filter((family) => fit.some(({ row }) => row.family === family));
}

function refuseStranger(header: Header, prefix: string, row: FamilyRow): void {
  const stranger = strangerIn(header, prefix, row);
  if (stranger !== undefined)
    throw new RangeError(
      `The file has a tensor ${quoted(stranger)}, which ${modelFamilies[row.family].name} has not; what it does to the scores is not known.`,
    );
}

/** Throws: the file has the signs of none of these. */
function unlike(header: Header, asked: readonly FamilyRow[]): never {
  const names = [...header.keys()].slice(0, 3).map(quoted).join(', ');
  const families = familyIds.filter((family) => asked.some((row) => row.family === family));
  const all = families.length === familyIds.length;
  throw new RangeError(
    `${all ? 'No family of models that can be read here has these tensors' : `These are not the tensors of ${namesOf(families, 'or')}`} (${names || 'there are none'}).${all ? ` Families are ${namesOf(families)}.` : ''}`,
  );
}

function refuseOther(name: string, member: string, value: unknown, allowed: readonly unknown[]): void {
  if (value == null || allowed.includes(value)) return;
  throw new RangeError(
    `config.json says ${member} ${check.shown(value)}; ${name} can be read with ${listed(allowed.map(check.shown), 'or')} alone.`,
  );
}
