// A stack of transformer layers in the module's memory: its options, its layers and its last forward pass.
import * as check from '../check.js';
import { held } from '../handle.js';
import type { RawModule } from '../module.js';
import { checkedNormalization, type Normalization } from '../scores/decompose.js';
import { activationNames, type TransformerStackInput } from './transformerStackTypes.js';

const noNorm = { kind: 'none', gamma: undefined, beta: undefined, epsilon: 0 } as const;

/** What a transformer stack is made of, checked. */
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
  if (heads % keyHeads !== 0)
    throw new RangeError(`keyHeads must divide the ${heads} heads; ${keyHeads} does not.`);
  const preNorm = check.oneOf('norm', input.norm ?? 'post', ['post', 'pre']) === 'pre';
  const causal = check.flag('causal', input.causal ?? false);
  const normOf = (name: string, given: Normalization | undefined, columns: number) => {
    if (given === undefined) return noNorm;
    const { gamma, beta, ...norm } = checkedNormalization(given, columns, name);
    check.singles(`${name}.gamma`, gamma);
    check.singles(`${name}.beta`, beta);
    return { ...norm, gamma, beta };
  };
  const norms = {
    embeddingNorm: normOf('embeddingNorm', input.embeddingNorm, d),
    finalNorm: normOf('finalNorm', input.finalNorm, d),
  };
  const activation = check.oneOf('activation', input.activation ?? 'gelu', activationNames);
  return {
    options: { heads, keyHeads, preNorm, causal, activation, ...norms },
    ...{ d, d_head, heads, causal, normOf },
    /** Channels of all queries, and of all keys. */
    ofQueries: heads * d_head,
    ofKeys: keyHeads * d_head,
  };
}

/** A transformer stack in the module, with what its layers and its last forward hold there. */
export interface ResidentStack extends ReturnType<typeof checkedInput> {
  /** The module. */
  readonly raw: RawModule;
  /** Its address; throws once it is gone. */
  address(): number;
  /** Its isAlive() and delete(). */
  readonly handle: ReturnType<typeof held>['handle'];
  /** How many layers were added. */
  layers: number;
  /** The most values that a token has inside an MLP. */
  widest: number;
  /** The last forward, and whether it came to its end. */
  newest: { isThrough: boolean } | undefined;
  /** Counts bytes of layers, more or fewer, until the stack goes. */
  hold(bytes: number): void;
  /** Lets the last forward go, and counts the next one's bytes unless they do not fit. */
  holdRun(what: string, bytes: number): void;
  /** Lets go of a forward that is under way. */
  dropRun(): void;
  /** Lets go of what is under way in the module. */
  stop(): void;
}

export function residentStack(raw: RawModule, input: TransformerStackInput): ResidentStack {
  const checked = checkedInput(input);
  const mine = held(raw, 'transformer stack', 0, () => raw.encoder(checked.options), raw.deleteEncoder);
  let heldByRun = 0;
  const stack: ResidentStack = {
    ...checked,
    ...mine,
    raw,
    layers: 0,
    widest: 0,
    newest: undefined,
    holdRun(what, bytes) {
      // The last forward makes room for this one, but stays if that is refused.
      mine.hold(-heldByRun);
      try {
        check.fits(what, bytes);
        heldByRun = bytes;
      } finally {
        mine.hold(heldByRun);
      }
    },
    dropRun() {
      mine.hold(-heldByRun);
      heldByRun = 0;
      stack.newest = undefined;
      stack.stop();
    },
    stop() {
      if (mine.handle.isAlive()) raw.stopEncoder(mine.address());
    },
  };
  return stack;
}
