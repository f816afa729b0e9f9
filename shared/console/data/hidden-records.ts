// Records that the user deleted a moment ago. They are hidden before the service deletes them, so
// that the user can take the deletion back.
import { useSyncExternalStore } from "react";
import type { PagedRows } from "./paged-rows.ts";

let hidden: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();

/** Names a record in all groups of the API: "lists/5". */
export const recordKey = (group: string, id: number): string => `${group}/${id}`;

export const isHidden = (key: string): boolean => hidden.has(key);

export function setHidden(key: string, isNowHidden: boolean): void {
  const next = new Set(hidden);
  if (isNowHidden) next.add(key);
  else next.delete(key);
  hidden = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The records of a group that are not hidden. */
export function useKept<Row extends { id: number }>(group: string, rows: Row[]): Row[] {
  const keys = useSyncExternalStore(subscribe, () => hidden);
  return rows.filter(({ id }) => !keys.has(recordKey(group, id)));
}

/** The list without hidden records. */
export function useKeptRows<Row extends { id: number }>(
  group: string,
  list: PagedRows<Row>,
): PagedRows<Row> {
  const rows = useKept(group, list.rows);
  const hiddenCount = list.rows.length - rows.length;
  return { ...list, rows, total: list.total && list.total - hiddenCount };
}
