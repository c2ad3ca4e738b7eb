// The contract of every figure: what can be set, how it is computed, and its four forms - a picture, a
// sentence, a readout of one place, and a table. Free of the DOM, so that Node draws the same.
import type {
  CorpusMeans,
  ForwardPass,
  MiniLM,
  ModelReport,
  OpenForwardOptions,
  PositionChange,
  PositionsRemoved,
  Scores,
  Sentence,
  SlicesWatch,
  SmallSuperpose,
  Superpose,
  Table,
} from 'superpose';
import type { Cursor, Ink, Mark, Scene, Term } from '../plot/scene.js';
import type { Controls, State, StateOf } from './controls.js';
import type { UserModel, UserTables } from './userFile.js';

/** Where the numbers come from: random draws, a trained model, both, a formula, runs recorded elsewhere, or the reader's own tables. */
export type Source = 'seeded' | 'trained' | 'mixed' | 'exact' | 'recorded' | 'user';

/**
 * Memoizes `compute()` per name until its JSON key changes; `again` computes it anew. A promise is memoized when it
 * resolves, and never if it fails. A handle into the wasm module is deleted when another value takes its place.
 */
export type Memoize = <T>(name: string, key: unknown, compute: () => T, again?: boolean) => T | Awaited<T>;

export interface Library {
  /** Figures have no state of their own: what one request computes for the next is memoized here. */
  memoize: Memoize;
  /** The small module’s functions, for figures whose record says that these are enough. */
  small(): Promise<SmallSuperpose>;
  /** The whole module’s; fetches it when first asked. */
  superpose(): Promise<Superpose>;
  /** A failure is not kept: the next question tries again. */
  miniLM(): Promise<MiniLM>;
  /** The data of a first view that takes long, as tools/record-runs.mjs wrote them; undefined if not at hand. */
  recorded?: ((name: string) => Promise<unknown>) | undefined;
  /** The reader's own model, in MiniLM's place. */
  userModel?: UserTextModel | undefined;
  /** The reader's own tables, which a figure takes where its state says `user`. */
  userTables?: UserRows | undefined;
}

/** The first rows of tables that the reader opened: as many as are requested, or as there are. */
export interface UserRows {
  /** Identifies these tables. */
  key: string;
  columns: number;
  token?: ((rows: number) => Table<Float64Array>) | undefined;
  position?: ((rows: number) => Table<Float64Array>) | undefined;
  /** Names of the token rows, if their file has any. */
  words?: readonly string[] | undefined;
  /** The place of the token row that has this name; throws if none has. */
  placeOf(word: string): number;
}

/** What figures that can take a reader's own model use of it, or of MiniLM. */
export interface TextModel
  extends Pick<MiniLM, 'd_model' | 'heads' | 'positions' | 'layers' | 'corpusMeans'> {
  withoutPositions(sentence: Sentence, options: SlicesWatch): Promise<PositionsRemoved>;
  /** Rows whose token the model fixes; MiniLM’s is row 0. */
  readonly excludedRows?: readonly number[];
  tokenize(text: string, most?: number): Sentence | Promise<Sentence>;
  rows(sentence: Pick<Sentence, 'ids'>): Promise<Rows>;
  forward(sentence: Sentence, options: OpenForwardOptions): Promise<ForwardPass>;
  changed(sentence: Sentence, change: PositionChange): Promise<Rows>;
}

/** What a reader's own model does in ways of its own, whatever its family is. */
export interface UserTextModel extends TextModel {
  /** The scores of all heads of a layer, or of some, in three groups: token, position and the rest. */
  layerScores(sentence: Sentence, options: LayerScoresOptions): Promise<Scores>;
  /** How much its tables of tokens and positions overlap. */
  report(options: SlicesWatch): Promise<ModelReport>;
  /** Its means over a corpus, if it has no table of positions: then its scores are taken apart by mechanism. */
  means?(): CorpusMeans;
}

export interface LayerScoresOptions extends SlicesWatch {
  layer: number;
  gauge: 'canonical' | 'raw';
  heads?: readonly number[];
}

/** Rows that are added up; those of segments only if the model has any. */
export type Rows = Readonly<Record<'token' | 'position', Table<Float64Array>>> & {
  readonly token_type?: Table<Float64Array>;
};

/** A state in which these settings can also say that rows are those of the reader's own table. */
export type UserRowsState<S, Names extends keyof S> = Omit<S, Names> & {
  readonly [Name in Names]: S[Name] | 'user';
};

/** What a reader's own file changes in a figure; every other control stays as it is. */
export interface Adaptation {
  /** Follows the file's name; the figure's own unless given. */
  title?: string;
  /** Settings that have one value with this file, and no input. */
  fixed?: State;
  /** Controls whose range or words are the file's, and further ones. */
  controls?: Controls;
  /** Where the numbers come from; a trained model unless given. */
  source?(state: State): Source;
  /** In place of the figure's own; what is fixed is never shown. */
  unused?(state: State): string[];
  /** What the reader should know about the file's numbers; empty if nothing. */
  remark: string;
}

export interface Job {
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Reports how far a long job is, from 0 to 1. */
  progress(fraction: number): void;
  /** For a figure that is shown while it computes. Undefined if nobody watches: then only the end counts. */
  live?: LiveJob | undefined;
}

/** A computation that is shown, and steered by the reader, while it goes on. */
export interface LiveJob {
  /** Nothing of an earlier job may be used. */
  again: boolean;
  /** The newest settings: what `looks` names may have changed since it began. */
  state(): State;
  /** Shows the data as they are. */
  frame(data: unknown): void;
  /** Waits for its turn: to go on, or to show itself with other settings. Throws when nobody waits for it any more. */
  turn(): Promise<'go' | 'look'>;
}

export type Compute<C extends Controls, Data> = (
  library: Library,
  state: StateOf<C>,
  job: Job,
) => Promise<Data>;

/** A piece of a readout: plain, in a term's or an ink's colour with a swatch, or strong. */
export type ReadoutPiece = string | { text: string; term?: Term; ink?: Ink; strong?: true };

export interface DataTable {
  columns: string[];
  rows: (string | number)[][];
}

/** Another figure in a state of its own, which may be of only some of its controls; and what the link says. */
export interface Opens {
  figure: Pick<AnyFigure, 'name' | 'title' | 'controls'>;
  state: State;
  label?: string;
}

export interface FigureView<C extends Controls, Data> {
  data: Data;
  state: StateOf<C>;
}

export interface Figure<C extends Controls, Data> {
  /** Its name in links, in attributes and of the files saved from it. */
  name: string;
  title: string;
  controls: C;
  source(state: StateOf<C>): Source;
  /** Where the small module is enough for it. What few ask of it may take the whole one, which is then fetched. */
  module?: 'small';
  /** Said while weights are fetched for it. */
  waiting?: string;
  /** The setting that a click, tap or Enter sets to the cursor’s column; else clicks hold the cursor. */
  chooses?(state: StateOf<C>): keyof C | undefined;
  /** Its picture is drawn again for each place that is pointed at. */
  redraws?: true;
  /** Buttons beside the inputs, each for several settings at once. */
  buttons?(state: StateOf<C>): { label: string; sets: Partial<StateOf<C>> }[];
  /** What a click, tap or Enter opens at the cursor: another figure, in a state of its own. */
  opens?(data: Data, state: StateOf<C>, cursor: Cursor): Opens | undefined;
  /** Settings that do nothing in this state; their inputs are not shown. */
  unused?(state: StateOf<C>): (keyof C)[];
  /** Only for a figure that is shown while it computes. */
  live?: {
    /** Settings that change without ending the job. */
    looks(state: StateOf<C>): (keyof C)[];
    /** On the button that starts it; “Train” unless given. */
    button?: string;
  };
  /** A setting that the data do not depend on, and a button that moves it through its values. */
  plays?: {
    setting: keyof C;
    button: string;
    seconds: number;
    /** Its value when a part of the time has passed, from 0 to 1; between and before its values, too. */
    at(part: number): number;
  };
  /** Its inputs stand below its picture. */
  below?: true;
  /** Makes a state whose settings fit together, after one of them changed. */
  settle?(state: StateOf<C>, changed: keyof C | undefined): StateOf<C>;
  /**
   * The picture for a width in pixels; its height depends on the state, not on the values. While something is
   * dragged, axes stay as they were when that began. `cursor` is only for a figure that `redraws`.
   */
  scene(data: Data, state: StateOf<C>, width: number, began?: FigureView<C, Data>, cursor?: Cursor): Scene;
  /** The caption: what is found in about eight words, then a sentence with its numbers. */
  describe(data: Data, state: StateOf<C>): string;
  /** How many rows and columns the cursor has. */
  cells(data: Data, state: StateOf<C>): { rows: number; columns: number };
  firstCursor?(data: Data, state: StateOf<C>): Cursor;
  /** Settings whose change takes the cursor to its first place again. */
  follows?: (keyof C)[];
  /** What is at the cursor. */
  readout(data: Data, state: StateOf<C>, cursor: Cursor): ReadoutPiece[];
  /** More marks for the cursor than a frame around its cell. */
  focus?(data: Data, state: StateOf<C>, cursor: Cursor, width: number): Mark[];
  /** What the values of a slider stand for, from its least on. */
  named?(data: Data, state: StateOf<C>): { readonly [Name in keyof C]?: readonly string[] };
  /** Words of the tokens, where rows and columns are tokens. */
  tokens?(data: Data, state: StateOf<C>): readonly string[] | undefined;
  /** Something that the reader should know of this result, or nothing. */
  remark?(data: Data, state: StateOf<C>): string;
  /** All numbers of the picture. */
  table(data: Data, state: StateOf<C>): DataTable;
  /** For a figure that can show a reader's own model in MiniLM's place; undefined if the model lacks what it needs. */
  forModel?(model: UserModel): Adaptation | undefined;
  /** For a figure that can show a reader's own tables in place of drawn ones. */
  forTables?(tables: UserTables): Adaptation;
}

// biome-ignore lint/suspicious/noExplicitAny: a figure of any controls and data
export type AnyFigure = Figure<any, any>;
