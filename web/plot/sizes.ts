// The six sizes of type, in pixels for a reader whose text is 16 high: pictures, pages and embeds have no
// others, and style sheets have them as custom properties.
export const sizes = { label: 13, text: 15, prose: 18, heading: 22, section: 30, title: 44 } as const;

export type Size = (typeof sizes)[keyof typeof sizes];

/** The sizes as CSS custom properties: --size-label and so on. */
export const sizeVariables: string = Object.entries(sizes)
  .map(([name, size]) => `--size-${name}:${size / 16}rem`)
  .join(';');
