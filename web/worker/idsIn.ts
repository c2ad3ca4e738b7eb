// Ids that the reader wrote, between any commas and spaces.
export const idsIn = (text: string): number[] =>
  text.split(/[\s,]+/).flatMap((one) => (one === '' ? [] : [Number(one)]));
