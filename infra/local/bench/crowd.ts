// Very many contacts at once, straight into the table of the service that is measured: what a bench reads must be there first.
import type { ContactItem } from "../../../shared/domain/contacts/contact.ts";
import { newItem, pointing } from "../../../shared/domain/contacts/items.ts";
import { put, writeMany } from "../../../shared/doors/table.ts";
import { takeContacts } from "../../../shared/ids.ts";
import { address } from "./callers.ts";

interface Crowd {
  orgId: number;
  siteId: number;
  from: number;
  n: number;
  /** Everybody is on it. */
  listId: number;
  /** One in ten has it, unless all are. */
  tagId: number;
  all?: boolean;
  /** With what finds them by their id: mail needs it, reading all does not. */
  pointers?: boolean;
}

const dayMs = 24 * 3_600_000;

/**
 * About 650 bytes each, as a shop has them: nine of ten subscribed, six of ten opened something in the last two months. Answers with
 * the first of their ids, which are in a row.
 */
export async function crowd({ orgId, siteId, from, n, listId, tagId, all = false, pointers = false }: Crowd): Promise<number> {
  const ids = await takeContacts(n);
  const items = ids.map((id, k): ContactItem => {
    const i = from + k;
    const tags = all || i % 10 === 0 ? [tagId] : [];
    const item = newItem(person(i, all), { orgId, siteId, id, tags, lists: [listId], suppressed: false });
    return { ...item, ...past(i, Date.parse(item.createdAt)) };
  });
  await writeMany(items.flatMap((item) => [put(item, item), ...(pointers ? [pointing(item)] : [])]));
  return ids[0]!;
}

const plans = ["free", "free", "free", "pro", "team"];

const person = (i: number, all: boolean) => ({
  email: address(i),
  firstName: `Ada${i % 977}`,
  lastName: `Lovelace${i % 1013}`,
  company: i % 4 ? null : `Mill ${i % 313}`,
  timezone: "Europe/Lisbon",
  source: "import",
  status: !all && i % 10 === 9 ? ("unsubscribed" as const) : ("subscribed" as const),
  customFields: {
    plan: plans[i % plans.length]!,
    seats: i % 40,
    city: "Lisbon",
    renews: `2026-${String(1 + (i % 12)).padStart(2, "0")}-15`,
  },
});

const past = (i: number, now: number) => ({
  score: i % 100,
  sendCount: 10,
  lastSentAt: new Date(now - (i % 7) * dayMs).toISOString(),
  ...(i % 10 < 6 && { openCount: 3, lastOpenedAt: new Date(now - (i % 60) * dayMs - 1000).toISOString() }),
});
