// The rules by which .csv and .tsv files are read: each case is a table that is read as it stands, or a
// refusal.

import { type CsvOptions, openTable } from 'add-or-concatenate';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
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
const tab = { separator: '\t' } as const;
const german = { separator: ';', decimal: ',' } as const;

// pandas 1.5.3 and R 4.2.2 wrote these.
test.each<[string, string, readonly string[] | undefined, readonly string[] | undefined, CsvOptions?]>([
  ['pandas, to_csv()', ',0,1,2\n0,1.0,-2.0,0.25\n1,0.5,4.0,-1.0\n2,3.0,8.0,2.5\n', numbered, ['0', '1', '2']],
  ['pandas, without its index', `0,1,2\n${rows}`, numbered, undefined, { header: true }],
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
    { header: true },
  ],
  [
    'pandas, semicolons and decimal commas',
    'word;0;1;2\nthe;1,0;-2,0;0,25\na, b;0,5;4,0;-1,0\n"say ""hi""";3,0;8,0;2,5\n',
    numbered,
    words,
    { ...german, header: true },
  ],
  [
    'pandas, tabs',
    'word\tx\ty\tz\nthe\t1.0\t-2.0\t0.25\na, b\t0.5\t4.0\t-1.0\n"say ""hi"""\t3.0\t8.0\t2.5\n',
    ['x', 'y', 'z'],
    words,
    tab,
  ],
  [
    'pandas, with line ends of Windows, after a byte order mark',
    '\uFEFFword,x,y,z\r\nthe,1.0,-2.0,0.25\r\n"a, b",0.5,4.0,-1.0\r\n"say ""hi""",3.0,8.0,2.5\r\n',
    ['x', 'y', 'z'],
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
    german,
  ],
])('%s', async (_, text, header, labels, options) => {
  const table = await open(text, options);
  expect([...table.table.data]).toEqual(values);
  expect(table.table).toMatchObject({ rows: 3, columns: 3 });
  expect(table.words).toEqual(labels);
  expect(table.layout).toMatchObject({ header, labels: labels !== undefined });
  // The layout, passed as options, gives the same table.
  const { separator, decimal } = table.layout ?? {};
  const layout = {
    ...(separator && { separator }),
    ...(decimal && { decimal }),
    header: header !== undefined,
    labels: labels !== undefined,
  };
  expect((await open(text, layout)).table).toEqual(table.table);
});

/**
 * The outcome of a case: its rows of numbers and the names of its columns and rows, or else a part of the
 * refusal.
 */
type Outcome = string | { rows: number[][]; header?: string[]; words?: string[] };

async function expectOutcome(text: string, outcome: Outcome, options?: CsvOptions, name?: string) {
  const opening = open(text, options, name);
  if (typeof outcome === 'string') {
    await expect(opening).rejects.toThrow(outcome);
    await expect(opening).rejects.toBeInstanceOf(RangeError);
    return;
  }
  const { table, words, layout } = await opening;
  expect([...table.data]).toEqual(outcome.rows.flat());
  expect(table).toMatchObject({ rows: outcome.rows.length, columns: outcome.rows[0]?.length });
  expect(words).toEqual(outcome.words);
  expect(layout?.header).toEqual(outcome.header);
}

describe('separators and decimal marks', () => {
  test.each<[string, string, Outcome, CsvOptions?, string?]>([
    [
      'commas in .csv',
      '1,2\n3,4\n5,6\n',
      {
        rows: [
          [1, 2],
          [3, 4],
          [5, 6],
        ],
      },
    ],
    [
      'tabs in .tsv',
      '1\t2\n3\t4\n',
      {
        rows: [
          [1, 2],
          [3, 4],
        ],
      },
      {},
      'a.tsv',
    ],
    [
      'semicolons',
      '2;1\n3;4\n',
      '“a.csv” seems to have semicolons between its cells rather than commas; pass separator: ";" or separator: ",".',
    ],
    [
      'semicolons, passed',
      '2;1\n3;4\n',
      {
        rows: [
          [2, 1],
          [3, 4],
        ],
      },
      { separator: ';' },
    ],
    ['bars', 'a|1\nb|2\n', 'seems to have bars between its cells rather than commas; pass separator: "|"'],
    ['bars, passed', 'a|1\nb|2\n', { rows: [[1], [2]], words: ['a', 'b'] }, { separator: '|' }],
    [
      'tabs in .csv',
      'a\t1\nb\t2\n',
      'seems to have tabs between its cells rather than commas; pass separator: "\\t"',
    ],
    [
      'commas in .tsv',
      '1,2\n3,4\n',
      'seems to have commas between its cells rather than tabs; pass separator: ","',
      {},
      'a.tsv',
    ],
    [
      'spaces, of np.savetxt()',
      '1.0e+00 2.0e+00\n3.0e+00 4.0e+00\n',
      'seems to have spaces between its cells rather than commas; pass separator: " "',
    ],
    [
      'spaces, passed',
      '1.0e+00 2.0e+00\n3.0e+00 4.0e+00\n',
      {
        rows: [
          [1, 2],
          [3, 4],
        ],
      },
      { separator: ' ' },
    ],
    ['semicolons below a title', 'My table\n1;2\n3;4\n', 'seems to have semicolons between its cells'],
    ['semicolons in names of unequal lengths', 'x;y\n1;2;3\n', 'seems to have semicolons between its cells'],
    ['semicolons and decimal commas', 'Haus;0,5\nBaum;1,25\n', 'seems to have semicolons between its cells'],
    ['the same, in one line', 'Haus;0,5\n', 'seems to have semicolons between its cells'],
    ['the same, passed', 'Haus;0,5\nBaum;1,25\n', { rows: [[0.5], [1.25]], words: ['Haus', 'Baum'] }, german],
    [
      'the same below a header',
      'Wort;Wert\nHaus;0,5\nBaum;1,25\n',
      { rows: [[0.5], [1.25]], header: ['Wert'], words: ['Haus', 'Baum'] },
      german,
    ],
    [
      'a separator without its decimal mark',
      'Haus;0,5\nBaum;1,25\n',
      '“a.csv”, line 1, column 2: expected a number; found "0,5"; pass decimal: "," if that is its decimal mark.',
      { separator: ';' },
    ],
    [
      'tabs and decimal commas',
      'Wort\tWert\nHaus\t0,5\nBaum\t1,25\n',
      { rows: [[0.5], [1.25]], header: ['Wert'], words: ['Haus', 'Baum'] },
      { decimal: ',' },
      'a.tsv',
    ],
    ['a column of decimal commas', '0,5\n1,25\n', { rows: [[0.5], [1.25]] }, german],
    [
      'a column of decimal commas in .tsv',
      '0,5\n1,25\n',
      { rows: [[0.5], [1.25]] },
      { decimal: ',' },
      'a.tsv',
    ],
    [
      'the same, without a decimal mark',
      '0,5\n1,25\n',
      'line 1, column 1: expected a number; found "0,5"; pass decimal: ","',
      tab,
      'a.tsv',
    ],
    [
      'quoted decimal commas',
      '"1,234",2\n"3,500",1\n',
      'line 1, column 1: expected a number; found "1,234"; pass decimal: ","',
    ],
    [
      'quoted decimal commas, passed',
      '"1,234",2\n"3,500",1\n',
      {
        rows: [
          [1.234, 2],
          [3.5, 1],
        ],
      },
      { decimal: ',' },
    ],
    ['a semicolon in every name', 'a;b,1\nc;d,2\n', 'seems to have semicolons'],
    ['the same, passed', 'a;b,1\nc;d,2\n', { rows: [[1], [2]], words: ['a;b', 'c;d'] }, { separator: ',' }],
    ['semicolons in quotes', '"a;b",1\n"c;d",2\n', { rows: [[1], [2]], words: ['a;b', 'c;d'] }],
    ['a tab in one name', 'a,-1\nb\tc,2\n', { rows: [[-1], [2]], words: ['a', 'b\tc'] }],
    [
      'spaces in names',
      'New York,-1\nLos Angeles,2\n',
      { rows: [[-1], [2]], words: ['New York', 'Los Angeles'] },
    ],
    ['the separator as Excel writes it', 'sep=;\na;1\n', 'seems to have semicolons between its cells'],
    ['the same, passed', 'sep=;\na;1\n', 'line 1, column 2: expected a number; found ""', { separator: ';' }],
  ])('%s', (_, text, outcome, options, name) => expectOutcome(text, outcome, options, name));
});

describe('quotes, lengths and numbers', () => {
  test.each<[string, string, Outcome, CsvOptions?, string?]>([
    [
      'a cell that goes on after its closing quote',
      'x,"y"\n"a"b,1\nc,2\n',
      'line 2, column 1: expected the end of a cell after its closing quotation mark; found "b,1\\nc,2\\n".',
    ],
    [
      'a quoted cell without an end',
      '1,2\n"3,4\n5,6\n',
      'line 2, column 1: expected the end of a quoted cell; found the end of the file.',
    ],
    [
      'a word below a line break in quotes',
      'x,y\n"a\r\nb",1\nc,d\n',
      'line 4, column 2: expected a number; found "d".',
    ],
    [
      'a quotation mark in a cell',
      'a"b,3,2\nc,3,4\nd"e,5,6\nf,7,8\n',
      {
        rows: [
          [3, 2],
          [3, 4],
          [5, 6],
          [7, 8],
        ],
        words: ['a"b', 'c', 'd"e', 'f'],
      },
    ],
    [
      'a quotation mark as a name in .tsv',
      '"\t1\n""\t2\nb\t3\n',
      { rows: [[1], [2], [3]], words: ['"', '""', 'b'] },
      { header: false },
      'a.tsv',
    ],
    [
      'a cell in quotes in .tsv',
      'a\t-1\n"b"\t2\n',
      'line 2, column 1: expected a cell without quotation marks, as in every .tsv file; found "\\"b\\"".',
      {},
      'a.tsv',
    ],
    ['a short line', '1,-2\n0.5\n', 'line 2: expected 2 cells, as in line 1; found 1.'],
    ['a long line', '1,-2\n0.5,1,2\n', 'line 2: expected 2 cells, as in line 1; found 3.'],
    ['a title', 'My table\n1,2\n3,4\n', 'line 2: expected 1 cell, as in line 1; found 2.'],
    [
      'a title with a comma',
      'My table, of words\n1,2,3\n3,4,5\n',
      'line 2: expected 2 cells, as in line 1; found 3.',
    ],
    [
      'R, write.table() with tabs, whose header leaves the first column out',
      'V1\tV2\nthe\t1\t-2\ncat\t0.5\t4\n',
      'line 2: expected 2 cells, as in line 1; found 3.',
      {},
      'a.tsv',
    ],
    [
      'a missing number',
      ',0,1,2\n0,1.0,-2.0,0.25\n1,0.5,,-1.0\n2,3.0,8.0,2.5\n',
      'line 3, column 3: expected a number; found "".',
    ],
    ['nan', 'x,y\n1.0,-2.0\n0.5,nan\n', 'line 3, column 2: expected a number; found "nan".'],
    [
      'R, an index and words beside it',
      ',word,x,y\n1,the,1,-2\n2,cat,0.5,4\n3,NA,3,8\n',
      'line 2, column 2: expected a number; found "the".',
    ],
    [
      'thousands in points',
      '1.250;0,5\n0,5;1,5\n',
      'line 1, column 1: expected a number; found "1.250"; pass decimal: "."',
      german,
    ],
    ['thousands in spaces', 'a,1 234\nb,2\n', 'line 1, column 2: expected a number; found "1 234".'],
    ['a minus sign of print', 'a,−1.5\nb,2.5\n', 'line 1, column 2: expected a number; found "−1.5".'],
    ['a number beyond the largest', 'a,1e400\nb,1\n', 'line 1, column 2: expected a number; found "1e400".'],
    [
      'a misspelt number in the first line',
      '1.0,2.o,3\n4,5,6\n',
      'line 1, column 2: expected a number; found "2.o".',
    ],
    [
      'a misspelt number in the first column',
      'x,y\n1,2\n2.o,3\n4,5\n',
      'line 3, column 1: expected a number; found "2.o".',
    ],
    [
      'a name that two rows have',
      'the,-1\ncat,2\nthe,3\n',
      '“a.csv”, line 3, column 1: expected a name that no other row has; found "the", as in line 1; rename or remove one of the two rows.',
    ],
    [
      'a name that two rows have, in .tsv',
      'word\tx\nthe\t1\n\ncat\t2\nthe\t3\n',
      '“a.tsv”, line 5, column 1: expected a name that no other row has; found "the", as in line 2; rename or remove one of the two rows.',
      {},
      'a.tsv',
    ],
    [
      'pandas, an index that begins anew',
      ',x,y\n0,0.5,1\n1,0.25,2\n0,1.5,3\n',
      'line 4, column 1: expected a name that no other row has; found "0", as in line 2; rename or remove one of the two rows, or pass labels: false if the first column is numbers rather than names.',
    ],
    [
      'the same, as numbers',
      ',x,y\n0,0.5,1\n1,0.25,2\n0,1.5,3\n',
      {
        rows: [
          [0, 0.5, 1],
          [1, 0.25, 2],
          [0, 1.5, 3],
        ],
        header: ['', 'x', 'y'],
      },
      { labels: false },
    ],
    [
      'a name that two rows have, by its spaces',
      'the,-1\n the,3\n',
      'line 2, column 1: expected a name that no other row has; found "the", as in line 1; rename or remove one of the two rows.',
    ],
    ['names in two cases', 'The,-1\nthe,3\n', { rows: [[-1], [3]], words: ['The', 'the'] }],
    [
      'line ends of old Macs',
      'a,1,-2\rb,3,4\r',
      {
        rows: [
          [1, -2],
          [3, 4],
        ],
        words: ['a', 'b'],
      },
    ],
    [
      'mixed line ends',
      'a,1,-2\rb,3,4\r\nc,5,6\nd,7,8',
      {
        rows: [
          [1, -2],
          [3, 4],
          [5, 6],
          [7, 8],
        ],
        words: ['a', 'b', 'c', 'd'],
      },
    ],
  ])('%s', (_, text, outcome, options, name) => expectOutcome(text, outcome, options, name));
});

describe('the first line', () => {
  const askHeader = (numbers: string) =>
    `“a.csv”: line 1 (${numbers}) may name columns or be a row; pass header: true or header: false.`;
  const askRow = (corner: string) =>
    `“a.csv”: line 1 begins with ${corner}, but most rows below begin with a number; pass header: true if line 1 names columns, or labels: true if the first column names rows.`;
  test.each<[string, string, Outcome, CsvOptions?]>([
    [
      'words',
      'x,y\n1,2\n3,4\n',
      {
        rows: [
          [1, 2],
          [3, 4],
        ],
        header: ['x', 'y'],
      },
    ],
    ['words behind a number', '0,x,y\nthe,1,2\n', { rows: [[1, 2]], header: ['x', 'y'], words: ['the'] }],
    ['a word above a column', 'x\n1\n2\n', { rows: [[1], [2]], header: ['x'] }],
    ['words of np.savetxt()', '# x,y\n1.5,2.5\n', { rows: [[1.5, 2.5]], header: ['# x', 'y'] }],
    [
      'a name and numbers',
      'king,0.1,0.2\nqueen,0.3,0.4\n',
      {
        rows: [
          [0.1, 0.2],
          [0.3, 0.4],
        ],
        words: ['king', 'queen'],
      },
    ],
    ['a name and numbers, alone', 'king,0.1,0.2\n', { rows: [[0.1, 0.2]], words: ['king'] }],
    ['a name and whole numbers', 'the,2\ncat,3\n', { rows: [[2], [3]], words: ['the', 'cat'] }],
    ['a name above numbers', 'king,0.1,0.2\n3,0.3,0.4\n', askRow('"king"')],
    [
      'the same, as a header',
      'king,0.1,0.2\n3,0.3,0.4\n',
      { rows: [[3, 0.3, 0.4]], header: ['king', '0.1', '0.2'] },
      { header: true },
    ],
    [
      'the same, as a row',
      'king,0.1,0.2\n3,0.3,0.4\n',
      {
        rows: [
          [0.1, 0.2],
          [0.3, 0.4],
        ],
        words: ['king', '3'],
      },
      { labels: true },
    ],
    [
      'the same, as numbers',
      'king,0.1,0.2\n3,0.3,0.4\n',
      'line 1, column 1: expected a number; found "king".',
      { labels: false },
    ],
    ['nan above numbers', 'nan,0.5\n1,-2\n', askRow('"nan"')],
    ['nothing before fractions', ',0.5,1\n2,3,4\n', askRow('""')],
    [
      'nothing before whole numbers that rise',
      ',3,5\n2,3,4\n',
      { rows: [[3, 4]], header: ['3', '5'], words: ['2'] },
    ],
    ['0, 1, 2 above whole numbers', '0,1,2\n3,4,5\n', askHeader('"0", "1", "2"')],
    [
      'the same, as a row',
      '0,1,2\n3,4,5\n',
      {
        rows: [
          [0, 1, 2],
          [3, 4, 5],
        ],
      },
      { header: false },
    ],
    [
      'the same, as a header',
      '0,1,2\n3,4,5\n',
      { rows: [[3, 4, 5]], header: ['0', '1', '2'] },
      { header: true },
    ],
    ['0, 1, 2 alone', '0,1,2\n', { rows: [[0, 1, 2]] }],
    ['0, 1, 2, 3 above fractions', '0,1,2,3\n0.5,1.5,2.5,3.5\n', askHeader('"0", "1", "2", …')],
    ['0, 1, 2 behind a word', 'word,0,1,2\nthe,1.0,-2.0,0.25\n', askHeader('"0", "1", "2"')],
    ['0, 1, 2 of np.savetxt()', '# 0,1,2\n1.5,2.5,3.5\n', askHeader('"1", "2"')],
    ['a column that begins with 0', '0\n3\n', askHeader('"0"')],
    [
      '1, 2, 3 above whole numbers',
      '1,2,3\n4,5,6\n',
      {
        rows: [
          [1, 2, 3],
          [4, 5, 6],
        ],
      },
    ],
    ['1, 2, 3 above fractions', '1,2,3\n0.5,1.5,2.5\n', askHeader('"1", "2", "3"')],
    ['1, 2, 3 above mostly fractions', '1,2,3\n0.5,1.5,2\n', askHeader('"1", "2", "3"')],
    ['2, 3 above fractions', '2,3\n0.5,1.5\n', askHeader('"2", "3"')],
    [
      '3, 2 above fractions',
      '3,2\n0.5,1.5\n',
      {
        rows: [
          [3, 2],
          [0.5, 1.5],
        ],
      },
    ],
    ['years above fractions', 'word,1990,2000\nthe,0.5,0.25\n', askHeader('"1990", "2000"')],
    ['years above whole numbers', 'word,1990,2000\nthe,5,2\n', askHeader('"1990", "2000"')],
    [
      'the same, as a header',
      'word,1990,2000\nthe,5,2\n',
      { rows: [[5, 2]], header: ['1990', '2000'], words: ['the'] },
      { header: true },
    ],
    ['nothing below a header', 'x,y\n', 'line 2: expected a row of numbers; found the end of the file.'],
    ['nothing at all', '', 'line 1: expected a row of numbers; found the end of the file.'],
    ['two headers', 'x,y\nz,w\n', 'line 2, column 2: expected a number; found "w".'],
    ['two words', 'x\ny\n', 'line 2, column 1: expected a number; found "y".'],
    ['nothing before whole numbers of which two are equal', ',3,3\n2,3,4\n', askRow('""')],
    [
      '1, 2 above as many fractions as whole numbers',
      '1,2\n0.5,1\n',
      {
        rows: [
          [1, 2],
          [0.5, 1],
        ],
      },
    ],
  ])('%s', (_, text, outcome, options) => expectOutcome(text, outcome, options));
});

describe('the first column', () => {
  const askLabels = (cells: string) =>
    `“a.csv”: the first column (${cells}) may name rows or be numbers; pass labels: true or labels: false.`;
  test.each<[string, string, Outcome, CsvOptions?]>([
    [
      'words below a header',
      'word,x\nthe,1\ncat,2\n',
      { rows: [[1], [2]], header: ['x'], words: ['the', 'cat'] },
    ],
    [
      'words and a number below a header',
      'word,x\nthe,1\n12,2\ncat,3\n',
      { rows: [[1], [2], [3]], header: ['x'], words: ['the', '12', 'cat'] },
    ],
    [
      'as many words as numbers below a header',
      'word,x\nthe,1\n12,2\n',
      { rows: [[1], [2]], header: ['x'], words: ['the', '12'] },
    ],
    [
      'whole numbers below an empty header',
      ',x,y\n7,1,2\n9,3,4\n',
      {
        rows: [
          [1, 2],
          [3, 4],
        ],
        header: ['x', 'y'],
        words: ['7', '9'],
      },
    ],
    ['ids', 'id,x,y\n101,0.5,1\n205,0.25,2\n309,1.5,3\n', askLabels('"101", "205", "309"')],
    [
      'the same, as names',
      'id,x,y\n101,0.5,1\n205,0.25,2\n309,1.5,3\n',
      {
        rows: [
          [0.5, 1],
          [0.25, 2],
          [1.5, 3],
        ],
        header: ['x', 'y'],
        words: ['101', '205', '309'],
      },
      { labels: true },
    ],
    [
      'the same, as numbers',
      'id,x\n101,0.5\n205,0.25\n',
      {
        rows: [
          [101, 0.5],
          [205, 0.25],
        ],
        header: ['id', 'x'],
      },
      { labels: false },
    ],
    ['ids beside whole numbers', 'ID,x\n101,5\n205,7\n', askLabels('"101", "205"')],
    ['an index of fractions', 'index,x\n0.5,5\n0.25,7\n', askLabels('"0.5", "0.25"')],
    ['ids that are words', 'id,x\na1,5\na2,7\n', { rows: [[5], [7]], header: ['x'], words: ['a1', 'a2'] }],
    ['distinct whole numbers beside fractions', 'n,x\n101,0.5\n205,0.25\n', askLabels('"101", "205"')],
    ['the same without a header', '101,0.5\n205,0.25\n309,1\n410,2\n', askLabels('"101", "205", "309", …')],
    [
      'repeated whole numbers beside fractions',
      'n,x\n101,0.5\n101,0.25\n',
      {
        rows: [
          [101, 0.5],
          [101, 0.25],
        ],
        header: ['n', 'x'],
      },
    ],
    [
      'whole numbers beside whole numbers',
      'n,x\n101,5\n205,7\n',
      {
        rows: [
          [101, 5],
          [205, 7],
        ],
        header: ['n', 'x'],
      },
    ],
    ['whole numbers in one row', 'n,x\n101,0.5\n', { rows: [[101, 0.5]], header: ['n', 'x'] }],
    ['pandas, an index without a header', '0,1.0,-2.0\n1,0.5,4.0\n2,3.0,8.0\n', askLabels('"0", "1", "2"')],
    [
      'names without numbers',
      'a\nb\n',
      'line 1: expected 1 to 65536 numbers; found 0.',
      { header: false, labels: true },
    ],
  ])('%s', (_, text, outcome, options) => expectOutcome(text, outcome, options));
});

test.each([
  [[0xff, 0xfe, 0x41, 0], 'in UTF-16'],
  [[0x1f, 0x8b, 8, 0], 'compressed with gzip'],
  [[0x50, 0x4b, 3, 4], 'an archive (.npz or .xlsx)'],
  [[0x61, 0x2c, 0xe9, 0x0a], 'line 1: expected text in UTF-8'],
])('bytes %j are no table', async (bytes, sentence) => {
  const read = async (from: number, length: number) => Uint8Array.from(bytes.slice(from, from + length));
  await expect(openTable(plain, { name: 'a.csv', size: 4, read })).rejects.toThrow(sentence);
});

/** The program that writes a table, how it writes numbers, and what it puts above and before the rows. */
const dialects = fc.record({
  separator: fc.constantFrom(',', ';', '\t'),
  decimal: fc.constantFrom('.', ','),
  end: fc.constantFrom('\n', '\r\n', '\r'),
  quote: fc.boolean(),
  form: fc.constantFrom('shortest', 'float', 'fixed', 'exponent'),
  head: fc.constantFrom('none', 'names', 'counted', 'from one', 'years', 'commented', 'title'),
  first: fc.constantFrom('none', 'words', 'index', 'words under a name', 'words under nothing'),
  bom: fc.boolean(),
});
const numbers = fc.integer({ min: 1, max: 4 }).chain((columns) =>
  fc.array(fc.array(fc.integer({ min: -4000, max: 4000 }), { minLength: columns, maxLength: columns }), {
    minLength: 2,
    maxLength: 5,
  }),
);

test('a table in any dialect gives its numbers or is refused, and never others', async () => {
  let unasked = 0;
  let taken = 0;
  const written = fc.asyncProperty(dialects, numbers, async (dialect, thousandths) => {
    const { separator, decimal, end, quote, form, head, first, bom } = dialect;
    const dialectOptions = { separator, decimal };
    const table = thousandths.map((row) => row.map((value) => value / 1000));
    const columns = table[0]?.length ?? 0;
    const numeral = (value: number) => {
      const float = Number.isInteger(value) ? value.toFixed(1) : String(value);
      const forms = {
        shortest: String(value),
        float,
        fixed: value.toFixed(6),
        exponent: value.toExponential(18),
      };
      return forms[form as keyof typeof forms].replace('.', decimal);
    };
    const cell = (text: string) =>
      (quote && !/^[-\d]/.test(text)) || text.includes(separator) ? `"${text}"` : text;
    const places = Array.from({ length: columns }, (_, column) => column);
    const heads: Record<string, string[]> = {
      names: places.map((place) => `V${place}`),
      counted: places.map(String),
      'from one': places.map((place) => String(place + 1)),
      years: places.map((place) => String(1990 + 10 * place)),
      commented: places.map((place) => (place === 0 ? '# x' : `x${place}`)),
    };
    const before = { words: 'word', index: '', 'words under a name': 'word', 'words under nothing': '' }[
      first as never
    ];
    const above =
      heads[head] && [...(before === undefined ? [] : [before]), ...heads[head]].map(cell).join(separator);
    const lines = table.map((row, at) =>
      [...(first === 'none' ? [] : [first === 'index' ? String(at) : `w${at}`]), ...row.map(numeral)]
        .map(cell)
        .join(separator),
    );
    const text = [...(head === 'title' ? ['My table'] : []), ...(above ? [above] : []), ...lines, ''].join(
      end,
    );
    const file = `${bom ? '\uFEFF' : ''}${text}`;
    // A column of decimal commas looks exactly like two columns of whole numbers.
    const isAmbiguous = decimal === ',' && !text.includes(separator);
    for (const options of isAmbiguous ? [dialectOptions] : [{}, dialectOptions]) {
      const opened = await open(file, options, separator === '\t' ? 'a.tsv' : 'a.csv').catch(
        (error: unknown) => {
          expect(error).toBeInstanceOf(RangeError);
        },
      );
      if (!opened) continue;
      if (options === dialectOptions) taken += 1;
      else unasked += 1;
      expect([...opened.table.data], JSON.stringify(text)).toEqual(table.flat());
      expect(opened.table.columns).toBe(columns);
    }
  });
  await fc.assert(written, { seed: 45, numRuns: 2000 });
  expect(taken).toBeGreaterThan(600);
  expect(unasked).toBeGreaterThan(100);
});

test('wrong options are refused', async () => {
  await expect(open(rows, { decimal: '·' as never })).rejects.toThrow('decimal');
  await expect(open(rows, { separator: ':' as never })).rejects.toThrow('separator');
  await expect(open(rows, { header: 1 as never })).rejects.toThrow('header');
  await expect(open(rows, { labels: 'yes' as never })).rejects.toThrow('labels');
});
