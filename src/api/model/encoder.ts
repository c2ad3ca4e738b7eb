// Encoders in the module's memory: their layers, and their forwards.
import type { RawModule } from '../module.js';
import type { Floats, FloatsOf, Precision } from '../table.js';
import { begunForward } from './encoderForward.js';
import { begunLayer } from './encoderLayer.js';
import type { Encoder, EncoderApi, EncoderInput } from './encoderTypes.js';
import { type HeldEncoder, heldEncoder } from './heldEncoder.js';
import { inSteps, type Steps } from './steps.js';
import { breath } from './watch.js';

export type * from './encoderTypes.js';

/** How many multiplications a forward goes on for before it looks at its signal: ten milliseconds or so. */
const stepLength = 2 ** 28;

export function encoderApi(raw: RawModule): EncoderApi {
  return {
    encoder<P extends Precision = 'float32'>(input: EncoderInput<P>): Encoder<FloatsOf<P>> {
      return encoderOf<FloatsOf<P>>(heldEncoder(raw, input as EncoderInput<Precision>));
    },
  };
}

function encoderOf<A extends Floats>(encoder: HeldEncoder<A>): Encoder<A> {
  const { raw, suffix } = encoder;
  const steps: Steps<A> = {
    async addLayer(layer) {
      const { tensors, read, end, drop } = begunLayer(encoder, layer);
      try {
        for (const [tensor, places] of tensors)
          await tensor((block, from) => {
            for (const one of places) read(one, block, from);
          });
        end();
      } catch (error) {
        drop();
        throw error;
      }
    },
    async forward(summands, given, signal) {
      const { begin, end } = begunForward(encoder, summands, given);
      try {
        let pooled = begin(stepLength);
        while (!pooled) {
          await breath();
          signal?.throwIfAborted();
          pooled = raw[`stepEncoder${suffix}`](encoder.address(), stepLength) as A | undefined;
        }
        return end(pooled);
      } catch (error) {
        encoder.dropRun();
        throw error;
      }
    },
  };
  return {
    get layers() {
      return encoder.layers;
    },
    addLayer: (layer) => begunLayer(encoder, layer).end(),
    forward(summands, given) {
      const { begin, end } = begunForward(encoder, summands, given);
      return end(begin(Infinity) as A);
    },
    [inSteps]: steps,
    ...encoder.handle,
  } as Encoder<A>;
}
