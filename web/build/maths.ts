// The pages' formulas: <tex>...</tex> becomes MathML when the page is built, so readers' browsers run no code
// for it. \\TT, \\TP, \\PT, \\PP and \\REST give a part the colour of its term.
import temml from 'temml';
import type { Plugin } from 'vite';

const term = (name: string) => `\\data{term=${name}}{#1}`;
const macros = {
  '\\TT': term('token-token'),
  '\\TP': term('token-position'),
  '\\PT': term('position-token'),
  '\\PP': term('position-position'),
  '\\REST': term('rest'),
};

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };

export function toMathml(tex: string, display: boolean): string {
  const source = tex.replace(/&(lt|gt|amp);/g, (entity) => entities[entity] as string).trim();
  const mathml = temml.renderToString(source, {
    displayMode: display,
    macros: { ...macros },
    trust: true,
    throwOnError: true,
  });
  // The page's content security policy forbids inline styles, and the classes belong to a style sheet that is not
  // used here. `fence` changes nothing that is drawn, and browsers know opening brackets from closing ones.
  return mathml.replace(/ (?:style|class|fence)="[^"]*"/g, '').replace(/ form="\w+"([^>]*>[()[\]])/g, '$1');
}

export const withMaths = (html: string): string =>
  html.replace(/<tex( display)?>([\s\S]*?)<\/tex>/g, (_, display: string | undefined, tex: string) => {
    const mathml = toMathml(tex, display !== undefined);
    // A long formula scrolls on a phone, so the keyboard must reach it.
    return display === undefined ? mathml : `<div class="formula" tabindex="0">${mathml}</div>`;
  });

export const maths = (): Plugin => ({
  name: 'maths',
  transformIndexHtml: { order: 'pre', handler: withMaths },
});
