// The computing half of every figure, by the figure's name.
import { compute as dotProducts } from '../figures/dotProducts.js';
import type { Compute } from '../figures/figure.js';
import { compute as images } from '../figures/images.js';
import { compute as oneScore } from '../figures/oneScore.js';
import { compute as order } from '../figures/order.js';
import { compute as sandbox } from '../figures/sandbox.js';
import { compute as schemes } from '../figures/schemes.js';

// biome-ignore lint/suspicious/noExplicitAny: of any controls and data
export const computes: Record<string, Compute<any, unknown>> = {
  'dot-products': dotProducts,
  'one-score': oneScore,
  images,
  order,
  sandbox,
  schemes,
};
