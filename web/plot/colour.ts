// Colours by meaning. Each of the four terms has the same colour in every plot, legend and formula (from
// Okabe and Ito's set, which colour-blind readers can tell apart); values are mapped to a table of 256
// colours.
import type { Ink, RasterMark, ScaleName } from './scene.js';

export type Theme = 'light' | 'dark';

export const inks: Record<Theme, Record<Ink, string>> = {
  light: {
    paper: '#fcfcfa',
    ink: '#16181d',
    quiet: '#555b66',
    line: '#d9dad6',
    field: '#f2f2ee',
    accent: '#3d4654',
    concatenated: '#b3471d',
    second: '#3f5500',
    third: '#4b3fb0',
    'token-token': '#0072b2',
    'token-position': '#9c5e00',
    'position-token': '#007d5b',
    'position-position': '#ab4c86',
    rest: '#6e7278',
  },
  dark: {
    paper: '#12151b',
    ink: '#eceef2',
    quiet: '#a3aab6',
    line: '#323844',
    field: '#1b1f27',
    accent: '#c3cad6',
    concatenated: '#f0885c',
    second: '#d3e34a',
    third: '#8f8cff',
    'token-token': '#56b4e9',
    'token-position': '#f0a92e',
    'position-token': '#3cc79b',
    'position-position': '#e58fc3',
    rest: '#9aa0a8',
  },
};

/** The colour of a page's links and controls, for its style sheets alone: in figures blue means the token. */
export const links: Record<Theme, string> = { light: '#1f5fa8', dark: '#7fb8f5' };

/** Teal below zero and red above: blue belongs to tokens alone. */
const stops: Record<Theme, Record<ScaleName, string[]>> = {
  light: {
    diverging: ['#06464a', '#2b8f8d', '#b4ddd9', '#f6f6f4', '#f7c7ad', '#d5644b', '#7d0f22'],
    sequential: ['#f6f6f4', '#c9c3e0', '#7e6fb3', '#3b1f72'],
  },
  dark: {
    diverging: ['#a6ece6', '#3fa8a2', '#24595a', '#2c323d', '#7c3a29', '#d5684a', '#ffc4a6'],
    sequential: ['#2c323d', '#50498a', '#8f84cf', '#e4deff'],
  },
};

const steps = 256;
/**
 * The index of the entry for NaN, after those of values: a grey that no value has, quieter than most
 * colours.
 */
const missing = steps;
const absent: Record<Theme, string> = { light: inks.light.line, dark: inks.dark.paper };
const tables = new Map<string, Uint32Array>();

/** A colour as a pixel, red in the lowest byte: memory is little-endian wherever WebAssembly runs. */
export const pixelOf = ([red = 0, green = 0, blue = 0]: readonly number[], alpha = 255): number =>
  ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;

/** 256 pixels from the lowest value to the highest, and one for NaN. */
function colourTable(scale: ScaleName, theme: Theme): Uint32Array {
  const slot = `${theme} ${scale}`;
  const table = tables.get(slot) ?? ramp(stops[theme][scale], channelsOf(absent[theme]));
  tables.set(slot, table);
  return table;
}

/** The colours of a map's cells as pixels, row by row. */
export function rasterPixels(raster: RasterMark, theme: Theme): Uint32Array {
  const { values, rows, columns, low, high, scale } = raster;
  const colours = colourTable(scale, theme);
  const pixels = new Uint32Array(rows * columns);
  for (let cell = 0; cell < pixels.length; cell++)
    pixels[cell] = colours[colourStep(values[cell] as number, low, high)] as number;
  return pixels;
}

/** Red, green and blue of #rrggbb. */
export const channelsOf = (colour: string): number[] =>
  [1, 3, 5].map((from) => Number.parseInt(colour.slice(from, from + 2), 16));

function ramp(colours: string[], last: number[]): Uint32Array {
  const channels = colours.map(channelsOf);
  const table = Array.from({ length: steps }, (_, step) => {
    const place = (step / (steps - 1)) * (colours.length - 1);
    const left = Math.min(colours.length - 2, Math.floor(place));
    const [from, to] = [channels[left], channels[left + 1]] as [number[], number[]];
    return from.map((value, channel) =>
      Math.round(value + ((to[channel] as number) - value) * (place - left)),
    );
  });
  return Uint32Array.from([...table, last], (channels) => pixelOf(channels));
}

/**
 * The index of a value's colour, 0 to 255, or 256 if the value or an end of the scale is NaN. Math.round,
 * max and min would take three times as long.
 */
export function colourStep(value: number, low: number, high: number): number {
  if (!(high > low)) return Number.isNaN(value + low + high) ? missing : 0;
  const above = ((value - low) * (steps - 1)) / (high - low) + 0.5;
  return above >= steps ? steps - 1 : above > 0 ? Math.trunc(above) : above <= 0 ? 0 : missing;
}

/** The theme's colours as CSS custom properties. */
export const themeVariables = (theme: Theme): string =>
  Object.entries(inks[theme])
    .map(([name, colour]) => `--${name}:${colour}`)
    .join(';');

/** CSS rules for the classes that the marks of a scene carry: s- strokes, f- fills. */
export const inkClasses: string = Object.keys(inks.light)
  .map((name) => `.s-${name}{stroke:var(--${name})}.f-${name}{fill:var(--${name})}`)
  .join('');
