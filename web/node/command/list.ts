// superpose list: the figures, or the settings of one.
import { allowed, type Controls, figures, initialState, written } from '../index.js';
import { parsed, quoted } from './options.js';
import { Refusal } from './refusal.js';

export async function list(args: string[]): Promise<string> {
  const { positionals } = parsed({ args, allowPositionals: true });
  if (positionals.length > 1) throw new Refusal('superpose list takes the name of one figure, or none.');
  const [name] = positionals;
  if (name === undefined) {
    const longest = Math.max(...Object.keys(figures).map((one) => one.length));
    return Object.values(figures)
      .map((one) => `${one.name.padEnd(longest)}  ${one.title}\n`)
      .join('');
  }
  const { title, controls } = figureNamed(name);
  const first = initialState(controls);
  const settings = Object.entries(controls).map(
    ([key, control]) =>
      `  ${key}: ${control.label}. Takes ${allowed(control)}; at first ${written(control, first[key] as never)}\n`,
  );
  return `${title}\n${settings.join('')}`;
}

export function figureNamed(name: string) {
  const figure = Object.hasOwn(figures, name) ? figures[name] : undefined;
  if (!figure) {
    throw new Refusal(
      `There is no figure called ${quoted(name)}. There are ${Object.keys(figures).join(', ')}.`,
    );
  }
  return figure as { name: string; title: string; controls: Controls };
}
