// A worker killed between any two steps: nothing is lost, and nobody gets a mail twice.
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { send as sendGroup } from "../../functions/http/send.ts";
import * as clock from "../../shared/clock.ts";
import * as due from "../../shared/domain/sending/due.ts";
import * as singles from "../../shared/domain/sending/singles.ts";
import * as sends from "../../shared/domain/sends.ts";
import { query } from "../../shared/doors/table.ts";
import { sessionCookie } from "../../shared/http/authenticate.ts";
import { ranges } from "../../shared/keys.ts";
import { chances } from "../support/chances.ts";
import { ask } from "../support/events.ts";
import type { Trouble } from "../support/fake-provider.ts";
import { atSomeSteps, killed } from "../support/killer.ts";
import * as mailroom from "../support/mailroom.ts";

// Hundreds of workers live and die here, perhaps beside other tests.
vi.setConfig({ testTimeout: 60_000 });
beforeAll(mailroom.opened);

const keyed = "resend";
const unkeyed = "postmark";
const toOf = (recipients: { to: string }[]) => recipients.map(({ to }) => to);
const mailsTo = ({ provider }: mailroom.Sender, addresses: string[]) => provider.mails.filter(({ to }) => addresses.includes(to)).length;

describe("accepting", () => {
  test("a single send: it is either not accepted at all, or sent and listed once", async () => {
    const from = await mailroom.sender(unkeyed);
    const steps = await atSomeSteps(3, async (kill) => {
      const { to } = mailroom.recipients(1)[0]!;
      let id: number | undefined;
      await kill(async () => ({ id } = await mailroom.send(from, { to })));
      await mailroom.settle();
      await mailroom.balanced(from, id === undefined ? [] : [id]);
      if (id !== undefined) expect(mailsTo(from, [to])).toBe(1);
    });
    expect(steps.length).toBeGreaterThan(10);
    await from.provider.stop();
  });

  test("a scheduled send that died before it was listed is listed when its time comes", async () => {
    const from = await mailroom.sender(unkeyed);
    await atSomeSteps(3, async (kill) => {
      const scheduledAt = clock.after(3600).toISOString();
      await kill(() => mailroom.send(from, { to: mailroom.recipients(1)[0]!.to, scheduledAt }));
      await mailroom.settle();
      await mailroom.balanced(from, []);
    });
    await from.provider.stop();
  });

  test("a batch: all of it is sent, or nothing", async () => {
    const from = await mailroom.sender(unkeyed);
    const steps = await atSomeSteps(3, async (kill) => {
      const recipients = mailroom.recipients(3);
      let ids: number[] = [];
      await kill(async () => {
        ids = (await mailroom.sendBatch(from, recipients)).results.map(({ id }) => id!);
      });
      await mailroom.settle();
      await mailroom.balanced(from, ids);
      expect([ids.length, 0, 3]).toContain(mailsTo(from, toOf(recipients)));
      if (ids.length) expect(mailsTo(from, toOf(recipients))).toBe(3);
    });
    expect(steps.length).toBeGreaterThan(10);
    await from.provider.stop();
  });

  test.each(["/send", "/send/batch"] as const)("POST %s made again under its Idempotency-Key is accepted once", async (path) => {
    const from = await mailroom.sender(unkeyed);
    let n = 0;
    await atSomeSteps(3, async (kill) => {
      const recipients = mailroom.recipients(path === "/send" ? 1 : 3);
      const content = { sendingConfigId: from.configId, subject: "Hello", text: "Hello", html: "<p>Hello</p>" };
      const body = path === "/send" ? { ...content, to: recipients[0]!.to } : { ...content, recipients };
      const headers = { "idempotency-key": `${path} ${++n}` };
      const post = () =>
        ask<{ id: number; accepted: number }>(sendGroup, `POST ${path}`, { body, headers, cookies: [`${sessionCookie}=${from.token}`] });
      await kill(post);
      clock.advance(60);
      if (n % 2) await mailroom.settle();
      expect(await post()).toMatchObject({ status: 202 });
      await mailroom.settle();
      await mailroom.balanced(from, []);
      expect(mailsTo(from, toOf(recipients))).toBe(recipients.length);
      expect((await mailroom.listed(from)).filter(({ toEmail }) => toOf(recipients).includes(toEmail))).toHaveLength(recipients.length);
    });
    await from.provider.stop();
  });
});

describe("handing over", () => {
  test("a single send at a provider with keys is sent", async () => {
    const from = await mailroom.sender(keyed);
    await atSomeSteps(3, async (kill) => {
      const { id } = await mailroom.send(from, { to: mailroom.recipients(1)[0]!.to });
      mailroom.messages.length = 0;
      await kill(() => singles.deliver(from.caller.orgId, id));
      await mailroom.settle();
      const { sent, ...others } = await mailroom.balanced(from, [id]);
      expect(others).toEqual({});
    });
    await from.provider.stop();
  });

  test("a single send at a provider without keys is uncertain only when its worker died between claim and result", async () => {
    const from = await mailroom.sender(unkeyed);
    const seen = new Set<string>();
    await atSomeSteps(3, async (kill) => {
      const { id } = await mailroom.send(from, { to: mailroom.recipients(1)[0]!.to });
      mailroom.messages.length = 0;
      await kill(() => singles.deliver(from.caller.orgId, id));
      const left = await sends.detail(from.caller, id);
      await mailroom.settle();
      await mailroom.balanced(from, [id]);
      expect((await sends.detail(from.caller, id)).status).toBe(left.status === "sending" ? "uncertain" : "sent");
      seen.add(left.status);
    });
    expect([...seen].sort()).toEqual(["queued", "sending", "sent"]);
    await from.provider.stop();
  });

  // Three calls, because each has one setting of tracking; the second has a recipient whom the provider refuses.
  const three = () => mailroom.recipients(6).map((one, i) => ({ ...one, trackOpens: i === 2 || i === 3 }));

  test("a lane at a provider with keys: all are sent but the one that was refused", async () => {
    const from = await mailroom.sender(keyed);
    await atSomeSteps(3, async (kill) => {
      const recipients = three();
      from.provider.refuses = (to) => to === recipients[3]!.to;
      const { results } = await mailroom.sendBatch(from, recipients);
      mailroom.messages.length = 0;
      await kill(() => mailroom.runLane(from.caller.orgId, from.configId));
      await mailroom.settle();
      const ids = results.map(({ id }) => id!);
      await mailroom.balanced(from, ids);
      expect(await statuses(from, ids)).toEqual(["sent", "sent", "sent", "failed", "sent", "sent"]);
    });
    await from.provider.stop();
  });

  test("a lane at a provider without keys: only calls that were claimed and have no RESULT are uncertain", async () => {
    const from = await mailroom.sender(unkeyed);
    let uncertain = 0;
    await atSomeSteps(3, async (kill) => {
      const recipients = three();
      from.provider.refuses = (to) => to === recipients[3]!.to;
      const { results, batchId } = await mailroom.sendBatch(from, recipients);
      mailroom.messages.length = 0;
      await kill(() => mailroom.runLane(from.caller.orgId, from.configId));
      const cutOff = await Promise.all([0, 1, 2].map((call) => isCutOff(from, batchId, call)));
      await mailroom.settle();
      const ids = results.map(({ id }) => id!);
      await mailroom.balanced(from, ids);
      const usual = ["sent", "sent", "sent", "failed", "sent", "sent"];
      expect(await statuses(from, ids)).toEqual(usual.map((status, i) => (cutOff[Math.floor(i / 2)] ? "uncertain" : status)));
      uncertain += cutOff.filter(Boolean).length;
    });
    expect(uncertain).toBeGreaterThan(3);
    await from.provider.stop();
  });

  const statuses = ({ caller }: mailroom.Sender, ids: number[]) =>
    Promise.all(ids.map(async (id) => (await sends.detail(caller, id)).status));

  /** Claimed, and not answered as far as anybody knows. */
  async function isCutOff({ caller: { orgId }, configId }: mailroom.Sender, block: number, call: number): Promise<boolean> {
    const { items } = await query<Record<string, unknown>>(ranges.waiting(orgId, configId), { consistent: true });
    const results = await query(ranges.results(orgId, block, 0, call), { consistent: true });
    return items.some((item) => item[`c${call}`]) && results.items.length === 0;
  }
});

test("a drain that dies leaves what it has not brought on its way to the next", async () => {
  const from = await mailroom.sender(unkeyed);
  await atSomeSteps(3, async (kill) => {
    const { id } = await mailroom.send(from, { to: mailroom.recipients(1)[0]!.to });
    const { results } = await mailroom.sendBatch(from, mailroom.recipients(2));
    mailroom.messages.length = 0;
    clock.advance(300);
    await kill(async () => {
      for (const shard of [0, 1, 2, 3]) for (const what of ["SEND", "LANE"] as const) await due.drain(what, shard);
    });
    await mailroom.settle();
    await mailroom.balanced(from, [id, ...results.map(({ id }) => id!)]);
  });
  await from.provider.stop();
});

test("a claim whose answer got lost on the way, and that the SDK repeats, is still one's own", async () => {
  const from = await mailroom.sender(unkeyed);
  const { prototype } = DynamoDBDocumentClient;
  const { send } = prototype;
  // The second asking finds what the first has done.
  prototype.send = async function (this: unknown, ...args: never[]) {
    const [{ input }] = args as unknown as [{ input: { ConditionExpression?: string; Key?: unknown } }];
    const answer = await Reflect.apply(send, this, args);
    if (!input.Key || !input.ConditionExpression) return answer;
    return Reflect.apply(send, this, args);
  } as typeof send;
  try {
    const { id } = await mailroom.send(from, { to: mailroom.recipients(1)[0]!.to });
    await singles.deliver(from.caller.orgId, id);
    const { results } = await mailroom.sendBatch(from, mailroom.recipients(3));
    await mailroom.runLane(from.caller.orgId, from.configId);
    expect(from.provider.mails.map(({ sendId }) => sendId)).toEqual([id, ...results.map(({ id }) => id)]);
  } finally {
    prototype.send = send;
  }
  await mailroom.settle();
  expect(await mailroom.balanced(from, [])).toEqual({ sent: 4 });
  await from.provider.stop();
});

// Every worker may die at any step, any number of times, two may work at once, and the provider fails in all the ways it can.
test.each(["postmark", "resend", "ses"] as const)("whatever dies and fails at %s, the books balance", async (key) => {
  const from = await mailroom.sender(key);
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e6));
  const chance = chances(seed);
  const troubles: Trouble[] = [
    "lost",
    "reset",
    { status: 500 },
    { status: 502 },
    { status: 429, headers: { "retry-after": "7" } },
    { status: 400 },
    { status: 401 },
  ];
  from.provider.trouble = () => (chance() < 0.3 ? troubles[Math.floor(chance() * troubles.length)] : undefined);
  from.provider.refuses = () => chance() < 0.05;
  const accepted: number[] = [];
  const once = (work: () => Promise<unknown>) =>
    chance() < 0.5 ? killed(1 + Math.floor(chance() * 30), chance() < 0.5 ? "before" : "after", work) : work();
  // A message may be delivered twice.
  const kill = (work: () => Promise<unknown>) => (chance() < 0.2 ? Promise.all([once(work), once(work)]) : once(work));
  for (let round = 0; round < 6; round++) {
    await kill(async () => accepted.push((await mailroom.send(from, { to: mailroom.recipients(1)[0]!.to })).id));
    await kill(async () => {
      const recipients = mailroom.recipients(30).map((one) => ({ ...one, trackOpens: chance() < 0.2 }));
      accepted.push(...(await mailroom.sendBatch(from, recipients)).results.map(({ id }) => id!));
    });
    await mailroom.settle({ forSeconds: 600, kill });
  }
  await mailroom.settle({ kill });
  const counts = await mailroom.balanced(from, accepted).catch((error) => {
    throw new Error(`SEED=${seed}: ${error.message}`, { cause: error });
  });
  expect(counts.sent, `SEED=${seed}`).toBeGreaterThan(0);
  await from.provider.stop();
});
