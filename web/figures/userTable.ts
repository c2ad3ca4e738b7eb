// The figures of tables that the reader opened: those with drawn tables that can take the file's rows in
// their place.
import { figure as collisions } from './collisions.js';
import { figure as dotProducts } from './dotProducts.js';
import type { AnyFigure } from './figure.js';
import { figure as overlap } from './overlap.js';
import { userFigure } from './userFigure.js';
import { shortName, type UserTable, type UserTables } from './userFile.js';

const figures: readonly AnyFigure[] = [dotProducts, collisions, overlap];

/** The figures that can show these tables, by name. */
export function tableFigures(tables: UserTables): Record<string, AnyFigure> {
  const open = [tables.token, tables.position].filter((table): table is UserTable => table !== undefined);
  const file = {
    digest: open.map(({ digest }) => digest).join('.'),
    name: open.map(({ name }) => shortName(name)).join(' and '),
  };
  const adapted: Record<string, AnyFigure> = {};
  for (const figure of figures) {
    const adaptation = figure.forTables?.(tables);
    if (!adaptation) continue;
    const name = `user-table-${figure.name}`;
    adapted[name] = userFigure(figure, name, file, adaptation);
  }
  return adapted;
}
