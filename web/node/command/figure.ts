// The commands `figure`, which draws a figure in any state or writes its numbers, and `list`, which names
// the figures or the settings of one.
import { extname } from 'node:path';
import { unknownName } from '../../../build/package/unknownName.js';
import {
  allowed,
  type Controls,
  canRasterise,
  figures,
  initialState,
  type Rendered,
  rasterised,
  readLink,
  renderer,
  toCsv,
  toJson,
  toSvg,
  written,
} from '../index.js';
import { checkWritable, write } from './files.js';
import {
  choiceOf,
  integerOf,
  parseOptions,
  quote,
  Refusal,
  refuseTwice,
  settingsOf,
  withWeights,
} from './options.js';

const themes = ['light', 'dark', 'auto'] as const;
type ThemeName = (typeof themes)[number];
const kinds = ['.svg', '.png', '.csv', '.json'];

export async function figure(args: string[]): Promise<string> {
  const { values, positionals } = parseOptions({
    args,
    allowPositionals: true,
    options: {
      out: { type: 'string' },
      set: { type: 'string', multiple: true, default: [] },
      state: { type: 'string' },
      width: { type: 'string' },
      theme: { type: 'string' },
    },
  });
  const [figureName, ...others] = positionals;
  if (figureName === undefined || others.length > 0) {
    throw new Refusal('figure takes the name of one figure; add-or-concatenate list has them all.');
  }
  const { name } = figureNamed(figureName);
  const { out } = values;
  if (out === undefined)
    throw new Refusal('Say where it goes: --out FILE, ending in .svg, .png, .csv or .json.');
  const kind = extname(out);
  if (!kinds.includes(kind)) {
    throw new Refusal(`${quote(out, 200)} must end in one of ${kinds.join(', ')}: that says what to make.`);
  }
  const isPicture = kind === '.svg' || kind === '.png';
  const pictureOption = (['width', 'theme'] as const).find((option) => values[option] !== undefined);
  if (pictureOption && !isPicture)
    throw new Refusal(`--${pictureOption} is for pictures, and ${kind} has numbers alone.`);
  const width = integerOf('--width', values.width ?? '1048', 280, 2000);
  const theme = choiceOf('--theme', values.theme ?? 'light', themes);
  if (kind === '.png' && theme === 'auto') throw new Refusal('A PNG has one theme: --theme light or dark.');

  const set = settingsOf(values.set);
  const settings = values.state === undefined ? set : [...stateOf(figureName, values.state), ...set];
  // What could only fail at the end is checked before the work.
  await checkWritable(out);
  if (kind === '.png' && !(await canRasterise()))
    throw new Refusal('Making a PNG takes a rasteriser. It is a package: npm install @resvg/resvg-js');
  const rendered = await withWeights(() =>
    renderer()(name, settings, (refused) => {
      if (refused.length > 0)
        throw new Refusal(`${refused.join(' ')} add-or-concatenate list ${name} has all settings.`);
    }),
  );
  await write(out, await encode(rendered, kind, width, theme));
  return `${out}: ${rendered.figure.describe(rendered.data, rendered.state)}\n`;
}

async function encode(rendered: Rendered, kind: string, width: number, theme: ThemeName) {
  if (kind === '.csv') return toCsv(rendered);
  if (kind === '.json') return toJson(rendered);
  const svg = await toSvg(rendered, width, theme);
  if (kind === '.svg') return svg;
  return (await rasterised(svg)) as Uint8Array;
}

/** Reads settings from an address, from its fragment, or from a text such as `d=64&n=8`. */
function stateOf(name: string, text: string): [string, string][] {
  // The text of a setting may contain a #.
  const isLink = /^(#|[a-z]+:\/\/)|^[^=]*#v=/i.test(text);
  const fragment = isLink ? (text.match(/#.*/s)?.[0] ?? '') : `#v=1&figure=${name}&${text}`;
  const link = readLink(fragment);
  if (!link) throw new Refusal('--state takes a link that the page copied, or settings as in d=64&n=8.');
  if ('refused' in link) throw new Refusal(link.refused);
  if (link.figure !== name) throw new Refusal(`This state is of the figure ${quote(link.figure)}.`);
  refuseTwice('--state', link.settings);
  return link.settings;
}

export async function list(args: string[]): Promise<string> {
  const { positionals } = parseOptions({ args, allowPositionals: true });
  if (positionals.length > 1)
    throw new Refusal('add-or-concatenate list takes the name of one figure, or none.');
  const [name] = positionals;
  if (name === undefined) {
    const longest = Math.max(...Object.keys(figures).map((key) => key.length));
    return Object.values(figures)
      .map((figure) => `${figure.name.padEnd(longest)}  ${figure.title}\n`)
      .join('');
  }
  const { title, controls } = figureNamed(name);
  const first = initialState(controls);
  const settings = Object.entries(controls).map(
    ([key, control]) =>
      `  ${key}: ${control.label}. Takes ${allowed(control)}; at first ${written(control, first[key] as never)}\n`,
  );
  return `${title}\n${settings.join('')}`;
}

function figureNamed(name: string) {
  const figure = Object.hasOwn(figures, name) ? figures[name] : undefined;
  if (!figure) {
    throw new Refusal(unknownName('figure', name, Object.keys(figures)));
  }
  return figure as { name: string; title: string; controls: Controls };
}
