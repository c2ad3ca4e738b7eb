// A table as a CSV file, by RFC 4180.

/** A line. Text is written as it is: tokens such as “=” and “-” are what a row is about. */
function csvRow(values: readonly (string | number)[]): string {
  const field = (value: string | number) => {
    // A value without a number is an empty cell.
    if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
    return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  };
  return `${values.map(field).join(',')}\r\n`;
}

export const csvOf = (table: { columns: string[]; rows: (string | number)[][] }): string =>
  [table.columns, ...table.rows].map(csvRow).join('');
