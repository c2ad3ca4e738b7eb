// Stacks of transformer layers in the module's memory: how they are made, extended and run.
import type { RawModule } from '../module.js';
import { forwarded } from './forwardPass.js';
import { residentStack } from './residentStack.js';
import { addedLayer } from './stackLayer.js';
import type { TransformerStackApi } from './transformerStackTypes.js';

export type * from './transformerStackTypes.js';

export function transformerStackApi(raw: RawModule): TransformerStackApi {
  return {
    transformerStack(input) {
      const stack = residentStack(raw, input);
      return {
        get layers() {
          return stack.layers;
        },
        addLayer: (layer) => addedLayer(stack, layer),
        forward: (summands, forwardInput) => forwarded(stack, summands, forwardInput),
        ...stack.handle,
      };
    },
  };
}
