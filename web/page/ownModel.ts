// A model that the reader opens: what is chosen or dropped goes to the worker as it is, and its figures stand below.
import type { FamilyId, Picture } from 'superpose';
import type { State } from '../figures/controls.js';
import { figures } from '../figures/index.js';
import { type Opened, type OwnQuestion, ownFigures } from '../figures/ownModel.js';
import { type Asker, asker } from '../worker/client.js';

const made = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  members: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] => {
  const element = Object.assign(document.createElement(name), members);
  element.append(...children);
  return element;
};

/** What a model may need of all that lies in a folder. */
const wanted =
  /\.safetensors(\.index\.json)?$|^(config|tokenizer|tokenizer_config|preprocessor_config)\.json$/;

const styles = `
  .own label { display: block; margin: 0.5rem 0; }
  .own h4 { margin: 0; font-size: 1rem; }
  .own input { font: inherit; max-width: 100%; }
  .own form button { margin: 0.5rem 0; }
`;

/** Puts what opens a model into a card, once. */
export function offerOwnModel(card: HTMLElement): void {
  if (card.querySelector('.own')) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  document.adoptedStyleSheets.push(sheet);
  card.append(new OwnModel().root);
}

class OwnModel {
  private readonly status = made('p', { className: 'note' });
  private readonly told = made('p');
  private readonly chosen = made('form', { className: 'own-options' });
  private readonly shown = made('div');
  private readonly stop = made('button', { type: 'button', textContent: 'Stop', hidden: true });
  private readonly forget = made('button', {
    type: 'button',
    textContent: 'Forget this model',
    hidden: true,
  });
  private readonly asker: Asker;
  private files: readonly File[] = [];
  private names: readonly string[] = [];

  readonly root: HTMLElement;

  constructor() {
    const files = made('input', { type: 'file', multiple: true, accept: '.safetensors,.json' });
    const folder = made('input', { type: 'file', webkitdirectory: true });
    for (const input of [files, folder]) {
      input.addEventListener('change', () => {
        this.take([...(input.files ?? [])]);
        // The same files again are a change too.
        input.value = '';
      });
    }
    this.status.setAttribute('role', 'status');
    this.root = made(
      'div',
      { className: 'own' },
      made('p', {
        textContent:
          'BERT, DistilBERT, RoBERTa, ELECTRA, MPNet, GPT-2, OPT, ViT, CLIP and Whisper models are recognised by the names in their files. Of a large file only the first layer and a few rows are read, and the other layers when you ask for them. This page reads it on your machine.',
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
      this.chosen,
      this.told,
      this.shown,
    );
    this.root.addEventListener('dragover', (event) => event.preventDefault());
    this.root.addEventListener('drop', (event) => {
      event.preventDefault();
      void dropped(event).then((list) => this.take(list));
    });
    this.stop.addEventListener('click', () => {
      this.asker.cancel();
      this.stop.hidden = true;
      this.say('Stopped.');
    });
    this.forget.addEventListener('click', () => this.clear('The model is forgotten.'));
    this.chosen.addEventListener('submit', (event) => {
      event.preventDefault();
      const given = new FormData(this.chosen);
      const number = (name: string) => {
        const text = String(given.get(name) ?? '').trim();
        return text === '' ? {} : { [name]: Number(text) };
      };
      const part = given.get('part');
      this.open({
        ...(part !== null && { part: part as FamilyId }),
        ...number('heads'),
        ...number('epsilon'),
      });
    });
    this.asker = asker('own-open', {
      answered: (data) => this.opened(data as Opened | undefined),
      failed: (sentence) => {
        this.stop.hidden = true;
        this.say(sentence);
      },
      progress: () => {},
    });
  }

  private say(sentence: string): void {
    this.status.textContent = sentence;
  }

  private take(list: readonly File[]): void {
    const useful = list.filter(({ name }) => wanted.test(name));
    if (list.length === 0) return;
    if (!useful.some(({ name }) => name.endsWith('.safetensors'))) {
      this.say('There is no .safetensors file among these.');
      return;
    }
    // What was set of another model is not of this one.
    if (this.names.length > 0 && /&figure=own-/.test(location.hash))
      history.replaceState(history.state, '', '#own-model');
    this.clear();
    this.files = useful;
    this.open({});
  }

  private open(options: Omit<OwnQuestion, 'files'>): void {
    this.say('Reading the header…');
    this.stop.hidden = false;
    this.ask({ files: this.files, ...options });
  }

  /** Files and pictures go to a worker as they are. */
  private ask(question: OwnQuestion): void {
    this.asker.ask(question as unknown as State);
  }

  private clear(sentence = ''): void {
    this.asker.cancel();
    this.remove();
    this.files = [];
    this.chosen.replaceChildren();
    this.told.replaceChildren();
    this.forget.hidden = this.stop.hidden = true;
    this.say(sentence);
    this.ask({});
  }

  private remove(): void {
    this.shown.replaceChildren();
    for (const name of this.names) delete figures[name];
    this.names = [];
  }

  private opened(model: Opened | undefined): void {
    this.stop.hidden = true;
    // A picture has been taken, or the model has been forgotten.
    if (!model) return;
    this.forget.hidden = false;
    const size = `${(model.bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;
    this.say(`${model.name}, ${size}; opened on this machine, and nothing is uploaded.`);
    this.told.replaceChildren(model.about);
    this.chosen.replaceChildren(...this.options(model));
    this.show(model);
    if (model.picture && model.heads !== undefined) this.told.append(this.pictureInput(model));
  }

  private options(model: Opened): Node[] {
    const inputs: Node[] = [];
    if (model.parts.length > 1) {
      const select = made('select', { name: 'part' });
      for (const part of model.parts)
        select.append(made('option', { value: part, textContent: part, selected: part === model.family }));
      inputs.push(made('label', {}, 'Of the models in this file ', select));
    }
    if (model.summands.length > 0) {
      const number = (name: 'heads' | 'epsilon', label: string) => {
        if (model[name] !== undefined) return;
        inputs.push(made('label', {}, label, made('input', { name, inputMode: 'decimal', required: true })));
      };
      number('heads', 'Heads of the first layer, which no config.json says ');
      number('epsilon', 'ε of its norms, such as 1e-12 ');
    }
    return inputs.length > 0 ? [...inputs, made('button', { textContent: 'Open with these' })] : [];
  }

  private show(model: Opened, withPicture = false): void {
    this.remove();
    const own = Object.entries(ownFigures(model)).filter(
      ([name]) => !model.picture || withPicture || !['own-heads', 'own-one-score'].includes(name),
    );
    for (const [name, figure] of own) {
      figures[name] = async () => figure;
      const element = document.createElement('superpose-figure');
      element.setAttribute('name', name);
      element.append(made('h4', { slot: 'title', textContent: figure.title }));
      this.shown.append(element);
    }
    this.names = own.map(([name]) => name);
    // A link to one of them has waited for it.
    if (/^#v=\d+&figure=own-/.test(location.hash)) window.dispatchEvent(new Event('hashchange'));
  }

  private pictureInput(model: Opened): Node {
    const { side, mean, deviation } = model.picture as NonNullable<Opened['picture']>;
    const input = made('input', { type: 'file', accept: 'image/*' });
    input.addEventListener('change', async () => {
      const [file] = input.files ?? [];
      if (!file) return;
      try {
        this.ask({ picture: await pixelsOf(file, side) });
        this.show(model, true);
      } catch {
        this.say(`“${file.name}” is no picture that this browser can show.`);
      }
    });
    const list = (numbers: readonly number[]) => numbers.map((one) => Number(one.toFixed(4))).join(', ');
    return made(
      'label',
      {},
      ` Its scores take a picture. The middle square is drawn ${side} by ${side} pixels by the browser; of red, green and blue from 0 to 1, ${list(mean)} are taken and the rest is divided by ${list(deviation)}. `,
      input,
    );
  }
}

/** The middle square of a picture, drawn with so many pixels a side. */
async function pixelsOf(file: File, side: number): Promise<Picture> {
  const picture = await createImageBitmap(file);
  const square = Math.min(picture.width, picture.height);
  const canvas = made('canvas', { width: side, height: side });
  const context = canvas.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
  const [x, y] = [(picture.width - square) / 2, (picture.height - square) / 2];
  context.imageSmoothingQuality = 'high';
  context.drawImage(picture, x, y, square, square, 0, 0, side, side);
  picture.close();
  return { data: context.getImageData(0, 0, side, side).data, width: side, height: side };
}

/** The files that are dropped, and those in folders that are. */
async function dropped({ dataTransfer }: DragEvent): Promise<File[]> {
  // Entries are gone once the event is over.
  const entries = [...(dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry());
  const files = [...(dataTransfer?.files ?? [])];
  const folders = entries.filter((entry) => entry?.isDirectory) as FileSystemDirectoryEntry[];
  const within = await Promise.all(folders.map(filesIn));
  return [...files.filter(({ name }) => !folders.some((folder) => folder.name === name)), ...within.flat()];
}

async function filesIn(folder: FileSystemDirectoryEntry): Promise<File[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((take, fail) => reader.readEntries(take, fail));
    if (some.length === 0) break;
    entries.push(...some);
  }
  return Promise.all(
    entries
      .filter((entry): entry is FileSystemFileEntry => entry.isFile && wanted.test(entry.name))
      .map((entry) => new Promise<File>((take, fail) => entry.file(take, fail))),
  );
}
