// What figures that can take a reader's own tables have in common: which rows can be chosen, and what is
// said of them.
import type { Choice, Control, State } from './controls.js';
import type { Source } from './figure.js';
import { shortName, type UserTable, type UserTables } from './userFile.js';

const openTables = ({ token, position }: UserTables) =>
  [token, position].filter((table): table is UserTable => table !== undefined);

/** The number of columns, which all open tables share. */
export const columnsOf = (tables: UserTables): number => (openTables(tables)[0] as UserTable).columns;

/** The number of rows that all open tables have, up to a limit. */
export const commonRows = (tables: UserTables, limit: number): number =>
  Math.min(limit, ...openTables(tables).map(({ rows }) => rows));

/** A choice among rows: those of the file come first, if it has any for this. */
export const rowsControl = (label: string, isInFile: boolean, others: Record<string, string>): Choice => ({
  kind: 'choice',
  label,
  options: isInFile ? { user: 'The file’s own', ...others } : others,
  initial: isInFile ? 'user' : (Object.keys(others)[0] as string),
});

export const rangeTo = (control: Control & { initial: number; min: number }, max: number): Control => ({
  ...control,
  kind: 'range',
  step: 1,
  max,
  initial: Math.min(control.initial, max),
});

export const tablesSource = ({ tokens, words = tokens, positions }: State): Source =>
  words === 'user' || positions === 'user' ? 'user' : 'seeded';

/**
 * The seed, if it has no effect because no rows are drawn; `drawn` lists the choices of positions that are
 * drawn.
 */
export const unusedSeed = ({ tokens, words = tokens, positions }: State, drawn: readonly string[]) =>
  words !== 'user' || drawn.includes(String(positions)) ? [] : ['seed'];

/** Which tables were not read to their end. */
export const tablesRemark = (tables: UserTables): string =>
  openTables(tables)
    .filter(({ more }) => more)
    .map(({ rows, name }) => `The first ${rows.toLocaleString('en')} rows of ${shortName(name)} were read.`)
    .join(' ');
