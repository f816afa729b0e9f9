// Every answer that depends on how many mails a contact got, and when: contacts, lists, exports,
// segments, reports, the frequency cap and personal data agree with the sends.
import { beforeAll, expect, test, vi } from "vitest";
import { put, queryAll, writeMany } from "../../shared/adapters/dynamodb/table.ts";
import { addSeconds, advanceClock } from "../../shared/clock.ts";
import * as reports from "../../shared/domain/analytics/contact-reports.ts";
import { exportSources } from "../../shared/domain/analytics/exports/sources.ts";
import * as pages from "../../shared/domain/audience/contacts/contact-listing.ts";
import type { Contact, ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import * as previews from "../../shared/domain/campaigns/campaign-preview.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { getPersonalData } from "../../shared/domain/privacy/personal-data.ts";
import { emailShards, keys, ranges } from "../../shared/keys.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  insertListMembers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { randomOfTest } from "../support/seeded-random.ts";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(useVirtualQueues);

interface MailCount {
  sendCount: number;
  lastSentAt: string | null;
}
type Sent = Awaited<ReturnType<typeof findDetail>>;

const people = 120;
const oldSends = 3;
const oldSentAt = "2026-01-05T08:00:00.000Z";
const dayInSeconds = 24 * 3600;

/** By contact id: the counts that were stored before the campaigns, plus the mails since. */
function recount(ids: number[], mails: Sent[]): Map<number, MailCount> {
  return new Map(
    ids.map((id, i) => {
      const times = mails.flatMap(({ contactId, sentAt }) => (contactId === id ? sentAt! : []));
      const hasOld = i % 3 === 0;
      const all = [...(hasOld ? [oldSentAt] : []), ...times].toSorted();
      return [
        id,
        { sendCount: (hasOld ? oldSends : 0) + times.length, lastSentAt: all.at(-1) ?? null },
      ];
    }),
  );
}

const toCounts = (all: { id: number; sendCount: number; lastSentAt: string | null }[]) =>
  new Map(all.map(({ id, sendCount, lastSentAt }) => [id, { sendCount, lastSentAt }]));

async function listAll(
  { caller, siteId }: CampaignSender,
  filter: pages.ContactFilter,
): Promise<Contact[]> {
  const { items } = await pages.list(caller, { limit: 2 * people }, { siteId, ...filter });
  return items;
}

/** `insertListMembers` stores no pointers, and finding a contact by its id needs one. */
async function insertPointers({ caller, siteId }: CampaignSender): Promise<void> {
  const items = await Promise.all(
    emailShards.map((shard) => queryAll<ContactItem>(ranges.contacts(caller.orgId, siteId, shard))),
  );
  await writeMany(
    items
      .flat()
      .map(({ id, email }) => put(keys.contactPointer(caller.orgId, id), { siteId, email })),
  );
}

async function exportAll({ caller: { orgId }, siteId }: CampaignSender): Promise<Contact[]> {
  const source = await exportSources.contacts(orgId, { siteId });
  const rows: unknown[] = [];
  for (const shard of emailShards)
    for await (const { items } of source.readPages(shard, undefined))
      rows.push(...(await source.toRows(items)));
  return rows as Contact[];
}

/** Sends a campaign to a list and returns its id. */
async function sendTo(from: CampaignSender, listId: number): Promise<number> {
  const { id } = await createDraft(from, { listId });
  await actions.sendNow(from.caller, id);
  await runWorkers({ forSeconds: 1800 });
  return id;
}

test("every answer about the mails of contacts agrees with the sends", async () => {
  const from = await createCampaignSender();
  const { caller, siteId, listId, provider } = from;
  const random = randomOfTest("mails of contacts");
  const half = await groups.create("LIST", caller, { siteId, name: "Half" });
  const inHalf = Array.from({ length: people }, () => random() < 0.5);
  const ids = await insertListMembers(from, people, (i) => ({
    ...(inHalf[i] && { lists: new Set([listId, half.id]) }),
    ...(i % 3 === 0 && { sendCount: oldSends, lastSentAt: oldSentAt }),
  }));
  await insertPointers(from);
  provider.isRefused = () => random() < 0.1;

  const first = await sendTo(from, listId);
  await contacts.change(caller, ids[0]!, { email: "moved@example.com" });
  advanceClock(3 * dayInSeconds);
  const second = await sendTo(from, half.id);
  const mails = await Promise.all(provider.mails.map(({ sendId }) => findDetail(caller, sendId)));
  expect(mails.length).toBeGreaterThan(people);
  const expected = recount(ids, mails);
  const countMatching = (test: (count: MailCount, id: number) => boolean) =>
    [...expected].filter(([id, count]) => test(count, id)).length;

  const single = await Promise.all(ids.map((id) => contacts.find(caller, id)));
  expect(toCounts(single)).toEqual(expected);
  expect(toCounts(await listAll(from, {}))).toEqual(expected);
  expect(toCounts(await listAll(from, { listId, status: "subscribed" }))).toEqual(expected);
  expect(toCounts(await listAll(from, { search: "example.com" }))).toEqual(expected);
  expect(toCounts(await exportAll(from))).toEqual(expected);

  const yesterday = addSeconds(-dayInSeconds).toISOString();
  const countSegment = (field: string, operator: string, value: unknown) =>
    segments.countPreview(caller, {
      siteId,
      rules: { match: "all", conditions: [{ field, operator, value }] } as never,
    });
  const got = (campaign: number, id: number) =>
    mails.some(({ campaignId, contactId }) => campaignId === campaign && contactId === id);
  for (const n of [0, 1, 2, 4])
    expect(await countSegment("sendCount", "greaterThan", n)).toBe(
      countMatching(({ sendCount }) => sendCount > n),
    );
  expect(await countSegment("lastSentAt", "after", yesterday)).toBe(
    countMatching(({ lastSentAt }) => (lastSentAt ?? "") > yesterday),
  );
  for (const campaign of [first, second])
    for (const value of [true, false])
      expect(await countSegment(`campaign.${campaign}.sent`, "equals", value)).toBe(
        countMatching((_, id) => got(campaign, id) === value),
      );

  const { contacts: unengaged } = await reports.list(
    caller,
    { limit: 2 * people },
    { report: "unengaged-contacts", siteId },
  );
  expect(new Map(unengaged.map(({ contactId, sendCount }) => [contactId, sendCount]))).toEqual(
    new Map(
      [...expected].flatMap(([id, { sendCount }]) => (sendCount >= 5 ? [[id, sendCount]] : [])),
    ),
  );

  await sites.change(caller, siteId, { sendFrequencyCapDays: 1 });
  const { id: third } = await createDraft(from, { listId });
  expect(await previews.preview(caller, third)).toMatchObject({
    candidates: people,
    capped: countMatching((_, id) => got(second, id)),
  });

  for (const id of ids.slice(0, 10)) {
    const { sends: personal } = await getPersonalData(caller, id);
    const own = mails.flatMap((mail) => (mail.contactId === id ? mail.id : []));
    expect(new Set(personal.map((send) => send.id))).toEqual(new Set(own));
  }
  await provider.stop();
});
