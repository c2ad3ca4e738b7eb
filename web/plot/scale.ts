// From data to pixels: a line or a logarithm, with round ends and ticks by d3-array. d3-scale does the same and
// costs 12 KB more, for dates, colours and formats that no figure has.
import { nice, ticks } from 'd3-array';

export interface Scale {
  (value: number): number;
  domain(): [number, number];
  range(): [number, number];
  /** About `count` round values within the domain. */
  ticks(count: number): number[];
}

type Pair = [number, number];

export function linear(domain: Pair, range: Pair, rounded = false): Scale {
  const ends = rounded ? (nice(domain[0], domain[1], 10) as Pair) : domain;
  const slope = (range[1] - range[0]) / (ends[1] - ends[0]);
  return Object.assign((value: number) => range[0] + (value - ends[0]) * slope, {
    domain: () => ends,
    range: () => range,
    ticks: (count: number) => ticks(ends[0], ends[1], count),
  });
}

/** Base 10; the domain must be above 0. */
export function logarithmic(domain: Pair, range: Pair, rounded = false): Scale {
  const [low, high] = domain.map(Math.log10) as Pair;
  const powers: Pair = rounded ? [Math.floor(low), Math.ceil(high)] : [low, high];
  const ends: Pair = rounded ? [10 ** powers[0], 10 ** powers[1]] : domain;
  const along = linear(powers, range);
  return Object.assign((value: number) => along(Math.log10(value)), {
    domain: () => ends,
    range: () => range,
    ticks(count: number) {
      if (powers[1] - powers[0] >= count) return along.ticks(count).map((power) => 10 ** power);
      const found: number[] = [];
      for (let power = Math.floor(powers[0]); power <= powers[1]; power++) {
        for (let digit = 1; digit < 10; digit++) {
          // 10 ** −3 is not 0.001: only parsing gives the double nearest to the decimal.
          const tick = Number(`${digit}e${power}`);
          if (tick >= ends[0] && tick <= ends[1]) found.push(tick);
        }
      }
      return found;
    },
  });
}
