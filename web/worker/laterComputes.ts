// The computing half of the evidence’s figures, by name.
import { compute as collisions } from '../figures/collisions.js';
import { compute as depth } from '../figures/depth.js';
import { compute as encoding } from '../figures/encoding.js';
import type { Compute } from '../figures/figure.js';
import { compute as gauge } from '../figures/gauge.js';
import { compute as gram } from '../figures/gram.js';
import { compute as heads } from '../figures/heads.js';
import { compute as narrow } from '../figures/narrow.js';
import { compute as needsPositions } from '../figures/needsPositions.js';
import { compute as overlap } from '../figures/overlap.js';

// biome-ignore lint/suspicious/noExplicitAny: of any controls and data
export const laterComputes: Record<string, Compute<any, unknown>> = {
  collisions,
  gauge,
  heads,
  depth,
  'needs-positions': needsPositions,
  overlap,
  encoding,
  gram,
  narrow,
};
