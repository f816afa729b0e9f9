// The mail log of a site and its folds, with contact ids that are far apart: each mail is counted
// once, at any time, and the lists of mailed contacts find it.
import { beforeAll, expect, test } from "vitest";
import { write } from "../../shared/adapters/dynamodb/table.ts";
import type { SiteRef } from "../../shared/caller.ts";
import { advanceClock, now } from "../../shared/clock.ts";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import { foldMailLog } from "../../shared/domain/audience/mail-counts/fold-mail-log.ts";
import { createMailReader } from "../../shared/domain/audience/mail-counts/mail-counts.ts";
import * as mailLog from "../../shared/domain/audience/mail-counts/mail-log.ts";
import { listSendIds } from "../../shared/domain/audience/mail-counts/mailed-contacts.ts";
import type { SegmentRules } from "../../shared/domain/audience/segments/segment-rules.ts";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import { splitIntoBatches } from "../../shared/kernel/parallel.ts";
import { runWorkers, useVirtualQueues } from "../support/campaigns.ts";
import { measureUnits } from "../support/request-units.ts";
import { randomOfTest } from "../support/seeded-random.ts";

beforeAll(useVirtualQueues);

const people = 1200;
// More buckets of counts than are read one by one.
const contactIds = Array.from({ length: people }, (_, i) => 5 + 97 * i);
const startedAt = Date.parse("2026-03-01T00:00:00.000Z");
const campaignIds = [7, 8];

test("each mail is counted once before and after any fold, and is found by its contact", async () => {
  const random = randomOfTest("mail log");
  const site = { orgId: 77, siteId: 5 };
  const logged: mailLog.LoggedCall[] = [];
  const contacts = contactIds.map((id) => ({ ...site, id, sendCount: 2 }) as ContactItem);

  const logCall = async (campaignId: number, ids: number[]) => {
    const block = 1000 + logged.length;
    const call: mailLog.LoggedCall = {
      source: { kind: "campaign", id: campaignId },
      at: new Date(startedAt + logged.length * 1234).toISOString(),
      mails: ids.map((contactId, i) => ({ contactId, sendId: block * 1000 + 3 * i })),
    };
    await mailLog.announceMails(site, ids.length);
    await write(await mailLog.logCallWrite(site, { block, chunk: 0, call: 0 }, call));
    logged.push(call);
  };

  const expectAgreement = async () => {
    const mailsOf = (id: number) =>
      logged.flatMap(({ at, source, mails }) =>
        mails.flatMap((mail) => (mail.contactId === id ? [{ ...mail, at, source }] : [])),
      );
    const expected = contacts.map(({ id }) => {
      const mails = mailsOf(id);
      const got = campaignIds.filter((one) => mails.some(({ source }) => source.id === one));
      return { id, sendCount: 2 + mails.length, lastSentAt: mails.at(-1)?.at, got };
    });
    const toSeen = (all: ContactItem[]) =>
      all.map(({ id, sendCount, lastSentAt, sentCampaigns }) => ({
        id,
        sendCount,
        lastSentAt,
        got: [...(sentCampaigns ?? [])],
      }));
    const readAll = createMailReader(site, { campaignIds });
    const halves = [contacts.slice(0, 40), contacts.slice(40)];
    const seen = await Promise.all(halves.map((some) => readAll(some)));
    expect(toSeen(seen.flat())).toEqual(expected);
    for (const i of [0, 1, 599, people - 1]) {
      const readOne = createMailReader(site, { campaignIds, consistent: true });
      expect(toSeen(await readOne([contacts[i]!]))).toEqual([expected[i]]);
      const sendIds = await listSendIds(site, [contactIds[i]!]);
      const own = mailsOf(contactIds[i]!).map(({ sendId }) => sendId);
      expect(sendIds.toSorted((a, b) => a - b)).toEqual(own);
    }
  };

  await expectAgreement();
  for (let round = 0; round < 3; round++) {
    for (const campaignId of campaignIds)
      for (let call = 0; call < 5; call++)
        await logCall(
          campaignId,
          contactIds.filter((_, i) => i === 599 || random() < 0.3),
        );
    await expectAgreement();
    // A fold is not worth it yet: a bucket has one or two of these contacts, so it gets few mails.
    if (round > 0) advanceClock(600);
    await foldMailLog(site);
    const { entries } = await mailLog.readMailLog(site);
    expect(entries).toHaveLength(round > 0 ? 0 : 10);
    await expectAgreement();
  }
});

const logCallTo = async (site: SiteRef, n: number, ids: number[]) => {
  await mailLog.announceMails(site, ids.length);
  const mails = ids.map((contactId, i) => ({ contactId, sendId: n * 1000 + i }));
  const source = { kind: "campaign", id: 7 } as const;
  const call = { source, at: now().toISOString(), mails };
  await write(await mailLog.logCallWrite(site, { block: n, chunk: 0, call: 0 }, call));
};

test("the log of a slow campaign is folded before the campaign ends", async () => {
  const site = { orgId: 78, siteId: 6 };
  const [callsPerBucket, minutes] = [4, 20];
  let mostEntries = 0;
  for (let n = 0; n < minutes; n++) {
    await logCallTo(
      site,
      n,
      contactIds.slice(0, 5).map((_, i) => 5 * (n % callsPerBucket) + i),
    );
    advanceClock(61);
    await runWorkers();
    const { entries } = await mailLog.readMailLog(site);
    mostEntries = Math.max(mostEntries, entries.length);
  }
  expect(mostEntries).toBeGreaterThan(1);
  expect(mostEntries).toBeLessThan(10);
});

test("a log with many entries is folded although its buckets get few mails", async () => {
  const site = { orgId: 79, siteId: 7 };
  const calls = 2000;
  for (const some of splitIntoBatches([...Array(calls).keys()], 100))
    await Promise.all(some.map((n) => logCallTo(site, n, [1000 * n, 1000 * n + 500])));
  await foldMailLog(site);
  expect((await mailLog.readMailLog(site)).entries).toHaveLength(0);
});

test("a matcher of segment rules reads the mail log once", async () => {
  const site = { orgId: 80, siteId: 8 };
  for (let n = 0; n < 50; n++) await logCallTo(site, n, contactIds);
  const rules: SegmentRules = {
    match: "all",
    conditions: [
      { field: "sendCount", operator: "equals", value: 50 },
      { field: "campaign.7.sent", operator: "equals", value: true },
      { field: "campaign.8.sent", operator: "equals", value: false },
    ],
  };
  const log = await measureUnits(() => mailLog.readMailLog(site));
  const matcher = await measureUnits(async () => {
    const matches = await segments.createMatcher(site.orgId, site.siteId, rules);
    for (const id of contactIds.slice(0, 50))
      expect(await matches({ ...site, id } as ContactItem)).toBe(true);
  });
  // One for the counts and one for the campaigns, and a bucket and lists for each contact.
  const perContact = 3;
  expect(matcher.usage.readUnits).toBeLessThan(2 * log.usage.readUnits + 50 * perContact);
});
