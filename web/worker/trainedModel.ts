// A small model for a reader who has no file: trained here, and saved as GPT-2 is, which it is but for its size.
import { encodeSafetensorsApi, type Floats, type Superpose, type Table, type Trainer } from 'superpose';
import type { Job } from '../figures/figure.js';
import { n, steps } from '../figures/tasks.js';
import { trainTogether, withTrainers } from '../figures/trainers.js';

const heads = 2;
const layers = 2;

/** It learns to answer with the token before. */
export const options = {
  task: 'prev',
  n,
  ...{ heads, layers, steps },
  mlp: true,
  causal: true,
  tied: true,
} as const;

/** GPT-2's names of a layer's parameters; none but gains go without a bias there. */
const names = {
  g1: 'ln_1',
  W_qkv: 'attn.c_attn',
  W_o: 'attn.c_proj',
  g2: 'ln_2',
  W_1: 'mlp.c_fc',
  W_2: 'mlp.c_proj',
};

/** Its files, and as many sentences of ids as its queries and keys are averaged over. */
export async function trainedModel(
  superpose: Superpose,
  job: Job,
): Promise<{ files: File[]; corpus: string }> {
  const parameters = await withTrainers(superpose, [options], async (trainers) => {
    await trainTogether(trainers, job, { looked: job.progress, show() {} });
    return (trainers[0] as Trainer).parameters();
  });
  const of = (name: string) => parameters[name] as Table;
  const tensors: Record<string, Table | Floats> = { 'wte.weight': of('E'), 'wpe.weight': of('P') };
  const add = (name: string, weight: Table) => {
    tensors[`${name}.weight`] = weight.rows === 1 ? weight.data : weight;
    tensors[`${name}.bias`] = new Float32Array(weight.columns);
  };
  for (let layer = 0; layer < layers; layer++)
    for (const [own, name] of Object.entries(names)) add(`h.${layer}.${name}`, of(`layers.${layer}.${own}`));
  add('ln_f', of('gf'));
  const { rows: vocab_size, columns: n_embd } = of('E');
  const config = {
    model_type: 'gpt2',
    ...{ vocab_size, n_embd, n_positions: n, n_head: heads, n_layer: layers },
    layer_norm_epsilon: 1e-5,
    activation_function: 'gelu_new',
  };
  const { tokens } = superpose.taskExamples({ task: options.task, n, sequences: 16, seed: 2 });
  const lines = Array.from({ length: tokens.length / n }, (_, line) =>
    Array.from(tokens.subarray(line * n, (line + 1) * n)).join(', '),
  );
  return {
    files: [
      new File([encodeSafetensorsApi().encodeSafetensors(tensors)], 'model.safetensors'),
      new File([JSON.stringify(config)], 'config.json'),
    ],
    corpus: lines.join('\n'),
  };
}
