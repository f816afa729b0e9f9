// Mail of campaigns, sequences and holidays on its way: whoever dies, however it is stopped, and
// whatever events say of it meanwhile, nobody gets it twice, and the numbers of its source are
// true.
import { beforeAll, describe, expect, test, vi } from "vitest";
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
import { findDetail } from "../../shared/domain/delivery-events/send-detail.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import * as lanes from "../../shared/domain/sending/bulk/lanes.ts";
import * as held from "../../shared/domain/sending/bulk/suspended-chunks.ts";
import * as sources from "../../shared/domain/sending/mail-sources.ts";
import * as sends from "../../shared/domain/sending/sends.ts";
import { blockOf, type Key, ranges } from "../../shared/keys.ts";
import { newContact } from "../support/contacts.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";
import { sampleOf } from "../support/seeded-random.ts";
import * as mailroom from "../support/sending.ts";
import { stageMail } from "../support/staged.ts";

// Hundreds of workers live and die here, perhaps beside other tests.
vi.setConfig({ testTimeout: 60_000 });
beforeAll(mailroom.useOwnTableAndQueues);

let campaigns = 0;

interface Story {
  from: mailroom.TestSender;
  source: sources.MailSource;
  people: ContactItem[];
}

async function story(from: mailroom.TestSender, n: number): Promise<Story> {
  const word = crypto.randomUUID().slice(0, 8);
  const people = await Promise.all(
    Array.from({ length: n }, async (_, i) => {
      const { id } = await contacts.create(from.caller, {
        siteId: from.siteId,
        ...newContact(`${word}-${i}@example.com`, { firstName: `P${i}` }),
      });
      return contacts.findItem(from.caller, id);
    }),
  );
  return { from, people, source: { kind: "campaign", id: ++campaigns, part: 7 } };
}

async function stage(
  { from: { caller, siteId, configId }, source, people }: Story,
  options: { held?: boolean } = {},
): Promise<number[]> {
  const { orgId } = caller;
  const [site, config] = await Promise.all([
    sites.find(caller, siteId),
    sendingConfigs.find(caller, configId),
  ]);
  const shot = {
    orgId,
    site,
    config,
    source,
    subject: "News for {{ firstName }}",
    html: "<p>Hello {{ firstName }}</p>",
    startedAt: now(),
  };
  const { sendIds, writes } = await stageMail(shot, people, {
    ...options,
    tallies: { candidates: people.length },
  });
  await write(...writes);
  await lanes.announceArrival(orgId, configId);
  return [...sendIds.values()];
}

/** A chunk for each. */
const stageEach = async (one: Story): Promise<number[]> =>
  (await Promise.all(one.people.map((person) => stage({ ...one, people: [person] })))).flat();

async function numbers({ from, source }: Story): Promise<sources.SourceTotals> {
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

/** What the numbers say is what the sends are. */
async function agree(one: Story, ids: number[]): Promise<sources.SourceTotals> {
  const told = await numbers(one);
  const all = await Promise.all(ids.map((id) => findDetail(one.from.caller, id)));
  const left = all.filter(({ error }) =>
    sources.exclusionReasons.includes(error as sources.ExclusionReason),
  );
  for (const place of sources.mailStates.filter((name) => name !== "sending"))
    expect([place, told[place]]).toEqual([
      place,
      all.filter((send) => !left.includes(send) && send.status === place).length,
    ]);
  for (const reason of sources.exclusionReasons)
    expect([reason, told[reason]]).toEqual([
      reason,
      left.filter(({ error }) => error === reason).length,
    ]);
  return told;
}

const mailsOf = ({ from }: Story, ids: number[]) =>
  from.provider.mails.filter(({ sendId }) => ids.includes(sendId));

describe.each(sampleOf(1, ["resend", "postmark"] as const, "bulk sending"))("at %s", (key) => {
  test("a chunk is handed over with footer and way out, once, whoever dies, and counted where it stands", async () => {
    const from = await mailroom.createSender(key);
    const steps = await crashAtSomeSteps(async (kill) => {
      const one = await story(from, 5);
      const ids = await stage(one);
      expect(await numbers(one)).toMatchObject({
        candidates: 5,
        accepted: 5,
        queued: 5,
        sending: 0,
        sent: 0,
      });
      await kill(() => mailroom.runLane(from.caller.orgId, from.configId));
      await numbers(one);
      await mailroom.runWorkers();
      const told = await agree(one, ids);
      expect(told.sent + told.uncertain).toBe(5);
      const mailed = mailsOf(one, ids).map(({ sendId }) => sendId);
      expect(new Set(mailed).size).toBe(mailed.length);
      if (told.sent === 5) expect(mailed.length).toBe(5);
    });
    expect(steps.length).toBeGreaterThan(10);
    await from.provider.stop();
  });
});

test("small chunks go side by side, four at first, and twice as many while the provider takes them", async () => {
  const from = await mailroom.createSender("postmark");
  from.provider.latencyMs = 100;
  const one = await story(from, 14);
  const ids = await stageEach(one);
  await mailroom.runLane(from.caller.orgId, from.configId);
  expect(from.provider).toMatchObject({ maxConcurrentCalls: 8, calls: { length: 14 } });
  expect(await agree(one, ids)).toMatchObject({ accepted: 14, sent: 14 });
  await from.provider.stop();
});

test.each(["resend", "postmark"] as const)(
  "after a crash over parallel chunks at %s, every mail goes once or is uncertain, and is counted",
  async (key) => {
    const from = await mailroom.createSender(key);
    const { people } = await story(from, 6);
    await crashAtSomeSteps(async (kill) => {
      const one: Story = { from, people, source: { kind: "campaign", id: ++campaigns, part: 7 } };
      const ids = await stageEach(one);
      await kill(() => mailroom.runLane(from.caller.orgId, from.configId));
      await numbers(one);
      await mailroom.runWorkers();
      const { sent, uncertain } = await agree(one, ids);
      expect([sent + uncertain, key === "resend" ? uncertain : 0]).toEqual([6, 0]);
      const mailed = mailsOf(one, ids).map(({ sendId }) => sendId);
      expect(new Set(mailed).size).toBe(mailed.length);
      expect(mailed.length).toBeGreaterThanOrEqual(sent);
    });
    await from.provider.stop();
  },
);

test("events that are faster than the word of the provider, or settle what is uncertain, are counted where they stand", async () => {
  const from = await mailroom.createSender("postmark");
  const { orgId } = from.caller;
  await crashAtSomeSteps(async (kill) => {
    const one = await story(from, 5);
    const ids = await stage(one);
    const tell = async () =>
      applyMessages(
        await createEventMessage(orgId, [
          createEvent(ids[0]!, "delivered", 1),
          createEvent(ids[0]!, "open", 60),
          createEvent(ids[1]!, "bounce", 2),
        ]),
      );
    await kill(() => mailroom.runLane(orgId, from.configId));
    if (mailsOf(one, ids).length) await tell();
    await numbers(one);
    await mailroom.runWorkers();
    await tell();
    const told = await agree(one, ids);
    expect(told).toMatchObject({
      delivered: 1,
      failed: 1,
      events: { uniqueOpened: 1, bouncedSoft: 1 },
    });
  });
  await from.provider.stop();
});

test("who left, was suppressed or had mail a moment ago is left out at the last moment, and counted so", async () => {
  const from = await mailroom.createSender("postmark");
  const one = await story(from, 5);
  await sites.change(from.caller, from.siteId, { sendFrequencyCapDays: 2 });
  const [a, b, c] = one.people as [ContactItem, ContactItem, ContactItem];
  const earlier: Story = { ...one, source: { kind: "holiday", id: 1 }, people: [c] };
  await stage(earlier);
  await mailroom.runWorkers();
  const ids = await stage(one);
  await contacts.change(from.caller, a.id, { status: "unsubscribed" });
  await contacts.remove(from.caller, b.id);
  await mailroom.runWorkers();
  expect(await agree(one, ids)).toMatchObject({
    candidates: 5,
    accepted: 2,
    unsubscribed: 2,
    capped: 1,
    sent: 2,
  });
  expect(mailsOf(one, ids).length).toBe(2);
  await from.provider.stop();
});

test("a mail that was made ready for an address that is suppressed since stays here, though its reader has another by now", async () => {
  const from = await mailroom.createSender("postmark");
  const { orgId } = from.caller;
  const one = await story(from, 2);
  const ids = await stage(one);
  const [moved, stayed] = one.people as [ContactItem, ContactItem];
  await contacts.change(from.caller, moved.id, { email: `new-${moved.email}` });
  await suppressions.suppress(orgId, { email: moved.email, reason: "bounce", source: "postmark" });
  await mailroom.runWorkers();
  expect(await agree(one, ids)).toMatchObject({ accepted: 1, suppressed: 1, sent: 1 });
  expect(mailsOf(one, ids).map(({ to }) => to)).toEqual([stayed.email]);
  await from.provider.stop();
});

test("what is paused is held back, what goes on goes out once, and what is cancelled never goes, whoever dies", async () => {
  const from = await mailroom.createSender("postmark");
  const { orgId } = from.caller;
  const run = () => mailroom.runLane(orgId, from.configId);
  const ends = { release: held.releaseChunks, discard: held.cancelChunks };
  for (const end of ["release", "discard"] as const)
    await crashAtSomeSteps(async (kill) => {
      const one = await story(from, 2);
      const ids = await stage(one);
      await write(sources.setSourceStateWrite(orgId, one.source, "paused"));
      await kill(run);
      await numbers(one);
      await mailroom.runWorkers();
      expect(await agree(one, ids)).toMatchObject({ queued: 2 });
      await transact(
        sources.setSourceStateWrite(orgId, one.source, end === "release" ? "going" : "cancelled"),
      );
      const finish = () => ends[end](orgId, { source: one.source, configId: from.configId });
      await kill(finish);
      await numbers(one);
      await finish();
      await mailroom.runWorkers();
      expect(await agree(one, ids)).toMatchObject(
        end === "release" ? { sent: 2 } : { cancelled: 2 },
      );
      expect(mailsOf(one, ids).length).toBe(end === "release" ? 2 : 0);
    });
  await from.provider.stop();
});

test("paused between two calls of a chunk, the second waits until it goes on", async () => {
  const from = await mailroom.createSender("postmark", { ratePerSecond: 2 });
  const { orgId } = from.caller;
  const one = await story(from, 4);
  const ids = await stage(one);
  from.provider.latencyMs = 100;
  const running = mailroom.runLane(orgId, from.configId);
  while (!from.provider.calls.length) await sleep(5);
  await write(sources.setSourceStateWrite(orgId, one.source, "paused"));
  await running;
  await mailroom.runWorkers();
  expect(await agree(one, ids)).toMatchObject({ sent: 2, queued: 2 });
  await write(sources.setSourceStateWrite(orgId, one.source, "going"));
  await held.releaseChunks(orgId, { source: one.source, configId: from.configId });
  await mailroom.runWorkers();
  expect(await agree(one, ids)).toMatchObject({ sent: 4 });
  expect(mailsOf(one, ids).length).toBe(4);
  await from.provider.stop();
});

test("what was paused for days is not given up for the provider's first trouble", async () => {
  const from = await mailroom.createSender("postmark");
  const { orgId } = from.caller;
  const one = await story(from, 2);
  const ids = await stage(one, { held: true });
  advanceClock(3 * 24 * 3600);
  from.provider.faultFor = ({ n }) =>
    n <= 2 ? { status: 503, headers: { "retry-after": "1" } } : undefined;
  await held.releaseChunks(orgId, { source: one.source, configId: from.configId });
  await mailroom.runWorkers();
  expect(await agree(one, ids)).toMatchObject({ sent: 2 });
  await from.provider.stop();
});

/** Removes the items of these sends that expire. */
async function expired({ from }: Story, ids: number[]): Promise<void> {
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

test("mail that was paused for so long that it is not kept any more never goes, and keeps nobody behind it from going", async () => {
  const from = await mailroom.createSender("postmark");
  const { orgId } = from.caller;
  const [old, stopped] = [await story(from, 3), await story(from, 2)];
  const [oldIds, stoppedIds] = [
    await stage(old, { held: true }),
    await stage(stopped, { held: true }),
  ];
  await Promise.all([expired(old, oldIds), expired(stopped, stoppedIds)]);
  await held.cancelChunks(orgId, { source: stopped.source, configId: from.configId });
  await held.releaseChunks(orgId, { source: old.source, configId: from.configId });
  const fresh = await story(from, 2);
  const ids = await stage(fresh);
  await mailroom.runWorkers();
  expect(await agree(fresh, ids)).toMatchObject({ sent: 2 });
  expect(await numbers(old)).toMatchObject({ accepted: 3, cancelled: 3 });
  expect(await numbers(stopped)).toMatchObject({ accepted: 2, cancelled: 2 });
  expect(mailsOf(old, [...oldIds, ...stoppedIds])).toEqual([]);
  const { sends: listed } = await sends.list(from.caller, { limit: 10 }, {});
  expect(listed.map(({ id }) => id).sort()).toEqual(ids.toSorted());
  await from.provider.stop();
});

test("of a call that somebody died over, and nothing is kept, nobody can tell whether it came to anything", async () => {
  const from = await mailroom.createSender("postmark");
  await crashAtSomeSteps(async (kill) => {
    const one = await story(from, 5);
    const ids = await stage(one);
    await kill(() => mailroom.runLane(from.caller.orgId, from.configId));
    await expired(one, ids);
    await mailroom.runWorkers();
    const { queued, sending } = await numbers(one);
    expect({ queued, sending }).toEqual({ queued: 0, sending: 0 });
    const mailed = mailsOf(one, ids).map(({ sendId }) => sendId);
    expect(new Set(mailed).size).toBe(mailed.length);
  });
  await from.provider.stop();
});

test("a cancelled chunk that waits in the lane is cancelled there; one held for a winner waits", async () => {
  const from = await mailroom.createSender("postmark");
  const { orgId } = from.caller;
  await crashAtSomeSteps(async (kill) => {
    const [one, waiting] = [await story(from, 2), await story(from, 2)];
    const [ids, laterIds] = [await stage(one), await stage(waiting, { held: true })];
    await write(sources.setSourceStateWrite(orgId, one.source, "cancelled"));
    await kill(() => mailroom.runLane(orgId, from.configId));
    await mailroom.runWorkers();
    expect(await agree(one, ids)).toMatchObject({ cancelled: 2, queued: 0 });
    expect(await agree(waiting, laterIds)).toMatchObject({ queued: 2 });
    expect(mailsOf(one, [...ids, ...laterIds]).length).toBe(0);
  });
  await from.provider.stop();
});

test("a chunk that was worked on since somebody looked is neither cancelled nor held back as it was then", async () => {
  const from = await mailroom.createSender("postmark");
  const { orgId } = from.caller;
  const one = await story(from, 2);
  const ids = await stage(one);
  const { items } = await query<lanes.QueuedChunk>(ranges.queuedChunks(orgId, from.configId), {
    consistent: true,
  });
  const cancelling = await held.cancelChunkWrites(orgId, one.source, items[0]!);
  // The lease of the one who looked was over, and another is at it.
  from.provider.latencyMs = 200;
  const other = mailroom.runLane(orgId, from.configId);
  while (!from.provider.calls.length) await sleep(5);
  expect(await transact(...cancelling)).toBe(false);
  for (const stale of items) await held.suspendChunk(orgId, stale);
  await other;
  await held.releaseChunks(orgId, { source: one.source, configId: from.configId });
  await mailroom.runWorkers();
  expect(await agree(one, ids)).toMatchObject({ sent: 2 });
  expect(mailsOf(one, ids).length).toBe(2);
  await from.provider.stop();
});
