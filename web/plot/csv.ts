// A table as a CSV file, by RFC 4180.

/**
 * One line. Text is written unchanged, although a spreadsheet may take “=” or “-” for a formula: these are
 * tokens, and a row is about its token.
 */
function csvRow(values: readonly (string | number)[]): string {
  const field = (value: string | number) => {
    // A number that is not finite becomes an empty cell.
    if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
    return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  };
  return `${values.map(field).join(',')}\r\n`;
}

export const csvOf = (table: { columns: string[]; rows: (string | number)[][] }): string =>
  [table.columns, ...table.rows].map(csvRow).join('');
