// A figure whose members cannot be confused with what a page has added to Object.prototype.
import type { Controls } from '../figures/controls.js';
import type { AnyFigure } from '../figures/figure.js';
import { plainCopy } from '../plot/plainCopy.js';

/** Copies the figure, its controls, and the marks, regions and handles of each scene that it makes. */
export const plainFigure = (figure: AnyFigure): AnyFigure =>
  plainCopy({
    ...figure,
    controls: plainCopy(
      Object.fromEntries(
        Object.entries(figure.controls as Controls).map(([name, control]) => [name, plainCopy(control)]),
      ),
    ),
    scene: (...args) => {
      const scene = plainCopy(figure.scene(...args));
      const { marks, regions, handles } = scene;
      return Object.assign(scene, {
        marks: marks.map(plainCopy),
        regions: regions.map(plainCopy),
        handles: handles?.map(plainCopy),
      });
    },
  });
