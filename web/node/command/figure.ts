// superpose figure: any figure in any state, as a picture or as its numbers.
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { type Rendered, rasterised, readLink, renderer, toCsv, toJson, toSvg } from '../index.js';
import { figureNamed } from './list.js';
import { parsed, Refusal, withWeights } from './refusal.js';

const themes = ['light', 'dark', 'auto'] as const;
type ThemeName = (typeof themes)[number];
const kinds = ['.svg', '.png', '.csv', '.json'];

export async function figure(args: string[]): Promise<string> {
  const { values, positionals } = parsed({
    args,
    allowPositionals: true,
    options: {
      out: { type: 'string' },
      set: { type: 'string', multiple: true, default: [] },
      state: { type: 'string' },
      width: { type: 'string', default: '1048' },
      theme: { type: 'string', default: 'light' },
    },
  });
  const [name, ...others] = positionals;
  if (name === undefined || others.length > 0) {
    throw new Refusal('superpose figure takes the name of one figure; superpose list has them all.');
  }
  figureNamed(name);
  const { out } = values;
  if (out === undefined)
    throw new Refusal('Say where it goes: --out FILE, ending in .svg, .png, .csv or .json.');
  const kind = extname(out);
  if (!kinds.includes(kind)) {
    throw new Refusal(`“${out}” must end in one of ${kinds.join(', ')}: that says what to make.`);
  }
  const width = Number(values.width);
  if (!Number.isInteger(width) || width < 280 || width > 2000) {
    throw new Refusal(`--width takes a whole number from 280 to 2000, and got “${values.width}”.`);
  }
  const theme = values.theme as ThemeName;
  if (!themes.includes(theme)) throw new Refusal(`--theme takes light, dark or auto, and got “${theme}”.`);
  if (kind === '.png' && theme === 'auto') throw new Refusal('A PNG has one theme: --theme light or dark.');

  const settings = [
    ...(values.state === undefined ? [] : stateOf(name, values.state)),
    ...values.set.map(pairOf),
  ];
  const rendered = await withWeights(() => renderer()(name, settings));
  if (rendered.refused.length > 0) {
    throw new Refusal(`${rendered.refused.join(' ')} superpose list ${name} has all settings.`);
  }
  await writeFile(out, await made(rendered, kind, width, theme)).catch((error: NodeJS.ErrnoException) => {
    throw new Refusal(`“${out}” could not be written (${error.code}).`);
  });
  return `${out}: ${rendered.figure.describe(rendered.data, rendered.state)}\n`;
}

async function made(rendered: Rendered, kind: string, width: number, theme: ThemeName) {
  if (kind === '.csv') return toCsv(rendered);
  if (kind === '.json') return toJson(rendered);
  const svg = await toSvg(rendered, width, theme);
  if (kind === '.svg') return svg;
  const png = await rasterised(svg);
  if (!png)
    throw new Refusal('Making a PNG takes a rasteriser. It is a package: npm install @resvg/resvg-js');
  return png;
}

function pairOf(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new Refusal(`--set takes KEY=VALUE, and got “${text.slice(0, 40)}”.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Settings from a whole address, from its fragment, or as in `d=64&n=8`. */
function stateOf(name: string, text: string): [string, string][] {
  // The text of a setting may hold a # of its own.
  const isLink = /^(#|[a-z]+:\/\/)|^[^=]*#v=/i.test(text);
  const fragment = isLink ? (text.match(/#.*/s)?.[0] ?? '') : `#v=1&figure=${name}&${text}`;
  const link = readLink(fragment);
  if (!link) throw new Refusal('--state takes a link that the page copied, or settings as in d=64&n=8.');
  if ('refused' in link) throw new Refusal(link.refused);
  if (link.figure !== name) throw new Refusal(`This state is of the figure “${link.figure.slice(0, 40)}”.`);
  return link.settings;
}
