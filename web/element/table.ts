// A figure's numbers as a table.
import { html, nothing, type TemplateResult } from 'lit';
import type { Result } from './exports.js';

/** The most rows shown; the saved files have all. */
const mostRows = 300;

export function tableOf({ figure, data, state }: Result): TemplateResult {
  const { columns, rows } = figure.table(data, state);
  // A hyphen in a name is no minus.
  const cell = (value: string | number) =>
    typeof value === 'string'
      ? value
      : !Number.isFinite(value)
        ? '–'
        : String(Number.isInteger(value) ? value : Number(value.toPrecision(6))).replace('-', '−');
  return html`
    ${rows.length > mostRows ? html`<p class="note">The first ${mostRows} of ${rows.length} rows; CSV and JSON have all.</p>` : nothing}
    <div class="scroll" tabindex="0" role="region" aria-label="${figure.title}: numbers">
      <table>
        <thead><tr>${columns.map((column: string) => html`<th scope="col">${column}</th>`)}</tr></thead>
        <tbody>${rows.slice(0, mostRows).map((row: (string | number)[]) => html`<tr>${row.map((value, place) => (place === 0 ? html`<th scope="row">${cell(value)}</th>` : html`<td>${cell(value)}</td>`))}</tr>`)}</tbody>
      </table>
    </div>
  `;
}
