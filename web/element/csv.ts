// Comma-separated values, for files and for the command.
import type { DataTable } from '../figures/figure.js';

/** A line of CSV by RFC 4180. Text comes out as it is: tokens such as “=” and “-” are what a row is about. */
function csvRow(values: readonly (string | number)[]): string {
  const field = (value: string | number) =>
    typeof value === 'string' && /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : String(value);
  return `${values.map(field).join(',')}\r\n`;
}

export const csvOf = ({ columns, rows }: DataTable): string => [columns, ...rows].map(csvRow).join('');
