// Comma-separated values as pandas 1.5.3 and R 4.2.2 wrote them: which lines and columns are numbers.
import { type CsvOptions, openTable } from 'superpose';
import { expect, test } from 'vitest';
import { plain } from '../support/builds.ts';

const open = (text: string, options: CsvOptions = {}, name = 'a.csv') => {
  const bytes = new TextEncoder().encode(text);
  const read = async (from: number, length: number) => bytes.slice(from, from + length);
  return openTable(plain, { name, size: bytes.length, read }, options);
};

const values = [1, -2, 0.25, 0.5, 4, -1, 3, 8, 2.5];
const rows = '1.0,-2.0,0.25\n0.5,4.0,-1.0\n3.0,8.0,2.5\n';
const words = ['the', 'a, b', 'say "hi"'];
const numbered = ['0', '1', '2'];
const named = ['V1', 'V2', 'V3'];

test.each<[string, string, readonly string[] | undefined, readonly string[] | undefined]>([
  ['pandas, to_csv()', ',0,1,2\n0,1.0,-2.0,0.25\n1,0.5,4.0,-1.0\n2,3.0,8.0,2.5\n', numbered, ['0', '1', '2']],
  ['pandas, without its index', `0,1,2\n${rows}`, numbered, undefined],
  ['pandas, without index and header', rows, undefined, undefined],
  [
    'pandas, words as the index',
    ',0,1,2\nthe,1.0,-2.0,0.25\n"a, b",0.5,4.0,-1.0\n"say ""hi""",3.0,8.0,2.5\n',
    numbered,
    words,
  ],
  [
    'pandas, words as an index with a name',
    'word,0,1,2\nthe,1.0,-2.0,0.25\n"a, b",0.5,4.0,-1.0\n"say ""hi""",3.0,8.0,2.5\n',
    numbered,
    words,
  ],
  [
    'pandas, semicolons and decimal commas',
    'word;0;1;2\nthe;1,0;-2,0;0,25\na, b;0,5;4,0;-1,0\n"say ""hi""";3,0;8,0;2,5\n',
    numbered,
    words,
  ],
  [
    'pandas, tabs',
    'word\t0\t1\t2\nthe\t1.0\t-2.0\t0.25\na, b\t0.5\t4.0\t-1.0\n"say ""hi"""\t3.0\t8.0\t2.5\n',
    numbered,
    words,
  ],
  [
    'pandas, with line ends of Windows, after a byte order mark',
    '\uFEFFword,0,1,2\r\nthe,1.0,-2.0,0.25\r\n"a, b",0.5,4.0,-1.0\r\n"say ""hi""",3.0,8.0,2.5\r\n',
    numbered,
    words,
  ],
  [
    'pandas, the words nan and 12',
    ',0,1,2\nnan,1.0,-2.0,0.25\n12,0.5,4.0,-1.0\nthe,3.0,8.0,2.5\n',
    numbered,
    ['nan', '12', 'the'],
  ],
  [
    'pandas, a line break in a word',
    ',0,1,2\n"two\nlines",1.0,-2.0,0.25\nb,0.5,4.0,-1.0\nc,3.0,8.0,2.5\n',
    numbered,
    ['two\nlines', 'b', 'c'],
  ],
  ['R, write.csv()', '"","V1","V2","V3"\n"1",1,-2,0.25\n"2",0.5,4,-1\n"3",3,8,2.5\n', named, ['1', '2', '3']],
  ['R, row.names=FALSE', '"V1","V2","V3"\n1,-2,0.25\n0.5,4,-1\n3,8,2.5\n', named, undefined],
  [
    'R, words as row names',
    '"","V1","V2","V3"\n"the",1,-2,0.25\n"a, b",0.5,4,-1\n"say ""hi""",3,8,2.5\n',
    named,
    words,
  ],
  [
    'R, write.csv2()',
    '"";"V1";"V2";"V3"\n"the";1;-2;0,25\n"a, b";0,5;4;-1\n"say ""hi""";3;8;2,5\n',
    named,
    words,
  ],
  [
    'R, write.table() with tabs, whose header leaves the first column out',
    '"V1"\t"V2"\t"V3"\n"the"\t1\t-2\t0.25\n"a, b"\t0.5\t4\t-1\n"c"\t3\t8\t2.5\n',
    named,
    ['the', 'a, b', 'c'],
  ],
])('%s', async (_, text, header, labels) => {
  const found = await open(text);
  expect([...found.table.data]).toEqual(values);
  expect(found.table).toMatchObject({ rows: 3, columns: 3 });
  expect(found.words).toEqual(labels);
  expect(found.layout).toMatchObject({ header, labels: labels !== undefined });
  // What was found out, said outright, is the same.
  const { separator } = found.layout ?? {};
  const said = {
    ...(separator && { separator }),
    header: header !== undefined,
    labels: labels !== undefined,
  };
  expect((await open(text, said)).table).toEqual(found.table);
});

test('what was found out can be overridden', async () => {
  // Without a header, pandas' index looks like a column of numbers.
  const text = '0,1.0,-2.0,0.25\n1,0.5,4.0,-1.0\n2,3.0,8.0,2.5\n';
  expect((await open(text)).table.columns).toBe(4);
  const indexed = await open(text, { labels: true });
  expect([...indexed.table.data]).toEqual(values);
  expect(indexed.words).toEqual(['0', '1', '2']);
  // Whole numbers may count from 0 by themselves.
  const whole = '0,1,2\n3,4,5\n';
  expect((await open(whole)).table.rows).toBe(2);
  expect(await open(whole, { header: true })).toMatchObject({
    table: { rows: 1 },
    layout: { header: ['0', '1', '2'] },
  });
  expect((await open(`0,1,2\n${rows}`, { header: false })).table.rows).toBe(4);
  expect((await open(',0,1\n0,1,2\n1,3,4\n', { labels: false, header: true })).table.columns).toBe(3);
  await expect(open('1,5\n2,5\n', { separator: ';' })).resolves.toMatchObject({ table: { columns: 1 } });
});

test.each([
  ['an empty first cell', ',0.5,1\n2,3,4\n', 'line 1: expected 3 numbers; found "" where a number is due'],
  [
    'nan in the first cell',
    'nan,0.5\n1,2\n',
    'line 1: expected 2 numbers; found "nan" where a number is due',
  ],
  [
    'pandas, a missing number',
    ',0,1,2\n0,1.0,-2.0,0.25\n1,0.5,,-1.0\n2,3.0,8.0,2.5\n',
    'line 3: expected a label and 3 numbers; found "" where a number is due',
  ],
  [
    'pandas, nan below a header',
    '0,1,2\n1.0,-2.0,0.25\n0.5,nan,-1.0\n3.0,8.0,2.5\n',
    'line 3: expected 3 numbers; found "nan" where a number is due',
  ],
  [
    'R, an index and words beside it',
    ',word,x,y\n1,the,1,-2\n2,cat,0.5,4\n3,NA,3,8\n',
    'line 2: expected a label and 3 numbers; found "the" where a number is due',
  ],
  ['a quoted cell without an end', '1,2\n"3,4\n5,6\n', 'line 2: expected the end of a quoted cell'],
])('%s is named with its line, and makes no words of numbers', async (_, text, sentence) => {
  await expect(open(text)).rejects.toThrow(sentence);
  await expect(open(text)).rejects.toBeInstanceOf(RangeError);
});

test('wrong options are refused', async () => {
  await expect(open(rows, { separator: '|' as never })).rejects.toThrow('separator');
  await expect(open(rows, { header: 1 as never })).rejects.toThrow('header');
  await expect(open(rows, { labels: 'yes' as never })).rejects.toThrow('labels');
});
