// Stacks of transformer layers in the module's memory: how they are made, extended and run.
import type { RawModule } from '../module.js';
import { forwarded } from './forwardPass.js';
import { residentStack, residentStackOf } from './residentStack.js';
import { addedLayer } from './stackLayer.js';
import type { TransformerStack, TransformerStackInput } from './transformerStackTypes.js';

export type * from './transformerStackTypes.js';

/** @category Decompose a model */
interface TransformerStackApi {
  /**
   * Makes a transformer stack for your own weights. It has no layers at first, and its input is a sum of
   * rows. Norms come after attention and MLP, as in Devlin et al. 2019, or before them, as in Xiong et al.
   * 2020. Throws RangeError, TypeError.
   */
  transformerStack(input: TransformerStackInput): TransformerStack;
}

export function transformerStackApi(raw: RawModule): TransformerStackApi {
  return {
    transformerStack(input) {
      const stack = residentStack(raw, input);
      const result: TransformerStack = {
        get layers() {
          return stack.layers.length;
        },
        addLayer: (layer) => addedLayer(stack, layer),
        forward: (summands, forwardInput) => forwarded(stack, summands, forwardInput),
        ...stack.handle,
      };
      residentStackOf.set(result, stack);
      return result;
    },
  };
}
