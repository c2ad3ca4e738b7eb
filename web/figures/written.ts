// What the heads of a layer write, by part: for the figure of the layers and for the command.
import type { EncoderForward, Floats, HeadOutputs, HeadOutputsInput } from 'superpose';

/** By streams and in the canonical gauge unless asked otherwise; `fixed` are the rows whose token the model fixes. */
export function written<A extends Floats>(
  run: EncoderForward<A>,
  fixed: readonly number[],
  asked: HeadOutputsInput<A>,
): HeadOutputs {
  const { gauge = 'canonical' } = asked;
  const apart = gauge === 'raw' ? [] : fixed.filter((row) => row < run.n);
  return run.headOutputs({ way: 'streams', ...asked, gauge, apart } as HeadOutputsInput<A>);
}
