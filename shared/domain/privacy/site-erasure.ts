// A background job erases the data of a deleted site, page by page. It deletes what it has found,
// so after a crash it starts again and finds the rest. Until it is done, the site is in the
// organization's `deletedSites`, and no request can read its data (see site-access.ts). Ids of
// events and of received mail, unknown visitors, confirmation mails, the recipient index, uploaded
// and exported files expire.

import { equals, exists } from "../../adapters/dynamodb/conditions.ts";
import {
  queryAll,
  queryPages,
  remove,
  transact,
  update,
  writeMany,
} from "../../adapters/dynamodb/table.ts";
import * as objects from "../../adapters/s3/objects.ts";
import { addSeconds, now } from "../../clock.ts";
import { runLeasedJob } from "../../kernel/leased-job.ts";
import * as leases from "../../kernel/leases.ts";
import { inParallel } from "../../kernel/parallel.ts";
import * as records from "../../kernel/records.ts";
import {
  emailShards,
  type GroupKey,
  type Key,
  type KeyRange,
  keys,
  type RecordKind,
  ranges,
  type SourceKey,
} from "../../keys.ts";
import { jobSeconds } from "../../queues.ts";
import { idsOf } from "../audience/contacts/contact-lookups.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as media from "../content/media.ts";
import * as apiKeys from "../identity/api-keys.ts";
import {
  type DeletedSite,
  dueAt,
  eraseSoon,
  type SiteErasure,
} from "../identity/site-erasure-job.ts";
import { eraseInboundOfSite } from "../inbound/erase-inbound.ts";

/** A worker that read the site before its deletion has finished after this time. */
const lastCallSeconds = 900;

const leaseSeconds = jobSeconds.sweep + 30;

/** Erases until nothing is left or the time is up; then another message continues. Idempotent. */
export async function erase(orgId: number, siteId: number): Promise<void> {
  const terms = {
    seconds: leaseSeconds,
    set: dueAt(siteId, addSeconds(leaseSeconds + 30)),
    if: exists,
  };
  const taken = await leases.take<SiteErasure>(keys.siteErasure(orgId, siteId), terms);
  if (!taken) return;
  const { lease, item } = taken;
  const until = addSeconds(jobSeconds.sweep - 30);
  await runLeasedJob(lease, {
    work: async () => {
      for await (const page of eraseAll({ orgId, siteId })) {
        item.contactsErased += page.contacts ?? 0;
        item.itemsErased += page.items;
        const { contactsErased, itemsErased } = item;
        if (!(await leases.change(lease, { set: { contactsErased, itemsErased } }))) return "lost";
        if (now() >= until) return "paused";
      }
      await finish(item, lease);
      return "done";
    },
    enqueueNext: () => eraseSoon(orgId, siteId),
  });
}

/** Waits for late workers, so that their writes are erased too, then deletes the job itself. */
async function finish(
  { orgId, group: siteId, deletedAt }: SiteErasure,
  lease: leases.Lease,
): Promise<void> {
  const lastCall = addSeconds(lastCallSeconds, new Date(deletedAt));
  if (now() < lastCall) return void (await leases.release(lease, dueAt(siteId, lastCall)));
  await transact(
    remove(lease.key, { if: leases.isOwnerCondition(lease) }),
    update(
      keys.organization(orgId),
      { deleteFromSet: { deletedSites: new Set([siteId]) } },
      { if: exists },
    ),
  );
}

interface Page {
  items: number;
  contacts?: number;
}

/** First the API keys and records, which act by themselves, then contacts, then counters. */
async function* eraseAll(site: DeletedSite): AsyncGenerator<Page> {
  // A key may have been created while the site was being deleted.
  await apiKeys.removeForSite(site, site.siteId);
  for (const kind of kinds) yield* eraseRecords(site, kind);
  yield* eraseContactActions(site);
  yield* eraseContactMerges(site);
  for (const shard of emailShards) yield* eraseContacts(site, shard);
  const days = await queryAll<Key>(ranges.days(site.orgId, site.siteId));
  const dates = new Set(days.map(({ sk }) => sk.slice(0, "2026-11-21".length)));
  for (const date of dates)
    yield* erasePages(ranges.dayDomainCounters(site.orgId, site.siteId, date));
  for await (const items of eraseInboundOfSite(site.orgId, site.siteId)) yield { items };
  for (const range of rangesOf(site)) yield* erasePages(range);
  await writeMany(singlesOf(site).map((address) => remove(address)));
}

/** The kinds of records that belong to a site, with the items that each record owns. */
const partsOf: Partial<
  Record<RecordKind, (orgId: number, id: number) => { ranges: KeyRange[]; singles?: Key[] }>
> = {
  SEQUENCE: (orgId, id) => ({
    ranges: [
      ...emailShards.flatMap((home) => [
        ranges.enrollments(orgId, id, home),
        ranges.finishedEnrollments(orgId, id, home),
      ]),
      ranges.sequenceCounts(orgId, id),
      ranges.sourceCounts(orgId, { kind: "sequence", id }),
      ranges.recordBodies(orgId, "SEQUENCE", id),
    ],
    singles: [keys.sequenceTask(orgId, id), keys.watchStart(orgId, id)],
  }),
  CAMPAIGN: (orgId, id) => ({
    ranges: [...broadcastRanges(orgId, { kind: "campaign", id }), ranges.campaignLinks(orgId, id)],
    singles: [keys.archivedPage(orgId, id)],
  }),
  HOLIDAY: (orgId, id) => ({ ranges: broadcastRanges(orgId, { kind: "holiday", id }) }),
  SERIES: (orgId, id) => ({
    ranges: [ranges.seriesRuns(orgId, id)],
    singles: [keys.seriesFeed(orgId, id)],
  }),
  REPORT: () => ({ ranges: [] }),
  IMPORT: (orgId, id) => ({
    ranges: [ranges.importErrors(orgId, id)],
    singles: [keys.importRun(orgId, id)],
  }),
  EXPORT: () => ({ ranges: [] }),
  FORM: (orgId, id) => ({
    ranges: [
      ranges.submissions(orgId, id),
      ranges.submissionCounts(orgId, id),
      ranges.recordBodies(orgId, "FORM", id),
    ],
    singles: [keys.publicForm(id)],
  }),
  RULE: () => ({ ranges: [] }),
  SEGMENT: () => ({ ranges: [] }),
  SNIPPET: (orgId, id) => ({ ranges: [ranges.recordBodies(orgId, "SNIPPET", id)] }),
  TEMPLATE: (orgId, id) => ({ ranges: [ranges.recordBodies(orgId, "TEMPLATE", id)] }),
  FOLDER: () => ({ ranges: [] }),
  MEDIA: () => ({ ranges: [] }),
  LIST: (orgId, id) => ({ ranges: groupRanges(orgId, { kind: "LIST", id }) }),
  TAG: (orgId, id) => ({ ranges: groupRanges(orgId, { kind: "TAG", id }) }),
  TOPIC: () => ({ ranges: [] }),
};
const kinds = Object.keys(partsOf) as RecordKind[];

const groupRanges = (orgId: number, group: GroupKey): KeyRange[] => [
  ...emailShards.map((shard) => ranges.members(orgId, group, shard)),
  ranges.groupCounts(orgId, group),
];
const broadcastRanges = (orgId: number, source: SourceKey): KeyRange[] => [
  ranges.fanOut(orgId, source),
  ranges.sourceCounts(orgId, source),
];

/** Deletes a record after its parts, so that a repeated job still finds them. */
async function* eraseRecords(
  { orgId, siteId }: DeletedSite,
  kind: RecordKind,
): AsyncGenerator<Page> {
  const options = { filter: equals("siteId", siteId), limit: 1000, consistent: true };
  for await (const { items } of queryPages<Stored>(ranges.records(orgId, kind), options))
    for (const record of items) {
      const parts = partsOf[kind]!(orgId, record.id);
      for (const range of parts.ranges) yield* erasePages(range);
      const variants = (record.variants ?? []).map(({ id }) =>
        ranges.recordBodies(orgId, "CAMPAIGN", id),
      );
      for (const range of variants) yield* erasePages(range);
      await writeMany((parts.singles ?? []).map((address) => remove(address)));
      if (kind === "CAMPAIGN")
        await inParallel(4, record.attachments ?? [], ({ blob }) => objects.remove(blob));
      if (kind === "MEDIA") await media.erase(orgId, record as media.StoredMedia);
      else
        await transact(
          ...records.removeWrites(
            kind,
            { orgId },
            {
              id: record.id,
              siteId,
              condition: { if: exists },
              isCounted: isCounted(kind, record),
            },
          ),
        );
      yield { items: 1 };
    }
}

const isCounted = (kind: RecordKind, { campaignId }: Stored): boolean =>
  kind !== "TEMPLATE" || campaignId === undefined;

/** Deletes an action after the ids of its contacts, so that a repeated job still finds them. */
async function* eraseContactActions({ orgId, siteId }: DeletedSite): AsyncGenerator<Page> {
  const options = { filter: equals("siteId", siteId), limit: 1000, consistent: true };
  const range = ranges.contactActions(orgId);
  for await (const { items } of queryPages<Key & { id: number }>(range, options))
    for (const action of items) {
      yield* erasePages(ranges.selectedContacts(orgId, action.id));
      await writeMany([remove(action)]);
      yield { items: 1 };
    }
}

async function* eraseContactMerges({ orgId, siteId }: DeletedSite): AsyncGenerator<Page> {
  const options = { filter: equals("siteId", siteId), limit: 1000, consistent: true };
  for await (const { items } of queryPages<Key & { id: number }>(
    ranges.contactMerges(orgId),
    options,
  ))
    for (const merge of items) {
      yield* erasePages(ranges.contactLog(orgId, merge.id));
      await writeMany([remove(merge)]);
      yield { items: 1 };
    }
}

interface Stored {
  id: number;
  /** The campaign whose own content a template is. */
  campaignId?: number;
  /** Only campaigns have variants. */
  variants?: { id: number }[];
  /** The files of a campaign. */
  attachments?: { blob: string }[];
}

const contactsAtOnce = 250;

/** Deletes a contact after its log, so that a repeated job still finds it. */
type ErasedContact = Key & Pick<ContactItem, "id" | "orgId" | "externalId" | "merged">;

async function* eraseContacts({ orgId, siteId }: DeletedSite, shard: string): AsyncGenerator<Page> {
  const range = ranges.contacts(orgId, siteId, shard);
  const options = { limit: contactsAtOnce, consistent: true };
  for await (const { items } of queryPages<ErasedContact>(range, options)) {
    const logged = await inParallel(16, items, async ({ id }) => {
      let n = 0;
      for await (const page of erasePages(ranges.contactLog(orgId, id))) n += page.items;
      return n;
    });
    await writeMany(
      items.flatMap((contact) => [
        remove(contact),
        ...idsOf(contact).map((id) => remove(keys.contactPointer(orgId, id))),
        ...(contact.externalId ? [remove(keys.externalId(orgId, siteId, contact.externalId))] : []),
      ]),
    );
    if (items.length)
      yield {
        items: 2 * items.length + logged.reduce((sum, n) => sum + n, 0),
        contacts: items.length,
      };
  }
}

const itemsAtOnce = 500;

async function* erasePages(range: KeyRange): AsyncGenerator<Page> {
  const options = { limit: itemsAtOnce, attributes: ["pk", "sk"] };
  for await (const { items } of queryPages<Key>(range, options)) {
    await writeMany(items.map((item) => remove(item)));
    if (items.length) yield { items: items.length };
  }
}

const rangesOf = ({ orgId, siteId }: DeletedSite): KeyRange[] => [
  ranges.siteRecordCounts(orgId, siteId),
  ranges.contactCounts(orgId, siteId),
  ranges.contactFields(orgId, siteId),
  ranges.fieldConversions(orgId, siteId),
  ranges.topicCounts(orgId, siteId),
  ranges.leaveReasonCounts(orgId, siteId),
  ranges.archivedMails(orgId, siteId),
  ranges.campaignGoals(orgId, siteId),
  ranges.emailChanges(orgId, siteId),
  ranges.mailLog(orgId, siteId),
  ranges.mailCountBuckets(orgId, siteId),
  ranges.mailedFolds(orgId, siteId),
  ranges.mailedContacts(orgId, siteId),
  ranges.groupNames(orgId, siteId, "LIST"),
  ranges.groupNames(orgId, siteId, "TAG"),
  ranges.eventNames(orgId, siteId),
  ranges.days(orgId, siteId),
  ranges.dayDomainsRollups(orgId, siteId),
  ranges.eventCommits(orgId, siteId),
  ranges.eventHours(orgId, siteId),
  ranges.eventSeals(orgId, siteId),
  ranges.recordEvents(orgId, siteId),
  ranges.softBounces(orgId, siteId),
  ranges.sendsFeed(orgId, siteId),
  ranges.secureFeed(orgId, siteId),
  ranges.secureCounts(orgId, siteId),
];

const singlesOf = ({ orgId, siteId }: DeletedSite): Key[] => [
  keys.eventNameCount(orgId, siteId),
  keys.siteTriggers(orgId, siteId),
  keys.siteListeners(orgId, siteId),
  keys.siteTopics(orgId, siteId),
  keys.snippetDirectory(orgId, siteId),
  keys.fieldNames(orgId, siteId),
  keys.eventTotals(orgId, siteId),
  keys.sendCount(orgId, siteId),
  keys.trackingSite(siteId),
];
