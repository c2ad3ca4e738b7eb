// The attribute that sets a setting of a figure.

/** `positionScale` is set by the attribute `position-scale`, `d_head` by `d_head`. */
export const attributeOf = (name: string): string =>
  name.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
