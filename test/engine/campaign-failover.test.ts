// Waiting mail of campaigns moves to the fallback of a failing sending config, and no mail goes to
// both providers.
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { queryAll } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as state from "../../shared/domain/campaigns/campaign-actions.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import {
  NewSendingConfig,
  SendingConfigChanges,
} from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import {
  createShareMover,
  moveToFallback,
} from "../../shared/domain/sending/bulk/chunk-failover.ts";
import type { QueuedChunk } from "../../shared/domain/sending/bulk/queued-chunk.ts";
import { findSend } from "../../shared/domain/sending/read-sends.ts";
import { findStoredMail } from "../../shared/domain/sending/stored-mail.ts";
import { ranges } from "../../shared/keys.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  insertListMembers,
  readCampaign,
  readConsistentNumbers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import { readDayCounters } from "../support/delivery-events.ts";
import { type FakeProvider, startFakeProvider } from "../support/fake-provider.ts";

beforeAll(useVirtualQueues);

const providers: FakeProvider[] = [];
afterEach(async () => {
  for (const provider of providers.splice(0)) await provider.stop();
});

const failure = { status: 503, headers: { "retry-after": "1" } };

interface FailingSender extends CampaignSender {
  fallback: { id: number; provider: FakeProvider };
}

/** A Postmark config that fails, with a Resend config as its fallback. */
async function createFailingSender(): Promise<FailingSender> {
  const from = await createCampaignSender("postmark");
  const provider = await startFakeProvider("resend");
  providers.push(from.provider, provider);
  const fallback = await sendingConfigs.create(
    from.caller,
    NewSendingConfig.parse({
      provider: "resend",
      credentials: { apiKey: "re_token" },
      fromEmail: "spare@example.org",
      fromName: "Spare",
    }),
  );
  const own = await sendingConfigs.find(from.caller, from.configId);
  for (const config of [own, fallback]) await sendingConfigs.setVerified(from.caller, config, true);
  const changes = SendingConfigChanges.parse({ fallbackConfigId: fallback.id });
  await sendingConfigs.update(from.caller, from.configId, changes);
  from.provider.faultFor = () => failure;
  return { ...from, fallback: { id: fallback.id, provider } };
}

async function start(from: CampaignSender, n: number, fields: object = {}): Promise<number> {
  await insertListMembers(from, n);
  const { id } = await createDraft(from, fields);
  await state.sendNow(from.caller, id);
  return id;
}

/** The addresses that got a mail from each provider. Fails if one got two. */
function readInboxes({ provider, fallback }: FailingSender) {
  const own = provider.mails.map(({ to }) => to);
  const moved = fallback.provider.mails.map(({ to }) => to);
  expect(new Set([...own, ...moved]).size).toBe(own.length + moved.length);
  return { own: own.length, moved: moved.length };
}

/** Expects one mail for each of eight contacts, empties the inboxes, and counts what moved. */
async function takeEightMails(from: FailingSender, campaignId: number): Promise<number> {
  const { own, moved } = readInboxes(from);
  expect(own + moved).toBe(8);
  expect(await readConsistentNumbers(from, campaignId)).toMatchObject({ sent: 8, queued: 0 });
  for (const configId of [from.configId, from.fallback.id])
    expect(await queryAll(ranges.queuedChunks(from.caller.orgId, configId))).toEqual([]);
  from.provider.mails.length = 0;
  from.fallback.provider.mails.length = 0;
  return moved;
}

describe("a share of another config", () => {
  async function createSharing(percent: number): Promise<FailingSender> {
    const from = await createFailingSender();
    from.provider.faultFor = () => undefined;
    const share = { sendingConfigId: from.fallback.id, percent };
    const changes = SendingConfigChanges.parse({ share, fallbackConfigId: null });
    await sendingConfigs.update(from.caller, from.configId, changes);
    return from;
  }

  test("is sent by it, each mail once, under its sender", async () => {
    const from = await createSharing(50);
    const id = await start(from, 1000);
    await runWorkers({ forSeconds: 300 });
    const { own, moved } = readInboxes(from);
    expect(own + moved).toBe(1000);
    expect(Math.min(own, moved)).toBeGreaterThan(0);
    expect((await readCampaign(from, id)).status).toBe("sent");
    expect(await readConsistentNumbers(from, id)).toMatchObject({ accepted: 1000, sent: 1000 });
    const [mail] = from.fallback.provider.mails;
    const send = await findSend(from.caller, mail!.sendId);
    expect(send).toMatchObject({
      sendingConfigId: from.fallback.id,
      fromEmail: "spare@example.org",
    });
    // So it would be sent again if it were uncertain.
    const stored = await findStoredMail(from.caller.orgId, send);
    expect(stored!.content.from).toEqual({ email: "spare@example.org", name: "Spare" });
  });

  test.each([
    ["provider", "own", true],
    ["provider", "off", false],
    ["own", "provider", true],
  ] as const)("has the tracking of that config: %s, then %s", async (before, then, isTracked) => {
    const from = await createSharing(100);
    const configs = [
      [from.configId, before],
      [from.fallback.id, then],
    ] as const;
    for (const [configId, tracking] of configs)
      await sendingConfigs.update(from.caller, configId, SendingConfigChanges.parse({ tracking }));
    await start(from, 5);
    await runWorkers({ forSeconds: 300 });
    expect(readInboxes(from)).toEqual({ own: 0, moved: 5 });
    for (const { html } of from.fallback.provider.mails)
      expect(/src="[^"]*\/t\/[\w-]+\/open\.gif"/.test(html)).toBe(isTracked);
  });

  test("stays while the other config cannot take it", async () => {
    const from = await createSharing(100);
    const other = await sendingConfigs.find(from.caller, from.fallback.id);
    await sendingConfigs.setVerified(from.caller, other, false);
    await start(from, 100);
    await runWorkers({ forSeconds: 300 });
    expect(readInboxes(from)).toEqual({ own: 100, moved: 0 });
  });

  test("goes on to the fallback of the other config, which may be the first one", async () => {
    const from = await createSharing(100);
    const changes = SendingConfigChanges.parse({ fallbackConfigId: from.configId });
    await sendingConfigs.update(from.caller, from.fallback.id, changes);
    from.fallback.provider.faultFor = () => failure;
    const id = await start(from, 300);
    await runWorkers({ forSeconds: 300 });
    expect(readInboxes(from)).toEqual({ own: 300, moved: 0 });
    expect((await readCampaign(from, id)).status).toBe("sent");
  });

  test("moves once when a worker dies at any step of it", async () => {
    const from = await createSharing(100);
    const { orgId } = from.caller;
    await insertListMembers(from, 8);
    const setShare = (changes: object) =>
      sendingConfigs.update(from.caller, from.configId, SendingConfigChanges.parse(changes));
    let everMoved = 0;
    await crashAtSomeSteps(async (crash) => {
      await setShare({ share: null });
      const { id } = await createDraft(from);
      from.provider.faultFor = () => failure;
      await state.sendNow(from.caller, id);
      await runWorkers({ forSeconds: 5 });
      await setShare({ share: { sendingConfigId: from.fallback.id, percent: 100 } });
      const moveShare = createShareMover(orgId, from.configId);
      const waiting = await queryAll<QueuedChunk>(ranges.queuedChunks(orgId, from.configId));
      await crash(async () => {
        for (const queued of waiting) await moveShare(queued);
      });
      await setShare({ share: null });
      from.provider.faultFor = () => undefined;
      await runWorkers({ forSeconds: 3600 });
      everMoved += await takeEightMails(from, id);
    });
    expect(everMoved).toBeGreaterThan(0);
  });
});

test("a campaign that its provider does not accept goes out by the fallback", async () => {
  const from = await createFailingSender();
  const id = await start(from, 700);
  await runWorkers({ forSeconds: 300 });
  expect(readInboxes(from)).toEqual({ own: 0, moved: 700 });
  expect((await readCampaign(from, id)).status).toBe("sent");
  expect(await readConsistentNumbers(from, id)).toMatchObject({ accepted: 700, sent: 700 });
  const [mail] = from.fallback.provider.mails;
  expect(await findDetail(from.caller, mail!.sendId)).toMatchObject({
    status: "sent",
    provider: "resend",
    sendingConfigId: from.fallback.id,
    fromEmail: "spare@example.org",
    fromName: "Spare",
  });
  const { day } = await readDayCounters(from.caller.orgId, from.siteId);
  expect(day).toMatchObject({ sent: 700, [`g.${from.fallback.id}.sent`]: 700 });
});

test("the sender that a campaign names stays", async () => {
  const from = await createFailingSender();
  await start(from, 6, { fromEmail: "news@example.com", fromName: "News" });
  await runWorkers({ forSeconds: 300 });
  expect(readInboxes(from)).toEqual({ own: 0, moved: 6 });
  const [mail] = from.fallback.provider.mails;
  expect(await findDetail(from.caller, mail!.sendId)).toMatchObject({
    fromEmail: "news@example.com",
    fromName: "News",
  });
});

test.each(["lost", "half", "garbled"] as const)(
  "mail that the provider may have does not move: %s",
  async (fault) => {
    const from = await createFailingSender();
    from.provider.faultFor = ({ n }) => (n <= 3 ? fault : failure);
    const id = await start(from, 1200);
    await runWorkers({ forSeconds: 300 });
    const { own, moved } = readInboxes(from);
    expect(own).toBeGreaterThan(0);
    expect(moved).toBeGreaterThan(0);
    from.provider.faultFor = () => undefined;
    await runWorkers({ forSeconds: 3600 });
    readInboxes(from);
    const { accepted, sent, uncertain, queued } = await readConsistentNumbers(from, id);
    expect([accepted, sent + uncertain, queued]).toEqual([1200, 1200, 0]);
  },
);

describe("mail waits for its own config", () => {
  const breakers: Record<string, (from: FailingSender) => unknown> = {
    "if the fallback fails too": ({ fallback }) => {
      fallback.provider.faultFor = () => failure;
    },
    "if the fallback is not verified": async ({ caller, fallback }) =>
      sendingConfigs.setVerified(caller, await sendingConfigs.find(caller, fallback.id), false),
    "if the fallback was deleted": ({ caller, fallback }) =>
      sendingConfigs.remove(caller, fallback.id),
    "if the provider only asks for a pause": (from) => {
      from.provider.faultFor = () => ({ status: 429, headers: { "retry-after": "30" } });
    },
  };
  test.each(Object.entries(breakers))("%s", async (_, breakFallback) => {
    const from = await createFailingSender();
    await breakFallback(from);
    const id = await start(from, 30);
    await runWorkers({ forSeconds: 600 });
    expect(readInboxes(from)).toEqual({ own: 0, moved: 0 });
    from.provider.faultFor = () => undefined;
    from.fallback.provider.faultFor = () => undefined;
    await runWorkers({ forSeconds: 3600 });
    const { own, moved } = readInboxes(from);
    expect(own + moved).toBe(30);
    expect(await readConsistentNumbers(from, id)).toMatchObject({ sent: 30, queued: 0 });
  });
});

test("a paused campaign that has moved goes on by the fallback", async () => {
  const from = await createFailingSender();
  const id = await start(from, 1200);
  let calls = 0;
  from.fallback.provider.faultFor = () => {
    if (++calls === 2) void state.pause(from.caller, id);
    return undefined;
  };
  await runWorkers({ forSeconds: 300 });
  await state.resume(from.caller, id).catch(() => undefined);
  await runWorkers({ forSeconds: 600 });
  expect(readInboxes(from)).toEqual({ own: 0, moved: 1200 });
  expect(await readConsistentNumbers(from, id)).toMatchObject({ sent: 1200, queued: 0 });
});

test("after a crash at any step of the move, each contact gets one mail", async () => {
  const from = await createFailingSender();
  await insertListMembers(from, 8);
  const { orgId } = from.caller;
  let everMoved = 0;
  await crashAtSomeSteps(async (crash) => {
    const { id } = await createDraft(from);
    from.provider.faultFor = () => failure;
    from.fallback.provider.faultFor = () => failure;
    await state.sendNow(from.caller, id);
    await runWorkers({ forSeconds: 5 });
    from.fallback.provider.faultFor = () => undefined;
    clock.advanceClock(61);
    await crash(() =>
      moveToFallback({ orgId, configId: from.configId, shouldContinue: () => true }),
    );
    from.provider.faultFor = () => undefined;
    await runWorkers({ forSeconds: 3600 });
    everMoved += await takeEightMails(from, id);
  });
  expect(everMoved).toBeGreaterThan(0);
});
