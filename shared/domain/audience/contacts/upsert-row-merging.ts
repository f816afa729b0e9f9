// Merges rows of one email address, as far as a transaction can hold their memberships.
import type { TopicChoice } from "../topics/topic-choice-schemas.ts";
import type { ContactRow } from "./contact-schema.ts";

export interface IdentifiedRow {
  row: ContactRow;
  id: number | undefined;
}

// A transaction takes 100 writes: a counter for each membership, the contact and its count.
const maxMemberships = 98;

/** Splits rows of one email address into as few sets as transactions can hold. */
export function splitByMemberships(rows: IdentifiedRow[]): IdentifiedRow[][] {
  const rowSets: IdentifiedRow[][] = [];
  for (const row of rows) {
    const last = rowSets.at(-1);
    if (last && membershipsIn([...last, row]) <= maxMemberships) last.push(row);
    else rowSets.push([row]);
  }
  return rowSets;
}

const membershipsIn = (rows: IdentifiedRow[]): number =>
  rows.reduce((sum, { row }) => sum + row.tags.length + row.lists.length, 0);

/** Merges rows of one contact as if they were written one after the other: a later row wins. */
export const mergeRows =
  (resubscribe: boolean, fresh: ContactRow["status"] = "subscribed") =>
  (earlier: ContactRow, later: ContactRow): ContactRow => ({
    ...earlier,
    ...Object.fromEntries(Object.entries(later).filter(([, value]) => value !== undefined)),
    ...((earlier.customFields ?? later.customFields) && {
      customFields: { ...earlier.customFields, ...later.customFields },
    }),
    ...(earlier.status === "unsubscribed" && {
      status: resubscribe ? (later.status ?? fresh) : "unsubscribed",
    }),
    email: earlier.email,
    tags: [...earlier.tags, ...later.tags],
    lists: [...new Set([...earlier.lists, ...later.lists])],
    topics: mergeChoices(earlier.topics ?? [], later.topics ?? [], resubscribe),
  });

function mergeChoices(
  earlier: TopicChoice[],
  later: TopicChoice[],
  resubscribe: boolean,
): TopicChoice[] {
  const left = new Set(earlier.flatMap(({ id, subscribed }) => (subscribed ? [] : [id])));
  const permitted = later.filter(
    ({ id, subscribed }) => resubscribe || !subscribed || !left.has(id),
  );
  return [...new Map([...earlier, ...permitted].map((choice) => [choice.id, choice])).values()];
}
