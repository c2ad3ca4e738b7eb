// A transformer stack in the module's memory: its checked options, and the memory of its layers and last
// forward pass.
import * as check from '../check.js';
import { makeResident } from '../handle.js';
import type { RawModule } from '../module.js';
import { checkedNormalization, type Normalization } from '../scores/decompose.js';
import type { ReadLayer } from './readLayer.js';
import {
  activationNames,
  type TransformerStack,
  type TransformerStackInput,
} from './transformerStackTypes.js';

const noNorm = { kind: 'none', gamma: undefined, beta: undefined, epsilon: 0 } as const;

function checkedNorm(name: string, norm: Normalization | undefined, channels: number) {
  if (norm === undefined) return noNorm;
  const { gamma, beta, ...others } = checkedNormalization(norm, channels, name);
  check.singles(`${name}.gamma`, gamma);
  check.singles(`${name}.beta`, beta);
  return { ...others, gamma, beta };
}

/** The options of a transformer stack, checked. */
function checkedInput(input: TransformerStackInput) {
  check.knownOptions('input', input, {
    d_model: true,
    heads: true,
    keyHeads: true,
    d_head: true,
    norm: true,
    activation: true,
    causal: true,
    embeddingNorm: true,
    finalNorm: true,
  });
  const d = check.integer('d_model', input.d_model, 1);
  const d_head =
    input.d_head === undefined
      ? check.headWidth(input.heads, d, 'd_model', 'channels')
      : check.integer('d_head', input.d_head, 1);
  const heads = check.integer('heads', input.heads, 1);
  const keyHeads = check.integer('keyHeads', input.keyHeads ?? heads, 1);
  if (heads % keyHeads !== 0) {
    throw new RangeError(`keyHeads must divide the ${heads} heads; ${keyHeads} does not.`);
  }
  const preNorm = check.oneOf('norm', input.norm ?? 'post', ['post', 'pre']) === 'pre';
  const causal = check.flag('causal', input.causal ?? false);
  const embeddingNorm = checkedNorm('embeddingNorm', input.embeddingNorm, d);
  const finalNorm = checkedNorm('finalNorm', input.finalNorm, d);
  const activation = check.oneOf('activation', input.activation ?? 'gelu', activationNames);
  return {
    options: { heads, keyHeads, preNorm, causal, activation, embeddingNorm, finalNorm },
    d,
    d_head,
    heads,
    causal,
    /** Channels of all queries together. */
    queryChannels: heads * d_head,
    /** Channels of all keys together. */
    keyChannels: keyHeads * d_head,
    checkedNorm,
  };
}

/** How a stack reads layers that are not in memory. */
export interface LayerReader {
  /** How many layers there are. */
  readonly layers: number;
  /** The width of an MLP and its gate together. */
  readonly inner: number;
  /** The most bytes of layers that stay. */
  readonly layerBytes: number;
  /** Reads a layer, from 0. */
  read(layer: number): Promise<ReadLayer>;
}

/** A transformer stack in the module. */
export interface ResidentStack extends ReturnType<typeof checkedInput> {
  /** The module that holds the stack. */
  readonly raw: RawModule;
  /** The stack's address in the module. Throws after delete(). */
  address(): number;
  /** isAlive() and delete(). */
  readonly handle: ReturnType<typeof makeResident>['handle'];
  /** The layers that were added: how many bytes each takes, and whether it is in memory. */
  readonly layers: { bytes: number; isResident: boolean }[];
  /** The width of the widest MLP and its gate together. */
  inner: number;
  /** How layers that are not in memory are read; undefined if a caller adds all layers. */
  reader: LayerReader | undefined;
  /** The layer that must stay in memory, because it is in use. */
  layerInUse: number | undefined;
  /** Whether a layer is in memory. */
  isResident(layer: number): boolean;
  /** How many bytes the layers in memory take. */
  residentBytes(): number;
  /**
   * Frees the last layer that can be read again and is not in use. Returns false if there is none.
   */
  releaseLayer(): boolean;
  /** The last forward pass, and whether it has ended. */
  lastPass: { isDone: boolean } | undefined;
  /** Counts bytes that layers occupy, until the stack is deleted; negative when layers are freed. */
  addBytes(bytes: number): void;
  /**
   * Counts the bytes of the next forward pass in place of the last one's. Throws RangeError if they do not
   * fit.
   */
  reservePass(what: string, bytes: number): void;
  /** Ends the last forward pass and frees it. */
  dropPass(): void;
}

/** The resident stack behind each transformer stack, for the model that reads its layers. */
export const residentStackOf = new WeakMap<TransformerStack, ResidentStack>();

export function residentStack(raw: RawModule, input: TransformerStackInput): ResidentStack {
  const checked = checkedInput(input);
  const memory = makeResident(
    raw,
    'transformer stack',
    0,
    () => raw.transformerStack(checked.options),
    raw.deleteStack,
    () => stack.releaseLayer(),
  );
  let passBytes = 0;
  const stack: ResidentStack = {
    ...checked,
    ...memory,
    raw,
    layers: [],
    inner: 0,
    reader: undefined,
    layerInUse: undefined,
    lastPass: undefined,
    isResident: (layer) => stack.layers[layer]?.isResident === true,
    residentBytes: () =>
      stack.layers.reduce((sum, { bytes, isResident }) => sum + (isResident ? bytes : 0), 0),
    releaseLayer() {
      if (!stack.reader) return false;
      const last = stack.layers.findLastIndex(
        ({ isResident }, layer) => isResident && layer !== stack.layerInUse,
      );
      const released = stack.layers[last];
      if (!released) return false;
      raw.releaseStackLayer(memory.address(), last);
      released.isResident = false;
      memory.addBytes(-released.bytes);
      return true;
    },
    reservePass(what, bytes) {
      // The last pass makes room for the next one, but stays if the next one is refused.
      memory.addBytes(-passBytes);
      try {
        check.requireMemory(
          what,
          bytes,
          'Run fewer tokens or layers, or leave out the scores with scores: false.',
        );
        passBytes = bytes;
      } finally {
        memory.addBytes(passBytes);
      }
    },
    dropPass() {
      memory.addBytes(-passBytes);
      passBytes = 0;
      stack.lastPass = undefined;
      if (memory.handle.isAlive()) raw.stopForward(memory.address());
    },
  };
  return stack;
}
