// The states of a figure's request for data, and the state that each event leads to. Free of the DOM:
// figureRequest.ts turns what the reader and the worker do into events, and the element draws the state.
import type { State } from '../figures/controls.js';
import type { Answer } from './exports.js';

/** In every state, `answer` holds the data that the picture shows: the newest, perhaps for older settings. */
interface WithAnswer {
  readonly answer: Answer | undefined;
}

/** The figure's code has not been loaded. */
export interface Idle extends WithAnswer {
  readonly is: 'idle';
}

/** Data are missing, and nothing is under way: they are computed when the reader comes near. */
export interface Waiting extends WithAnswer {
  readonly is: 'waiting';
}

export interface Computing extends WithAnswer {
  readonly is: 'computing';
  /** The settings that are being computed. */
  readonly settings: State;
  /** Progress of a long computation, from 0 to 1; undefined before any is reported. */
  readonly fraction: number | undefined;
  /**
   * `current`: the picture is of these settings, or a live job has sent a frame of them. `behind`: it is of
   * others. `late`: it has been behind for longer than a reader overlooks, so it is dimmed.
   */
  readonly picture: 'current' | 'behind' | 'late';
}

/** The answer to the latest question is on screen. */
export interface Shown {
  readonly is: 'shown';
  readonly answer: Answer;
}

export interface Failed extends WithAnswer {
  readonly is: 'failed';
  /** What failed, for the reader. */
  readonly sentence: string;
}

/** The reader has stopped the computation. */
export interface Stopped extends WithAnswer {
  readonly is: 'stopped';
}

export type RequestState = Idle | Waiting | Computing | Shown | Failed | Stopped;

export type RequestEvent =
  /** The element is another figure, or its code is about to be loaded again. */
  | { readonly event: 'clear' }
  /** Data are needed, but the figure has only been loaded, or the reader is not near. */
  | { readonly event: 'wait' }
  /** These settings are sent to the worker. */
  | { readonly event: 'ask'; readonly settings: State }
  | { readonly event: 'progress'; readonly fraction: number }
  /** A live job has sent the data that it has so far for these settings. */
  | { readonly event: 'frame'; readonly settings: State }
  /** The picture shows a live job's frame, or the same data at another value of what is played. */
  | { readonly event: 'present'; readonly answer: Answer }
  /** The picture has been behind for a while. */
  | { readonly event: 'late' }
  /** The answer to a question with these settings. */
  | { readonly event: 'answered'; readonly settings: State; readonly answer: Answer }
  | { readonly event: 'failed'; readonly sentence: string }
  /** The reader stops the computation. */
  | { readonly event: 'stop' }
  /** The question under way is cancelled: the element leaves the page, or its settings are reset. */
  | { readonly event: 'cancel' };

export const idle: Idle = { is: 'idle', answer: undefined };

/** Whether two states have the same settings with the same values. */
export function sameSettings(left: State, right: State): boolean {
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length && names.every((name) => `${left[name]}` === `${right[name]}`)
  );
}

/** Whether the data on screen are of these settings, at the end of a computation or in the middle of it. */
export const showsSettings = ({ is, answer }: RequestState, settings: State): boolean =>
  (is === 'shown' || is === 'computing') && answer !== undefined && sameSettings(answer.state, settings);

/** Whether these settings are being computed. */
export const computesSettings = (state: RequestState, settings: State): boolean =>
  state.is === 'computing' && sameSettings(state.settings, settings);

/** The state after an event; the same object if the event changes nothing. */
export function nextState(state: RequestState, event: RequestEvent): RequestState {
  const { answer } = state;
  switch (event.event) {
    case 'clear':
      return idle;
    case 'ask':
      return computing(state, event.settings);
    case 'present':
      return { ...state, answer: event.answer };
    case 'failed':
      return { is: 'failed', sentence: event.sentence, answer };
    case 'stop':
      return { is: 'stopped', answer };
    case 'wait':
      return state.is === 'computing' ? state : { is: 'waiting', answer };
    default:
      return state.is === 'computing' ? nextOfComputing(state, event) : state;
  }
}

type ComputingEvent = Extract<
  RequestEvent,
  { readonly event: 'progress' | 'frame' | 'late' | 'answered' | 'cancel' }
>;

/** The state after an event that only a computation under way heeds: in other states there is none. */
function nextOfComputing(state: Computing, event: ComputingEvent): RequestState {
  const { answer, settings, picture } = state;
  switch (event.event) {
    case 'progress':
      return { ...state, fraction: event.fraction };
    case 'frame':
      if (picture === 'current' || !sameSettings(settings, event.settings)) return state;
      return { ...state, picture: 'current' };
    case 'late':
      return picture === 'behind' ? { ...state, picture: 'late' } : state;
    case 'answered':
      // A late answer, to older settings, is shown while the newer ones are computed.
      if (!sameSettings(settings, event.settings)) return { ...state, answer: event.answer };
      return { is: 'shown', answer: event.answer };
    case 'cancel':
      // A live job whose frame is on screen is not begun again.
      return answer && sameSettings(answer.state, settings)
        ? { is: 'shown', answer }
        : { is: 'waiting', answer };
  }
}

/** A newer question replaces the one under way; a picture that is late stays late until it is current. */
function computing(state: RequestState, settings: State): Computing {
  const { answer } = state;
  const before = state.is === 'computing' ? state : undefined;
  const isCurrent = answer !== undefined && sameSettings(answer.state, settings);
  const isLate = before?.picture === 'late';
  return {
    is: 'computing',
    settings,
    answer,
    fraction: before?.fraction,
    picture: isCurrent ? 'current' : isLate ? 'late' : 'behind',
  };
}
