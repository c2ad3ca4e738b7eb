import { expect, test } from 'vitest';
import { csvOf } from '../../web/element/csv.ts';

test('a token comes out as it is, whatever a spreadsheet may take it for', () => {
  const rows = ['-', '+', '=', '@', '-5', '=1+1', "'"].map((token, place) => [token, 0 - place]);
  expect(csvOf({ columns: ['token', 'value'], rows })).toBe(
    "token,value\r\n-,0\r\n+,-1\r\n=,-2\r\n@,-3\r\n-5,-4\r\n=1+1,-5\r\n',-6\r\n",
  );
});

test('commas, quotes and line breaks stand in quotes', () => {
  expect(csvOf({ columns: ['a,b', 'c'], rows: [['say “"”', 'two\nlines']] })).toBe(
    '"a,b",c\r\n"say “""”","two\nlines"\r\n',
  );
});
