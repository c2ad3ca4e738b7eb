// A figure of the page over the numbers of a file that the reader opened.
import type { Cursor } from '../plot/scene.js';
import type { Control } from './controls.js';
import type { AnyFigure } from './figure.js';

/**
 * The figure under another name and title, with other controls and a remark about the file. `fixed` are the
 * settings that the reader can no longer change.
 */
export function as(
  figure: AnyFigure,
  name: string,
  title: string,
  controls: Record<string, Control>,
  fixed: object,
  said: string,
): AnyFigure {
  const { scene, describe, cells, firstCursor, readout, focus, tokens, table, unused, redraws } = figure;
  const all = (state: object) => ({ ...state, ...fixed });
  return {
    name,
    title,
    controls,
    ...(unused && { unused: (state) => unused(all(state)).filter((setting) => setting in controls) }),
    source: () => 'trained',
    waiting: 'Reading the file…',
    ...(redraws && { redraws }),
    scene: (data, state, width, began, cursor) =>
      scene(data, all(state), width, began && { ...began, state: all(began.state) }, cursor),
    describe: (data, state) => describe(data, all(state)),
    cells: (data, state) => cells(data, all(state)),
    ...(firstCursor && { firstCursor: (data, state) => firstCursor(data, all(state)) }),
    readout: (data, state, cursor: Cursor) => readout(data, all(state), cursor),
    ...(focus && { focus: (data, state, cursor, width) => focus(data, all(state), cursor, width) }),
    ...(tokens && { tokens: (data, state) => tokens(data, all(state)) }),
    remark: ({ dropped = 0 }: { dropped?: number }) =>
      `${dropped > 0 ? `The first tokens are shown; ${dropped} more are left out. ` : ''}${said}`,
    table: (data, state) => table(data, all(state)),
  };
}

/** Adds the file's digest to links, and to nothing else, so that a link to another file is refused. */
export function inFile(figure: AnyFigure, digest: string, name: string): AnyFigure {
  const { controls, unused } = figure;
  const file: Control = { kind: 'choice', label: 'File', options: { [digest]: name }, initial: digest };
  return {
    ...figure,
    controls: { file, ...controls },
    unused: (state) => ['file', ...(unused?.(state) ?? [])],
  };
}
