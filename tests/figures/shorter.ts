// Figures that train many models: cheap settings for tests where any settings do, so that one takes a second.
export const shorter: Record<string, Record<string, string>> = {
  narrow: { steps: '50' },
  'schemes-tasks': { schemes: 'add.untied', tasks: 'badge.lookup' },
};
