// Encoders in the module's memory: their layers, and their forwards.
import type { RawModule } from '../module.js';
import { begunForward } from './encoderForward.js';
import { begunLayer } from './encoderLayer.js';
import type { Encoder, EncoderApi } from './encoderTypes.js';
import { type HeldEncoder, heldEncoder } from './heldEncoder.js';
import { inSteps, type Steps } from './steps.js';
import { breath } from './watch.js';

export type * from './encoderTypes.js';

/** How many multiplications a forward goes on for before it looks at its signal: ten milliseconds or so. */
const stepLength = 2 ** 28;

export function encoderApi(raw: RawModule): EncoderApi {
  return { encoder: (input) => encoderOf(heldEncoder(raw, input)) };
}

function encoderOf(encoder: HeldEncoder): Encoder {
  const steps: Steps = {
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
        while (pooled.length === 0) {
          await breath();
          signal?.throwIfAborted();
          pooled = encoder.raw.stepEncoder(encoder.address(), stepLength);
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
      return end(begin(Infinity));
    },
    [inSteps]: steps,
    ...encoder.handle,
  } as Encoder;
}
