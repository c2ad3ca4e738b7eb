// The figures of a model that the reader opened: the figures of MiniLM that can show another model, with its
// numbers.
import { figure as depth } from './depth.js';
import { figure as dotProducts } from './dotProducts.js';
import type { AnyFigure } from './figure.js';
import { figure as heads } from './heads.js';
import { figure as needsPositions } from './needsPositions.js';
import { figure as oneScore } from './oneScore.js';
import { figure as overlap } from './overlap.js';
import { userFigure } from './userFigure.js';
import type { UserModel } from './userFile.js';

const figures: readonly AnyFigure[] = [overlap, dotProducts, heads, oneScore, depth, needsPositions];

/** The figures by name; those about scores only if the model's scores can be taken apart. */
export function modelFigures(model: UserModel): Record<string, AnyFigure> {
  const adapted: Record<string, AnyFigure> = {};
  for (const figure of figures) {
    const adaptation = figure.forModel?.(model);
    if (!adaptation) continue;
    const name = `user-model-${figure.name}`;
    adapted[name] = userFigure(figure, name, model, adaptation);
  }
  return adapted;
}
