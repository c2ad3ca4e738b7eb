// The jobs that the bench times. Each has its shapes, its input, the engines that do it, and the allowed distance
// from a reference in double. An engine's prepare(input) takes what stays the same (weights, graphs, memory) and
// returns run(), which does the job once and returns JavaScript arrays, and maybe release().
import { others } from './alone.js';
import { forward, rates } from './forward.js';
import { fourTerms } from './fourTerms.js';
import { training } from './training.js';

export const jobs = [fourTerms, forward, rates, ...others, training];
