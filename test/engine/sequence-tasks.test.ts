// Actions of sequences that reach outside: requests to URLs, and emails to members.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as send } from "../../functions/queue/send.ts";
import { worker as stepTasks } from "../../functions/queue/step-tasks.ts";
import * as contactFields from "../../shared/domain/audience/contacts/contact-fields.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as customEvents from "../../shared/domain/audience/tracking/custom-events.ts";
import * as recordCustomEvents from "../../shared/domain/audience/tracking/record-custom-events.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { getDetail } from "../../shared/domain/automation/sequence-detail.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import { AddStepsRequest } from "../../shared/domain/automation/step-schema.ts";
import * as stepsOf from "../../shared/domain/automation/steps.ts";
import { listOwners } from "../../shared/domain/identity/accounts.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import { hasStandardSignature, hasValidSignature, toWhsec } from "../support/customer-endpoint.ts";
import { readDueIndex } from "../support/due-index.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  days,
  expectBalanced,
  minutes,
  runFor,
  type SequenceSender,
  useVirtualQueues,
} from "../support/sequences.ts";
import { runWorkers } from "../support/virtual-queues.ts";

beforeAll(async () => {
  await useVirtualQueues();
  vi.stubEnv("ALLOW_LOOPBACK_WEBHOOKS", "on");
});

const action = (actionConfig: Record<string, unknown>) => ({ type: "action", actionConfig });

interface Received {
  headers: Record<string, string>;
  body: string;
}

/** A server of a customer that answers with JSON. */
async function startServer(answer: () => { status: number; body: string }) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    received.push({
      headers: request.headers as Received["headers"],
      body: await text(request),
    });
    const { status, body } = answer();
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/call` };
}

/** Runs the workers that do tasks. */
const runTasks = (forSeconds = 0): Promise<void> =>
  runWorkers([drain, stepTasks, send], { forSeconds });

async function enrollOne(sender: SequenceSender, sequenceId: number): Promise<number> {
  const [ann = 0] = await createContacts(sender, 1);
  await enrollments.enroll(sender.caller, sequenceId, { contactIds: [ann] });
  await runFor(0);
  return ann;
}

const countTasks = async (): Promise<number> =>
  (await readDueIndex()).filter(({ duepk }) => duepk.startsWith("DUE#STEPTASK")).length;

const actedAt = async ({ caller }: SequenceSender, id: number) => {
  const [step] = (await getDetail(caller, id)).steps;
  const { acted, undelivered } = step!.stats;
  return { acted, undelivered };
};

describe("a request to a URL", () => {
  const saveResponse = [
    { path: "score.value", field: "customFields.rating" },
    { path: "companies.0", field: "company" },
  ];
  const goodAnswer = { status: 200, body: '{"score":{"value":"7.5"},"companies":["Acme"]}' };

  test("is signed, has the contact and the event, and its response is stored", async () => {
    const sender = await createSequenceSender();
    const { caller, siteId } = sender;
    await contactFields.declare(
      { ...caller, kind: "session" } as Parameters<typeof contactFields.declare>[0],
      "rating",
      { siteId, label: "Rating", type: "number" },
    );
    const { received, url } = await startServer(() => goodAnswer);
    const { id } = await createSequence(
      sender,
      [action({ action: "call_url", url, saveResponse })],
      { triggerType: "custom_event", triggerConfig: { eventName: "ordered" } },
    );
    const [ann = 0] = await createContacts(sender, 1);
    const event = { contactId: ann, eventName: "ordered", properties: { total: 9 } };
    await recordCustomEvents.create(caller, customEvents.NewCustomEvent.parse(event));
    await runFor(0);
    await runTasks();
    expect(received).toHaveLength(1);
    const [call] = received as [Received];
    const { callSecret, name } = await sequences.find(caller, id);
    const signed = {
      ...call,
      headers: call.headers as Received["headers"] & { "webhook-id": string },
    };
    expect(hasValidSignature(signed, callSecret!)).toBe(true);
    expect(hasStandardSignature(signed, toWhsec(callSecret!))).toBe(true);
    const { email } = await contacts.find(caller, ann);
    expect(JSON.parse(call.body)).toMatchObject({
      event: "sequence.call",
      contact: { id: ann, email },
      sequence: { id, name },
      step: { stepOrder: 1 },
      properties: { total: 9 },
    });
    expect(await contacts.find(caller, ann)).toMatchObject({
      company: "Acme",
      customFields: { rating: 7.5 },
    });
    expect(await actedAt(sender, id)).toEqual({ acted: 1, undelivered: 0 });
    expect(await countTasks()).toBe(0);
    await sender.provider.stop();
  });

  test("is repeated with the same id until it succeeds, while the contact goes on", async () => {
    const sender = await createSequenceSender();
    let status = 500;
    const { received, url } = await startServer(() => ({ status, body: "" }));
    const { id, steps } = await createSequence(sender, [action({ action: "call_url", url })]);
    await enrollOne(sender, id);
    expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({ completed: 1 });
    await runTasks(minutes(1));
    status = 204;
    await runTasks(minutes(10));
    expect(received).toHaveLength(3);
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    status = 500;
    await enrollOne(sender, id);
    await runTasks(days(5));
    expect(received).toHaveLength(13);
    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(2);
    expect(await actedAt(sender, id)).toEqual({ acted: 2, undelivered: 1 });
    expect(await countTasks()).toBe(0);
    await sender.provider.stop();
  });

  test("is made and its response stored once after a crash at any step", async () => {
    const sender = await createSequenceSender();
    const { received, url } = await startServer(() => goodAnswer);
    const { id, steps } = await createSequence(sender, [
      action({ action: "call_url", url, saveResponse }),
    ]);
    await crashAtSomeSteps(async (crash) => {
      received.length = 0;
      const [ann = 0] = await createContacts(sender, 1);
      await enrollments.enroll(sender.caller, id, { contactIds: [ann] });
      let crashed = false;
      await runFor(0, (work) => {
        if (crashed) return work();
        crashed = true;
        return crash(work);
      });
      await runFor(minutes(2));
      await runTasks(minutes(20));
      await expectBalanced(sender, id, steps);
      expect(received.length).toBeGreaterThan(0);
      expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
      expect((await contacts.find(sender.caller, ann)).company).toBe("Acme");
      expect(await countTasks()).toBe(0);
    });
    await crashAtSomeSteps(async (crash) => {
      received.length = 0;
      const ann = await enrollOne(sender, id);
      let crashed = false;
      await runWorkers([drain, stepTasks], {
        forSeconds: minutes(20),
        crashHook: (work) => {
          if (crashed) return work();
          crashed = true;
          return crash(work);
        },
      });
      expect(received.length).toBeGreaterThan(0);
      expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
      expect((await contacts.find(sender.caller, ann)).company).toBe("Acme");
      expect(await countTasks()).toBe(0);
    });
    expect((await actedAt(sender, id)).undelivered).toBe(0);
    await sender.provider.stop();
  });

  test("counts a response that the contact cannot have, and stores the rest", async () => {
    const sender = await createSequenceSender();
    const { url } = await startServer(() => ({
      status: 200,
      body: '{"score":{"value":{"no":1}},"companies":["Acme"]}',
    }));
    const { id } = await createSequence(sender, [
      action({ action: "call_url", url, saveResponse }),
    ]);
    const ann = await enrollOne(sender, id);
    await runTasks();
    expect((await contacts.find(sender.caller, ann)).company).toBe("Acme");
    expect(await actedAt(sender, id)).toEqual({ acted: 1, undelivered: 1 });
    await sender.provider.stop();
  });

  test("that fields set does not make an endless circle", async () => {
    const sender = await createSequenceSender();
    let turn = 0;
    const { received, url } = await startServer(() => ({
      status: 200,
      body: JSON.stringify({ turn: String(++turn) }),
    }));
    const field = "customFields.turn";
    const circle = await createSequence(
      sender,
      [action({ action: "call_url", url, saveResponse: [{ path: "turn", field }] })],
      { triggerType: "field_changed", triggerConfig: { field } },
    );
    const ann = await enrollOne(sender, circle.id);
    for (let round = 0; round < 15; round++) {
      await runTasks();
      await runFor(minutes(2));
    }
    expect(received).toHaveLength(11);
    expect((await contacts.find(sender.caller, ann)).customFields).toEqual({ turn: "11" });
    await sender.provider.stop();
  });

  test("must be public, and is not made for a deleted contact", async () => {
    const sender = await createSequenceSender();
    const { received, url } = await startServer(() => goodAnswer);
    const { id } = await createSequence(sender, [action({ action: "call_url", url })]);
    const add = (config: Record<string, unknown>) =>
      AddStepsRequest.safeParse({ steps: [action({ action: "call_url", ...config })] });
    expect(add({ url: "https://10.0.0.1/x" }).success).toBe(false);
    expect(add({ url: "ftp://example.com" }).success).toBe(false);
    expect(add({ url, saveResponse: [{ path: "a", field: "email" }] }).success).toBe(false);
    expect(add({ url, message: "x" }).success).toBe(false);
    const ann = await enrollOne(sender, id);
    await contacts.remove(sender.caller, ann);
    await runTasks();
    expect(received).toEqual([]);
    expect(await countTasks()).toBe(0);
    await sender.provider.stop();
  });
});

describe("an email to members", () => {
  const notify = (more: Record<string, unknown> = {}) =>
    action({
      action: "notify",
      subject: "{{ name }} bought",
      message: "Hello,\n\n{{ email }} paid {{ event.total }} <b>",
      ...more,
    });

  test("has the contact in its text, and goes to the owner once, also after a crash", async () => {
    const sender = await createSequenceSender();
    const { caller, provider } = sender;
    const { id, steps } = await createSequence(sender, [notify()]);
    await crashAtSomeSteps(async (crash) => {
      const before = provider.mails.length;
      const [ann = 0] = await createContacts(sender, 1);
      await contacts.change(caller, ann, { firstName: "Ann", lastName: "{{ 1 }}" });
      await enrollments.enroll(caller, id, { contactIds: [ann] });
      await runFor(0);
      let crashed = false;
      await runWorkers([drain, stepTasks, send], {
        forSeconds: minutes(20),
        crashHook: (work) => {
          if (crashed) return work();
          crashed = true;
          return crash(work);
        },
      });
      const mails = provider.mails.slice(before);
      expect(mails).toHaveLength(1);
      const { email } = await contacts.find(caller, ann);
      expect(mails[0]).toMatchObject({ subject: "Ann {{ 1 }} bought" });
      expect(mails[0]!.html).toContain(`${email} paid  &lt;b&gt;`);
      expect(await countTasks()).toBe(0);
    });
    const { acted, undelivered } = await actedAt(sender, id);
    expect([acted > 0, undelivered]).toEqual([true, 0]);
    expect(steps).toHaveLength(1);
    await sender.provider.stop();
  });

  test("is refused for strangers and wrong Liquid", async () => {
    const [sender, stranger] = [await createSequenceSender(), await createSequenceSender()];
    const { id } = await createSequence(sender, [], { status: "draft" });
    const add = (step: object) =>
      stepsOf.add(sender.caller, id, AddStepsRequest.parse({ steps: [step] }));
    const [{ id: userId } = { id: 0 }] = await listOwners(stranger.orgId);
    const [own] = await listOwners(sender.orgId);
    await add(notify({ memberIds: [own!.id] }));
    await expect(add(notify({ memberIds: [userId] }))).rejects.toMatchObject({
      details: [{ path: "steps.0.actionConfig.memberIds.0" }],
    });
    await expect(add(notify({ message: "{% if %}" }))).rejects.toMatchObject({ kind: "invalid" });
    await Promise.all([sender.provider.stop(), stranger.provider.stop()]);
  });
});
