// What the page and the worker say to each other about a model or tables that the reader opens.
import type { CsvLayout, CsvOptions, FamilyId, OpenedModel } from 'add-or-concatenate';

/** What the page knows about an open model. */
export type UserModel = Pick<
  OpenedModel,
  | 'name'
  | 'about'
  | 'family'
  | 'heads'
  | 'epsilon'
  | 'summands'
  | 'readsText'
  | 'vocabulary'
  | 'files'
  | 'bytes'
  | 'layers'
  | 'positions'
> & {
  /** Identifies its file in links. */
  digest: string;
  /** The number of corpus windows over which its queries and keys were averaged, if they were. */
  windows?: number;
};

/** A chosen file and its path among the others, which a file may lose on its way to a worker. */
export interface ChosenFile {
  path: string;
  file: File;
}

/** A request to the worker: files to open, a corpus to average over or, if empty, to forget what is open. */
export interface ModelRequest {
  files?: readonly ChosenFile[];
  family?: FamilyId;
  heads?: number;
  epsilon?: number;
  /** Sentences of ids, a line each; empty for the library’s own. */
  corpus?: string;
}

/** The answer if nothing says which model a file contains: the families that it may be of. */
export interface FamilyChoice {
  families: readonly FamilyId[];
}

/** The answer when a model’s queries and keys are averaged over a corpus. */
export interface CorpusAverage {
  windows: number;
}

export type TableKind = 'token' | 'position';

/** What the page knows about an open table. */
export interface UserTable {
  name: string;
  kind: TableKind;
  /** Rows that were read, and whether the file has more. */
  rows: number;
  more: boolean;
  columns: number;
  /** The name of the first row, if the file names its rows. */
  word: string | undefined;
  /** How a .csv or .tsv file was read; undefined for other formats. */
  layout: CsvLayout | undefined;
  digest: string;
}

export type UserTables = Readonly<Record<TableKind, UserTable | undefined>>;

/** A request to the worker: a file to open as rows of a kind or, if empty, to forget what is open. */
export interface TableRequest extends CsvOptions {
  files?: readonly File[];
  kind?: TableKind;
  tensor?: string;
}

/** A file’s name, cut where it is too long for a title. */
export const shortName = (name: string) => (name.length > 40 ? `${name.slice(0, 39)}…` : name);
