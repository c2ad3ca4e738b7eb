// Source text without what its comments and strings hold.

/** The text with spaces in place of what its comments and strings hold, as long as before. */
export function masked(text: string): string {
  const blank = (found: string) => found.replace(/[^\n]/g, ' ');
  return text
    .replace(
      /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/(?![\s*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[dgimsuvy]*(?=[.,;)\s])/g,
      blank,
    )
    .replace(
      /^\s*(?:#|template\b|using\b|static_assert\b|import\b|export (?:type )?\{|export type\b|export \*|type \w)[^\n]*/gm,
      blank,
    )
    .replace(/^(?:export )?(?:declare )?interface \w[\s\S]*?^\}/gm, blank)
    .replace(/^(?:import|export(?: type)?) (?:type )?\{[^}]*\} from[^\n]*/gm, blank);
}
