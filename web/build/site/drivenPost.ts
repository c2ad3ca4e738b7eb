// demo/driven.html: a post whose own script drives its figures, as a live example. Two of them share one control.
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';
import { escaped } from '../../plot/svg.js';
import { blogPage } from './demo.js';
import { madeState } from './figures.js';

export function drivenPost(dist: string): Plugin {
  return {
    name: 'driven-post',
    apply: 'build',
    async writeBundle() {
      const { rendered } = await madeState('dot-products', []);
      const { title, controls } = rendered.figure;
      const widths = controls.d as { values: readonly number[] };
      const body = example(title, widths.values);
      const folder = resolve(dist, 'demo');
      mkdirSync(folder, { recursive: true });
      writeFileSync(resolve(folder, 'driven.html'), page(`${body}<pre><code>${escaped(body)}</code></pre>`));
    },
  };
}

const picture = (title: string) =>
  `<a href="../#dot-products"><img src="../pictures/dot-products-wide.svg" alt="${escaped(title)}" width="700" style="max-width:100%;height:auto" loading="lazy"></a>`;

const example = (title: string, widths: readonly number[]) => `<p>
  <label>Width of the second figure
    <select id="width" disabled>${widths.map((d) => `<option>${d}</option>`).join('')}</select></label>
  <output id="said" for="width">The second figure is not there yet.</output>
</p>
<superpose-figure name="dot-products" d="16" keep="scale" group="ρ">
  ${picture(title)}
</superpose-figure>
<superpose-figure id="driven" name="dot-products" d="256" keep="scale" group="ρ">
  ${picture(title)}
</superpose-figure>
<script type="module" src="../embed.js"></script>
<script type="module">
  const figure = document.querySelector('#driven');
  const width = document.querySelector('#width');
  const said = document.querySelector('#said');
  // Figures are defined when one of them comes near the reader.
  await customElements.whenDefined('superpose-figure');
  // The reader has moved a slider of this figure.
  figure.addEventListener('change', ({ detail }) => {
    said.textContent = \`You have set ρ to \${detail.state.scale}, in both.\`;
  });
  await figure.whenLive();
  said.textContent = 'Both are live.';
  width.value = figure.state.d;
  width.disabled = false;
  // The post sets the figure: what is not named stays, and so do the others of the group.
  width.addEventListener('change', async () => {
    await figure.set({ d: Number(width.value) });
    said.textContent = \`The post has set d to \${figure.state.d}, in the second.\`;
  });
</script>
`;

const page = (body: string) =>
  blogPage(
    'Figures that share a slider, and a post that drives them',
    'Two figures with one group, and a script of the page that sets one and hears it.',
    `      <h1>Figures that share a slider</h1>
      <p>Both have <code>group="ρ"</code>: a slider in one moves the same setting in the other, and nothing else. The page’s own script sets the second one’s width, and hears of what you set. All of it stands below.</p>
${body}`,
    'superpose-figure{margin:1.5rem 0}',
  );
