// A figure's inputs, one for each control. They are native, so keys, touch and screen readers work.
import { html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { type Control, drawAgain, inputClass, type Value } from '../figures/controls.js';
import { terms } from '../figures/terms.js';

/** Receives the reader's changes to one input. */
export interface InputListener {
  /** `settled` says that the reader has let go of the input. */
  change(value: Value, settled: boolean): void;
  /** The reader has typed a seed, which may be invalid. */
  seed(input: HTMLInputElement): void;
  type(text: string): void;
  /** The reader wants the recorded text again; missing where the page keeps no texts. */
  takeBack?: (() => void) | undefined;
}

/** The input of a control. `named` says what the values of a slider stand for. */
export function inputOf(
  name: string,
  control: Control,
  value: Value,
  named: readonly string[] | undefined,
  listener: InputListener,
): TemplateResult {
  const set = (to: Value) => listener.change(to, true);
  switch (control.kind) {
    case 'choice': {
      const options = Object.entries(control.options);
      if (control.radio) {
        return html`<fieldset class="${inputClass(control)}">
            <legend>${control.label}</legend>
            <div class="choices">${options.map(
              ([option, label]) => html`<label><input type="radio" name=${name} value=${option}
                .checked=${live(value === option)} @change=${() => set(option)} />${label}</label>`,
            )}</div>
          </fieldset>`;
      }
      return html`<label class=${inputClass(control)}>${control.label}
          <select name=${name} @change=${(event: Event) => set((event.target as HTMLSelectElement).value)}>
            ${options.map(([option, label]) => html`<option value=${option} .selected=${live(value === option)}>${label}</option>`)}
          </select></label>`;
    }
    case 'range':
    case 'steps': {
      const steps = control.kind === 'steps';
      const [min, max, step] = steps
        ? [0, control.values.length - 1, 1]
        : [control.min, control.max, control.step];
      const place = steps ? control.values.indexOf(value as number) : (value as number);
      const moved = (event: Event, settled: boolean) => {
        const at = Number((event.target as HTMLInputElement).value);
        listener.change(steps ? (control.values[at] as number) : at, settled);
      };
      const word = named?.[place - min];
      const number = numeral(value as number);
      return html`<label class=${inputClass(control)}>${control.label} <b class="value" aria-hidden="true">${word ?? number}</b>
          <input type="range" name=${name} min=${min} max=${max} step=${step}
            .value=${live(String(place))} aria-valuetext=${word === undefined || word === number ? number : `${word}, ${number}`}
            @pointerdown=${({ target }: Event) => touchedAt.set(target as Element, (target as HTMLInputElement).value)}
            @pointercancel=${(event: Event) => goBack(event, moved)}
            @input=${(event: Event) => moved(event, false)} @change=${(event: Event) => moved(event, true)} />
        </label>`;
    }
    case 'toggle':
      return html`<div class="choices ${inputClass(control)}"><label><input type="checkbox" name=${name}
          .checked=${live(value as boolean)} @change=${(event: Event) => set((event.target as HTMLInputElement).checked)} />${control.label}</label></div>`;
    case 'several': {
      const on = value as readonly string[];
      const options = Object.entries(control.options);
      const toggled = (option: string) =>
        options
          .map(([name]) => name)
          .filter((name) => (name === option ? !on.includes(name) : on.includes(name)));
      return html`<fieldset class=${inputClass(control)}><legend>${control.label}</legend>
          <div class="choices">${options.map(
            ([
              option,
              label,
            ]) => html`<label data-term=${isTerm(option) ? option : nothing}><input type="checkbox" name=${name} value=${option}
              .checked=${live(on.includes(option))}
              @change=${() => set(toggled(option))} />${
                isTerm(option) ? html`<span class="swatch f-${option}"></span>` : nothing
              }${label}</label>`,
          )}</div></fieldset>`;
    }
    case 'seed':
      return html`<div><span class="label">${control.label}</span><span class="seed">
          <input type="text" inputmode="numeric" name=${name} aria-label=${control.label} .value=${live(String(value))}
            @change=${(event: Event) => listener.seed(event.target as HTMLInputElement)} />
          <button aria-label="Again, with the next ${control.label.toLowerCase()}" @click=${() => set(drawAgain(value as number))}>Again</button></span></div>`;
    case 'text':
      return html`<label class=${inputClass(control)}>${control.label}
          <textarea name=${name} rows="2" maxlength=${control.longest} dir="auto" spellcheck="false"
            .value=${live(value as string)} @input=${(event: Event) => listener.type((event.target as HTMLTextAreaElement).value)}></textarea></label>${
              control.shared && listener.takeBack && value !== control.initial
                ? html`<div class="wide"><button aria-label="Take it back: ${control.label}" @click=${listener.takeBack}>Take it back</button></div>`
                : nothing
            }`;
  }
}

const isTerm = (option: string): boolean => (terms as string[]).includes(option);

const numeral = (value: number): string =>
  (Math.abs(value) < 10_000 ? String(value) : value.toLocaleString('en')).replace('-', '−');

/** The value that each slider had when it was touched. */
const touchedAt = new WeakMap<Element, string>();

/** A finger that begins on a slider may scroll the page; then the slider goes back to where it was. */
function goBack(event: Event, moved: (event: Event, settled: boolean) => void): void {
  const slider = event.target as HTMLInputElement;
  slider.value = touchedAt.get(slider) ?? slider.value;
  moved(event, true);
}
