// The states of a figure's request: every state with every event, and what holds after any sequence of
// events.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Answer } from '../../web/element/exports.ts';
import {
  type Computing,
  computesSettings,
  idle,
  nextState,
  type RequestEvent,
  type RequestState,
  sameSettings,
  showsSettings,
} from '../../web/element/request.ts';

const settings = { n: 2 };
const old: Answer = { data: 'old', state: { n: 1 } };
const fresh: Answer = { data: 'fresh', state: { n: 2 } };
const computing: Computing = {
  is: 'computing',
  settings,
  answer: old,
  fraction: undefined,
  picture: 'behind',
};
const waiting: RequestState = { is: 'waiting', answer: old };
const shown: RequestState = { is: 'shown', answer: old };
const failed: RequestState = { is: 'failed', sentence: 'It broke.', answer: old };
const stopped: RequestState = { is: 'stopped', answer: old };

const states = { idle, waiting, computing, shown, failed, stopped };
type StateName = keyof typeof states;

const events: Record<RequestEvent['event'], RequestEvent> = {
  clear: { event: 'clear' },
  ask: { event: 'ask', settings },
  wait: { event: 'wait' },
  progress: { event: 'progress', fraction: 0.5 },
  frame: { event: 'frame', settings },
  present: { event: 'present', answer: fresh },
  late: { event: 'late' },
  answered: { event: 'answered', settings, answer: fresh },
  failed: { event: 'failed', sentence: 'It failed.' },
  stop: { event: 'stop' },
  cancel: { event: 'cancel' },
};

/** The next state for each event and state; `same` is the very same object, for which nothing is drawn. */
const expected: Record<RequestEvent['event'], Record<StateName, RequestState | 'same'>> = {
  clear: { idle: 'same', waiting: idle, computing: idle, shown: idle, failed: idle, stopped: idle },
  ask: {
    idle: { ...computing, answer: undefined },
    waiting: computing,
    computing,
    shown: computing,
    failed: computing,
    stopped: computing,
  },
  wait: {
    idle: { is: 'waiting', answer: undefined },
    waiting,
    computing: 'same',
    shown: waiting,
    failed: waiting,
    stopped: waiting,
  },
  progress: {
    idle: 'same',
    waiting: 'same',
    computing: { ...computing, fraction: 0.5 },
    shown: 'same',
    failed: 'same',
    stopped: 'same',
  },
  frame: {
    idle: 'same',
    waiting: 'same',
    computing: { ...computing, picture: 'current' },
    shown: 'same',
    failed: 'same',
    stopped: 'same',
  },
  present: {
    idle: { is: 'idle', answer: fresh },
    waiting: { ...waiting, answer: fresh },
    computing: { ...computing, answer: fresh },
    shown: { ...shown, answer: fresh },
    failed: { ...failed, answer: fresh },
    stopped: { ...stopped, answer: fresh },
  },
  late: {
    idle: 'same',
    waiting: 'same',
    computing: { ...computing, picture: 'late' },
    shown: 'same',
    failed: 'same',
    stopped: 'same',
  },
  answered: {
    idle: 'same',
    waiting: 'same',
    computing: { is: 'shown', answer: fresh },
    shown: 'same',
    failed: 'same',
    stopped: 'same',
  },
  failed: {
    idle: { is: 'failed', sentence: 'It failed.', answer: undefined },
    waiting: { is: 'failed', sentence: 'It failed.', answer: old },
    computing: { is: 'failed', sentence: 'It failed.', answer: old },
    shown: { is: 'failed', sentence: 'It failed.', answer: old },
    failed: { is: 'failed', sentence: 'It failed.', answer: old },
    stopped: { is: 'failed', sentence: 'It failed.', answer: old },
  },
  stop: {
    idle: { is: 'stopped', answer: undefined },
    waiting: stopped,
    computing: stopped,
    shown: stopped,
    failed: stopped,
    stopped,
  },
  cancel: {
    idle: 'same',
    waiting: 'same',
    computing: waiting,
    shown: 'same',
    failed: 'same',
    stopped: 'same',
  },
};

describe.each(Object.keys(states) as StateName[])('from %s', (name) => {
  test.each(Object.keys(events) as RequestEvent['event'][])('%s', (event) => {
    const after = nextState(states[name], events[event]);
    const result = expected[event][name];
    if (result === 'same') expect(after).toBe(states[name]);
    else expect(after).toEqual(result);
  });
});

describe('while it computes', () => {
  test('a newer question keeps the progress and how late the picture is', () => {
    const late: Computing = { ...computing, fraction: 0.4, picture: 'late' };
    const newer = { n: 3 };
    expect(nextState(late, { event: 'ask', settings: newer })).toEqual({ ...late, settings: newer });
  });

  test('a question whose data are on screen has a picture that is current, not late', () => {
    const late: Computing = { ...computing, picture: 'late' };
    expect(nextState(late, { event: 'ask', settings: { n: 1 } })).toMatchObject({ picture: 'current' });
  });

  test('a late answer to older settings is shown, and the newer ones are still computed', () => {
    const after = nextState(computing, { event: 'answered', settings: { n: 1 }, answer: fresh });
    expect(after).toEqual({ ...computing, answer: fresh });
  });

  test('a frame of older settings leaves the picture behind', () => {
    expect(nextState(computing, { event: 'frame', settings: { n: 1 } })).toBe(computing);
    const current: Computing = { ...computing, picture: 'current' };
    expect(nextState(current, { event: 'frame', settings })).toBe(current);
    expect(nextState(current, { event: 'late' })).toBe(current);
  });

  test('cancelled, a live job whose frame is on screen is not begun again', () => {
    const live: Computing = { ...computing, answer: fresh, picture: 'current' };
    expect(nextState(live, { event: 'cancel' })).toEqual({ is: 'shown', answer: fresh });
    // Where the reader prefers less motion, the frame has not been drawn.
    const unseen: Computing = { ...computing, picture: 'current' };
    expect(nextState(unseen, { event: 'cancel' })).toEqual(waiting);
  });
});

test('settings are the same if their values are, whatever object they are in', () => {
  expect(sameSettings({ n: 1, terms: ['a', 'b'] }, { terms: ['a', 'b'], n: 1 })).toBe(true);
  expect(sameSettings({ n: 1, terms: ['a', 'b'] }, { n: 1, terms: ['b'] })).toBe(false);
  expect(sameSettings({ n: 1 }, { n: 1, m: 2 })).toBe(false);
  expect(sameSettings({ n: 1, m: 2 }, { n: 1 })).toBe(false);
});

test('what is shown and what is computed are told by their settings', () => {
  expect(showsSettings(shown, { n: 1 })).toBe(true);
  expect(showsSettings(shown, { n: 2 })).toBe(false);
  expect(showsSettings(computing, { n: 1 })).toBe(true);
  expect(showsSettings({ ...computing, answer: undefined }, { n: 1 })).toBe(false);
  for (const state of [waiting, failed, stopped]) expect(showsSettings(state, { n: 1 })).toBe(false);
  expect(computesSettings(computing, { n: 2 })).toBe(true);
  expect(computesSettings(computing, { n: 1 })).toBe(false);
  expect(computesSettings(shown, { n: 1 })).toBe(false);
});

/** Any event, with one of three settings. */
const anySettings = fc.nat(2).map((n) => ({ n }));
const anyEvent: fc.Arbitrary<RequestEvent> = fc
  .record({ name: fc.constantFrom(...(Object.keys(events) as RequestEvent['event'][])), set: anySettings })
  .map(({ name, set }) => {
    const event = events[name];
    if (event.event === 'answered') return { ...event, settings: set, answer: { data: 'any', state: set } };
    if (event.event === 'ask' || event.event === 'frame') return { ...event, settings: set };
    if (event.event === 'present') return { event: 'present', answer: { data: 'frame', state: set } };
    return event;
  });

test('in any order of events only a question computes, a picture is lost only with its figure, and no event changes a state', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 40 }), (sequence) => {
      let state: RequestState = idle;
      for (const event of sequence) {
        const before = state;
        const copy = structuredClone(before);
        state = nextState(before, event);
        expect(before).toEqual(copy);
        if (state.is === 'computing' && before.is !== 'computing') expect(event.event).toBe('ask');
        if (event.event === 'ask') expect(computesSettings(state, event.settings)).toBe(true);
        if (before.answer && event.event !== 'clear') expect(state.answer).toBeDefined();
        if (state.is === 'shown') expect(state.answer).toBeDefined();
      }
    }),
    { numRuns: Number(process.env.SUPERPOSE_RUNS ?? 200) },
  );
});
