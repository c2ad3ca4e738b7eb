// The card for a model of the reader's own: files chosen or dropped go to the worker, and figures come of it.
import { type FamilyId, familyNames, modelFamilies } from 'superpose';
import {
  type Averaged,
  averagedFigures,
  type ChosenFile,
  type FamilyAsked,
  type Opened,
  type OwnQuestion,
  ownFigures,
} from '../figures/ownModel.js';
import { fileInput, made, OwnFile } from './ownFile.js';

/** Weights, or the index of some. Which other files a model needs is the library's to choose. */
const isWeights = /\.safetensors(\.index\.json)?$/;

const styles = `
  .own label { display: block; margin: 0.5rem 0; }
  .own h4 { margin: 0; font-size: 1rem; }
  .own input { font: inherit; max-width: 100%; }
  .own p { overflow-wrap: anywhere; }
  .own form button { margin: 0.5rem 0; }
`;

/** Puts the inputs that open a model into a card, once. */
export function offerOwnModel(card: HTMLElement): void {
  if (card.querySelector('.own')) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  document.adoptedStyleSheets.push(sheet);
  card.append(new OwnModel().root);
}

/** The inputs for tables are loaded when their part of the card is opened. */
async function tablesIn(part: HTMLElement): Promise<void> {
  const { OwnTable } = await import('./ownTable.js');
  if (!part.querySelector('.own-table')) part.append(new OwnTable().root);
}

class OwnModel extends OwnFile<OwnQuestion, Opened | FamilyAsked | Averaged | undefined> {
  readonly #told = made('p');
  readonly #chosen = made('form', { className: 'own-options' });
  readonly #corpus = made('div');
  #model: Opened | undefined;
  #files: readonly ChosenFile[] = [];
  #drop: Promise<ChosenFile[]> | undefined;
  /** What the reader said of these files. */
  #stated: { family?: FamilyId } = {};

  readonly root: HTMLElement;

  constructor() {
    super('own-', 'Forget this model');
    const take = (list: File[]) => this.#take(list.map(chosen));
    const files = fileInput({ multiple: true, accept: '.safetensors,.json' }, take);
    const folder = fileInput({ webkitdirectory: true }, take);
    const tables = made('details', {}, made('summary', {}, 'Or a table of your own: .npy, .csv, a tensor'));
    tables.addEventListener('toggle', () => void tablesIn(tables).catch(() => {}));
    tables.open = location.hash.includes('&figure=own-table-');
    this.root = made(
      'div',
      { className: 'own' },
      made('p', {
        textContent: `These can be opened: ${familyNames}. config.json says which it is; without it, you choose. Of a large file only the first layer and a few rows are read; other layers when you ask.`,
      }),
      made(
        'label',
        {},
        'Files: one .safetensors file, or its shards and their index, with config.json and tokenizer.json ',
        files,
      ),
      made('label', {}, 'Or a folder ', folder),
      made('p', { className: 'note', textContent: 'Or drop them here. Nothing is uploaded.' }),
      this.status,
      made('p', {}, this.stop, this.forget),
      this.#chosen,
      this.#told,
      this.#corpus,
      this.shown,
      tables,
    );
    this.root.addEventListener('dragover', (event) => event.preventDefault());
    this.root.addEventListener('drop', (event) => {
      event.preventDefault();
      const drop = dropped(event);
      this.#drop = drop;
      // A folder may take long to list; meanwhile the reader may have chosen other files.
      void drop.then((list) => this.#drop === drop && this.#take(list));
    });
    this.forget.addEventListener('click', () => this.#clear('The model is forgotten.'));
    this.#chosen.addEventListener('submit', (event) => {
      event.preventDefault();
      const given = new FormData(this.#chosen);
      const number = (name: string) => {
        const text = String(given.get(name) ?? '').trim();
        return text === '' ? {} : { [name]: Number(text) };
      };
      const family = given.get('family');
      if (family !== null) this.#stated = { family: family as FamilyId };
      this.#read({
        ...this.#stated,
        ...number('heads'),
        ...number('epsilon'),
      });
    });
  }

  #take(list: readonly ChosenFile[]): void {
    this.#drop = undefined;
    if (list.length === 0) return;
    if (!list.some(({ path }) => isWeights.test(path))) {
      this.fail('There is no .safetensors file among these; tables are opened below.');
      return;
    }
    this.leave();
    this.#clear();
    this.#files = list;
    this.#read({});
  }

  #read(options: Omit<OwnQuestion, 'files'>): void {
    this.open({ files: this.#files, ...options }, 'Reading the header…');
  }

  #clear(sentence = ''): void {
    this.cancel();
    this.remove();
    this.#files = [];
    this.#stated = {};
    this.#chosen.replaceChildren();
    this.#told.replaceChildren();
    this.#corpus.replaceChildren();
    this.#model = undefined;
    this.forget.hidden = true;
    this.say(sentence);
    this.ask({});
  }

  protected opened(model: Opened | FamilyAsked | Averaged | undefined): void {
    // The model has been forgotten.
    if (!model) return;
    if ('families' in model) {
      this.#askFamily(model);
      return;
    }
    if ('windows' in model) {
      this.#showAveraged(model);
      return;
    }
    this.#model = model;
    this.forget.hidden = false;
    const size = `${(model.bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;
    const [first, ...more] = model.files;
    const from = more.length > 0 ? `${first} and ${more.length} more` : first;
    this.say(`${model.name}, ${size}; opened here from ${from}; nothing is uploaded.`);
    this.#told.replaceChildren(model.about);
    this.#chosen.replaceChildren(...this.#options(model));
    this.show(ownFigures(model), model.digest);
    this.#corpus.replaceChildren();
    this.#offerAverage(model);
  }

  /** Offers to run the layers of a model without a table of positions over a corpus. */
  #offerAverage(model: Opened): void {
    if (model.layers === 0 || model.summands.includes('position')) return;
    this.#corpus.append(
      corpusForm(model, (corpus) => this.open({ corpus }, 'Reading its layers…', 'Averaging')),
    );
  }

  #showAveraged(found: Averaged): void {
    if (!this.#model) return;
    this.say(`${this.#model.name}: its queries and keys are averaged over ${found.windows} windows.`);
    this.add(averagedFigures(this.#model, found));
  }

  /** Nothing is chosen beforehand: a guess that is not looked at gives wrong numbers. */
  #askFamily({ families }: FamilyAsked): void {
    this.say('Nothing says which model this is; its tensors’ names are not enough.');
    const none = made('option', { value: '', textContent: 'Choose…', disabled: true, selected: true });
    const select = made('select', { name: 'family', required: true }, none, ...optionsOf(families));
    this.#chosen.replaceChildren(
      made('label', {}, 'By its tensors it may be ', select),
      made('p', { className: 'note', textContent: 'Or choose its config.json together with it.' }),
      made('button', { textContent: 'Open as this' }),
    );
  }

  #options(model: Opened): Node[] {
    const inputs: Node[] = [];
    if (model.summands.includes('position')) {
      const number = (name: 'heads' | 'epsilon', label: string) => {
        if (model[name] !== undefined) return;
        inputs.push(made('label', {}, label, made('input', { name, inputMode: 'decimal', required: true })));
      };
      number('heads', 'Heads of the first layer, which no config.json says ');
      number('epsilon', 'ε of its norms, such as 1e-12 ');
    }
    return inputs.length > 0 ? [...inputs, made('button', { textContent: 'Open with these' })] : [];
  }
}

/** Nothing long begins before the reader presses its button. */
function corpusForm({ readsText, layers, bytes }: Opened, ask: (corpus: string) => void): HTMLFormElement {
  const ids = made('textarea', { name: 'corpus', required: true, rows: 4 });
  const size = (bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 });
  const form = made(
    'form',
    { className: 'own-options' },
    made('p', {
      className: 'note',
      textContent: `What its scores ask is told by means of its queries and keys over a corpus, through all ${layers} layers (${size} MB are read). That takes seconds to minutes.`,
    }),
    ...(readsText
      ? []
      : [
          made(
            'label',
            {},
            'Without a tokenizer, the corpus is yours: ids of some hundred tokens, a sentence a line ',
            ids,
          ),
        ]),
    made('button', { textContent: 'Average over a corpus' }),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    ask(ids.value);
  });
  return form;
}

const optionsOf = (families: readonly FamilyId[]) =>
  families.map((value) => made('option', { value, textContent: modelFamilies[value].name }));

const chosen = (file: File): ChosenFile => ({ path: file.webkitRelativePath || file.name, file });

/** The dropped files, and those in dropped folders. */
async function dropped({ dataTransfer }: DragEvent): Promise<ChosenFile[]> {
  // Entries are gone once the event is over.
  const entries = [...(dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry());
  const files = [...(dataTransfer?.files ?? [])];
  const folders = entries.filter((entry) => entry?.isDirectory) as FileSystemDirectoryEntry[];
  const within = await Promise.all(folders.map(filesIn));
  const loose = files.filter(({ name }) => !folders.some((folder) => folder.name === name));
  return [...loose.map(chosen), ...within.flat()];
}

async function filesIn(folder: FileSystemDirectoryEntry): Promise<ChosenFile[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((take, fail) => reader.readEntries(take, fail));
    if (some.length === 0) break;
    entries.push(...some);
  }
  const files = entries.filter((entry): entry is FileSystemFileEntry => entry.isFile);
  const read = files.map(async (entry) => ({
    path: `${folder.name}/${entry.name}`,
    file: await new Promise<File>((take, fail) => entry.file(take, fail)),
  }));
  // A link that leads nowhere is an entry, and no file.
  const found = await Promise.allSettled(read);
  return found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}
