/** Formats rows as plain text, with the first column aligned left and all others right. */
export function formatTable<Column extends string>(
  columns: readonly Column[],
  rows: Record<Column, string | number>[],
): string {
  const width = (column: Column) =>
    Math.max(column.length, ...rows.map((row) => String(row[column]).length));
  const line = (cell: (column: Column) => string | number) =>
    columns
      .map((column, i) => String(cell(column))[i ? "padStart" : "padEnd"](width(column)))
      .join("  ");
  return [line((column) => column), ...rows.map((row) => line((column) => row[column]))].join("\n");
}
