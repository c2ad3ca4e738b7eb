// Comma-separated values, for files and for the command.
import type { DataTable } from '../figures/figure.js';

/** A line of CSV by RFC 4180. Text comes out as it is: tokens such as “=” and “-” are what a row is about. */
function csvRow(values: readonly (string | number)[]): string {
  const field = (value: string | number) => {
    // What there is no number for is empty.
    if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
    return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  };
  return `${values.map(field).join(',')}\r\n`;
}

export const csvOf = ({ columns, rows }: DataTable): string => [columns, ...rows].map(csvRow).join('');
