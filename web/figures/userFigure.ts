// Makes a figure of a file that the reader opened from a figure of the page and its Adaptation to that file.
import type { Choice, Control, Controls, State, Value } from './controls.js';
import type { Adaptation, AnyFigure } from './figure.js';

interface UserFile {
  /** Identifies the file in links, so that a link to another file is refused. */
  digest: string;
  name: string;
}

/**
 * The new figure has all controls of the old one; those that the adaptation fixes have one value, and no
 * input.
 */
export function userFigure(
  figure: AnyFigure,
  name: string,
  { digest, name: fileName }: UserFile,
  adaptation: Adaptation,
): AnyFigure {
  const { fixed = {}, controls = {}, title = figure.title, source = () => 'trained', remark } = adaptation;
  const unused = adaptation.unused ?? figure.unused;
  // `opens` is left out, because it would open a figure of MiniLM.
  const { opens: _, ...others } = figure;
  const all: Controls = {
    file: { kind: 'choice', label: 'File', options: { [digest]: fileName }, initial: digest },
    ...adapted(figure.controls, fixed),
    ...controls,
  };
  const hidden = Object.keys(all).filter(
    (setting) => Object.hasOwn(fixed, setting) || hasOneOption(all[setting]),
  );
  return {
    ...others,
    name,
    title: `${fileName}: ${title[0]?.toLowerCase()}${title.slice(1)}`,
    controls: all,
    source,
    waiting: 'Reading the file…',
    unused: (state) => [...new Set([...hidden, ...(unused?.(state) ?? [])])],
    remark: ({ dropped = 0 }: { dropped?: number }) =>
      `${dropped > 0 ? `The first tokens are shown; ${dropped} more are left out. ` : ''}${remark}`,
  };
}

const hasOneOption = (control: Control | undefined) =>
  control?.kind === 'choice' && Object.keys(control.options).length === 1;

const adapted = (controls: Controls, fixed: State): Record<string, Control> =>
  Object.fromEntries(
    Object.entries(controls).map(([name, control]) => [
      name,
      Object.hasOwn(fixed, name) ? withOneValue(control, fixed[name] as Value) : control,
    ]),
  );

/** A control that can only have this value, which links write as before; a toggle only begins with it. */
function withOneValue(control: Control, value: Value): Control {
  const { label } = control;
  if (typeof value === 'number') return { kind: 'steps', label, values: [value], initial: value };
  if (typeof value !== 'string') return { ...control, initial: value } as Control;
  const named = (control as Partial<Choice>).options?.[value];
  return { kind: 'choice', label, options: { [value]: named ?? value }, initial: value };
}
