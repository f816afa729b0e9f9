// Runs of events that meet each other, die, or come again: whatever happens, each event is counted once.
import { setTimeout as sleep } from "node:timers/promises";
import { BatchExecuteStatementCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, describe, expect, test } from "vitest";
import { batch } from "../../shared/domain/events/apply.ts";
import * as history from "../../shared/domain/events/history.ts";
import * as sends from "../../shared/domain/sends.ts";
import * as suppressions from "../../shared/domain/suppressions.ts";
import { get, remove, write } from "../../shared/doors/table.ts";
import { keys } from "../../shared/keys.ts";
import type { InboundEvent } from "../../shared/queues.ts";
import { heldUp, letGo } from "../support/held-up.ts";
import { armed, atSomeSteps, killed } from "../support/killer.ts";
import { at, counters, eventOf, message, type SentMail, sentMail, work } from "../support/sent-mail.ts";

armed();

/** A send that has heard so much that opens stand beside it. */
async function popularMail(): Promise<SentMail & { id: number }> {
  const mail = await sentMail(1);
  const id = mail.sendIds[0]!;
  await work(
    await message(
      mail.orgId,
      Array.from({ length: 20 }, (_, i) => eventOf(id, "open", i)),
    ),
  );
  return { ...mail, id };
}

const opens = (id: number, from: number, n: number) => Array.from({ length: n }, (_, i) => eventOf(id, "open", from + i));
const told = async ({ caller, sendIds }: SentMail) => (await sends.detail(caller, sendIds[0]!)).events;

describe("events beside a send", () => {
  test("are counted once though their worker is killed at any step", async () => {
    const steps = await atSomeSteps(3, async (kill) => {
      const mail = await popularMail();
      const { orgId, siteId, id } = mail;
      const [one, two] = await Promise.all([message(orgId, opens(id, 100, 3)), message(orgId, opens(id, 200, 2))]);
      await kill(() => work(one, two));
      await work(two);
      await work(one);
      expect((await counters(orgId, siteId)).day).toMatchObject({ opened: 25, uniqueOpened: 1 });
      expect(await told(mail)).toHaveLength(25);
      const { events } = await history.list(mail.caller, { limit: 100 }, { siteId });
      expect(new Set(events.map((event) => event.id)).size).toBe(25);
    });
    expect(steps.length).toBeGreaterThan(9);
  });

  test("are counted once though a send's first events come by the dozen and their worker is killed at any step", async () => {
    await atSomeSteps(3, async (kill) => {
      const mail = await sentMail(1);
      const { orgId, siteId, sendIds } = mail;
      const [one, two] = await Promise.all([0, 100].map((from) => message(orgId, opens(sendIds[0]!, from, 15))));
      await kill(() => work(one!, two!));
      await work(one!);
      await work(two!);
      expect((await counters(orgId, siteId)).day).toMatchObject({ opened: 30, uniqueOpened: 1 });
      expect(await told(mail)).toHaveLength(30);
    });
  }, 60_000);

  test("are counted though many runs write on the send at once", async () => {
    const { orgId, siteId, id } = await popularMail();
    const messages = await Promise.all(
      Array.from({ length: 12 }, (_, i) => message(orgId, [...opens(id, 1000 + 10 * i, 5), eventOf(id, "deferred", 2000 + i)])),
    );
    await Promise.all(messages.map((one) => work(one)));
    expect((await counters(orgId, siteId)).day).toMatchObject({ opened: 80, deferred: 12 });
  });
});

afterEach(letGo);

describe("one message in two hands", () => {
  test("a run that another has voided, and that voids the other, does not call itself done", async () => {
    const { orgId, siteId, sendIds } = await sentMail(30);
    const one = await message(
      orgId,
      sendIds.map((id) => eventOf(id, "delivered", 1)),
    );
    // The first has written 25 of 30 when the second takes these over, and the rest before the first can.
    const writing = heldUp(BatchExecuteStatementCommand, 2);
    const first = batch([one]);
    await writing.reached;
    await sleep(100);
    const closing = heldUp(TransactWriteCommand);
    const second = batch([one]);
    await closing.reached;
    writing.release();
    const errors = await first;
    closing.release();
    errors.push(...(await second));
    // As SQS has it: whoever is done deletes the message for both.
    if (errors.every((error) => error !== undefined)) await work(one);
    expect((await counters(orgId, siteId)).totals).toMatchObject({ all: 30, delivered: 30 });
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])("they take turns in every way (%i): what no worker owns up to comes again", async (n) => {
    const { orgId, siteId, sendIds } = await sentMail(30);
    const one = await message(
      orgId,
      sendIds.map((id) => eventOf(id, "delivered", 1)),
    );
    const writing = heldUp(BatchExecuteStatementCommand, n % 4 || 1);
    const first = batch([one]);
    await Promise.race([writing.reached, first]);
    const second = n > 4 ? batch([one]) : await batch([one]);
    if (n > 4) await sleep(5 * (n - 4));
    writing.release();
    const errors = [await first, await second].flat();
    if (errors.every((error) => error !== undefined)) await work(one);
    expect((await counters(orgId, siteId)).totals).toMatchObject({ all: 30, delivered: 30 });
  });
});

test("what a run still owed is counted though five others have counted on the send since", async () => {
  const { orgId, siteId, sendIds } = await sentMail(1);
  const id = sendIds[0]!;
  const first = await message(orgId, [eventOf(id, "delivered", 1)]);
  // Dead before it counted.
  const { steps } = await killed(Number.POSITIVE_INFINITY, "after", async () => work(await message(orgId, [eventOf(id, "deferred", 0)])));
  const closing = steps.lastIndexOf("TransactWriteCommand") + 1;
  expect(await killed(closing - 2, "before", () => work(first))).toMatchObject({ died: true });
  for (let i = 1; i <= 6; i++) await work(await message(orgId, [eventOf(id, "open", 60 * i)]));
  await work(first);
  expect((await counters(orgId, siteId)).day).toMatchObject({ delivered: 1, opened: 6, uniqueOpened: 1 });
});

test("a message that nothing can be made of takes no other down with it for long", async () => {
  const { orgId, siteId, sendIds } = await sentMail(2);
  const good = await message(orgId, [eventOf(sendIds[0]!, "delivered", 1)]);
  const poison = await message(orgId, [eventOf(sendIds[1]!, "delivered", 1, { data: { reason: "x".repeat(500_000) } })]);
  const attempts = [];
  for (let attempt = 1; attempt <= 3; attempt++)
    attempts.push((await batch([good, poison].map((one) => ({ ...one, attempt })))).map((error) => error === undefined));
  expect(attempts).toEqual([
    [false, false],
    [false, false],
    [true, false],
  ]);
  expect((await counters(orgId, siteId)).day).toMatchObject({ delivered: 1 });
});

describe("what follows from an event", () => {
  /** Two messages of one send, worked on together by a worker who dies before anything follows from them, then apart. */
  test.each([
    [0, 1],
    [1, 0],
  ])("follows also when its message comes again after another one's, whose worker took it over (%i, %i)", async (first, second) => {
    await atSomeSteps(3, async (kill) => {
      const { orgId, sendIds } = await sentMail(1);
      const id = sendIds[0]!;
      const messages = [await message(orgId, [eventOf(id, "delivered", 1)]), await message(orgId, [eventOf(id, "spam_report", 2)])];
      await kill(() => work(...messages));
      await work(messages[first]!);
      await work(messages[second]!);
      expect(await suppressions.find(orgId, `p${id}@d${id % 3}.example`)).toMatchObject({ reason: "spam_report" });
    });
  });
});

describe("an event", () => {
  test("of a click without any delivered is told as a person's, as it is counted", async () => {
    const { caller, orgId, siteId, sendIds } = await sentMail(1);
    await work(await message(orgId, [eventOf(sendIds[0]!, "click", 5)]));
    expect((await counters(orgId, siteId)).day).toMatchObject({ uniqueClicked: 1 });
    const { events, clickedAt } = await sends.detail(caller, sendIds[0]!);
    expect(clickedAt).toBe(at(5));
    expect(events).toMatchObject([{ type: "click", automated: false }]);
  });

  test("without a send suppresses its address once: what was lifted since stays lifted", async () => {
    const { orgId } = await sentMail(1);
    const email = `stranger-${orgId}@example.com`;
    const stray = await message(orgId, [{ ...eventOf(987_654_000, "bounce", 1), email }]);
    await work(stray);
    expect(await suppressions.find(orgId, email)).toBeDefined();
    await write(remove(keys.suppression(orgId, email)));
    const parked = await get<{ event: InboundEvent }>(keys.parkedEvent(orgId, stray.body.events[0]!.id));
    await work({ messageId: "parked", attempt: 1, body: { ...stray.body, events: [parked!.event] } });
    expect(await suppressions.find(orgId, email)).toBeUndefined();
  });
});
