// Every answer that depends on how many mails a contact got, and when: contacts, lists, exports,
// segments, reports, the frequency cap and personal data agree with the sends.
import { beforeAll, expect, test } from "vitest";
import { put, queryAll, writeMany } from "../../shared/adapters/dynamodb/table.ts";
import { addSeconds, advanceClock } from "../../shared/clock.ts";
import * as reports from "../../shared/domain/analytics/contact-reports.ts";
import { exportSources } from "../../shared/domain/analytics/exports/sources.ts";
import * as pages from "../../shared/domain/audience/contacts/contact-listing.ts";
import type { Contact, ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { foldMailLog } from "../../shared/domain/audience/mail-counts/fold-mail-log.ts";
import * as mailLog from "../../shared/domain/audience/mail-counts/mail-log.ts";
import type { SegmentRules } from "../../shared/domain/audience/segments/segment-rules.ts";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import * as previews from "../../shared/domain/campaigns/campaign-preview.ts";
import { runFanOut } from "../../shared/domain/campaigns/engine/fan-out.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { erase } from "../../shared/domain/privacy/erasure.ts";
import { getPersonalData } from "../../shared/domain/privacy/personal-data.ts";
import * as laneRunner from "../../shared/domain/sending/bulk/lane-runner.ts";
import { erasedEmail } from "../../shared/kernel/email-fields.ts";
import { emailShardOf, emailShards, keys, ranges } from "../../shared/keys.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  insertListMembers,
  readCampaign,
  runWorkers,
  sendingWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { newContact } from "../support/contacts.ts";
import {
  crashAtSomeSteps,
  interruptedAtSomeSteps,
  interruptions,
} from "../support/crash-injection.ts";
import { randomOfTest, sampleOf } from "../support/seeded-random.ts";

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
function recount(
  ids: number[],
  mails: Sent[],
  hasOldSends = (i: number) => i % 3 === 0,
): Map<number, MailCount> {
  return new Map(
    ids.map((id, i) => {
      const times = mails.flatMap(({ contactId, sentAt }) =>
        contactId === id && sentAt ? sentAt : [],
      );
      const hasOld = hasOldSends(i);
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

interface MailedSite {
  from: CampaignSender;
  /** Ids of the contacts. */
  ids: number[];
  campaigns: number[];
  mails: Sent[];
}

/** Expects the stored counts and the mails in every answer about contacts. */
async function expectAgreement({ from, ids, campaigns, mails }: MailedSite): Promise<void> {
  const { caller, siteId, listId } = from;
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
  const rulesOf = (field: string, operator: string, value: unknown) =>
    ({ match: "all", conditions: [{ field, operator, value }] }) as SegmentRules;
  const countSegment = (field: string, operator: string, value: unknown) =>
    segments.countPreview(caller, { siteId, rules: rulesOf(field, operator, value) });
  const got = (campaign: number, id: number) =>
    mails.some(({ campaignId, contactId }) => campaignId === campaign && contactId === id);
  for (const n of [0, 1, 2, 4])
    expect(await countSegment("sendCount", "greaterThan", n)).toBe(
      countMatching(({ sendCount }) => sendCount > n),
    );
  expect(await countSegment("lastSentAt", "after", yesterday)).toBe(
    countMatching(({ lastSentAt }) => (lastSentAt ?? "") > yesterday),
  );
  const latest = campaigns.at(-1)!;
  for (const campaign of campaigns)
    for (const value of [true, false])
      expect(await countSegment(`campaign.${campaign}.sent`, "equals", value)).toBe(
        countMatching((_, id) => got(campaign, id) === value),
      );
  const matches = await segments.createMatcher(
    caller.orgId,
    siteId,
    rulesOf(`campaign.${latest}.sent`, "equals", true),
  );
  const segment = await segments.create(caller, {
    siteId,
    name: crypto.randomUUID(),
    description: null,
    rules: rulesOf(`campaign.${latest}.sent`, "equals", true),
  });
  for (const id of ids.slice(0, 10)) {
    expect(await matches(await contacts.findItem(caller, id))).toBe(got(latest, id));
    expect(await segments.explain(caller, segment.id, id)).toMatchObject({
      matched: got(latest, id),
    });
  }
  const { items } = await segments.members(caller, segment.id, { limit: 2 * people });
  expect(toCounts(items)).toEqual(new Map([...expected].filter(([id]) => got(latest, id))));

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
  const { id: next } = await createDraft(from, { listId });
  expect(await previews.preview(caller, next)).toMatchObject({
    candidates: people,
    capped: countMatching((_, id) => got(latest, id)),
  });
  await sites.change(caller, siteId, { sendFrequencyCapDays: null });

  for (const id of ids.slice(0, 10)) {
    const { sends: personal } = await getPersonalData(caller, id);
    const own = mails.flatMap((mail) => (mail.contactId === id ? mail.id : []));
    // The data also has refused mails, because their records have the address.
    const accepted = personal.filter(({ sentAt }) => sentAt !== null);
    expect(new Set(accepted.map((send) => send.id))).toEqual(new Set(own));
  }
}

/**
 * Two campaigns, the second to half of the contacts, three days later. After each start, one of the
 * functions hands over its mail.
 */
async function sendCampaigns(handOvers: (() => Promise<void>)[]): Promise<MailedSite> {
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
  const campaigns: number[] = [];
  for (const [i, audience] of [listId, half.id].entries()) {
    if (i > 0) {
      await contacts.change(caller, ids[0]!, { email: "moved@example.com" });
      advanceClock(3 * dayInSeconds);
    }
    const { id } = await createDraft(from, { listId: audience });
    campaigns.push(id);
    await actions.sendNow(caller, id);
    await handOvers[i]!();
  }
  const mails = await Promise.all(provider.mails.map(({ sendId }) => findDetail(caller, sendId)));
  expect(mails.length).toBeGreaterThan(people);
  await provider.stop();
  return { from, ids, campaigns, mails };
}

const runUntilFolded = () => runWorkers({ forSeconds: 1800 });
const runWithoutFolds = () => runWorkers({ forSeconds: 60 }, sendingWorkers);

const readLog = ({ from: { caller, siteId } }: MailedSite) =>
  mailLog.readMailLog({ orgId: caller.orgId, siteId });

test("every answer about the mails of contacts agrees with the sends", async () => {
  const site = await sendCampaigns([runUntilFolded, runUntilFolded]);
  expect((await readLog(site)).entries).toEqual([]);
  await expectAgreement(site);
});

test("every answer agrees while the log of the mails is not folded", async () => {
  const site = await sendCampaigns([runWithoutFolds, runWithoutFolds]);
  expect((await readLog(site)).entries.length).toBeGreaterThan(2);
  await expectAgreement(site);
});

test.each(interruptions)(
  "every answer agrees after a fold that %s at any step, and after the next fold",
  async (how) => {
    const steps = await interruptedAtSomeSteps(how, async (interrupt) => {
      const site = await sendCampaigns([runUntilFolded, runWithoutFolds]);
      const { caller, siteId } = site.from;
      const fold = () => foldMailLog({ orgId: caller.orgId, siteId });
      advanceClock(600);
      await interrupt(fold, async () => {
        await expectAgreement(site);
        advanceClock(600);
        await fold();
        await expectAgreement(site);
      });
      expect((await readLog(site)).entries).toEqual([]);
      await fold();
      await expectAgreement(site);
    });
    expect(steps.length).toBeGreaterThan(12);
  },
);

test("an erasure before or after a fold reaches all mails and changes no other count", async () => {
  const site = await sendCampaigns([runUntilFolded, runWithoutFolds]);
  const { from, ids, mails } = site;
  const { caller, siteId } = from;
  const mailsTo = (id: number) => mails.filter(({ contactId }) => contactId === id);
  const twiceMailed = ids.slice(1).filter((id) => mailsTo(id).length === 2);
  const [first, second] = twiceMailed as [number, number];
  await erase(caller, first);
  advanceClock(600);
  await foldMailLog({ orgId: caller.orgId, siteId });
  expect((await readLog(site)).entries).toEqual([]);
  await erase(caller, second);
  for (const { id } of [...mailsTo(first), ...mailsTo(second)])
    expect(await findDetail(caller, id)).toMatchObject({ toEmail: erasedEmail, contactId: null });
  const expected = recount(ids, mails);
  for (const id of [first, second]) expected.delete(id);
  expect(toCounts(await listAll(from, {}))).toEqual(expected);
});

test.each(sampleOf(1, ["postmark", "resend"] as const, "a provider without and with keys"))(
  "each accepted mail is counted once after a crash of the hand-over at any step: %s",
  async (providerKey) => {
    const from = await createCampaignSender(providerKey);
    const { caller, configId, listId, provider } = from;
    const ids = await insertListMembers(from, 100);
    await insertPointers(from);
    const steps = await crashAtSomeSteps(async (kill) => {
      const { id } = await createDraft(from, { listId });
      await actions.sendNow(caller, id);
      const key = { orgId: caller.orgId, kind: "campaign" as const, id };
      for (const shard of emailShards) await runFanOut(key, shard);
      await kill(() => laneRunner.runLane(caller.orgId, configId));
      await runWorkers({ forSeconds: 3600 });
      const sendIds = new Set(provider.mails.map(({ sendId }) => sendId));
      const mails = await Promise.all([...sendIds].map((sendId) => findDetail(caller, sendId)));
      const { accounting } = await readCampaign(from, id);
      expect(accounting.sent + accounting.uncertain).toBe(ids.length);
      const counted = await Promise.all(ids.map((one) => contacts.find(caller, one)));
      expect(toCounts(counted)).toEqual(recount(ids, mails, () => false));
    });
    expect(steps.length).toBeGreaterThan(20);
    await provider.stop();
  },
);

test("small calls are counted on contacts and leave the mail log empty", async () => {
  const from = await createCampaignSender("postmark", { ratePerSecond: 4 });
  const { caller, siteId, listId, provider } = from;
  const emails = Array.from({ length: 400 }, (_, i) => `small-${i}@example.com`);
  // One chunk of two calls.
  const inOneShard = emails.filter((email) => emailShardOf(email) === emailShards[0]).slice(0, 8);
  for (const email of inOneShard)
    await contacts.create(caller, newContact(email, { siteId, lists: [listId] }));
  const { id } = await createDraft(from);
  await actions.sendNow(caller, id);
  await runWorkers({ forSeconds: 60 }, sendingWorkers);
  expect(provider.mails).toHaveLength(8);
  expect((await mailLog.readMailLog({ orgId: caller.orgId, siteId })).entries).toHaveLength(0);
  const listed = await listAll(from, {});
  expect(listed.map(({ sendCount }) => sendCount)).toEqual(Array(8).fill(1));
  await provider.stop();
});
