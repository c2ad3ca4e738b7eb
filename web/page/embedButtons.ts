// Adds the "Embed" button to each figure's menu. The dialog is loaded when it is first opened.
import type { FigureElement } from '../element/figureElement.js';
import type { EmbedBuilder } from './embedBuilder.js';

let builder: EmbedBuilder | undefined;

async function open(figure: FigureElement): Promise<void> {
  if (!builder) {
    const { EmbedBuilder: Builder } = await import('./embedBuilder.js');
    builder ??= document.body.appendChild(new Builder());
  }
  await builder.open(figure);
}

export function addEmbedButtons(): void {
  for (const figure of document.querySelectorAll('superpose-figure')) {
    const button = document.createElement('button');
    button.slot = 'tools';
    button.type = 'button';
    button.className = 'embed';
    button.textContent = 'Embed';
    button.addEventListener('click', () => void open(figure as HTMLElement as FigureElement));
    figure.append(button);
  }
}
