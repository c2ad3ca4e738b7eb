// Colours that mean something. The four terms keep theirs in every plot, legend and formula (Okabe and
// Ito's set, distinguishable to colour-blind readers); values go through a table of 256 steps.

export const termColours = {
  'token-token': 'var(--token-token)',
  'token-position': 'var(--token-position)',
  'position-token': 'var(--position-token)',
  'position-position': 'var(--position-position)',
  rest: 'var(--rest)',
} as const;

export type TermColour = keyof typeof termColours;

export type Scale = 'diverging' | 'sequential';

const stops: Record<'light' | 'dark', Record<Scale, string[]>> = {
  light: {
    diverging: ['#0b3c6f', '#3b83bd', '#b9d6ea', '#f6f6f4', '#f7c7ad', '#d5644b', '#7d0f22'],
    sequential: ['#f6f6f4', '#c9c3e0', '#7e6fb3', '#3b1f72'],
  },
  dark: {
    diverging: ['#a8d4ff', '#4795d6', '#1f4a70', '#1b1f27', '#6e3324', '#d5684a', '#ffc4a6'],
    sequential: ['#1b1f27', '#46407a', '#8f84cf', '#e4deff'],
  },
};

const darkScheme = matchMedia('(prefers-color-scheme: dark)');
const tables = new Map<string, Uint8ClampedArray>();

/** 256 RGBA colours from the lowest value to the highest, for the reader's colour scheme. */
export function colourTable(scale: Scale): Uint8ClampedArray {
  const theme = darkScheme.matches ? 'dark' : 'light';
  const slot = `${theme} ${scale}`;
  let table = tables.get(slot);
  if (!table) {
    table = ramp(stops[theme][scale]);
    tables.set(slot, table);
  }
  return table;
}

/** As CSS, for legends. */
export const colourRamp = (scale: Scale): string =>
  `linear-gradient(to right, ${stops[darkScheme.matches ? 'dark' : 'light'][scale].join(', ')})`;

/** Calls back when the reader's colour scheme changes; returns the way to stop that. */
export function onSchemeChange(redraw: () => void): () => void {
  darkScheme.addEventListener('change', redraw);
  return () => darkScheme.removeEventListener('change', redraw);
}

/** The canvas interpolates: a gradient one pixel high, read back; its ends lie in the middles of the last pixels. */
function ramp(colours: string[]): Uint8ClampedArray {
  const canvas = document.createElement('canvas');
  canvas.width = 256;
  canvas.height = 1;
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  const gradient = context.createLinearGradient(0.5, 0, 255.5, 0);
  colours.forEach((colour, place) => {
    gradient.addColorStop(place / (colours.length - 1), colour);
  });
  context.fillStyle = gradient;
  context.fillRect(0, 0, 256, 1);
  return context.getImageData(0, 0, 256, 1).data;
}
