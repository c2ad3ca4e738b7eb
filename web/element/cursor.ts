// How keys move the cursor, and the room it has.
import type { Cursor } from '../plot/scene.js';

export const within = ({ i, j }: Cursor, rows: number, columns: number): Cursor => ({
  i: Math.max(0, Math.min(rows - 1, i)),
  j: Math.max(0, Math.min(columns - 1, j)),
});

export function stepped({ i, j }: Cursor, key: string, rows: number, columns: number): Cursor | undefined {
  switch (key) {
    case 'ArrowUp':
      return within({ i: i - 1, j }, rows, columns);
    case 'ArrowDown':
      return within({ i: i + 1, j }, rows, columns);
    case 'ArrowLeft':
      return within({ i, j: j - 1 }, rows, columns);
    case 'ArrowRight':
      return within({ i, j: j + 1 }, rows, columns);
    case 'PageUp':
      return within({ i, j: j - 10 }, rows, columns);
    case 'PageDown':
      return within({ i, j: j + 10 }, rows, columns);
    case 'Home':
      return { i, j: 0 };
    case 'End':
      return within({ i, j: columns - 1 }, rows, columns);
    default:
      return undefined;
  }
}
