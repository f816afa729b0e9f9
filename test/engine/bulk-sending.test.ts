// Bulk mail of campaigns, sequences and holidays. Despite crashes, pauses, cancellations and early
// delivery events, no contact gets a mail twice and the totals of the source equal its sends.
import { beforeAll, describe, expect, test } from "vitest";
import {
  query,
  queryAll,
  remove,
  transact,
  write,
  writeMany,
} from "../../shared/adapters/dynamodb/table.ts";
import { advanceClock, now, sleep } from "../../shared/clock.ts";
import type { ContactItem } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import * as lanes from "../../shared/domain/sending/bulk/lanes.ts";
import type { QueuedChunk } from "../../shared/domain/sending/bulk/queued-chunk.ts";
import * as held from "../../shared/domain/sending/bulk/suspended-chunks.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import * as sources from "../../shared/domain/sending/mail-sources.ts";
import * as readSends from "../../shared/domain/sending/read-sends.ts";
import { blockOf, type Key, ranges } from "../../shared/keys.ts";
import { newContact } from "../support/contacts.ts";
import {
  crashAtSomeSteps,
  interruptedAtSomeSteps,
  interruptions,
} from "../support/crash-injection.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";
import { sampleOf } from "../support/seeded-random.ts";
import * as mailTest from "../support/sending.ts";
import { skippingPauses } from "../support/skipped-pauses.ts";
import { stageMail } from "../support/staged.ts";

beforeAll(mailTest.useOwnTableAndQueues);

let lastCampaignId = 0;

interface Mailing {
  from: mailTest.TestSender;
  source: sources.MailSource;
  recipients: ContactItem[];
}

async function createMailing(from: mailTest.TestSender, n: number): Promise<Mailing> {
  const prefix = crypto.randomUUID().slice(0, 8);
  const recipients = await Promise.all(
    Array.from({ length: n }, async (_, i) => {
      const { id } = await contacts.create(from.caller, {
        siteId: from.siteId,
        ...newContact(`${prefix}-${i}@example.com`, { firstName: `P${i}` }),
      });
      return contacts.findItem(from.caller, id);
    }),
  );
  return { from, recipients, source: { kind: "campaign", id: ++lastCampaignId, part: 7 } };
}

async function stage(
  { from: { caller, siteId, configId }, source, recipients }: Mailing,
  options: { held?: boolean } = {},
): Promise<number[]> {
  const { orgId } = caller;
  const [site, config] = await Promise.all([
    sites.find(caller, siteId),
    sendingConfigs.find(caller, configId),
  ]);
  const message = {
    orgId,
    site,
    config,
    source,
    subject: "News for {{ firstName }}",
    html: "<p>Hello {{ firstName }}</p>",
    startedAt: now(),
  };
  const { sendIds, writes } = await stageMail(message, recipients, {
    ...options,
    tallies: { candidates: recipients.length },
  });
  await write(...writes);
  await lanes.announceArrival(orgId, configId);
  return [...sendIds.values()];
}

/** Stages one chunk per recipient. */
const stageEach = async (mailing: Mailing): Promise<number[]> =>
  (
    await Promise.all(
      mailing.recipients.map((recipient) => stage({ ...mailing, recipients: [recipient] })),
    )
  ).flat();

async function readTotals({ from, source }: Mailing): Promise<sources.SourceTotals> {
  const { all, parts } = await sources.getSourceTotals(from.caller.orgId, source);
  const { candidates, accepted, suppressed, unsubscribed, capped, duplicate, invalid } = all;
  expect(accepted + suppressed + unsubscribed + capped + duplicate + invalid).toBe(candidates);
  const { queued, sending, sent, delivered, failed, uncertain, cancelled } = all;
  expect(queued + sending + sent + delivered + failed + uncertain + cancelled).toBe(accepted);
  for (const n of [queued, sending, sent, delivered, failed, uncertain, cancelled])
    expect(n).toBeGreaterThanOrEqual(0);
  if (parts.has(7)) expect(parts.get(7)).toEqual(all);
  return all;
}

/** Compares the totals of the source with the status of each send. */
async function readMatchingTotals(mailing: Mailing, ids: number[]): Promise<sources.SourceTotals> {
  const totals = await readTotals(mailing);
  const all = await Promise.all(ids.map((id) => findDetail(mailing.from.caller, id)));
  const excluded = all.filter(({ error }) =>
    sources.exclusionReasons.includes(error as sources.ExclusionReason),
  );
  for (const state of sources.mailStates.filter((name) => name !== "sending"))
    expect([state, totals[state]]).toEqual([
      state,
      all.filter((send) => !excluded.includes(send) && send.status === state).length,
    ]);
  for (const reason of sources.exclusionReasons)
    expect([reason, totals[reason]]).toEqual([
      reason,
      excluded.filter(({ error }) => error === reason).length,
    ]);
  return totals;
}

const mailsOf = ({ from }: Mailing, ids: number[]) =>
  from.provider.mails.filter(({ sendId }) => ids.includes(sendId));

describe.each(sampleOf(1, ["resend", "postmark"] as const, "bulk sending"))("at %s", (key) => {
  test("after a crash during the hand-over, no mail of the chunk goes out twice and each is counted", async () => {
    const from = await mailTest.createSender(key);
    const steps = await crashAtSomeSteps(async (crash) => {
      const mailing = await createMailing(from, 5);
      const ids = await stage(mailing);
      expect(await readTotals(mailing)).toMatchObject({
        candidates: 5,
        accepted: 5,
        queued: 5,
        sending: 0,
        sent: 0,
      });
      await crash(() => mailTest.runLane(from.caller.orgId, from.configId));
      await readTotals(mailing);
      await mailTest.runWorkers();
      const totals = await readMatchingTotals(mailing, ids);
      expect(totals.sent + totals.uncertain).toBe(5);
      const mailed = mailsOf(mailing, ids).map(({ sendId }) => sendId);
      expect(new Set(mailed).size).toBe(mailed.length);
      if (totals.sent === 5) expect(mailed.length).toBe(5);
    });
    expect(steps.length).toBeGreaterThan(10);
    await from.provider.stop();
  });
});

test("a lane hands over small chunks in parallel: 4 calls, then one more per success", async () => {
  const from = await mailTest.createSender("postmark");
  const mailing = await createMailing(from, 14);
  const ids = await stageEach(mailing);
  const [firstAnswers, laterAnswers] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ];
  const { calls } = from.provider;
  Object.defineProperty(from.provider, "gate", {
    get: () => (calls.length <= 4 ? firstAnswers.promise : laterAnswers.promise),
  });
  const running = mailTest.runLane(from.caller.orgId, from.configId);
  while (calls.length < 4) await sleep(10);
  await sleep(50);
  expect(calls).toHaveLength(4);
  firstAnswers.resolve();
  while (calls.length < 12) await sleep(10);
  await sleep(50);
  expect(calls).toHaveLength(12);
  laterAnswers.resolve();
  await running;
  expect(await readMatchingTotals(mailing, ids)).toMatchObject({ accepted: 14, sent: 14 });
  await from.provider.stop();
});

test("while a chunk waits for its provider, the lane hands over all later chunks", async () => {
  const from = await mailTest.createSender("postmark");
  const mailing = await createMailing(from, 14);
  const ids = await stageEach(mailing);
  const firstAnswer = Promise.withResolvers<void>();
  let calls = 0;
  Object.defineProperty(from.provider, "gate", {
    get: () => (calls++ ? undefined : firstAnswer.promise),
  });
  const running = mailTest.runLane(from.caller.orgId, from.configId);
  while (from.provider.mails.length < 13) await sleep(10);
  firstAnswer.resolve();
  await running;
  expect(await readMatchingTotals(mailing, ids)).toMatchObject({ accepted: 14, sent: 14 });
  await from.provider.stop();
});

test("calls of a chunk that takes long are counted before its last call", async () => {
  const from = await mailTest.createSender("postmark", { ratePerSecond: 1 });
  const mailing = await createMailing(from, 5);
  await stage(mailing);
  const lastAnswer = Promise.withResolvers<void>();
  Object.defineProperty(from.provider, "gate", {
    get: () => (from.provider.calls.length < 5 ? undefined : lastAnswer.promise),
  });
  const running = skippingPauses(() => mailTest.runLane(from.caller.orgId, from.configId));
  while (from.provider.calls.length < 5) await sleep(10);
  expect(await readTotals(mailing)).toMatchObject({ sent: 4, sending: 1 });
  lastAnswer.resolve();
  await running;
  expect(await readTotals(mailing)).toMatchObject({ sent: 5, sending: 0 });
  await from.provider.stop();
});

test.each(["resend", "postmark"] as const)(
  "after a crash over parallel chunks at %s, each mail is sent once or uncertain, and counted",
  async (key) => {
    const from = await mailTest.createSender(key);
    const { recipients } = await createMailing(from, 6);
    await crashAtSomeSteps(async (crash) => {
      const mailing: Mailing = {
        from,
        recipients,
        source: { kind: "campaign", id: ++lastCampaignId, part: 7 },
      };
      const ids = await stageEach(mailing);
      await crash(() => mailTest.runLane(from.caller.orgId, from.configId));
      await readTotals(mailing);
      await mailTest.runWorkers();
      const { sent, uncertain } = await readMatchingTotals(mailing, ids);
      expect([sent + uncertain, key === "resend" ? uncertain : 0]).toEqual([6, 0]);
      const mailed = mailsOf(mailing, ids).map(({ sendId }) => sendId);
      expect(new Set(mailed).size).toBe(mailed.length);
      expect(mailed.length).toBeGreaterThanOrEqual(sent);
    });
    await from.provider.stop();
  },
);

describe.each(["resend", "postmark"] as const)("when the runner of a lane at %s", (key) => {
  test.each(interruptions)("%s, each mail is sent once or uncertain, and counted", async (how) => {
    const from = await mailTest.createSender(key);
    from.provider.latencyMs = 20;
    await interruptedAtSomeSteps(how, async (interrupt) => {
      const mailing = await createMailing(from, 9);
      const ids = await stageEach(mailing);
      const leaving = contacts.change(from.caller, mailing.recipients[8]!.id, {
        status: "unsubscribed",
      });
      const run = () => mailTest.runLane(from.caller.orgId, from.configId);
      const finish = async () => {
        await leaving;
        await mailTest.runWorkers();
      };
      await interrupt(run, finish, leaving);
      const { sent, uncertain, unsubscribed } = await readMatchingTotals(mailing, ids);
      // The call of the contact who leaves is not repeated, so its mail can stay uncertain.
      const [ofLeaving] = await readSends.getSends(from.caller.orgId, [ids[8]!]);
      const known = key === "resend" && ofLeaving?.status === "uncertain" ? 1 : 0;
      expect([sent + uncertain + unsubscribed, key === "resend" ? uncertain : 0]).toEqual([
        9,
        known,
      ]);
      const mailed = mailsOf(mailing, ids).map(({ sendId }) => sendId);
      expect(new Set(mailed).size).toBe(mailed.length);
      expect(mailed.length).toBeGreaterThanOrEqual(sent);
    });
    await from.provider.stop();
  });
});

test("events that precede the provider's response or settle uncertain mail are counted once", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  await crashAtSomeSteps(async (crash) => {
    const mailing = await createMailing(from, 5);
    const ids = await stage(mailing);
    const applyEvents = async () =>
      applyMessages(
        await createEventMessage(orgId, [
          createEvent(ids[0]!, "delivered", 1),
          createEvent(ids[0]!, "open", 60),
          createEvent(ids[1]!, "bounce", 2),
        ]),
      );
    await crash(() => mailTest.runLane(orgId, from.configId));
    if (mailsOf(mailing, ids).length) await applyEvents();
    await readTotals(mailing);
    await mailTest.runWorkers();
    await applyEvents();
    const totals = await readMatchingTotals(mailing, ids);
    expect(totals).toMatchObject({
      delivered: 1,
      failed: 1,
      events: { uniqueOpened: 1, bouncedHard: 1 },
    });
  });
  await from.provider.stop();
});

test("the hand-over excludes and counts contacts that left or reached the cap", async () => {
  const from = await mailTest.createSender("postmark");
  const mailing = await createMailing(from, 5);
  await sites.change(from.caller, from.siteId, { sendFrequencyCapDays: 2 });
  const [a, b, c] = mailing.recipients as [ContactItem, ContactItem, ContactItem];
  const earlier: Mailing = { ...mailing, source: { kind: "holiday", id: 1 }, recipients: [c] };
  await stage(earlier);
  await mailTest.runWorkers();
  const ids = await stage(mailing);
  await contacts.change(from.caller, a.id, { status: "unsubscribed" });
  await contacts.remove(from.caller, b.id);
  await mailTest.runWorkers();
  expect(await readMatchingTotals(mailing, ids)).toMatchObject({
    candidates: 5,
    accepted: 2,
    unsubscribed: 2,
    capped: 1,
    sent: 2,
  });
  expect(mailsOf(mailing, ids).length).toBe(2);
  await from.provider.stop();
});

test("a mail to an address suppressed since is not sent, even if its contact has a new address", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  const mailing = await createMailing(from, 2);
  const ids = await stage(mailing);
  const [moved, stayed] = mailing.recipients as [ContactItem, ContactItem];
  await contacts.change(from.caller, moved.id, { email: `new-${moved.email}` });
  await suppressions.suppress(orgId, { email: moved.email, reason: "bounce", source: "postmark" });
  await mailTest.runWorkers();
  expect(await readMatchingTotals(mailing, ids)).toMatchObject({
    accepted: 1,
    suppressed: 1,
    sent: 1,
  });
  expect(mailsOf(mailing, ids).map(({ to }) => to)).toEqual([stayed.email]);
  await from.provider.stop();
});

test("despite crashes, paused mail waits, resumed mail goes out once and cancelled mail never does", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  const run = () => mailTest.runLane(orgId, from.configId);
  const ends = { release: held.releaseChunks, discard: held.cancelChunks };
  for (const end of ["release", "discard"] as const)
    await crashAtSomeSteps(async (crash) => {
      const mailing = await createMailing(from, 2);
      const ids = await stage(mailing);
      await write(sources.setSourceStateWrite(orgId, mailing.source, "paused"));
      await crash(run);
      await readTotals(mailing);
      await mailTest.runWorkers();
      expect(await readMatchingTotals(mailing, ids)).toMatchObject({ queued: 2 });
      await transact(
        sources.setSourceStateWrite(
          orgId,
          mailing.source,
          end === "release" ? "going" : "cancelled",
        ),
      );
      const finish = () => ends[end](orgId, { source: mailing.source, configId: from.configId });
      await crash(finish);
      await readTotals(mailing);
      await finish();
      await mailTest.runWorkers();
      expect(await readMatchingTotals(mailing, ids)).toMatchObject(
        end === "release" ? { sent: 2 } : { cancelled: 2 },
      );
      expect(mailsOf(mailing, ids).length).toBe(end === "release" ? 2 : 0);
    });
  await from.provider.stop();
});

test("a pause between two calls of a chunk holds the second call until the source is resumed", async () => {
  const from = await mailTest.createSender("postmark", { ratePerSecond: 2 });
  const { orgId } = from.caller;
  const mailing = await createMailing(from, 4);
  const ids = await stage(mailing);
  await mailTest.whileProviderWaits(
    from,
    () => mailTest.runLane(orgId, from.configId),
    () => write(sources.setSourceStateWrite(orgId, mailing.source, "paused")),
  );
  await mailTest.runWorkers();
  expect(await readMatchingTotals(mailing, ids)).toMatchObject({ sent: 2, queued: 2 });
  await write(sources.setSourceStateWrite(orgId, mailing.source, "going"));
  await held.releaseChunks(orgId, { source: mailing.source, configId: from.configId });
  await mailTest.runWorkers();
  expect(await readMatchingTotals(mailing, ids)).toMatchObject({ sent: 4 });
  expect(mailsOf(mailing, ids).length).toBe(4);
  await from.provider.stop();
});

test("mail that was paused for days is retried after the first failures of the provider", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  const mailing = await createMailing(from, 2);
  const ids = await stage(mailing, { held: true });
  advanceClock(3 * 24 * 3600);
  from.provider.faultFor = ({ n }) =>
    n <= 2 ? { status: 503, headers: { "retry-after": "1" } } : undefined;
  await held.releaseChunks(orgId, { source: mailing.source, configId: from.configId });
  await skippingPauses(mailTest.runWorkers);
  expect(await readMatchingTotals(mailing, ids)).toMatchObject({ sent: 2 });
  await from.provider.stop();
});

/** Removes all items of these sends that have an expiry. */
async function expire({ from }: Mailing, ids: number[]): Promise<void> {
  const blocks = [...new Set(ids.map(blockOf))];
  const items = await Promise.all(
    blocks.map((block) =>
      queryAll<Key & { expires?: number }>(ranges.blockItems(from.caller.orgId, block), {
        consistent: true,
      }),
    ),
  );
  const expiring = items.flat().filter((item) => item.expires !== undefined);
  await writeMany(expiring.map((one) => remove(one)));
}

test("mail that expired during a pause is cancelled, and later mail in the lane is sent", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  const [old, stopped] = [await createMailing(from, 3), await createMailing(from, 2)];
  const [oldIds, stoppedIds] = [
    await stage(old, { held: true }),
    await stage(stopped, { held: true }),
  ];
  await Promise.all([expire(old, oldIds), expire(stopped, stoppedIds)]);
  await held.cancelChunks(orgId, { source: stopped.source, configId: from.configId });
  await held.releaseChunks(orgId, { source: old.source, configId: from.configId });
  const fresh = await createMailing(from, 2);
  const ids = await stage(fresh);
  await mailTest.runWorkers();
  expect(await readMatchingTotals(fresh, ids)).toMatchObject({ sent: 2 });
  expect(await readTotals(old)).toMatchObject({ accepted: 3, cancelled: 3 });
  expect(await readTotals(stopped)).toMatchObject({ accepted: 2, cancelled: 2 });
  expect(mailsOf(old, [...oldIds, ...stoppedIds])).toEqual([]);
  const { sends: listed } = await listSends(from.caller, { limit: 10 }, {});
  expect(listed.map(({ id }) => id).sort()).toEqual(ids.toSorted());
  await from.provider.stop();
});

test("after a crash and the expiry of the chunk, no mail stays queued or goes out twice", async () => {
  const from = await mailTest.createSender("postmark");
  await crashAtSomeSteps(async (crash) => {
    const mailing = await createMailing(from, 5);
    const ids = await stage(mailing);
    await crash(() => mailTest.runLane(from.caller.orgId, from.configId));
    await expire(mailing, ids);
    await mailTest.runWorkers();
    const { queued, sending } = await readTotals(mailing);
    expect({ queued, sending }).toEqual({ queued: 0, sending: 0 });
    const mailed = mailsOf(mailing, ids).map(({ sendId }) => sendId);
    expect(new Set(mailed).size).toBe(mailed.length);
  });
  await from.provider.stop();
});

test("the runner cancels a queued chunk of a cancelled source; a suspended chunk stays queued", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  await crashAtSomeSteps(async (crash) => {
    const [one, waiting] = [await createMailing(from, 2), await createMailing(from, 2)];
    const [ids, laterIds] = [await stage(one), await stage(waiting, { held: true })];
    await write(sources.setSourceStateWrite(orgId, one.source, "cancelled"));
    await crash(() => mailTest.runLane(orgId, from.configId));
    await mailTest.runWorkers();
    expect(await readMatchingTotals(one, ids)).toMatchObject({ cancelled: 2, queued: 0 });
    expect(await readMatchingTotals(waiting, laterIds)).toMatchObject({ queued: 2 });
    expect(mailsOf(one, [...ids, ...laterIds]).length).toBe(0);
  });
  await from.provider.stop();
});

test("a chunk that a worker changed after it was read is neither cancelled nor suspended", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  const mailing = await createMailing(from, 2);
  const ids = await stage(mailing);
  const { items } = await query<QueuedChunk>(ranges.queuedChunks(orgId, from.configId), {
    consistent: true,
  });
  const cancelling = await held.cancelChunkWrites(orgId, mailing.source, items[0]!);
  // Another lane runner claims the chunk after it was read.
  await mailTest.whileProviderWaits(
    from,
    () => mailTest.runLane(orgId, from.configId),
    async () => {
      expect(await transact(...cancelling)).toBe(false);
      for (const stale of items) await held.suspendChunk(orgId, stale);
    },
  );
  await held.releaseChunks(orgId, { source: mailing.source, configId: from.configId });
  await mailTest.runWorkers();
  expect(await readMatchingTotals(mailing, ids)).toMatchObject({ sent: 2 });
  expect(mailsOf(mailing, ids).length).toBe(2);
  await from.provider.stop();
});
