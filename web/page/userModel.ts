// The card for a reader's own model: files that are chosen or dropped go to the worker, and their figures
// are shown.
import { type FamilyId, familyLabels, familyNames } from 'add-or-concatenate';
import { forgetPageTexts } from '../element/pageTexts.js';
import type {
  ChosenFile,
  CorpusAverage,
  FamilyChoice,
  ModelRequest,
  UserModel,
} from '../figures/userFile.js';
import { modelFigures } from '../figures/userModel.js';
import { element, fileInput, UserFileCard } from './userFile.js';

/** Weights, or their index. The library chooses which other files a model needs. */
const isWeights = /\.safetensors(\.index\.json)?$/;

const styles = `
  .user-model label { display: block; margin: 0.5rem 0; }
  .user-model h4 { margin: 0; font-size: var(--size-text); }
  .user-model input { font: inherit; max-width: 100%; }
  .user-model p { overflow-wrap: anywhere; }
  .user-model form button { margin: 0.5rem 0; }
`;

/** Puts the inputs that open a model into a card, once. */
export function offerUserModel(card: HTMLElement): void {
  if (card.querySelector('.user-model')) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  document.adoptedStyleSheets.push(sheet);
  card.append(new UserModelCard().root);
}

/** The inputs for tables are loaded when their part of the card is opened. */
async function tablesIn(part: HTMLElement): Promise<void> {
  const { UserTableCard } = await import('./userTable.js');
  if (!part.querySelector('.user-table')) part.append(new UserTableCard().root);
}

type Answer = UserModel | FamilyChoice | CorpusAverage | undefined;

class UserModelCard extends UserFileCard<ModelRequest, Answer> {
  readonly #about = element('p');
  readonly #options = element('form', { className: 'user-model-options' });
  readonly #corpus = element('div');
  #model: UserModel | undefined;
  #files: readonly ChosenFile[] = [];
  #drop: Promise<ChosenFile[]> | undefined;
  /** What the reader chose for these files. */
  #choice: { family?: FamilyId } = {};

  readonly root: HTMLElement;

  constructor() {
    super('user-model-', 'Forget this model');
    const take = (list: File[]) => this.#take(list.map(chosenFile));
    const files = fileInput({ multiple: true, accept: '.safetensors,.json' }, take);
    const folder = fileInput({ webkitdirectory: true }, take);
    const tables = element(
      'details',
      {},
      element('summary', {}, 'Or a table of your own: .npy, .csv, a tensor'),
    );
    tables.addEventListener('toggle', () => void tablesIn(tables).catch(() => {}));
    tables.open = location.hash.includes('&figure=user-table-');
    this.root = element(
      'div',
      { className: 'user-model' },
      element('p', {
        textContent: `These can be opened: ${familyNames}. config.json says which it is; without it, you choose. Of a large file only the first layer and a few rows are read; other layers when you ask.`,
      }),
      element(
        'label',
        {},
        'Files: one .safetensors file, or its shards and their index, with config.json and tokenizer.json ',
        files,
      ),
      element('label', {}, 'Or a folder ', folder),
      element('p', { className: 'note', textContent: 'Or drop them here. Nothing is uploaded.' }),
      this.status,
      element('p', {}, this.stop, this.forget),
      this.#options,
      this.#about,
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
    this.#options.addEventListener('submit', (event) => {
      event.preventDefault();
      const values = new FormData(this.#options);
      const number = (name: string) => {
        const text = String(values.get(name) ?? '').trim();
        return text === '' ? {} : { [name]: Number(text) };
      };
      const family = values.get('family');
      if (family !== null) this.#choice = { family: family as FamilyId };
      this.#read({
        ...this.#choice,
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

  #read(options: Omit<ModelRequest, 'files'>): void {
    this.open({ files: this.#files, ...options }, 'Reading the header…');
  }

  #clear(sentence = ''): void {
    this.cancel();
    this.remove();
    this.#files = [];
    this.#choice = {};
    this.#options.replaceChildren();
    this.#about.replaceChildren();
    this.#corpus.replaceChildren();
    this.#model = undefined;
    // Ids are of this model's vocabulary.
    forgetPageTexts(['ids', 'otherIds']);
    this.forget.hidden = true;
    this.say(sentence);
    this.ask({});
  }

  protected opened(answer: Answer): void {
    // The model has been forgotten.
    if (!answer) return;
    if ('families' in answer) this.#askFamily(answer);
    else if ('digest' in answer) this.#show(answer);
    else this.#showAveraged(answer);
  }

  #show(model: UserModel): void {
    this.#model = model;
    this.forget.hidden = false;
    const size = `${(model.bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;
    const [first, ...more] = model.files;
    const from = more.length > 0 ? `${first} and ${more.length} more` : first;
    this.say(`${model.name}, ${size}; opened here from ${from}; nothing is uploaded.`);
    this.#about.replaceChildren(model.about);
    this.#options.replaceChildren(...inputsOf(model));
    this.show(modelFigures(model), model.digest);
    this.#corpus.replaceChildren();
    this.#offerAverage(model);
  }

  /** Offers to run the layers of a model without a table of positions over a corpus. */
  #offerAverage(model: UserModel): void {
    if (model.layers === 0 || model.summands.includes('position')) return;
    this.#corpus.append(
      corpusForm(model, (corpus) => this.open({ corpus }, 'Reading its layers…', 'Averaging')),
    );
  }

  #showAveraged({ windows }: CorpusAverage): void {
    if (!this.#model) return;
    this.say(`${this.#model.name}: its queries and keys are averaged over ${windows} windows.`);
    this.show(modelFigures({ ...this.#model, windows }), this.#model.digest);
  }

  /** No family is chosen beforehand, because a guess that nobody checks gives wrong numbers. */
  #askFamily({ families }: FamilyChoice): void {
    this.say('Nothing says which model this is; its tensors’ names are not enough.');
    const none = element('option', { value: '', textContent: 'Choose…', disabled: true, selected: true });
    const select = element('select', { name: 'family', required: true }, none, ...optionsOf(families));
    this.#options.replaceChildren(
      element('label', {}, 'By its tensors it may be ', select),
      element('p', { className: 'note', textContent: 'Or choose its config.json together with it.' }),
      element('button', { textContent: 'Open as this' }),
    );
  }
}

/** Inputs for what a model with a table of positions needs and its files do not say, and a button. */
function inputsOf(model: UserModel): Node[] {
  if (!model.summands.includes('position')) return [];
  const labels = {
    heads: 'Heads of the first layer, which no config.json says ',
    epsilon: 'ε of its norms, such as 1e-12 ',
  } as const;
  const missing = (['heads', 'epsilon'] as const).filter((name) => model[name] === undefined);
  if (missing.length === 0) return [];
  return [
    ...missing.map((name) =>
      element('label', {}, labels[name], element('input', { name, inputMode: 'decimal', required: true })),
    ),
    element('button', { textContent: 'Open with these' }),
  ];
}

/** Nothing long begins before the reader presses its button. */
function corpusForm({ readsText, layers, bytes }: UserModel, ask: (corpus: string) => void): HTMLFormElement {
  const ids = element('textarea', { name: 'corpus', required: true, rows: 4 });
  const size = (bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 });
  const form = element(
    'form',
    { className: 'user-model-options' },
    element('p', {
      className: 'note',
      textContent: `What its scores ask is told by means of its queries and keys over a corpus, through all ${layers} layers (${size} MB are read). That takes seconds to minutes.`,
    }),
    ...(readsText
      ? []
      : [
          element(
            'label',
            {},
            'Without a tokenizer, the corpus is yours: ids of some hundred tokens, a sentence a line ',
            ids,
          ),
        ]),
    element('button', { textContent: 'Average over a corpus' }),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    ask(ids.value);
  });
  return form;
}

const optionsOf = (families: readonly FamilyId[]) =>
  families.map((value) => element('option', { value, textContent: familyLabels[value] }));

const chosenFile = (file: File): ChosenFile => ({ path: file.webkitRelativePath || file.name, file });

/** The dropped files, and those in dropped folders. */
async function dropped({ dataTransfer }: DragEvent): Promise<ChosenFile[]> {
  // Entries are gone once the event is over.
  const entries = [...(dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry());
  const files = [...(dataTransfer?.files ?? [])];
  const folders = entries.filter((entry) => entry?.isDirectory) as FileSystemDirectoryEntry[];
  const within = await Promise.all(folders.map(filesIn));
  const loose = files.filter(({ name }) => !folders.some((folder) => folder.name === name));
  return [...loose.map(chosenFile), ...within.flat()];
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
  // A symbolic link that leads nowhere is an entry but not a file.
  const results = await Promise.allSettled(read);
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}
