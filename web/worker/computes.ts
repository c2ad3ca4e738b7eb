// The computing half of every figure, by the figure's name.
import { compute as cost } from '../figures/cost.js';
import { compute as dotProducts } from '../figures/dotProducts.js';
import type { Compute } from '../figures/figure.js';
import { compute as mixing } from '../figures/mixing.js';
import { compute as normalising } from '../figures/normalising.js';
import { compute as oneScore } from '../figures/oneScore.js';
import { compute as threeConcats } from '../figures/threeConcats.js';

// biome-ignore lint/suspicious/noExplicitAny: of any controls and data
export const computes: Record<string, Compute<any, unknown>> = {
  cost,
  'dot-products': dotProducts,
  mixing,
  normalising,
  'one-score': oneScore,
  'three-concats': threeConcats,
};
