// Code blocks and commands of README.md.
import { readFileSync } from 'node:fs';

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');

const blocksOf = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code]) => code as string,
  );

/** The blocks in a language in the section with this heading; at least one. */
export function blocks(heading: string, language: string): string[] {
  const section = readme.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  const found = blocksOf(section ?? '', language);
  if (found.length === 0) throw new Error(`README.md has no ${language} under “${heading}”.`);
  return found;
}

/** Every block, as the heading of its section and its language. */
export const everyBlock = (): string[] =>
  readme.split(/^## /m).flatMap((section) => {
    const [heading = ''] = section.split('\n');
    return [...section.matchAll(/^```(\w*)\n[\s\S]*?^```$/gm)].map(
      ([, language]) => `${heading.replace(/^# .*/, 'at the top')}: ${language}`,
    );
  });

/**
 * Every command in README.md, unchanged: the lines of its shell blocks, and text of several words between
 * backticks in its prose, except HTML.
 */
export function commands(): string[] {
  const lines = blocksOf(readme, 'sh').flatMap((block) => block.trim().split('\n'));
  const prose = readme.replace(/^```[\s\S]*?^```$/gm, '');
  const inline = [...prose.matchAll(/`([^`]*)`/g)]
    .map(([, code]) => code as string)
    .filter((code) => code.includes(' ') && !code.startsWith('<'));
  return [...new Set([...lines.map((line) => line.replace(/ +#.*$/, '')), ...inline])];
}

/** Commands for a reader who has the package; the others are for a checkout. */
export const forThePackage = (command: string): boolean => /^(npm install|npx) superpose /.test(command);
