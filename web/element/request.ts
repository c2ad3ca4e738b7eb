// The states of a figure's request for data, and the state that each event leads to. Free of the DOM: figureRequest.ts
// turns what the reader and the worker do into events, and the element draws the state.
import type { State } from '../figures/controls.js';
import type { Answer } from './exports.js';

/** In every state, `answer` is the newest data, perhaps for older settings: what the picture shows. */
interface WithAnswer {
  readonly answer: Answer | undefined;
}

/** The figure's code has not been loaded. */
export interface Idle extends WithAnswer {
  readonly is: 'idle';
}

/** The present settings have no data, and nothing is under way: they are computed when the reader comes near. */
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
   * Whether the picture is of these settings: `current`, or a live job has sent a frame of them; `behind`, it is of
   * others; `late`, it has been behind for longer than a reader overlooks, so it is dimmed.
   */
  readonly picture: 'current' | 'behind' | 'late';
  /** The settings have changed since, while the reader was not near: they are asked for when the reader returns. */
  readonly outdated: boolean;
}

/** The answer is that of the present settings. */
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
  /** The figure's code is there. */
  | { readonly event: 'loaded' }
  /** These settings have been sent to the worker. */
  | { readonly event: 'ask'; readonly settings: State }
  /** Data are needed, but the reader is not near. */
  | { readonly event: 'postpone' }
  | { readonly event: 'progress'; readonly fraction: number }
  /** A live job has sent the data that it has so far for these settings. */
  | { readonly event: 'frame'; readonly settings: State }
  /** The picture shows other data without a new answer: a live job's frame, or another value of what is played. */
  | { readonly event: 'present'; readonly answer: Answer }
  /** The picture has been behind for a while. */
  | { readonly event: 'late' }
  /** The answer to a question that was asked with these settings. */
  | { readonly event: 'answered'; readonly settings: State; readonly answer: Answer }
  | { readonly event: 'failed'; readonly sentence: string }
  /** The reader has stopped the computation. */
  | { readonly event: 'stop' }
  /** The question under way was cancelled: the element has left the page, or its settings are reset. */
  | { readonly event: 'cancel' };

export const idle: Idle = { is: 'idle', answer: undefined };

/** Whether two states have the same settings with the same values. */
export function sameSettings(left: State, right: State): boolean {
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length && names.every((name) => `${left[name]}` === `${right[name]}`)
  );
}

/** Whether the data of these settings are on screen, at the end of a computation or in the middle of a live job. */
export const showsSettings = (state: RequestState, settings: State): boolean =>
  (state.is === 'shown' || state.is === 'computing') &&
  state.answer !== undefined &&
  sameSettings(state.answer.state, settings);

/** Whether these settings are being computed. */
export const computesSettings = (state: RequestState, settings: State): boolean =>
  state.is === 'computing' && sameSettings(state.settings, settings);

/** The state after an event; the same object if the event changes nothing. */
export function nextState(state: RequestState, event: RequestEvent): RequestState {
  const { answer } = state;
  switch (event.event) {
    case 'clear':
      return idle;
    case 'loaded':
      return state.is === 'idle' || state.is === 'failed' ? { is: 'waiting', answer } : state;
    case 'ask':
      return asked(state, event.settings);
    case 'postpone':
      if (state.is === 'computing') return { ...state, outdated: true };
      return state.is === 'idle' ? state : { is: 'waiting', answer };
    case 'progress':
      return state.is === 'computing' ? { ...state, fraction: event.fraction } : state;
    case 'late':
      return state.is === 'computing' && state.picture === 'behind' ? { ...state, picture: 'late' } : state;
    case 'frame':
      if (state.is !== 'computing' || state.picture === 'current') return state;
      return computesSettings(state, event.settings) ? { ...state, picture: 'current' } : state;
    case 'present':
      return state.is === 'idle' ? state : { ...state, answer: event.answer };
    case 'answered':
      return answered(state, event.settings, event.answer);
    case 'failed':
      return { is: 'failed', sentence: event.sentence, answer };
    case 'stop':
      return { is: 'stopped', answer };
    case 'cancel':
      if (state.is !== 'computing') return state;
      if (!answer || state.outdated || !showsSettings(state, state.settings))
        return { is: 'waiting', answer };
      return { is: 'shown', answer };
  }
}

/** A newer question takes the place of one under way; the picture stays behind for as long as it has been. */
function asked(state: RequestState, settings: State): Computing {
  const { answer } = state;
  const before = state.is === 'computing' ? state : undefined;
  const isBehind = !answer || !sameSettings(answer.state, settings);
  return {
    is: 'computing',
    settings,
    answer,
    fraction: before?.fraction,
    picture: !isBehind ? 'current' : before?.picture === 'late' ? 'late' : 'behind',
    outdated: false,
  };
}

/** A late answer, to older settings, is shown while the newer ones are computed. */
function answered(state: RequestState, settings: State, answer: Answer): RequestState {
  switch (state.is) {
    case 'computing':
      if (!computesSettings(state, settings)) return { ...state, answer };
      return state.outdated ? { is: 'waiting', answer } : { is: 'shown', answer };
    case 'waiting':
      return { is: 'waiting', answer };
    case 'shown':
      return { is: 'shown', answer };
    case 'idle':
    case 'failed':
    case 'stopped':
      // The question was given up: the worker's answer crossed the cancellation.
      return state;
  }
}
