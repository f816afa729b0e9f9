// People of one collection, batch by batch: who gets a mail, by the part they belong to, and who does not and why.
import { canonical } from "../../email.ts";
import { chunked } from "../../parallel.ts";
import type { ContactItem } from "../contacts/contact.ts";
import * as reader from "../contacts/reader.ts";
import { obstacle } from "../sending/reachable.ts";
import type { Tallies } from "../sending/sources.ts";
import { mostRecipients } from "../sending/staging.ts";
import * as sites from "../sites.ts";
import * as suppressions from "../suppressions.ts";
import type { Key } from "./broadcast.ts";
import { type Cursor, late } from "./cursors.ts";
import * as moves from "./moves.ts";
import * as plans from "./plan.ts";

export interface Batch {
  people: Map<plans.Part | undefined, ContactItem[]>;
  tallies: Map<plans.Part | undefined, Tallies>;
  /** Where to go on; undefined at the end. */
  place: string | undefined;
}

interface Asked {
  key: Key;
  plan: plans.Plan;
}

// With many parts no chunk may become full for long: whoever dies has not much to do again.
const mostTogether = 2000;
const mostPages = 20;
const askedAtOnce = 500;

/** From where the cursor stands. The last batch has no `place`. */
export async function* from({ key, plan }: Asked, { shard, after }: Cursor): AsyncGenerator<Batch> {
  const { orgId } = key;
  const [wanted, site] = await Promise.all([plans.wantedOf(orgId, plan), sites.find({ orgId }, plan.siteId)]);
  const capDays = site.sendFrequencyCapDays ?? 0;
  const pages = shard === late ? moves.pages(key, plan, wanted, after) : stayed(orgId, plan, shard, wanted, after);
  let [batch, last] = [empty(), ""];
  let read = 0;
  for await (const { items, next } of pages) {
    for (const some of chunked(items, askedAtOnce)) {
      const suppressed = await suppressedAmong(orgId, some);
      for (const contact of some) {
        if (isFull(batch)) {
          yield { ...batch, place: last };
          batch = empty();
        }
        add(batch, plans.partFor(key, plan, contact.id), contact, obstacle(contact, suppressed, capDays));
        last = shard === late ? moves.placeOf(contact) : contact.sk;
      }
    }
    if (next === undefined) break;
    if (++read % mostPages) continue;
    yield { ...batch, place: next };
    batch = empty();
  }
  yield { ...batch, place: undefined };
}

/** Who has another address since the start is reached at the end: here they might be met twice, or never. */
async function* stayed(orgId: number, plan: plans.Plan, shard: string, wanted: reader.Wanted, after: string | undefined) {
  for await (const page of reader.scan(orgId, plan.siteId, shard, { ...wanted, after }))
    yield { ...page, items: page.items.filter((contact) => !moves.hasMoved(plan, contact)) };
}

const empty = (): Batch => ({ people: new Map(), tallies: new Map(), place: undefined });

const isFull = ({ people }: Batch): boolean => {
  const sizes = [...people.values()].map(({ length }) => length);
  return sizes.some((n) => n >= mostRecipients) || sizes.reduce((sum, n) => sum + n, 0) >= mostTogether;
};

function add({ people, tallies }: Batch, part: plans.Part | undefined, contact: ContactItem, reason: ReturnType<typeof obstacle>): void {
  const sum = tallies.get(part) ?? {};
  tallies.set(part, { ...sum, candidates: (sum.candidates ?? 0) + 1, ...(reason && { [reason]: (sum[reason] ?? 0) + 1 }) });
  if (reason) return;
  const share = people.get(part) ?? [];
  share.push(contact);
  people.set(part, share);
}

/** The list is asked for those whose own status lets them have mail. */
async function suppressedAmong(orgId: number, contacts: ContactItem[]): Promise<Set<string>> {
  const open = contacts.filter(({ status }) => status === "subscribed").map(({ email }) => canonical(email));
  return suppressions.among(orgId, open, "marketing");
}
