// Reads the audience of one shard in batches: the contacts who get a mail, by part and time, and
// those who do not, by reason.
import { now } from "../../../clock.ts";
import { splitIntoBatches } from "../../../kernel/parallel.ts";
import * as contactReader from "../../audience/contacts/contact-reader.ts";
import type { ContactItem } from "../../audience/contacts/contact-schema.ts";
import { createMailReader } from "../../audience/mail-counts/mail-counts.ts";
import * as suppressionLookups from "../../audience/suppressions/suppression-lookups.ts";
import * as sites from "../../identity/sites.ts";
import { maxChunkRecipients } from "../../sending/accept/stage-chunks.ts";
import { addMailsForCap } from "../../sending/eligibility.ts";
import type { SourceCounts } from "../../sending/mail-sources.ts";
import type { BroadcastRef } from "./broadcast.ts";
import * as broadcastPlan from "./broadcast-plan.ts";
import { type FanOutCursor, movedShard } from "./fan-out-cursors.ts";
import type { Decisions } from "./fan-out-log.ts";
import { createReleaseTimes } from "./local-time.ts";
import * as movedContacts from "./moved-contacts.ts";
import { type RecipientPage, readRecipients } from "./resend-audience.ts";

/** Contacts of one chunk: they get the same mail at the same time. */
export interface RecipientGroup {
  part: broadcastPlan.BroadcastPart | undefined;
  /** Absent: at once. */
  releaseAt?: string | undefined;
  contacts: ContactItem[];
}

export interface AudienceBatch {
  groups: RecipientGroup[];
  countsByPart: Map<broadcastPlan.BroadcastPart | undefined, SourceCounts>;
  /** The ids of the other contacts. */
  excluded: Decisions["excluded"];
  /** When the contacts and the suppression list began to be read (ISO 8601). */
  readAt: string;
  /** Undefined at the end of the shard. */
  nextPosition: string | undefined;
}

interface AudienceQuery {
  key: BroadcastRef;
  plan: broadcastPlan.BroadcastPlan;
}

// With many parts it takes long to fill a chunk. These limits keep the work that a crash would
// repeat small.
const maxBatchContacts = 2000;
// At local times there is a chunk for each offset. Each chunk costs about 30 write units, so larger
// batches cost less.
const maxBatchContactsWithLocalTime = 4000;
const maxPagesPerBatch = 50;
// A transaction has at most 100 items. Each group has two, and up to ten are for the batch.
const maxGroups = 40;
// On one machine 16 shards are read at once, and each has a page in memory.
const contactsPerPage = 500;

/** Continues at the cursor. The last batch has no `nextPosition`. */
export async function* readAudience(
  { key, plan }: AudienceQuery,
  cursor: FanOutCursor,
): AsyncGenerator<AudienceBatch> {
  const { orgId } = key;
  const readAt = now().toISOString();
  const site = await sites.find({ orgId }, plan.siteId);
  const { topic, isNotice } = plan;
  const capDays = isNotice ? 0 : (site.sendFrequencyCapDays ?? 0);
  const readMails = createMailReader({ orgId, siteId: plan.siteId });
  const getReleaseTime = createReleaseTimes(plan);
  const lookUpSuppressed = createSuppressionLookup(orgId, plan, cursor);
  let [batch, last] = [empty(), ""];
  let read = 0;
  for await (const { items, next, positionOf } of readPages({ key, plan }, cursor)) {
    for (const group of splitIntoBatches(items, contactsPerPage)) {
      const suppressed = await lookUpSuppressed(group);
      const counted = await addMailsForCap(readMails, group, capDays);
      for (const [i, contact] of group.entries()) {
        if (isFull(batch, plan)) {
          yield { ...batch, readAt, nextPosition: last };
          batch = empty();
        }
        addContact(batch, contact, {
          part: broadcastPlan.assignPart(key, plan, contact.id),
          releaseAt: getReleaseTime(contact),
          reason: broadcastPlan.getAudienceExclusion(counted[i], suppressed, {
            ...{ capDays, topic, isNotice },
            holdOut: plan.holdOut,
          }),
        });
        last = positionOf(contact);
      }
    }
    if (next === undefined) break;
    if (++read % maxPagesPerBatch) continue;
    yield { ...batch, readAt, nextPosition: next };
    batch = empty();
  }
  yield { ...batch, readAt, nextPosition: undefined };
}

/** Returns a function that finds the suppressed addresses of contacts. */
function createSuppressionLookup(
  orgId: number,
  plan: broadcastPlan.BroadcastPlan,
  cursor: FanOutCursor,
): (contacts: ContactItem[]) => Promise<Set<string>> {
  if (plan.isNotice)
    return (contacts) =>
      suppressionLookups.filterSuppressed(
        orgId,
        contacts.map(({ email }) => email),
        { purpose: "transactional" },
      );
  const lookUp = suppressionLookups.createMarketingLookup(orgId, addressShardOf(plan, cursor));
  return (contacts) => lookUp(listSubscribedEmails(contacts));
}

/** The email shard of all contacts that are read, if they are of one. */
const addressShardOf = (
  { audience }: broadcastPlan.BroadcastPlan,
  { shard }: FanOutCursor,
): string | undefined => (shard === movedShard || "resendOf" in audience ? undefined : shard);

async function* readPages(
  { key, plan }: AudienceQuery,
  { shard, after }: FanOutCursor,
): AsyncGenerator<RecipientPage> {
  const { orgId } = key;
  const { audience } = plan;
  if ("resendOf" in audience) return yield* readRecipients(orgId, audience, { shard, after });
  const contactQuery = await broadcastPlan.buildContactQuery(orgId, plan);
  const { positionOf } = movedContacts;
  if (shard === movedShard)
    for await (const page of movedContacts.readMovedContacts(key, plan, { ...contactQuery, after }))
      yield { ...page, positionOf };
  else {
    const projection = listAttributes(contactQuery);
    const readOptions = { ...contactQuery, after, projection, limit: contactsPerPage };
    for await (const page of scanUnmoved({ orgId, plan, shard }, readOptions))
      yield { ...page, positionOf: ({ sk }) => sk };
  }
}

/** What the fan-out, `getExclusionReason` and `toChunkRecipient` read. */
const recipientAttributes = [
  "sk",
  "id",
  "email",
  "status",
  "switchedTopics",
  "snoozedUntil",
  "movedAt",
  "lastMarketingAt",
  "merged",
  "firstName",
  "lastName",
  "phone",
  "company",
  "timezone",
  "locale",
  "customFields",
];

/** Undefined: all attributes. */
function listAttributes({ test, attributes }: contactReader.ContactQuery): string[] | undefined {
  if (test && !attributes) return undefined;
  return [...new Set([...recipientAttributes, ...(attributes ?? [])])];
}

/** Skips contacts whose address changed since the start: they are read after all shards. */
async function* scanUnmoved(
  { orgId, plan, shard }: { orgId: number; plan: broadcastPlan.BroadcastPlan; shard: string },
  contactQuery: Parameters<typeof contactReader.readShard>[2],
) {
  const hasMoved = movedContacts.createMoveTest(plan);
  for await (const page of contactReader.readShard(
    { orgId, siteId: plan.siteId },
    shard,
    contactQuery,
  ))
    yield { ...page, items: page.items.filter((contact) => !hasMoved(contact)) };
}

const empty = (): Omit<AudienceBatch, "readAt"> => ({
  groups: [],
  countsByPart: new Map(),
  excluded: {},
  nextPosition: undefined,
});

function isFull(
  { groups }: Pick<AudienceBatch, "groups">,
  { localTime }: broadcastPlan.BroadcastPlan,
): boolean {
  const sizes = groups.map(({ contacts }) => contacts.length);
  const n = sizes.reduce((sum, size) => sum + size, 0);
  return localTime
    ? sizes.length >= maxGroups || n >= maxBatchContactsWithLocalTime
    : sizes.some((size) => size >= maxChunkRecipients) || n >= maxBatchContacts;
}

function addContact(
  { groups, countsByPart, excluded }: Pick<AudienceBatch, "groups" | "countsByPart" | "excluded">,
  contact: ContactItem,
  {
    part,
    releaseAt,
    reason,
  }: Omit<RecipientGroup, "contacts"> & {
    reason: ReturnType<typeof broadcastPlan.getAudienceExclusion>;
  },
): void {
  const sum = countsByPart.get(part) ?? {};
  countsByPart.set(part, {
    ...sum,
    candidates: (sum.candidates ?? 0) + 1,
    ...(reason && { [reason]: (sum[reason] ?? 0) + 1 }),
  });
  if (reason) {
    excluded[reason] ??= [];
    excluded[reason].push(contact.id);
    return;
  }
  const open = groups.find(
    (group) =>
      group.part === part &&
      group.releaseAt === releaseAt &&
      group.contacts.length < maxChunkRecipients,
  );
  if (open) open.contacts.push(contact);
  else groups.push({ part, releaseAt, contacts: [contact] });
}

/** Other contacts are left out anyway. */
const listSubscribedEmails = (contacts: ContactItem[]): string[] =>
  contacts.filter(({ status }) => status === "subscribed").map(({ email }) => email);
