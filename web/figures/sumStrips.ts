import type { Area } from '../plot/parts.js';
import type { Ink, Mark } from '../plot/scene.js';
import type { Rows } from './sumControls.js';

export interface Strip {
  area: Area;
  values: Rows;
  ink: Ink;
  /** For a sum: which place. */
  place?: 0 | 1;
}

export function scaleOf(area: Area, limit: number, channels: number) {
  const zero = area.y + area.height / 2;
  return {
    up: (value: number) => zero - (value / limit) * (area.height / 2),
    pitch: area.width / channels,
  };
}

export function stripBars({ area, values, ink }: Strip, limit: number, enter?: Mark['enter']): Mark[] {
  const { up, pitch } = scaleOf(area, limit, values.length);
  const space = pitch > 5 ? 1.5 : 0;
  const zero = up(0).toFixed(1);
  const d = Array.from(values, (value, channel) => {
    const left = (area.x + channel * pitch + space / 2).toFixed(2);
    return `M${left},${zero}V${up(value).toFixed(2)}h${(pitch - space).toFixed(2)}V${zero}Z`;
  }).join('');
  return [
    { mark: 'box', ...area, fill: 'field' },
    { mark: 'path', d, fill: ink, ...(enter && { enter }) },
    { mark: 'line', x1: area.x, x2: area.x + area.width, y1: up(0), y2: up(0), ink: 'quiet' },
  ];
}
