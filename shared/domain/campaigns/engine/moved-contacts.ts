// Moved contacts. A contact whose address changes during the fan-out changes its shard, so it could
// be read twice or never. All shards skip moved contacts; they are read last, without those about
// whom was decided before they moved.

import { query, queryAll } from "../../../adapters/dynamodb/table.ts";
import { addSeconds } from "../../../clock.ts";
import { splitIntoBatches } from "../../../kernel/parallel.ts";
import { emailShardOf, ranges, zeroPad } from "../../../keys.ts";
import * as contactReader from "../../audience/contacts/contact-reader.ts";
import type { ContactItem } from "../../audience/contacts/contact-schema.ts";
import type { EmailChange } from "../../audience/contacts/contact-writes.ts";
import * as contacts from "../../audience/contacts/contacts.ts";
import type { BroadcastRef } from "./broadcast.ts";
import type { BroadcastPlan } from "./broadcast-plan.ts";
import * as fanOutLog from "./fan-out-log.ts";

// Allows for clocks that differ.
const marginSeconds = 60;
const windowStartOf = ({ at }: Pick<BroadcastPlan, "at">): string =>
  addSeconds(-marginSeconds, new Date(at)).toISOString();

/** Returns a function that tells whether the address changed since shortly before the start. */
export function createMoveTest(plan: Pick<BroadcastPlan, "at">): (contact: ContactItem) => boolean {
  const start = windowStartOf(plan);
  return ({ movedAt = "" }) => movedAt >= start;
}

/** The position is the id, so that a contact that moves again keeps it. */
export const positionOf = ({ id }: Pick<ContactItem, "id">): string => zeroPad(id);

const groupSize = 50;

interface Page {
  items: ContactItem[];
  next?: string;
}

/** The moved contacts of the audience about whom nothing was decided at any of their addresses. */
export async function* readMovedContacts(
  key: BroadcastRef,
  plan: BroadcastPlan,
  {
    after: start = "",
    ...contactQuery
  }: contactReader.ContactQuery & { after?: string | undefined },
): AsyncGenerator<Page> {
  const moves = await queryAll<EmailChange>(ranges.emailChanges(key.orgId, plan.siteId), {
    consistent: true,
  });
  const recent = new Set(moves.flatMap(({ id, at }) => (at >= windowStartOf(plan) ? [id] : [])));
  const groups = splitIntoBatches(
    [...recent].sort((a, b) => a - b).filter((id) => positionOf({ id }) > start),
    groupSize,
  );
  const known = new Map<string, Promise<Set<number>>>();
  const getDecidedIn = (shard: string) => {
    const decided = known.get(shard) ?? fanOutLog.listDecidedContactIds(key, shard);
    known.set(shard, decided);
    return decided;
  };
  const isUndecided = async (contact: ContactItem): Promise<boolean> => {
    const emailShards = new Set([...(contact.movedFrom ?? []), emailShardOf(contact.sk)]);
    const decided = await Promise.all([...emailShards].map(getDecidedIn));
    return (
      !decided.some((ids) => ids.has(contact.id)) &&
      isInAudience(key.orgId, contact, { siteId: plan.siteId, ...contactQuery })
    );
  };
  for (const [i, ids] of groups.entries()) {
    const moved = await contacts.getByIds(key.orgId, ids, { consistent: true });
    const undecided = await Promise.all(moved.map(isUndecided));
    yield {
      items: moved.filter((_, k) => undecided[k]),
      ...(i < groups.length - 1 && { next: positionOf({ id: ids.at(-1)! }) }),
    };
  }
}

async function isInAudience(
  orgId: number,
  { sk, id }: ContactItem,
  { siteId, filter, ...inCode }: contactReader.ContactQuery & { siteId: number },
): Promise<boolean> {
  const range = { ...ranges.contacts(orgId, siteId, emailShardOf(sk)), prefix: sk };
  const { items } = await query<ContactItem>(range, { filter, consistent: true, limit: 100 });
  const found = items.filter((item) => item.id === id);
  return (await contactReader.filterInCode(found, inCode)).length > 0;
}
