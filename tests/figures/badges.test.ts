// A badge names what a figure's numbers were computed from: a model, random draws, both or neither.
import { expect, inject, test } from 'vitest';
import { initialState, readState, type State } from '../../web/figures/controls.ts';
import type { AnyFigure, Library, Source } from '../../web/figures/figure.ts';
import { figures } from '../../web/figures/index.ts';
import { computeOf } from '../../web/worker/answers.ts';
import { library } from '../../web/worker/library.ts';
import { recorded } from '../../web/worker/recorded.ts';
import { shorter } from './support.ts';

/** A new seed each time, because a figure that remembers an earlier one would not draw again. */
let fresh = 1000;

interface Used {
  model: boolean;
  random: boolean;
  recorded: boolean;
}

/** These figures draw at random only an order of words; their numbers are the model's. */
const drawsAnOrder = ['needs-positions'];

/** A library that records what is used: the model, and anything drawn at random. */
function watched(used: Used): Library {
  const loaded = library();
  const noting = <T extends object>(api: T): T =>
    new Proxy(api, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...all: unknown[]) => {
          const seeded = all.some(
            (argument) => typeof argument === 'object' && argument !== null && 'seed' in argument,
          );
          if (/^random/.test(String(name)) || seeded) used.random = true;
          return member.apply(target, all);
        };
      },
    });
  const modelled = <T>(load: () => Promise<T>) => {
    used.model = true;
    return load();
  };
  return {
    memoize: loaded.memoize,
    small: async () => noting(await loaded.small()),
    superpose: async () => noting(await loaded.superpose()),
    miniLM: () => modelled(loaded.miniLM),
    // Recordings of other figures are withheld, because their numbers can be computed again; those of `depth`
    // are the model's.
    recorded: async (name) => {
      if (name === 'language') used.recorded = true;
      else if (name === 'depth') used.model = true;
      else return undefined;
      return recorded(name);
    },
  };
}

const sourceOf = ({ model, random, recorded }: Used): Source =>
  recorded ? 'recorded' : model ? (random ? 'mixed' : 'trained') : random ? 'seeded' : 'exact';

/**
 * Settings for short runs: where numbers come from does not depend on how many models are trained, or for how
 * long.
 */
const brief: Record<string, Record<string, string>> = {
  'keep-apart': { d_model: '8' },
  narrow: { seeds: '1' },
  'schemes-tasks': { seeds: '1', steps: '50' },
};

/** The first view, and every setting that may change where numbers come from. */
const statesOf = ({ name, controls, settle }: AnyFigure): State[] => {
  const short = Object.entries({ ...shorter[name], ...brief[name] });
  const origins = ['tokens', 'weights', 'tables', 'positions', 'words'];
  const settings = origins.flatMap((name) => {
    const control = controls[name];
    return control?.kind === 'choice' ? Object.keys(control.options).map((option) => [[name, option]]) : [];
  });
  // A setting may have another meaning once the words are a model’s.
  const ofWords = 'tokens' in controls ? settings.map((setting) => [['tokens', 'sentence'], ...setting]) : [];
  const states = [[], ...settings, ...ofWords].map((texts) => {
    const { state } = readState(controls, [...short, ...texts] as [string, string][]);
    return settle?.(state as never, undefined) ?? state;
  });
  // Repeated states are left out: figures remember the model’s numbers, so that the second time nothing would
  // be used.
  return [...new Map(states.map((state) => [JSON.stringify(state), state])).values()];
};

/** A setting for the second picture of figures whose first one does not depend on where rows come from. */
const other: Record<string, string> = { collisions: 'token', sum: 'channels' };

for (const [name, load] of Object.entries(figures)) {
  test.runIf(inject('withModel'))(name, async () => {
    const figure = await load();
    const compute = await computeOf(name);
    const first = initialState(figure.controls) as State;
    const of = other[name];
    const states = of ? [first, ...statesOf(figure).map((state) => ({ ...state, of }))] : statesOf(figure);
    for (const state of states) {
      const used = { model: false, random: false, recorded: false };
      const seeds = ['seed'].filter((setting) => setting in state);
      const seed = Object.fromEntries(seeds.map((setting) => [setting, fresh++]));
      await compute?.(watched(used), { ...state, ...seed } as never, {
        signal: new AbortController().signal,
        progress: () => {},
      });
      if (drawsAnOrder.includes(name)) used.random = false;
      expect(figure.source(state), JSON.stringify(state)).toBe(sourceOf(used));
    }
  });
}
