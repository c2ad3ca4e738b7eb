// The computing half of every figure, by the figure's name.
import { compute as collisionError } from '../figures/collisionError.js';
import { compute as collisions } from '../figures/collisions.js';
import { compute as dotProducts } from '../figures/dotProducts.js';
import type { Compute } from '../figures/figure.js';
import { compute as heads } from '../figures/heads.js';
import { compute as oblique } from '../figures/oblique.js';
import { compute as oneScore } from '../figures/oneScore.js';
import { compute as probes } from '../figures/probes.js';
import { compute as tables } from '../figures/tables.js';

// biome-ignore lint/suspicious/noExplicitAny: of any controls and data
export const computes: Record<string, Compute<any, unknown>> = {
  'dot-products': dotProducts,
  oblique,
  probes,
  collisions,
  'collision-error': collisionError,
  tables,
  heads,
  'one-score': oneScore,
};
