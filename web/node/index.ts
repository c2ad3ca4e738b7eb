// Exports what Node needs to compute the figures, to draw them, and to make their placeholders.
export { toCsv, toJson, toSvg } from '../element/exports.js';
export { readLink, writeLink } from '../element/link.js';
export {
  allowed,
  type Controls,
  initialState,
  type State,
  written,
  writtenState,
} from '../figures/controls.js';
export { type Placeholder, placeholder } from './placeholder.js';
export { canRasterise, rasterised } from './raster.js';
export { figures, type Rendered, renderer, renderWithExcerpt } from './render.js';
