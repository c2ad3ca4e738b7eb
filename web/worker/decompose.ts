// Figure "One score, four questions": one head's sixteen terms, and the sums of them that are shown.
import type { Scores, Sentence } from 'superpose';
import { logitsOf } from 'superpose';
import { type DecomposeAnswer, type DecomposeRequest, mostTokens, type Panel } from './protocol.js';
import type { Library } from './worker.js';

type Taken = Scores<Float64Array> & { sentence: Sentence };

// Switching a term off and on must not take the sentence apart again.
let last: { text: string; head: number; taken: Taken } | undefined;

async function takeApart(library: Library, text: string, head: number): Promise<Taken> {
  if (last?.text === text && last.head === head) return last.taken;
  const model = await library.miniLM();
  const taken = await model.decompose(model.tokenize(text, mostTokens), { only: [head] });
  last = { text, head, taken };
  return taken;
}

export async function decompose(
  library: Library,
  { text, head, panels, on }: DecomposeRequest,
): Promise<DecomposeAnswer> {
  const taken = await takeApart(library, text, head);
  const superpose = await library.superpose();
  const combine = (chosen: (term: number) => boolean) =>
    superpose.combineTerms(
      taken,
      head,
      Array.from({ length: taken.parts.length ** 2 }, (_, term) => chosen(term)),
    );
  const shown = ({ sum, centred, share }: Panel): Panel => ({ sum, centred, share });

  const all = combine(() => true);
  return {
    tokens: [...taken.sentence.tokens],
    dropped: taken.sentence.dropped,
    n: taken.n,
    head,
    panels: panels.map((terms) => shown(combine((term) => terms.includes(term)))),
    logits: { ...shown(all), sum: logitsOf(taken, head).slice() },
    kept: combine((term) => panels.some((terms, panel) => on[panel] && terms.includes(term))),
    residual: taken.residuals[0] as number,
  };
}
