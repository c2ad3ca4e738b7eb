// Comma-separated values as pandas 1.5.3 and R 4.2.2 wrote them: which lines and columns are numbers.
import fc from 'fast-check';
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
  expect((await open(text, { labels: false })).table.columns).toBe(4);
  const indexed = await open(text, { labels: true });
  expect([...indexed.table.data]).toEqual(values);
  expect(indexed.words).toEqual(['0', '1', '2']);
  // Whole numbers may count from 0 by themselves.
  const whole = '0,1,2\n3,4,5\n';
  expect((await open(whole, { header: false })).table.rows).toBe(2);
  expect(await open(whole, { header: true })).toMatchObject({
    table: { rows: 1 },
    layout: { header: ['0', '1', '2'] },
  });
  expect((await open(`0,1,2\n${rows}`, { header: false })).table.rows).toBe(4);
  expect((await open(',0,1\n0,1,2\n1,3,4\n', { labels: false, header: true })).table.columns).toBe(3);
  await expect(open('1,5\n2,5\n', { separator: ';' })).resolves.toMatchObject({ table: { columns: 1 } });
});

test.each([
  [
    'an empty first cell',
    ',0.5,1\n2,3,4\n',
    'line 1: expected names of columns, or numbers, in one reading (options header, labels); found something of both',
  ],
  [
    'nan in the first cell',
    'nan,0.5\n1,-2\n',
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

const twice = 'can be read in two ways: with ';
test.each<[string, string, number[] | string, CsvOptions?]>([
  ['decimal commas and semicolons', 'Wort;Wort\nHaus;0,5\nBaum;1,25\n', [0.5, 1.25]],
  ['decimal commas and tabs', 'Wort\tWort\nHaus\t0,5\nBaum\t1,25\n', [0.5, 1.25]],
  ['R, write.csv2() of one column', '"";"V1"\n"Haus";0,5\n"Baum";1,25\n', [0.5, 1.25]],
  ['the same without a header', 'Haus;0,5\nBaum;1,25\n', `${twice}“,” between cells`],
  ['the same when it is said', 'Haus;0,5\nBaum;1,25\n', [0.5, 1.25], { separator: ';' }],
  ['one column or two', '0,5\n1,25\n', `${twice}“,” between cells`],
  ['one column, when it is said', '0,5\n1,25\n', [0.5, 1.25], { separator: ';' }],
  ['a quoted comma', '"1,234",2\n"3,500",1\n', 'line 1: expected 2 numbers; found "1,234"'],
  ['a quoted decimal comma', '"1,234",2\n"3,500",1\n', [1.234, 2, 3.5, 1], { decimal: ',' }],
  [
    'years above',
    'word,1990,2000,2010\nthe,0.5,0.25,1.5\ncat,0.1,0.2,0.3\n',
    [0.5, 0.25, 1.5, 0.1, 0.2, 0.3],
  ],
  [
    'years above whole numbers',
    'word,1990,2000\nthe,5,2\n',
    `${twice}a header, so that its first row is "the": "5"`,
  ],
  ['whole numbers', '2;1\n3;4\n', [2, 1, 3, 4]],
  ['whole numbers below names', 'x,y\n1,2\n3,4\n', [1, 2, 3, 4]],
  ['whole numbers beside words', 'the,2\ncat,3\n', [2, 3]],
  ['a column that begins with 0', '0\n3\n', `${twice}a header, so that its first row is "3"`],
  ['whole numbers below a count', '0\t1\n3\t4\n', `${twice}a header, so that its first row is "3"`],
  ['whole numbers below a count from 1', '1;2;3\n4;5;6\n', `${twice}a header, so that its first row is "4"`],
  ['a title', 'My table\n1,2\n3,4\n', `${twice}“;” between cells`],
  ['a title with a comma', 'My table, of words\n1,2,3\n3,4,5\n', 'line 1: expected 3 fields'],
  ['np.savetxt() with a header', '# 0,1,2\n1.5,2.5,3.5\n4.5,5.5,6.5\n', [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]],
  ['np.savetxt() with spaces', '1.0e+00 2.0e+00\n3.0e+00 4.0e+00\n', 'found "3.0e+00 4.0e+00" where'],
  ['marks between thousands', '1.250;0,5\n0,5;1,5\n', 'expected 2 numbers; found "1.250;0"'],
  ['marks that may be those', '1.234;5.678\n2.345;6.789\n', '"1.234" has a decimal mark, or a mark between'],
  ['an index with a name', 'id,x\n0,0.5\n1,0.25\n2,1.5\n', `${twice}numbers in the first column`],
  ['a minus as print has it', 'a,−1.5\nb,2.5\n', 'line 1: expected a label and 1 number; found "−1.5"'],
  ['spaces between thousands', 'a,1 234\nb,2\n', 'line 1: expected a label and 1 number; found "1 234"'],
  ['beyond a number', 'a,1e400\nb,1\n', 'line 1: expected a label and 1 number; found "1e400"'],
  ['a misspelt number', '1.0,2.o,3\n4,5,6\n', 'line 1: expected 3 numbers; found "2.o"'],
  ['a quotation mark in a cell', 'a"b,3,2\nc,3,4\nd"e,5,6\nf,7,8\n', [3, 2, 3, 4, 5, 6, 7, 8]],
  [
    'a cell that goes on after its mark',
    '"a"b,1\nc,2\n',
    'line 1: expected the end of a cell after its quotation mark; found "b,1\\nc,2\\n".',
  ],
  ['line ends of old Macs', 'a,1,-2\rb,3,4\r', [1, -2, 3, 4]],
  ['mixed line ends', 'a,1,-2\rb,3,4\r\nc,5,6\nd,7,8', [1, -2, 3, 4, 5, 6, 7, 8]],
  ['the separator as Excel says it', 'sep=;\na;1\n', 'line 1: expected a row or names; found "sep=;"'],
])('%s: the right numbers, or why not', async (_, text, expected, options) => {
  const found = open(text, options);
  if (typeof expected === 'string') await expect(found).rejects.toThrow(expected);
  else expect([...(await found).table.data]).toEqual(expected);
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

/** What writes tables, how it writes a number, and what stands above and before the rows. */
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
  let taken = 0;
  const written = fc.asyncProperty(dialects, numbers, async (dialect, thousandths) => {
    const { separator, decimal, end, quote, form, head, first, bom } = dialect;
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
    const found = await open(`${bom ? '\uFEFF' : ''}${text}`).catch((error: unknown) => {
      expect(error).toBeInstanceOf(RangeError);
    });
    if (!found) return;
    taken += 1;
    expect([...found.table.data], JSON.stringify(text)).toEqual(table.flat());
    expect(found.table.columns).toBe(columns);
  });
  await fc.assert(written, { seed: 45, numRuns: 2000 });
  expect(taken).toBeGreaterThan(600);
});

test('wrong options are refused', async () => {
  await expect(open(rows, { decimal: '·' as never })).rejects.toThrow('decimal');
  await expect(open(rows, { separator: '|' as never })).rejects.toThrow('separator');
  await expect(open(rows, { header: 1 as never })).rejects.toThrow('header');
  await expect(open(rows, { labels: 'yes' as never })).rejects.toThrow('labels');
});
