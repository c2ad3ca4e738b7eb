// What a reader can set. One table of controls for each figure makes its inputs, reads and checks its links
// and attributes, and gives its state a type.
import { unknownName } from '../../build/package/unknown.js';

interface Labelled {
  label: string;
  /** Under “More settings”, so that the settings that matter first are seen first. */
  more?: true;
}

export interface Choice extends Labelled {
  kind: 'choice';
  /** By the name in links, the label that the reader sees. */
  options: Readonly<Record<string, string>>;
  initial: string;
  /** Buttons side by side rather than a list. */
  radio?: true;
}

export interface Range extends Labelled {
  kind: 'range';
  min: number;
  max: number;
  step: number;
  initial: number;
}

/** A slider over given values. */
export interface Steps extends Labelled {
  kind: 'steps';
  values: readonly number[];
  initial: number;
}

export interface Toggle extends Labelled {
  kind: 'toggle';
  initial: boolean;
}

/** Any of some options. */
export interface Several extends Labelled {
  kind: 'several';
  options: Readonly<Record<string, string>>;
  initial: readonly string[];
}

export interface Seed extends Labelled {
  kind: 'seed';
  initial: number;
}

/** Figures on a page share texts of the same name. */
export interface Text extends Labelled {
  kind: 'text';
  initial: string;
  longest: number;
}

export type Control = Choice | Range | Steps | Toggle | Several | Seed | Text;
export type Controls = Readonly<Record<string, Control>>;

export type Value = string | number | boolean | readonly string[];

type ValueOf<C extends Control> = C extends Range | Steps | Seed
  ? number
  : C extends Toggle
    ? boolean
    : C extends Choice
      ? keyof C['options'] & string
      : C extends Several
        ? readonly (keyof C['options'] & string)[]
        : string;

export type StateOf<C extends Controls> = { readonly [Name in keyof C]: ValueOf<C[Name]> };
export type State = Readonly<Record<string, Value>>;

/** The options of a choice: names and their labels. What computes without drawing drops a call of this. */
export const labelled = <Name extends string>(names: readonly Name[], label: (name: Name) => string) =>
  Object.fromEntries(names.map((name) => [name, label(name)])) as Record<Name, string>;

const seedLimit = 2 ** 32;
/** The most sentences about refused settings; more would bury the figure. */
const mostRefused = 3;

export const initialState = <C extends Controls>(controls: C): StateOf<C> =>
  Object.fromEntries(Object.entries(controls).map(([name, { initial }]) => [name, initial])) as StateOf<C>;

/** A value as links and attributes write it. */
export function written(control: Control, value: Value): string {
  if (control.kind === 'toggle') return value ? 'yes' : 'no';
  if (control.kind === 'several') return (value as readonly string[]).join('.');
  return String(value);
}

/** The value that a text stands for; undefined unless it is one that the control can have. */
export function read(control: Control, text: string): Value | undefined {
  switch (control.kind) {
    case 'choice':
      return optionOf(control, text);
    case 'range': {
      const value = decimal(text);
      if (value === undefined || value < control.min || value > control.max) return undefined;
      const steps = (value - control.min) / control.step;
      const whole = Math.round(steps);
      if (Math.abs(steps - whole) >= 1e-6) return undefined;
      // Onto the step itself, as the slider writes it: 0.15, not 3 · 0.05.
      return decimal((control.min + whole * control.step).toFixed(9));
    }
    case 'steps': {
      const value = decimal(text);
      return value !== undefined && control.values.includes(value) ? value : undefined;
    }
    case 'toggle':
      return text === 'yes' ? true : text === 'no' ? false : undefined;
    case 'several': {
      const names = text === '' ? [] : text.split('.').map((name) => optionOf(control, name));
      return names.includes(undefined) || new Set(names).size < names.length
        ? undefined
        : (names as string[]);
    }
    case 'seed': {
      const value = decimal(text);
      return value !== undefined && Number.isInteger(value) && value >= 0 && value < seedLimit
        ? value
        : undefined;
    }
    case 'text':
      return text.length <= control.longest ? text : undefined;
  }
}

const optionOf = ({ options }: Choice | Several, name: string): string | undefined =>
  Object.hasOwn(options, name) ? name : undefined;

/** The value that can be set and is nearest to a number. */
export function nearestValue(control: Control, wanted: number): number | undefined {
  if (control.kind === 'steps') {
    const distance = (value: number) => Math.abs(value - wanted);
    return [...control.values].sort((one, other) => distance(one) - distance(other))[0];
  }
  if (control.kind !== 'range' || Number.isNaN(wanted)) return undefined;
  const { min, max, step } = control;
  const steps = Math.round((Math.max(min, Math.min(max, wanted)) - min) / step);
  return read(
    control,
    (min + Math.min(steps, Math.floor((max - min) / step + 1e-6)) * step).toFixed(9),
  ) as number;
}

/** A plain decimal number: no exponent, no other base, no spaces; 0 for −0. */
const decimal = (text: string): number | undefined =>
  /^-?\d{1,12}(\.\d{1,12})?$/.test(text) ? Number(text) + 0 : undefined;

/** What a control takes, in words. */
export function allowed(control: Control): string {
  switch (control.kind) {
    case 'choice':
      return `one of ${Object.keys(control.options).join(', ')}`;
    case 'range':
      return `a number from ${control.min} to ${control.max} in steps of ${control.step}`;
    case 'steps':
      return `one of ${control.values.join(', ')}`;
    case 'toggle':
      return 'yes or no';
    case 'several':
      return `any of ${Object.keys(control.options).join(', ')}, joined by points`;
    case 'seed':
      return `a whole number from 0 to ${seedLimit - 1}`;
    case 'text':
      return `a text of at most ${control.longest} characters`;
  }
}

export interface ReadState<S> {
  state: S;
  /** A sentence for each of the first values that could not be taken, and one for all others. */
  refused: string[];
}

/** A state from texts, each checked; what is missing or impossible has its first value. */
export function readState<C extends Controls>(
  controls: C,
  texts: Iterable<readonly [string, string]>,
): ReadState<StateOf<C>> {
  const state: Record<string, Value> = { ...initialState(controls) };
  const refused: string[] = [];
  for (const [name, text] of texts) {
    const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
    if (!Object.hasOwn(controls, name)) {
      refused.push(unknownName('setting', name, Object.keys(controls)));
      continue;
    }
    const control = controls[name] as Control;
    const value = read(control, text);
    if (value === undefined) {
      refused.push(`“${shown}” is not a value of ${control.label}, which takes ${allowed(control)}.`);
    } else {
      state[name] = value;
    }
  }
  const more = refused.length - mostRefused;
  if (more > 1) refused.splice(mostRefused, more, `And ${more} more settings could not be used.`);
  return { state: state as StateOf<C>, refused };
}

/** Every setting of a state as texts; what the state leaves out is as the figure begins. */
export const writtenState = (controls: Controls, state: State): [string, string][] =>
  Object.entries(controls).map(([name, control]) => [name, written(control, state[name] ?? control.initial)]);

/** `positionScale` is set by the attribute `position-scale`, `d_head` by `d_head`. */
export const attributeOf = (name: string): string =>
  name.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);

export const settingOf = (attribute: string): string =>
  attribute.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The next seed. */
export const drawAgain = (seed: number): number => (seed + 1) % seedLimit;

/** The longest option that fits one cell, in letters. */
const widest = 16;
const longest = ({ options }: Choice) => Math.max(...Object.values(options).map(({ length }) => length));

/** Options that need a line of their own, in letters. */
const longLine = 60;
const lettersOf = ({ options }: Choice) => Object.values(options).join('').length;
/** Buttons that fit one cell, below a label that does. */
const small = (control: Choice) => lettersOf(control) < 14 && control.label.length < 24;

/** Classes for the space that an input takes; the page's placeholder reserves the same. */
export function inputClass(control: Control): string {
  if (control.kind === 'text') return 'wide text';
  if (control.kind === 'several') return 'full lines';
  if (control.kind === 'choice' && control.radio && lettersOf(control) > longLine) return 'full lines';
  if (control.kind === 'choice' && (control.radio ? !small(control) : longest(control) > widest))
    return 'wide';
  return control.kind === 'toggle' && control.label.length > 24 ? 'wide' : '';
}
