// The settings of a figure. Its inputs, the reading of its links and attributes, and the type of its state
// all follow from one table of controls.
import { didYouMean, unknownName } from '../../build/package/unknownName.js';

interface Labelled {
  label: string;
  /**
   * Set if the input is under “More settings”. Few inputs of a figure are not: at most three, and four in two
   * figures.
   */
  more?: true;
}

export interface Choice extends Labelled {
  kind: 'choice';
  /** The label of each option, by the option's name in links. */
  options: Readonly<Record<string, string>>;
  initial: string;
  /** Set for buttons side by side rather than a list. */
  radio?: true;
}

export interface Range extends Labelled {
  kind: 'range';
  min: number;
  max: number;
  step: number;
  initial: number;
  /** Set if a handle in the picture takes the place of the slider. */
  byHand?: true;
}

/** A slider over a list of values. */
export interface Steps extends Labelled {
  kind: 'steps';
  values: readonly number[];
  initial: number;
}

export interface Toggle extends Labelled {
  kind: 'toggle';
  initial: boolean;
}

/** A choice of any number of options. */
export interface Several extends Labelled {
  kind: 'several';
  options: Readonly<Record<string, string>>;
  initial: readonly string[];
}

export interface Seed extends Labelled {
  kind: 'seed';
  initial: number;
}

export interface Text extends Labelled {
  kind: 'text';
  /** Set if a text that the reader enters in one figure is shown by all figures of the page. */
  shared?: true;
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

/** The options of a choice, from their names and a label for each. */
export const labelled = <Name extends string>(names: readonly Name[], label: (name: Name) => string) =>
  Object.fromEntries(names.map((name) => [name, label(name)])) as Record<Name, string>;

const seedLimit = 2 ** 32;
/** How far a number may be from a slider's step and still count as that step, in steps. */
const stepTolerance = 1e-6;
/** At most this many sentences about refused settings are shown, so that they leave room for the figure. */
const mostRefused = 3;

export const initialState = <C extends Controls>(controls: C): StateOf<C> =>
  Object.fromEntries(Object.entries(controls).map(([name, { initial }]) => [name, initial])) as StateOf<C>;

/** A value as links and attributes write it. */
export function written(control: Control, value: Value): string {
  if (control.kind === 'toggle') return value ? 'yes' : 'no';
  if (control.kind === 'several') return (value as readonly string[]).join('.');
  return String(value);
}

/** The value that a text stands for; undefined if the control cannot have it. */
export function read(control: Control, text: string): Value | undefined {
  switch (control.kind) {
    case 'choice':
      return optionOf(control, text);
    case 'range': {
      const value = decimal(text);
      if (value === undefined || value < control.min || value > control.max) return undefined;
      const steps = (value - control.min) / control.step;
      const nearest = Math.round(steps);
      if (Math.abs(steps - nearest) >= stepTolerance) return undefined;
      // The step as the slider writes it: 0.15, not 3 · 0.05.
      return decimal((control.min + nearest * control.step).toFixed(9));
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

/** The value of a slider that is nearest to a number; undefined for other controls and for NaN. */
export function nearestValue(control: Control, target: number): number | undefined {
  if (control.kind === 'steps') {
    const distance = (value: number) => Math.abs(value - target);
    return [...control.values].sort((a, b) => distance(a) - distance(b))[0];
  }
  if (control.kind !== 'range' || Number.isNaN(target)) return undefined;
  const { min, max, step } = control;
  const steps = Math.round((Math.max(min, Math.min(max, target)) - min) / step);
  return read(
    control,
    (min + Math.min(steps, Math.floor((max - min) / step + stepTolerance)) * step).toFixed(9),
  ) as number;
}

/** A plain decimal number: no exponent, no other base, no spaces; 0 for −0. */
const decimal = (text: string): number | undefined =>
  /^-?\d{1,12}(\.\d{1,12})?$/.test(text) ? Number(text) + 0 : undefined;

/** The values that a control takes, in words. */
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
  /** A sentence for each of the first values that were refused, and one for all further ones. */
  refused: string[];
}

/** Reads a state from texts. A setting that is missing or refused has its initial value. */
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
      const hint = control.kind === 'choice' ? didYouMean(text, Object.keys(control.options)) : '';
      refused.push(`“${shown}” is not a value of ${control.label}, which takes ${allowed(control)}.${hint}`);
    } else {
      state[name] = value;
    }
  }
  const more = refused.length - mostRefused;
  if (more > 1) refused.splice(mostRefused, more, `And ${more} more settings could not be used.`);
  return { state: state as StateOf<C>, refused };
}

/** Writes every setting of a state as text; a setting that the state leaves out has its initial value. */
export const writtenState = (controls: Controls, state: State): [string, string][] =>
  Object.entries(controls).map(([name, control]) => [name, written(control, state[name] ?? control.initial)]);

/** The attribute of a setting: `position-scale` for `positionScale`, `d_head` for `d_head`. */
export const attributeOf = (name: string): string =>
  name.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);

export const settingOf = (attribute: string): string =>
  attribute.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The next seed; the largest is followed by 0. */
export const drawAgain = (seed: number): number => (seed + 1) % seedLimit;

/** The longest option that fits in one cell of the grid of inputs, in letters. */
const cellLetters = 16;
const longest = ({ options }: Choice) => Math.max(...Object.values(options).map(({ length }) => length));

/** Radio buttons with more letters than this need a line to themselves. */
const lineLetters = 60;
const lettersOf = ({ options }: Choice) => Object.values(options).join('').length;
/** In letters: a label with fewer than this, and radio buttons with at most this many, fit in one cell. */
const labelLetters = 24;
const buttonLetters = 13;
const fitsCell = (control: Choice) =>
  lettersOf(control) <= buttonLetters && control.label.length < labelLetters;

/**
 * The CSS classes of an input, by the space that it takes. The page's placeholder reserves the same space.
 */
export function inputClass(control: Control): string {
  if (control.kind === 'range' && control.byHand) return 'by-hand';
  if (control.kind === 'text') return 'wide text';
  if (control.kind === 'several') return 'full lines';
  if (control.kind === 'choice' && control.radio && lettersOf(control) > lineLetters) return 'full lines';
  if (control.kind === 'choice' && (control.radio ? !fitsCell(control) : longest(control) > cellLetters))
    return 'wide';
  return control.kind === 'toggle' && control.label.length > labelLetters ? 'wide' : '';
}
