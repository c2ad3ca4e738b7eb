// The bundler's helper for a module's exports, on a page that has added to Object.prototype.
import { expect, test } from 'vitest';
import { ownNames } from '../../web/build/ownNames.ts';

const helper = `var define = Object.defineProperty;
var exportAll = (all, plain) => {
	let target = {};
	for (var name in all) define(target, name, { get: all[name], enumerable: true });
	if (!plain) define(target, Symbol.toStringTag, { value: "Module" });
	return target;
};
exportAll({ here: () => 1 }).here`;

test('exports are listed only under their own names', () => {
  const { renderChunk } = ownNames() as unknown as { renderChunk(code: string): string };
  const value = (code: string) => new Function(code.replace('exportAll({', 'return exportAll({'))();
  Object.assign(Object.prototype, { foo: 'bar' });
  try {
    expect(() => value(helper)).toThrow('Getter must be a function');
    expect(value(renderChunk(helper))).toBe(1);
  } finally {
    delete (Object.prototype as { foo?: string }).foo;
  }
});
