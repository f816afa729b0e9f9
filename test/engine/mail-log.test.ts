// The mail log of a site and its folds, with contact ids that are far apart: each mail is counted
// once, at any time, and the lists of mailed contacts find it.
import { beforeAll, expect, test } from "vitest";
import { write } from "../../shared/adapters/dynamodb/table.ts";
import { advanceClock } from "../../shared/clock.ts";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import { foldMailLog } from "../../shared/domain/audience/mail-counts/fold-mail-log.ts";
import { createMailReader } from "../../shared/domain/audience/mail-counts/mail-counts.ts";
import * as mailLog from "../../shared/domain/audience/mail-counts/mail-log.ts";
import { listSendIds } from "../../shared/domain/audience/mail-counts/mailed-contacts.ts";
import { useVirtualQueues } from "../support/campaigns.ts";
import { randomOfTest } from "../support/seeded-random.ts";

beforeAll(useVirtualQueues);

const people = 1200;
// More pages of counts than are read one by one.
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
      const sendIds = await listSendIds(site, contactIds[i]!);
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
    // A fold is not worth it yet: a page has one or two of these contacts, so it gets few mails.
    if (round > 0) advanceClock(600);
    await foldMailLog(site);
    const { entries } = await mailLog.readMailLog(site);
    expect(entries).toHaveLength(round > 0 ? 0 : 10);
    await expectAgreement();
  }
}, 120_000);
