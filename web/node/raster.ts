// An SVG picture of a figure as a PNG, at twice its size, by an optional rasteriser.

/** The rasteriser knows no custom properties, and only an older name for `pixelated`. */
export function plainSvg(svg: string): string {
  const values = new Map(
    [...svg.matchAll(/(--[\w-]+):([^;}]+)/g)].map(([, name, value]) => [name as string, value as string]),
  );
  const sharp = svg.replaceAll('image-rendering="pixelated"', 'image-rendering="optimizeSpeed"');
  return sharp.replace(/var\((--[\w-]+)\)/g, (variable, name) => values.get(name) ?? variable);
}

/** Undefined where the rasteriser is not installed. */
const rasteriser = () =>
  import('@resvg/resvg-js').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  });

export const canRasterise = async (): Promise<boolean> => (await rasteriser()) !== undefined;

/** Undefined likewise. `svg` is of one theme, not `auto`. */
export async function rasterised(svg: string, zoom = 2): Promise<Uint8Array | undefined> {
  const found = await rasteriser();
  if (!found) return undefined;
  const picture = new found.Resvg(plainSvg(svg), {
    fitTo: { mode: 'zoom', value: zoom },
    font: { defaultFontFamily: 'DejaVu Sans', sansSerifFamily: 'DejaVu Sans' },
  });
  return picture.render().asPng();
}
