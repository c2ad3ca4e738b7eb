// A finding as a caption: its first sentence stands out, where it is short enough to be read at a glance.

/** In letters: about eight words and their numbers. */
const longest = 90;

/** The sentence that stands out, empty if the first is too long, and the rest. */
export function captionOf(finding: string): [head: string, rest: string] {
  const end = finding.search(/[.!?](\s|$)/) + 1;
  return end > 0 && end <= longest ? [finding.slice(0, end), finding.slice(end)] : ['', finding];
}
