// The attribute that sets a setting of a figure, and back.

/** `positionScale` is set by the attribute `position-scale`, `d_head` by `d_head`. */
export const attributeOf = (name: string): string =>
  name.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);

export const settingOf = (attribute: string): string =>
  attribute.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
