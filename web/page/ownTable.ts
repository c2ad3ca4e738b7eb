// Tables that the reader opens: of tokens, of positions or of both, and the figures that take them.
import type { CsvLayout } from 'superpose';
import { type HeldTables, type TableKind, type TableQuestion, tableFigures } from '../figures/ownTable.js';
import { fileInput, made, OwnFile } from './ownFile.js';

const lines = { token: 'Rows of tokens ', position: 'Rows of positions ' } as const;
const kinds = Object.keys(lines) as TableKind[];

/** A choice of how a .csv or .tsv file is read; empty unless the reader makes it. */
const choiceOf = (unless: string, options: readonly (readonly [value: string, label: string])[]) =>
  made(
    'select',
    {},
    ...[['', unless] as const, ...options].map(([value, textContent]) =>
      made('option', { value, textContent }),
    ),
  );
const namesOrNumbers = (names: string) =>
  choiceOf('what it looks like', [
    ['names', names],
    ['numbers', 'numbers'],
  ]);
const marks = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'bars',
  ' ': 'spaces',
  '.': 'points',
} as const;
const marksOf = (unless: string, all: readonly (keyof typeof marks)[]) =>
  choiceOf(
    unless,
    all.map((mark) => [mark, marks[mark]]),
  );

const readAs = ({ separator, decimal, header, labels }: CsvLayout) =>
  ` Its first line was read as ${header ? 'names of columns' : 'numbers'}, and its first column as ${labels ? 'names of rows' : 'numbers'}, with ${marks[separator]} between cells and decimal ${marks[decimal]}.`;

export class OwnTable extends OwnFile<TableQuestion, HeldTables> {
  readonly #tensor = made('input', { type: 'text', maxLength: 200 });
  readonly #header = namesOrNumbers('names of columns');
  readonly #labels = namesOrNumbers('names of rows');
  readonly #separator = marksOf('commas in .csv, tabs in .tsv', [',', ';', '\t', '|', ' ']);
  readonly #decimal = marksOf('points', [',']);

  readonly root: HTMLElement;

  constructor() {
    super('own-table-', 'Forget the tables');
    const line = (kind: TableKind) => {
      const label = made('label', {}, lines[kind]);
      const accept = '.npy,.csv,.tsv,.safetensors';
      label.append(fileInput({ accept }, (files) => this.#take(kind, files)));
      label.dataset.kind = kind;
      return label;
    };
    this.root = made(
      'div',
      { className: 'own-table' },
      made('p', {
        textContent:
          'These can be opened: .npy, .csv and .tsv files, and tensors of .safetensors files. The first 5,000 rows are read on your machine and replace the random ones in five figures.',
      }),
      ...kinds.map(line),
      made('label', {}, 'Of a .safetensors file with several tables, the tensor ', this.#tensor),
      made('label', {}, 'The first line of a .csv or .tsv file has ', this.#header),
      made('label', {}, 'Its first column has ', this.#labels),
      made('label', {}, 'Between its cells are ', this.#separator),
      made('label', {}, 'Its decimal marks are ', this.#decimal),
      made('p', { className: 'note', textContent: 'Or drop a file on its line. Nothing is uploaded.' }),
      this.status,
      made('p', {}, this.stop, this.forget),
      this.shown,
    );
    this.root.addEventListener('drop', (event) => {
      event.preventDefault();
      event.stopPropagation();
      const { kind } = (event.target as Element).closest<HTMLElement>('[data-kind]')?.dataset ?? {};
      this.#take((kind ?? 'token') as TableKind, [...(event.dataTransfer?.files ?? [])]);
    });
    this.forget.addEventListener('click', () => {
      this.cancel();
      this.ask({});
    });
  }

  #take(kind: TableKind, files: readonly File[]): void {
    if (files.length === 0) return;
    const question: TableQuestion = { kind, files, tensor: this.#tensor.value.trim() };
    if (this.#header.value) question.header = this.#header.value === 'names';
    if (this.#labels.value) question.labels = this.#labels.value === 'names';
    if (this.#separator.value) question.separator = this.#separator.value as CsvLayout['separator'];
    if (this.#decimal.value) question.decimal = this.#decimal.value as CsvLayout['decimal'];
    this.open(question, 'Reading…');
  }

  protected opened(tables: HeldTables): void {
    this.leave();
    const held = kinds.flatMap((kind) => tables[kind] ?? []);
    this.forget.hidden = held.length === 0;
    if (held.length === 0) {
      this.remove();
      this.say('The tables are forgotten.');
      return;
    }
    const told = held.map(
      ({ kind, name, rows, columns, more, layout }) =>
        `${lines[kind]}from ${name}: ${more ? 'the first ' : ''}${rows.toLocaleString('en')}, of ${columns} ${columns === 1 ? 'number' : 'numbers'} each.${layout ? readAs(layout) : ''}`,
    );
    this.say(`${told.join(' ')} Opened on this machine, and nothing is uploaded.`);
    this.show(tableFigures(tables), held.map(({ digest }) => digest).join('.'));
  }
}
