// The queries of contact fields, as in queries.ts.
import { queryOptions } from "@tanstack/react-query";
import type { NamedRecord, SegmentRules } from "pennymail";
import { api } from "./client.ts";

const minute = 60_000;
/** More segments are not looked through. */
const maxSegments = 500;

const asksFor = ({ conditions }: SegmentRules, key: string): boolean =>
  conditions.some((node) =>
    "conditions" in node ? asksFor(node, key) : node.field.toLowerCase() === key.toLowerCase(),
  );

/** The segments that ask for a custom field. */
async function findSegments(siteId: number, name: string): Promise<NamedRecord[]> {
  const found: NamedRecord[] = [];
  let count = 0;
  for await (const segment of api.segments.list({ siteId, limit: 100 })) {
    if (asksFor(segment.rules, `customFields.${name}`)) found.push(segment);
    if (++count === maxSegments) break;
  }
  return found;
}

export const fieldQueries = {
  list: (siteId: number) =>
    queryOptions({
      queryKey: ["contactFields", "list", siteId],
      queryFn: () => api.contactFields.get({ siteId }),
      staleTime: minute,
    }),
  segmentsWith: (siteId: number, name: string) =>
    queryOptions({
      queryKey: ["segments", "with field", siteId, name],
      queryFn: () => findSegments(siteId, name),
      staleTime: 0,
    }),
};
