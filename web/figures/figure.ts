// The contract of every figure: what can be set, how it is computed, and its four forms - a picture, a
// sentence, a readout of one place, and a table. Free of the DOM, so that Node draws the same.
import type {
  EncoderForward,
  First,
  Floats,
  FloatsOf,
  MiniLM,
  MiniLMForwardOptions,
  Opening,
  PositionChange,
  Precision,
  Scores,
  Sentence,
  Superpose,
  Table,
} from 'superpose';
import type { Cursor, Ink, Mark, Scene, Term } from '../plot/scene.js';
import type { Controls, State, StateOf } from './controls.js';

/** Where the numbers come from: drawn at random, of a trained model, of both, from a formula, or of the reader's file. */
export type Source = 'seeded' | 'trained' | 'mixed' | 'exact' | 'own';

export interface Library {
  /** What the first module does; enough for an opening figure. */
  first(): Promise<First>;
  /** Everything; fetches the second module when first asked. */
  superpose(): Promise<Superpose>;
  /** A failure is not kept: the next question tries again. */
  miniLM(): Promise<MiniLM>;
  /** One sentence in two of its heads, in a small file of their own. */
  opening(): Promise<Opening>;
  /** Of the worker that this is in, where more of the same may be started. */
  address?: string | undefined;
  /** Tables of the reader's own, where they stand in the place of drawn ones. */
  own?: OwnRows | undefined;
}

/** The first rows of tables that the reader opened, so many or as many as there are. */
export interface OwnRows {
  /** Of these tables alone. */
  key: string;
  columns: number;
  token?: ((rows: number) => Table<Float32Array>) | undefined;
  position?: ((rows: number) => Table<Float32Array>) | undefined;
  /** Of the rows of tokens, where their file names them. */
  words?: readonly string[] | undefined;
}

/** Of figures in which a reader's own model may stand in MiniLM's place. */
export type TextCompute<C extends Controls, Data> = (
  library: TextLibrary,
  state: StateOf<C>,
  job: Job,
) => Promise<Data>;

export interface TextLibrary extends Omit<Library, 'miniLM'> {
  miniLM(): Promise<TextModel>;
}

/** What figures of texts take of MiniLM, and may take of a reader's own model in its place. */
export interface TextModel extends Pick<MiniLM, 'd_model' | 'heads' | 'positions' | 'corpusMeans'> {
  /** As many as there are layers that can be run. */
  readonly layerBytes: { readonly length: number };
  tokenize(text: string, most?: number): Sentence | Promise<Sentence>;
  summands<P extends Precision = 'float64'>(sentence: Sentence, precision?: P): Promise<Rows<FloatsOf<P>>>;
  decompose(sentence: Sentence, options: Parts): Promise<Scores>;
  forward(
    sentence: Sentence,
    options: MiniLMForwardOptions<'float32'>,
  ): Promise<EncoderForward<Float32Array>>;
  changed(sentence: Sentence, change: PositionChange, precision: 'float32'): Promise<Rows<Float32Array>>;
}

/** Rows that are added up; of segments where the model has any. */
export type Rows<A extends Floats> = Readonly<Record<'token' | 'position', Table<A>>> & {
  readonly token_type?: Table<A>;
};

interface Parts {
  groups: Record<string, readonly string[]>;
}

export interface Job {
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** A long job says how far it is, from 0 to 1. */
  progress(fraction: number): void;
  /** Of a figure that runs while it is looked at; without a reader there is none, and only its end counts. */
  run?: Run | undefined;
}

/** A computation that is shown while it runs. */
export interface Run {
  /** Nothing is kept of an earlier one. */
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
export type Said = string | { text: string; term?: Term; ink?: Ink; strong?: true };

export interface DataTable {
  columns: string[];
  rows: (string | number)[][];
}

export interface Figure<C extends Controls, Data> {
  /** In links and attributes, and of its file. */
  name: string;
  title: string;
  controls: C;
  source(state: StateOf<C>): Source;
  /** Said while weights are fetched for it. */
  waiting?: string;
  /** Its marks come in one after another when it is first shown. */
  enters?: true;
  /** The setting that a click or a tap, or Enter, sets to the column pointed at; elsewhere they hold the place. */
  chooses?: keyof C;
  /** What a click or a tap, or Enter, opens at the cursor: another figure, in a state of its own. */
  opens?(data: Data, state: StateOf<C>, cursor: Cursor): { figure: AnyFigure; state: State } | undefined;
  /** Settings that do nothing in this state; their inputs are not shown. */
  unused?(state: StateOf<C>): (keyof C)[];
  /** Of one that is shown while it runs. */
  runs?: {
    /** Settings that a run goes on with. */
    looks(state: StateOf<C>): (keyof C)[];
  };
  /** Makes a state whose settings fit together, after one of them changed. */
  settle?(state: StateOf<C>, changed: keyof C | undefined): StateOf<C>;
  /** The picture for a width in pixels; its height depends on the state, not on the values. */
  scene(data: Data, state: StateOf<C>, width: number): Scene;
  /** The finding, with its numbers. */
  describe(data: Data, state: StateOf<C>): string;
  /** How many rows and columns the cursor has. */
  cells(data: Data, state: StateOf<C>): { rows: number; columns: number };
  firstCursor?(data: Data, state: StateOf<C>): Cursor;
  /** Settings whose change takes the cursor to its first place again. */
  follows?: (keyof C)[];
  /** What is at the cursor. */
  readout(data: Data, state: StateOf<C>, cursor: Cursor): Said[];
  /** More marks for the cursor than a frame around its cell. */
  focus?(data: Data, state: StateOf<C>, cursor: Cursor, width: number): Mark[];
  /** Words of the tokens, where rows and columns are tokens. */
  tokens?(data: Data, state: StateOf<C>): readonly string[] | undefined;
  /** Something that the reader should know of this result, or nothing. */
  remark?(data: Data, state: StateOf<C>): string;
  /** All numbers of the picture. */
  table(data: Data, state: StateOf<C>): DataTable;
}

// biome-ignore lint/suspicious/noExplicitAny: a figure of any controls and data
export type AnyFigure = Figure<any, any>;
