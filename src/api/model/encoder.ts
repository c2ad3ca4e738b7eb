// Encoders in the module's memory: their layers, and their forwards.
import type { RawModule } from '../module.js';
import { forwarded } from './encoderForward.js';
import { addedLayer } from './encoderLayer.js';
import type { EncoderApi } from './encoderTypes.js';
import { heldEncoder } from './heldEncoder.js';

export type * from './encoderTypes.js';

export function encoderApi(raw: RawModule): EncoderApi {
  return {
    encoder(input) {
      const encoder = heldEncoder(raw, input);
      return {
        get layers() {
          return encoder.layers;
        },
        addLayer: (layer) => addedLayer(encoder, layer),
        forward: (summands, asked) => forwarded(encoder, summands, asked),
        ...encoder.handle,
      };
    },
  };
}
