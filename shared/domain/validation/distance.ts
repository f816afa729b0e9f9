/**
 * How many letters have to be added, left out, changed or swapped with their neighbour to make one text of the other (optimal string
 * alignment). `most + 1` for all that is further apart than `most`.
 */
export function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) row.push(cell(a, b, i, j, rows, row));
    if (Math.min(...row) > most) return most + 1;
    rows.push(row);
  }
  return Math.min(rows.at(-1)!.at(-1)!, most + 1);
}

function cell(a: string, b: string, i: number, j: number, rows: number[][], row: number[]): number {
  const same = a[i - 1] === b[j - 1] ? 0 : 1;
  const plain = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + same);
  const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
  return swapped ? Math.min(plain, rows[i - 2]![j - 2]! + 1) : plain;
}
