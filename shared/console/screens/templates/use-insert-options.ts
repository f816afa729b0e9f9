import { useQuery } from "@tanstack/react-query";
import { fieldQueries } from "../../data/field-queries.ts";
import type { InsertOption } from "../../parts/insert-menu.tsx";
import { insertOptions } from "./draft.ts";

/** What can be inserted into an email of the site. */
export function useInsertOptions(siteId: number): Record<string, InsertOption[]> {
  const { data: known } = useQuery(fieldQueries.list(siteId));
  return insertOptions(known?.fields ?? []);
}
