// The card for a reader's own tables, of tokens, of positions or of both, and their figures.
import type { CsvLayout } from 'add-or-concatenate';
import type { TableKind, TableRequest, UserTables } from '../figures/userFile.js';
import { tableFigures } from '../figures/userTable.js';
import { element, fileInput, UserFileCard } from './userFile.js';

const lines = { token: 'Rows of tokens ', position: 'Rows of positions ' } as const;
const kinds = Object.keys(lines) as TableKind[];

/** A choice of how a .csv or .tsv file is read; its value is empty unless the reader makes it. */
const choiceOf = (otherwise: string, options: readonly (readonly [value: string, label: string])[]) =>
  element(
    'select',
    {},
    ...[['', otherwise] as const, ...options].map(([value, textContent]) =>
      element('option', { value, textContent }),
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
const marksOf = (otherwise: string, all: readonly (keyof typeof marks)[]) =>
  choiceOf(
    otherwise,
    all.map((mark) => [mark, marks[mark]]),
  );

const layoutSentence = ({ separator, decimal, header, labels }: CsvLayout) =>
  ` Its first line was read as ${header ? 'names of columns' : 'numbers'}, and its first column as ${labels ? 'names of rows' : 'numbers'}, with ${marks[separator]} between cells and decimal ${marks[decimal]}.`;

export class UserTableCard extends UserFileCard<TableRequest, UserTables> {
  readonly #tensor = element('input', { type: 'text', maxLength: 200 });
  readonly #header = namesOrNumbers('names of columns');
  readonly #labels = namesOrNumbers('names of rows');
  readonly #separator = marksOf('commas in .csv, tabs in .tsv', [',', ';', '\t', '|', ' ']);
  readonly #decimal = marksOf('points', [',']);

  readonly root: HTMLElement;

  constructor() {
    super('user-table-', 'Forget the tables');
    const line = (kind: TableKind) => {
      const label = element('label', {}, lines[kind]);
      const accept = '.npy,.csv,.tsv,.safetensors';
      label.append(fileInput({ accept }, (files) => this.#take(kind, files)));
      label.dataset.kind = kind;
      return label;
    };
    this.root = element(
      'div',
      { className: 'user-table' },
      element('p', {
        textContent:
          'These can be opened: .npy, .csv and .tsv files, and tensors of .safetensors files. The first 5,000 rows are read on your machine and replace the random ones in three figures.',
      }),
      ...kinds.map(line),
      element('label', {}, 'Of a .safetensors file with several tables, the tensor ', this.#tensor),
      element('label', {}, 'The first line of a .csv or .tsv file has ', this.#header),
      element('label', {}, 'Its first column has ', this.#labels),
      element('label', {}, 'Between its cells are ', this.#separator),
      element('label', {}, 'Its decimal marks are ', this.#decimal),
      element('p', { className: 'note', textContent: 'Or drop a file on its line. Nothing is uploaded.' }),
      this.status,
      element('p', {}, this.stop, this.forget),
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
    const request: TableRequest = { kind, files, tensor: this.#tensor.value.trim() };
    if (this.#header.value) request.header = this.#header.value === 'names';
    if (this.#labels.value) request.labels = this.#labels.value === 'names';
    if (this.#separator.value) request.separator = this.#separator.value as CsvLayout['separator'];
    if (this.#decimal.value) request.decimal = this.#decimal.value as CsvLayout['decimal'];
    this.open(request, 'Reading…');
  }

  protected opened(tables: UserTables): void {
    this.leave();
    const open = kinds.flatMap((kind) => tables[kind] ?? []);
    this.forget.hidden = open.length === 0;
    if (open.length === 0) {
      this.remove();
      this.say('The tables are forgotten.');
      return;
    }
    const sentences = open.map(
      ({ kind, name, rows, columns, more, layout }) =>
        `${lines[kind]}from ${name}: ${more ? 'the first ' : ''}${rows.toLocaleString('en')}, of ${columns} ${columns === 1 ? 'number' : 'numbers'} each.${layout ? layoutSentence(layout) : ''}`,
    );
    this.say(`${sentences.join(' ')} Opened on this machine, and nothing is uploaded.`);
    this.show(tableFigures(tables), open.map(({ digest }) => digest).join('.'));
  }
}
