// The readers in TypeScript against inputs drawn from a seed: a few thousand, or as many as
// SUPERPOSE_FUZZ_SECONDS allow. A failure names the seed and the number of the input.
import { existsSync, readFileSync } from 'node:fs';
import type { SafetensorsEntry } from 'add-or-concatenate';
import { expect, test } from 'vitest';
import { safetensorsApi } from '../../build/package/model/safetensors.js';
import { wordPieces } from '../../build/package/model/wordPieces.js';
import { readLink, writeLink } from '../../web/element/link.ts';
import { fromBase64, toBase64 } from '../../web/embed/modelExcerpt.ts';
import {
  type Control,
  type Controls,
  read,
  readState,
  type State,
  type Value,
  written,
} from '../../web/figures/controls.ts';
import { figures } from '../../web/figures/index.ts';
import { fileOf } from '../api/support/files.ts';
import { drawing } from '../api/support/numbers.ts';
import {
  below,
  changedBytes,
  type Draw,
  Fault,
  fault,
  models,
  pick,
  type Target,
  tables,
  textOf,
} from './userFiles.ts';

const header = safetensorsApi();
const dtypes = ['F32', 'F16', 'BF16', 'F64', 'I64', 'BOOL', 'X'];
const widths: Record<string, number> = { F64: 8, F32: 4, F16: 2, BF16: 2 };

/** A sound file's header made unsound: bytes after its object, a tensor or a key twice, or the data moved. */
function unsound(draw: Draw, file: Uint8Array): Uint8Array | undefined {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const text = new TextDecoder().decode(file.subarray(8, 8 + length));
  const changes: ((text: string) => string)[] = [
    (text) => `${text}\0${textOf(draw, 3)}`,
    (text) => text.replace(/^\{(".*?":\{"dtype".*?\]\})/s, '{$1,$1'),
    (text) => text.replace('"dtype":', '"dtype":"F32","dtype":'),
    (text) => text.replace(/"data_offsets":\[\d+,/, `"data_offsets":[${below(draw, 9)},`),
  ];
  const changed = pick(draw, changes)(text);
  if (changed === text) return undefined;
  const header = new TextEncoder().encode(changed);
  const complete = new Uint8Array(8 + header.length + file.length - 8 - length);
  new DataView(complete.buffer).setBigUint64(0, BigInt(header.length), true);
  complete.set(header, 8);
  complete.set(file.subarray(8 + length), 8 + header.length);
  return complete;
}

/** A file, sound at first, then with an unsound header, or with some bytes changed, cut or inserted. */
const safetensors: Target = {
  name: 'safetensors files',
  once(draw) {
    const tensors = Object.fromEntries(
      Array.from({ length: below(draw, 4) }, () => {
        const dtype = pick(draw, dtypes);
        const shape = Array.from({ length: below(draw, 3) }, () => below(draw, 4));
        const bytes = new Uint8Array(shape.reduce((all, extent) => all * extent, 1) * (widths[dtype] ?? 8));
        return [textOf(draw, 3), { dtype, shape, bytes: bytes.map(() => below(draw, 256)) }];
      }),
    );
    const sound = fileOf(tensors);
    const faulty = draw() < 0.2 ? unsound(draw, sound) : undefined;
    const file = faulty ?? changedBytes(draw, sound);
    let entries: Map<string, SafetensorsEntry>;
    try {
      entries = header.readSafetensorsHeader(file);
    } catch (error) {
      if (error instanceof RangeError && /^This is not a sound safetensors file: .+\.$/s.test(error.message))
        return;
      return fault(`It throws ${String(error)}`, [...file]);
    }
    if (faulty) fault('An unsound header is read', new TextDecoder().decode(file));
    // The listed tensors must cover the data exactly once.
    const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
    let covered = 8 + length;
    for (const entry of entries.values()) {
      if (entry.begin !== covered || entry.end < entry.begin)
        fault('The data overlap or leave a hole', [...file]);
      covered = entry.end;
      try {
        const actual = header.decodeSafetensors(entry, file.subarray(entry.begin, entry.end));
        if (actual.data.length !== actual.rows * actual.columns) fault('A table of another size', [...file]);
        if (actual.columns < 1) fault('A table without columns', [...file]);
      } catch (error) {
        if (error instanceof Fault) throw error;
        if (!(error instanceof RangeError)) fault(`Decoding throws ${String(error)}`, [...file]);
      }
    }
    if (covered !== file.length) fault('The data are not covered', [...file]);
  },
};

const all = await Promise.all(Object.values(figures).map((load) => load()));
const controlsOf = (name: string): Controls | undefined =>
  all.find((figure) => figure.name === name)?.controls;

/** A value that a control can have. */
function drawnFor(draw: Draw, control: Control): Value {
  switch (control.kind) {
    case 'choice':
      return pick(draw, Object.keys(control.options));
    case 'range': {
      const { min, max, step } = control;
      return Number((min + step * below(draw, Math.floor((max - min) / step + 1e-9) + 1)).toFixed(9));
    }
    case 'steps':
      return pick(draw, control.values);
    case 'toggle':
      return draw() < 0.5;
    case 'several':
      return Object.keys(control.options).filter(() => draw() < 0.5);
    case 'seed':
      return below(draw, 2 ** 32);
    case 'text':
      return textOf(draw)
        .slice(0, control.longest)
        .replace(/\p{Surrogate}/gu, '');
  }
}

const states: Target = {
  name: 'states, there and back',
  once(draw) {
    const { name, controls } = pick(draw, all);
    const state: State = Object.fromEntries(
      Object.entries(controls as Controls).map(([setting, control]) => [setting, drawnFor(draw, control)]),
    );
    const link = writeLink(name, controls, state);
    // As a browser keeps it in the address.
    const actual = readLink(new URL(link, 'https://example.org/').hash);
    if (!actual || !('settings' in actual) || actual.figure !== name)
      return fault('The link is not read', link);
    const back = readState(controls as Controls, actual.settings);
    if (back.refused.length > 0) fault(back.refused.join(' '), link);
    if (JSON.stringify(back.state) !== JSON.stringify(state))
      fault('Another state comes back', { state, back: back.state });
  },
};

/** Valid links with changes, and texts that are no links. */
const links: Target = {
  name: 'links',
  once(draw) {
    const { name, controls } = pick(draw, all);
    const settings = Object.entries(controls as Controls).map(([setting, control]) => [
      draw() < 0.1 ? textOf(draw, 3) : setting,
      draw() < 0.2 ? textOf(draw, 4) : written(control, drawnFor(draw, control)),
    ]);
    let link =
      draw() < 0.1
        ? textOf(draw)
        : `#v=${draw() < 0.9 ? 1 : textOf(draw, 3)}&figure=${draw() < 0.9 ? name : textOf(draw, 3)}&${settings
            .map(([setting, text]) =>
              draw() < 0.7
                ? new URLSearchParams([[setting as string, text as string]])
                : `${setting}=${text}`,
            )
            .join('&')}`;
    if (draw() < 0.3) link = link.slice(0, below(draw, link.length));
    if (draw() < 0.01) link += '&x=1'.repeat(20_000);
    const actual = readLink(link);
    if (!actual) return;
    if ('refused' in actual) {
      if (!/^[A-Z].{10,200}\.$/s.test(actual.refused)) fault('That is no sentence', actual.refused);
      return;
    }
    const known = controlsOf(actual.figure);
    if (!known) return;
    const { state, refused } = readState(known, actual.settings);
    if (refused.length > 4 || refused.some((sentence) => sentence.length > 2000))
      fault('Too many words', refused);
    for (const [setting, control] of Object.entries(known)) {
      const value = (state as State)[setting] as Value;
      const again = read(control, written(control, value));
      if (JSON.stringify(again) !== JSON.stringify(value))
        fault(`${setting} has no value of its own`, { link, value });
    }
    if (Object.keys(state).length !== Object.keys(known).length)
      fault('A setting more or less', { link, state });
  },
};

const tokenizer = new URL('../../build/model/tokenizer.json', import.meta.url);

/** Sentences, cut by the model's own tokenizer if it is there. */
const sentences: Target[] = existsSync(tokenizer)
  ? (() => {
      const vocabulary = 30_522;
      const { cut, pieces } = wordPieces(JSON.parse(readFileSync(tokenizer, 'utf8')));
      return [
        {
          name: 'sentences',
          once(draw: Draw) {
            const text = textOf(draw, 20);
            const { ids, tokens } = cut(text);
            if (ids.length !== tokens.length) fault('Pieces and ids differ in number', text);
            if (tokens[0] !== '[CLS]' || tokens.at(-1) !== '[SEP]')
              fault('It does not stand between its markers', text);
            for (const [place, id] of ids.entries()) {
              if (!Number.isInteger(id) || id < 0 || id >= vocabulary)
                fault(`Piece ${tokens[place]} has no number`, text);
            }
            for (const [place, piece] of pieces(ids).entries())
              if (piece !== tokens[place])
                fault(`${ids[place]} is another piece than ${tokens[place]}`, text);
          },
        },
      ];
    })()
  : [];

/** The page around a frame: no message from a stranger makes a frame too high, or throws. */
const hostMessages = await (async (): Promise<Target> => {
  const messages: unknown[] = [];
  const scope = { postMessage: (message: unknown) => messages.push(message) };
  const origin = 'https://page.example';
  const frames = [scope, { postMessage: scope.postMessage }].map((contentWindow) => ({
    contentWindow,
    style: { height: '' },
    src: '',
    srcdoc: false,
    hasAttribute: (name: string) => name === 'srcdoc' && frames[0]?.srcdoc === true,
    isConnected: true,
  }));
  let listen: (event: { data: unknown; source: unknown; origin: string }) => void = () => {};
  const there = () => {};
  // A dark page, without a colour of its own.
  const page = {
    window: {
      addEventListener: (_: string, to: typeof listen) => {
        listen = to;
      },
    },
    location: { origin },
    HTMLScriptElement: class {},
    ShadowRoot: class {},
    document: { addEventListener: there, querySelectorAll: () => frames, querySelector: () => null },
    getComputedStyle: () => ({ colorScheme: 'dark' }),
    matchMedia: () => ({ matches: false, addEventListener: there }),
    MutationObserver: class {
      observe = there;
    },
  };
  const before = Object.fromEntries(Object.keys(page).map((name) => [name, Reflect.get(globalThis, name)]));
  Object.assign(globalThis, page);
  // It is a script, not a module.
  const script = '../../web/embed/resize.ts';
  await import(/* @vite-ignore */ script);
  Object.assign(globalThis, before);
  const words = ['context', 'height', 'src', 'iframe.resize', 'superpose.theme', '__proto__', 'constructor'];
  const value = (draw: Draw, depth = 0): unknown => {
    const kind = below(draw, depth > 2 ? 5 : 7);
    if (kind === 0)
      return pick(draw, [0, -0, -1, 1e9, 0.4, Number.NaN, Infinity, 2 ** 53, null, undefined, true]);
    if (kind === 1) return below(draw, 5000);
    if (kind === 2) return pick(draw, ['iframe.resize', 'superpose.theme']);
    if (kind < 5) return textOf(draw, 3);
    if (kind === 5) return Array.from({ length: below(draw, 3) }, () => value(draw, depth + 1));
    return Object.fromEntries(words.filter(() => draw() < 0.5).map((word) => [word, value(draw, depth + 1)]));
  };
  return {
    name: 'host messages',
    once(draw) {
      for (const frame of frames) frame.style.height = '';
      messages.length = 0;
      const context = pick(draw, ['iframe.resize', 'superpose.theme']);
      const sound = { context, src: textOf(draw, 3), height: value(draw) };
      const message = draw() < 0.5 ? sound : value(draw);
      let data: unknown = draw() < 0.8 ? JSON.stringify(message) : message;
      if (typeof data === 'string' && draw() < 0.2) data = data.slice(0, below(draw, data.length));
      const [frame] = frames;
      if (!frame) return;
      frame.src = pick(draw, [
        `${origin}/figure.html`,
        'https://other.example/',
        'data:text/html,',
        '',
        'https:',
      ]);
      frame.srcdoc = draw() < 0.1;
      const from = pick(draw, [origin, 'null', 'https://other.example', '']);
      Object.assign(globalThis, page);
      try {
        listen({ data, source: draw() < 0.8 ? scope : {}, origin: from });
      } finally {
        Object.assign(globalThis, before);
      }
      const isOurs = frame.src.startsWith(origin) && !frame.srcdoc && (from === origin || from === 'null');
      if (!isOurs && (messages.length > 0 || frame.style.height !== ''))
        fault(`A frame of ${frame.src} has been heard as one of ${from}`, data);
      const other = messages.find((message) => message !== '{"context":"superpose.theme","theme":"dark"}');
      if (other !== undefined) fault(`A frame has been told ${other}`, data);
      if (frames[1]?.style.height !== '') fault('Another frame has moved', data);
      const { height } = frame.style;
      if (
        height !== '' &&
        !(/^\d+px$/.test(height) && Number.parseInt(height, 10) >= 1 && Number.parseInt(height, 10) <= 20_000)
      )
        fault(`The frame is ${height}`, data);
    },
  };
})();

const base64: Target = {
  name: 'bytes in pages of one file',
  once(draw) {
    const bytes = Uint8Array.from({ length: below(draw, draw() < 0.01 ? 70_000 : 40) }, () =>
      below(draw, 256),
    );
    const back = fromBase64(toBase64(bytes));
    if (back.length !== bytes.length || back.some((byte, at) => byte !== bytes[at]))
      fault('Other bytes come back', [...bytes]);
  },
};

export const targets: readonly Target[] = [
  ...[safetensors, states, links],
  ...sentences,
  ...[hostMessages, base64, tables, models],
];

const seconds = Number(process.env.SUPERPOSE_FUZZ_SECONDS ?? 0) / targets.length;
const seed = Number(process.env.SUPERPOSE_SEED ?? 1);
const limit = 3000;

test.each(targets.map((target) => [target.name, target] as const))(
  '%s',
  async (name, target) => {
    const until = performance.now() + 1000 * seconds;
    const least = Math.ceil(limit / (target.slow ? 10 : 1));
    let count = 0;
    for (; count < least || performance.now() < until; count++) {
      try {
        await target.once(drawing(seed * 1_000_003 + count));
      } catch (error) {
        throw new Error(`${name}, seed ${seed}, input ${count}: ${(error as Error).message}`, {
          cause: error,
        });
      }
    }
    if (seconds > 0) console.log(`${name}: ${count} inputs, seed ${seed}, nothing found`);
    expect(count).toBeGreaterThanOrEqual(least);
  },
  // As long as was asked for.
  seconds > 0 ? 24 * 3_600_000 : undefined,
);
