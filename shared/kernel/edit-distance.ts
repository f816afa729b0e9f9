/**
 * The number of insertions, deletions, substitutions and swaps of neighbours between two texts
 * (optimal string alignment). Returns
 * `max + 1` for every larger distance.
 */
export function editDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1;
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const distanceAt = (i: number, j: number): number => {
    const substitution = a[i - 1] === b[j - 1] ? 0 : 1;
    const distance = Math.min(
      rows[i - 1]![j]! + 1,
      rows[i]![j - 1]! + 1,
      rows[i - 1]![j - 1]! + substitution,
    );
    const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
    return isSwap ? Math.min(distance, rows[i - 2]![j - 2]! + 1) : distance;
  };
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) row.push(distanceAt(i, j));
    if (Math.min(...row) > max) return max + 1;
  }
  return Math.min(rows.at(-1)!.at(-1)!, max + 1);
}
