// What measurements of figures need in the page. It is passed on as text, so only what is inside exists there.
export function inPage() {
  const mark = 'superpose-step';
  const figureOf = (name) => document.querySelector(`superpose-figure[name="${name}"]`);
  const frame = () => new Promise((shown) => requestAnimationFrame(shown));
  const show = (element, block) => element.scrollIntoView({ block, behavior: 'instant' });
  const slidersOf = (figure) => [...figure.shadowRoot.querySelectorAll('input[type=range]')];

  /** Shows a figure in its beat or its card, if it is in one. */
  function open(figure) {
    const card = figure.closest('details');
    if (card) card.open = true;
    const shots = figure.closest('.stays')?.querySelectorAll('.shot') ?? [];
    for (const shot of shots) shot.hidden = !shot.contains(figure);
  }

  /**
   * Keeps a figure in view until `done`: figures above that load may push it away, and a beat's step that scrolls by
   * may show another. Then nothing is drawn.
   */
  async function until(figure, done, wait) {
    while (!(figure.checkVisibility() && done())) {
      open(figure);
      show(figure, 'center');
      await new Promise((passed) => setTimeout(passed, wait));
    }
  }

  /** Times of steps from one value to another and back, from the input event to the frame after what it `drew`. */
  async function steps(count, slider, values, drew) {
    const times = [];
    for (let k = 0; k < count; k++) {
      show(slider.getRootNode().host, 'nearest');
      await frame();
      performance.mark(mark);
      const started = performance.now();
      const drawn = drew();
      slider.value = String(values[k % 2]);
      slider.dispatchEvent(new Event('input', { bubbles: true }));
      await drawn;
      await frame();
      times.push(performance.now() - started);
    }
    return times;
  }

  globalThis.bench = {
    mark,
    /** Sliders of figures: all of one on the path, once it is there, and the first of one in a card. */
    async slidersOf(names) {
      const found = [];
      for (const name of names) {
        const figure = figureOf(name);
        if (figure.closest('details')) found.push({ name });
        else {
          await until(figure, () => figure.result, 200);
          found.push(...slidersOf(figure).map((slider) => ({ name, slider: slider.name })));
        }
      }
      return found;
    },

    /** Steps of a figure's slider, its first unless named; undefined without any. */
    async stepsOf({ name, settings, slider: wanted, count }) {
      const figure = figureOf(name);
      const set = Object.entries(settings).map(([key, value]) => [key, String(value)]);
      open(figure);
      if (set.length > 0) await figure.show(set);
      // A drawing still in progress would be mistaken for the first step's.
      let drawings = 0;
      figure.addEventListener('superpose-drawn', () => {
        drawings += 1;
      });
      let before = -1;
      const settled = () => {
        const same = before === drawings;
        before = drawings;
        return figure.result && same;
      };
      await until(figure, settled, 1000);
      const slider = figure.shadowRoot.querySelector(
        `input[type=range]${wanted ? `[name="${wanted}"]` : ''}`,
      );
      if (!slider) return undefined;
      const first = Number(slider.value);
      const step = Number(slider.step) || 1;
      const next = first + step <= Number(slider.max) ? first + step : first - step;
      const drawn = () =>
        new Promise((done) => {
          figure.addEventListener('superpose-drawn', done, { once: true });
        });
      const times = await steps(count, slider, [next, first], drawn);
      // Whether the slider starts a new training, rather than only changing the view of one.
      const { figure: shown, settings: state } = figure.asking;
      const trains = shown.runs !== undefined && !shown.runs.looks(state).includes(slider.name);
      return { slider: slider.name, times, trains };
    },
  };
}
