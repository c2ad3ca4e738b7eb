// A notebook, run and exported to HTML.
import { type Host, onePage, type Pasted, waysOf } from '../support/host.ts';

export const jupyter: Host = {
  title: 'Jupyter (nbconvert)',
  debian: { 'jupyter-nbconvert': 'jupyter-nbconvert' },
  ways: waysOf('jupyter', ['script', 'iframe']),
  async build(site) {
    const text = site.post('markdown');
    site.write('notebook.ipynb', JSON.stringify(notebook(text, site.pasted)));
    await site.run('jupyter', [
      'nbconvert',
      '--execute',
      '--no-input',
      '--to',
      'html',
      '--output-dir',
      'public',
      'notebook.ipynb',
    ]);
    return onePage(site, 'public', 'notebook.html');
  },
};

/** A code cell for each snippet, and Markdown between them. */
function notebook(text: string, pasted: readonly Pasted[]) {
  const cells: object[] = [];
  let rest = text;
  const markdown = (source: string) => cells.push({ cell_type: 'markdown', metadata: {}, source });
  for (const one of pasted) {
    const [before = '', ...after] = rest.split(one.text);
    markdown(before);
    cells.push({
      cell_type: 'code',
      execution_count: null,
      metadata: {},
      outputs: [],
      source: one.text.trimEnd(),
    });
    rest = after.join(one.text);
  }
  markdown(rest);
  const kernelspec = { display_name: 'Python 3', language: 'python', name: 'python3' };
  return {
    cells,
    metadata: { kernelspec, language_info: { name: 'python' } },
    nbformat: 4,
    nbformat_minor: 4,
  };
}
