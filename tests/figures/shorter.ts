// Figures that train many models: cheap settings for tests where any settings do, so that one takes a second.
export const shorter: Record<string, Record<string, string>> = {
  narrow: { steps: '50' },
  'schemes-tasks': { schemes: 'add.untied', tasks: 'badge.lookup' },
};

/** Settings that make models longer, larger or more numerous, or run more of them. */
export const isDear = (figure: string, setting: string): boolean =>
  (figure in shorter && ['steps', 'seeds', 'size'].includes(setting)) ||
  (figure === 'keep-apart' && setting === 'd_model') ||
  (['depth', 'needs-positions'].includes(figure) && setting === 'layers');
