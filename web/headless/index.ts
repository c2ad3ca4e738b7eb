// What Node needs of the figures: to compute them, to draw them, and to stand in for them.
export { toCsv, toJson, toSvg } from '../element/exports.js';
export { readLink, writeLink } from '../element/link.js';
export { allowed, type State, writtenState } from '../figures/controls.js';
export { placeholder } from './placeholder.js';
export { figures, type Rendered, renderer } from './render.js';
