// The command `model`: measures of the tables of the user's own model.
import type { ByGauge, ModelReport, OpenedModel } from 'add-or-concatenate';
import { csvOf } from '../../plot/csv.js';
import { parseOptions, Refusal, refuseErrors } from './options.js';
import { deliver, type Output, outputOf, tableOptions } from './output.js';
import { openOptions, openUserModel } from './userModel.js';

export async function model(args: string[]): Promise<string> {
  const { values, positionals } = parseOptions({
    args,
    allowPositionals: true,
    options: {
      ...openOptions,
      ...tableOptions,
    },
  });
  const [path, ...others] = positionals;
  if (path === undefined || others.length > 0)
    throw new Refusal(
      'add-or-concatenate model takes one path: of a .safetensors file, an index of shards or a folder.',
    );
  const output = await outputOf(values, ['csv', 'json']);
  return refuseErrors(async () => {
    const opened = await openUserModel(path, values);
    await deliver(output, [written(opened, await opened.report(), output)]);
    return output.file === undefined ? '' : `${output.file}: ${opened.name}\n`;
  });
}

function written(model: OpenedModel, report: ModelReport, { format }: Output): string {
  const rows = rowsOf(model, report);
  if (format === 'json') return `${JSON.stringify(plain(model, report), null, 1)}\n`;
  if (format === 'csv')
    return csvOf({ columns: ['measure', 'gauge', 'value'], rows: rows.map(([, ...row]) => row) });
  return print(model, report, rows);
}

type Row = [label: string, measure: string, gauge: string, value: string | number];

function rowsOf(model: OpenedModel, report: ModelReport): Row[] {
  const { token, position, cosines, overlap, offsets, chance, rotary, curve } = report;
  const row = (label: string, measure: string, value: string | number | undefined, gauge = ''): Row[] =>
    value === undefined ? [] : [[label, measure, gauge, value]];
  const byGauge = (label: string, measure: string, value: ByGauge<number> | undefined): Row[] =>
    value ? [...row(label, measure, value.raw, 'raw'), ...row(label, measure, value.centred, 'centred')] : [];
  const sizes = (of: 'meanSize' | 'largestSize'): ByGauge<number> | undefined =>
    cosines && { raw: cosines.raw[of], centred: cosines.centred[of] };
  return [
    ...row('family', 'family', model.family),
    ...row(
      'files with its weights',
      'files',
      model.files.slice(0, 3).join(' ') + (model.files.length > 3 ? ' …' : ''),
    ),
    ...row('width that W_Q reads', 'd_model', model.d_model),
    ...row('heads', 'heads', model.heads),
    ...row('ε of its norms', 'epsilon', model.epsilon),
    ...row('token rows', 'vocabulary', model.vocabulary || undefined),
    ...row('positions', 'positions', model.positions || undefined),
    ...row('keys that a query sees in layers that slide', 'sliding window', model.slidingWindow?.keys),
    ...row('layers that can be run', 'layers', model.layers),
    ...row('token rows read', 'token rows', token.rows.length),
    ...row('position rows read', 'position rows', position?.rows.length),
    ...row('mean length of token rows', 'token length', token.lengths.mean, 'raw'),
    ...row('mean length of position rows', 'position length', position?.lengths.mean, 'raw'),
    ...byGauge('directions that token rows fill', 'token participation', token.participation),
    ...byGauge('directions that position rows fill', 'position participation', position?.participation),
    ...byGauge('mean |cos| of token and position rows', 'mean |cos|', sizes('meanSize')),
    ...byGauge('largest |cos| of token and position rows', 'largest |cos|', sizes('largestSize')),
    ...row('mean |cos| by chance', 'chance |cos|', cosines && chance),
    ...byGauge('overlap A, chance 1', 'overlap', overlap),
    ...row(
      `part of the ${curve?.dimensions} main position directions in the first half of the tokens’`,
      'first half',
      curve?.reached[Math.floor(curve.reached.length / 2) - 1],
      'centred',
    ),
    ...byGauge(
      'part of position · position that depends on the distance alone',
      'offset share',
      offsets && { raw: offsets.raw.share, centred: offsets.centred.share },
    ),
    ...row('base of RoPE’s angles', 'rope base', rotary?.base),
    ...row('heads of keys', 'key heads', rotary?.keyHeads),
  ];
}

function print(model: OpenedModel, report: ModelReport, rows: Row[]): string {
  const text = (value: string | number) =>
    typeof value === 'string' || Number.isInteger(value)
      ? String(value)
      : Number(value.toPrecision(4)).toString();
  const lines = rows.map(([label, , gauge, value]) => [label, gauge, text(value)] as const);
  const widths = [0, 1].map((column) => Math.max(...lines.map((line) => (line[column] as string).length)));
  const [first = 0, second = 0] = widths;
  return [
    `${model.name}: ${model.about}`,
    'Not verified against a reference: that terms add up does not prove that the file was read as its model reads it.',
    '',
    ...lines.map(([label, gauge, value]) =>
      `${label.padEnd(first)}  ${gauge.padEnd(second)}  ${value}`.trimEnd(),
    ),
    ...(report.position
      ? ['', 'raw: the rows as they come; centred: without excluded rows, less their mean.']
      : []),
    '',
  ].join('\n');
}

/** The report for JSON: typed arrays become lists, and numbers that are not finite become null. */
function plain(model: OpenedModel, report: ModelReport): unknown {
  const toJson = (value: unknown): unknown => {
    if (ArrayBuffer.isView(value)) return Array.from(value as Float64Array, toJson);
    if (typeof value === 'number') return Number.isFinite(value) ? value : null;
    if (Array.isArray(value)) return value.map(toJson);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toJson(member)]));
  };
  const { family, name, about, d_model, heads, epsilon, vocabulary, positions, causal } = model;
  const { slidingWindow, excludedRows } = model;
  const ofModel = {
    family,
    d_model,
    heads,
    epsilon,
    vocabulary,
    positions,
    slidingWindow,
    causal,
    excludedRows,
  };
  return toJson({ ...ofModel, files: model.files, bytes: model.bytes, name, about, ...report });
}
