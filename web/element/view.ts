// What a figure has computed, and what is on screen of it.
import type { State } from '../figures/controls.js';
import type { AnyFigure, Source } from '../figures/figure.js';
import type { Scene } from '../plot/scene.js';

export interface Answer {
  data: unknown;
  state: State;
}

export interface View extends Answer {
  figure: AnyFigure;
  state: State;
  rows: number;
  columns: number;
  source: Source;
  finding: string;
  tokens: readonly string[] | undefined;
  remark: string | undefined;
  named: Readonly<Record<string, readonly string[] | undefined>>;
  scene: Scene;
}
