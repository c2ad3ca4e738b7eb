// The contract of every figure: its settings, how it is computed, and its four forms: a picture, a caption,
// a readout of one place, and a table. It needs no DOM, so that Node draws the same.
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
} from 'add-or-concatenate';
import type { Cursor, Ink, Mark, Scene, Term } from '../plot/scene.js';
import type { Controls, State, StateOf } from './controls.js';
import type { UserModel, UserTables } from './userFile.js';

/**
 * Where the numbers come from: random draws, a trained model, both of these, a formula, recorded runs, or
 * the reader's own tables.
 */
export type Source = 'seeded' | 'trained' | 'mixed' | 'exact' | 'recorded' | 'user';

/**
 * Memoizes `compute()` per name until its JSON key changes; `again` computes it anew. A promise is memoized
 * when it resolves, and never if it fails. A handle into the wasm module is deleted when another value
 * replaces it. A reader's model has a memo of its own, which is forgotten when another model is opened.
 */
export type Memoize = <T>(name: string, key: unknown, compute: () => T, again?: boolean) => T | Awaited<T>;

export interface Library {
  /** Figures have no state of their own: what one request computes for the next is memoized here. */
  memoize: Memoize;
  /** The functions of the small module, for figures with `module: 'small'`. */
  small(): Promise<SmallSuperpose>;
  /** The functions of the full module, which is fetched at the first call. */
  superpose(): Promise<Superpose>;
  /** MiniLM, which is fetched at the first call and, if that fails, at the next. */
  miniLM(): Promise<MiniLM>;
  /** Recorded data of a first view that takes long to compute, as tools/record-runs.mjs writes them. */
  recorded?: ((name: string) => Promise<unknown>) | undefined;
  /** The reader's own model, in MiniLM's place. */
  userModel?: UserTextModel | undefined;
  /** The reader's own tables, which a figure takes where its state says `user`. */
  userTables?: UserRows | undefined;
}

/** Tables that the reader opened. `token` and `position` return at most as many rows as the file has. */
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

/** The functions of MiniLM that figures also call on a reader's own model. */
export interface TextModel
  extends Pick<MiniLM, 'd_model' | 'heads' | 'positions' | 'layers' | 'corpusMeans'> {
  withoutPositions(sentence: Sentence, options: SlicesWatch): Promise<PositionsRemoved>;
  /** Rows whose token is the same in every sentence, such as [CLS]: row 0 of MiniLM. */
  readonly excludedRows?: readonly number[];
  tokenize(text: string, most?: number): Sentence | Promise<Sentence>;
  rows(sentence: Pick<Sentence, 'ids'>): Promise<Rows>;
  forward(sentence: Sentence, options: OpenForwardOptions): Promise<ForwardPass>;
  changed(sentence: Sentence, change: PositionChange): Promise<Rows>;
}

/** The functions of a reader's own model, of any family. */
export interface UserTextModel extends TextModel {
  /** The scores of all heads of a layer, or of some, in three groups: token, position and the rest. */
  layerScores(sentence: Sentence, options: LayerScoresOptions): Promise<Scores>;
  /** How much its tables of tokens and positions overlap. */
  report(options: SlicesWatch): Promise<ModelReport>;
  /** Means over a corpus, for a model without a position table: its scores are decomposed by mechanism. */
  means?(): CorpusMeans;
}

export interface LayerScoresOptions extends SlicesWatch {
  layer: number;
  gauge: 'canonical' | 'raw';
  heads?: readonly number[];
}

/** The rows whose sum enters the first layer; `token_type` only if the model has segments. */
export type Rows = Readonly<Record<'token' | 'position', Table<Float64Array>>> & {
  readonly token_type?: Table<Float64Array>;
};

/**
 * A state in which these settings can also be `user`, which stands for the rows of the reader's own table.
 */
export type UserRowsState<S, Names extends keyof S> = Omit<S, Names> & {
  readonly [Name in Names]: S[Name] | 'user';
};

/** What a reader's own file changes in a figure; every other control stays as it is. */
export interface Adaptation {
  /** Follows the file's name in the heading; the figure's own title unless given. */
  title?: string;
  /** Settings that have one value with this file, and no input. */
  fixed?: State;
  /**
   * Controls that replace the figure's, because their range or labels depend on the file, and additional
   * ones.
   */
  controls?: Controls;
  /** Where the numbers come from; a trained model unless given. */
  source?(state: State): Source;
  /** Replaces the figure's own `unused`; settings that are fixed are never shown. */
  unused?(state: State): string[];
  /** What the reader should know about the file's numbers; empty if nothing. */
  remark: string;
}

export interface Job {
  /** Aborted when nobody waits for the result any more. */
  signal: AbortSignal;
  /** Reports how far a long job is, from 0 to 1. */
  progress(fraction: number): void;
  /** For a figure that is shown while it computes; undefined if only the final result is wanted. */
  live?: LiveJob | undefined;
}

/** A computation that the reader watches and steers while it goes on. */
export interface LiveJob {
  /** Whether to start from scratch, without the results of an earlier job. */
  again: boolean;
  /** The newest settings: those named by `looks` may have changed since the job began. */
  state(): State;
  /** Shows the data as they are. */
  frame(data: unknown): void;
  /**
   * Waits for the job's next turn: after `go` the job computes on, and after `look` it shows the data with
   * the newest settings. Throws once nobody waits for the result.
   */
  turn(): Promise<'go' | 'look'>;
}

export type Compute<C extends Controls, Data> = (
  library: Library,
  state: StateOf<C>,
  job: Job,
) => Promise<Data>;

/** A piece of a readout: plain text; text with a swatch, in the colour of a term or an ink; or bold text. */
export type ReadoutPiece = string | { text: string; term?: Term; ink?: Ink; strong?: true };

export interface DataTable {
  columns: string[];
  rows: (string | number)[][];
}

/** A link to another figure in a state, which may have only some of its settings. */
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
  /** Its name in links and attributes, and of the files that are saved from it. */
  name: string;
  title: string;
  controls: C;
  source(state: StateOf<C>): Source;
  /** Set if its first view needs only the small module. Other states may call `superpose()`. */
  module?: 'small';
  /** The status while weights are fetched. */
  waiting?: string;
  /**
   * The setting that a click, a tap or Enter sets to the cursor’s column. Without one, they pin the cursor.
   */
  chooses?(state: StateOf<C>): keyof C | undefined;
  /** Set if the picture depends on the cursor. */
  redraws?: true;
  /** Buttons beside the inputs. Each changes several settings at once, or, with `glides`, moves sliders. */
  buttons?(state: StateOf<C>): { label: string; sets: Partial<StateOf<C>>; glides?: true }[];
  /** The figure that a click, a tap or Enter opens at the cursor. */
  opens?(data: Data, state: StateOf<C>, cursor: Cursor): Opens | undefined;
  /** Settings without effect in this state. Their inputs are hidden. */
  unused?(state: StateOf<C>): (keyof C)[];
  /** For a figure that is shown while it computes. */
  live?: {
    /** Settings that change without ending the job. */
    looks(state: StateOf<C>): (keyof C)[];
    /** The text of the button that starts it. Default “Train”. */
    button?: string;
  };
  /** A button that moves a setting through its values. The data do not depend on that setting. */
  plays?: {
    setting: keyof C;
    button: string;
    seconds: number;
    /**
     * The value when this part of the time has passed, from 0 to 1. It need not be a value of the control.
     */
    at(part: number): number;
  };
  /**
   * Once, before the reader does anything, a handle moves its setting to this value in the picture, and back.
   */
  invites?: { setting: keyof C; to: number };
  /** Set if the inputs are below the picture. */
  below?: true;
  /** Returns a state whose settings fit together, after `changed` was changed. */
  settle?(state: StateOf<C>, changed: keyof C | undefined): StateOf<C>;
  /**
   * The picture for a width in pixels. Its height depends on the state, not on the values. `dragStart` is the
   * view in which dragging began: the axes stay as they were there. `cursor` is only for a figure that
   * `redraws`.
   */
  scene(
    data: Data,
    state: StateOf<C>,
    width: number,
    dragStart?: FigureView<C, Data>,
    cursor?: Cursor,
  ): Scene;
  /** The caption: the finding in about eight words, then sentences with its numbers. */
  describe(data: Data, state: StateOf<C>): string;
  /** The number of rows and columns that the cursor moves over. */
  cells(data: Data, state: StateOf<C>): { rows: number; columns: number };
  firstCursor?(data: Data, state: StateOf<C>): Cursor;
  /** Settings whose change resets the cursor. */
  follows?: (keyof C)[];
  /** The values at the cursor. */
  readout(data: Data, state: StateOf<C>, cursor: Cursor): ReadoutPiece[];
  /** Marks at the cursor, beside the frame around its cell; `dragStart` as in `scene`. */
  focus?(
    data: Data,
    state: StateOf<C>,
    cursor: Cursor,
    width: number,
    dragStart?: FigureView<C, Data>,
  ): Mark[];
  /** What the values of a slider stand for, from the least value up. */
  named?(data: Data, state: StateOf<C>): { readonly [Name in keyof C]?: readonly string[] };
  /** The tokens, if rows and columns are tokens. */
  tokens?(data: Data, state: StateOf<C>): readonly string[] | undefined;
  /** A note about this result, or an empty text. */
  remark?(data: Data, state: StateOf<C>): string;
  /** All numbers in the picture. */
  table(data: Data, state: StateOf<C>): DataTable;
  /**
   * How the figure shows a reader's own model instead of MiniLM; undefined if the model lacks what it needs.
   */
  forModel?(model: UserModel): Adaptation | undefined;
  /** How the figure shows a reader's own tables instead of random ones. */
  forTables?(tables: UserTables): Adaptation;
}

// biome-ignore lint/suspicious/noExplicitAny: a figure of any controls and data
export type AnyFigure = Figure<any, any>;
