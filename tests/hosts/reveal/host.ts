// reveal.js: slides that are hidden until they are shown, and scaled to the window. By default it centres
// slides, so a slide moves when a figure on it becomes higher.
import { type Host, onePage, waysOf } from '../support/host.ts';

export const reveal: Host = {
  title: 'reveal.js',
  ways: waysOf('reveal', ['script', 'iframe']),
  async build(site) {
    const slides = site.pasted.map(({ text }) => text).join('');
    site.write('index.html', page(slides));
    return onePage(site, '.', '');
  },
  reach: (place) => {
    type Deck = { slide(at: number): void; isScrollView(): boolean };
    const { Reveal } = window as unknown as { Reveal: Deck };
    Reveal.slide(place + 1);
    // On a phone it is one long page of slides; elsewhere reveal.js would undo the scrolling.
    if (Reveal.isScrollView()) document.querySelectorAll('superpose-figure, iframe')[place]?.scrollIntoView();
  },
};

const page = (slides: string) => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Slides</title>
<link rel="stylesheet" href="node_modules/reveal.js/dist/reveal.css">
<link rel="stylesheet" href="node_modules/reveal.js/dist/theme/black.css">
</head>
<body>
<div class="reveal"><div class="slides">
<section>${'<p>A first slide.</p>'.repeat(12)}</section>
${slides}<section><p>The end.</p></section>
</div></div>
<script src="node_modules/reveal.js/dist/reveal.js"></script>
<script>Reveal.initialize({ transition: 'none', hash: false, center: false });</script>
</body>
</html>
`;
