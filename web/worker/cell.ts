// The computation that nested workers run, by itself: a bundler needs no list of what its file shares with figures.
export { computeCell } from '../figures/cells.js';
