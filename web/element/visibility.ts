// Whether the reader is near a figure, and in which order figures compute: on their own page those in sight
// come first, and a figure that is only near shows its recorded picture until those are drawn.
import type { LitElement, ReactiveController } from 'lit';
import { latest } from '../plot/plainCopy.js';
import { hostPage } from './link.js';

/** On somebody else's page the placeholder has another height, so it is replaced well out of sight. */
const nearMargin = () => (hostPage.foreign ? '1200px' : '400px');

interface FigureData {
  /** Nothing has come of the figure's request yet: no picture, no failure, no stop. */
  readonly isPending: boolean;
  compute(): Promise<void>;
}

/** Figures in sight that have not been drawn yet, and figures nearby that wait for those. */
const inSightFirst = new Set<Visibility>();
const nearLater = new Set<Visibility>();

function computeNearFigures(): void {
  if (inSightFirst.size > 0) return;
  const waiting = [...nearLater];
  nearLater.clear();
  for (const visibility of waiting) void visibility.data.compute();
}

export class Visibility implements ReactiveController {
  isNear = false;
  #isInSight = false;
  #observers: IntersectionObserver[] = [];

  constructor(
    private readonly host: LitElement,
    readonly data: FigureData,
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    this.#observers = [
      this.#observe(nearMargin(), (isNear) => {
        this.isNear = isNear;
      }),
      this.#observe('0px', (isInSight) => {
        this.#isInSight = isInSight;
        if (isInSight && this.data.isPending) inSightFirst.add(this);
        else this.letOthersCompute();
      }),
    ];
  }

  hostDisconnected(): void {
    for (const observer of this.#observers) observer.disconnect();
    this.isNear = this.#isInSight = false;
    this.letOthersCompute();
  }

  #observe(rootMargin: string, take: (isWithin: boolean) => void): IntersectionObserver {
    const observer = new IntersectionObserver(
      (entries) => {
        take(latest(entries).isIntersecting);
        this.computeInTurn();
      },
      { rootMargin },
    );
    observer.observe(this.host);
    return observer;
  }

  computeInTurn(): void {
    if (this.#isInSight || hostPage.foreign) {
      void this.data.compute();
      return;
    }
    nearLater.add(this);
    // By then all figures know whether they are in sight.
    setTimeout(computeNearFigures);
  }

  letOthersCompute(): void {
    if (!inSightFirst.delete(this)) return;
    // Only once this figure is painted, so that what the others fetch does not delay it.
    void this.host.updateComplete.then(() => requestAnimationFrame(() => setTimeout(computeNearFigures)));
  }
}
