// Draws an SVG picture as a PNG at twice its size, with an optional rasteriser.

/**
 * Replaces what the rasteriser does not know: custom properties, and `pixelated`, for which it has an older
 * name.
 */
export function plainSvg(svg: string): string {
  const values = new Map(
    [...svg.matchAll(/(--[\w-]+):([^;}]+)/g)].map(([, name, value]) => [name as string, value as string]),
  );
  const sharp = svg.replaceAll('image-rendering="pixelated"', 'image-rendering="optimizeSpeed"');
  return sharp.replace(/var\((--[\w-]+)\)/g, (variable, name) => values.get(name) ?? variable);
}

/** The rasteriser's module; undefined if it is not installed. */
const rasteriser = () =>
  import('@resvg/resvg-js').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  });

export const canRasterise = async (): Promise<boolean> => (await rasteriser()) !== undefined;

/** Returns a PNG; undefined without the rasteriser. `svg` has one theme, not `auto`. */
export async function rasterised(svg: string, zoom = 2): Promise<Uint8Array | undefined> {
  const module = await rasteriser();
  if (!module) return undefined;
  const picture = new module.Resvg(plainSvg(svg), {
    fitTo: { mode: 'zoom', value: zoom },
    font: { defaultFontFamily: 'DejaVu Sans', sansSerifFamily: 'DejaVu Sans' },
  });
  return picture.render().asPng();
}
