// Figures that train many models: settings under which they are tried where any settings do, so that it takes a second.
export const shorter: Record<string, Record<string, string>> = {
  narrow: { steps: '50' },
  'schemes-tasks': { schemes: 'add.untied', tasks: 'badge.lookup' },
  longer: { steps: '50' },
};

/** Settings that make every model longer or larger, or more of them: the next value is as good as the last. */
export const isDear = (figure: string, setting: string): boolean =>
  (figure in shorter && ['steps', 'seeds'].includes(setting)) ||
  (figure === 'keep-apart' && setting === 'd_model');
