// Comma-separated values, for files and for the command.
import type { DataTable } from '../figures/figure.js';

/** A line of CSV by RFC 4180. Text that a spreadsheet would take for a formula gets an apostrophe in front. */
function csvRow(values: readonly (string | number)[]): string {
  const field = (value: string | number) => {
    if (typeof value === 'number') return String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return `${values.map(field).join(',')}\r\n`;
}

export const csvOf = ({ columns, rows }: DataTable): string => [columns, ...rows].map(csvRow).join('');
