// Code blocks of README.md, by section.
import { readFileSync } from 'node:fs';

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');

/** The blocks of a language in the section with this heading; at least one. */
export function blocks(heading: string, language: string): string[] {
  const section = readme.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  const found = [...(section ?? '').matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))];
  if (found.length === 0) throw new Error(`README.md has no ${language} under “${heading}”.`);
  return found.map(([, code]) => code as string);
}
