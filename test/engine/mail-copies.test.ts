// Single mails to several addresses: to, cc and bcc.
import { afterAll, beforeAll, expect, test } from "vitest";
import { get } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { filterSuppressed } from "../../shared/domain/audience/suppressions/suppression-lookups.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import { getQuota } from "../../shared/domain/billing/quota.ts";
import { findAddresseeOfCopy } from "../../shared/domain/delivery-events/events-of-copies.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { acceptSingle } from "../../shared/domain/sending/accept/accept-single.ts";
import { loadIntake } from "../../shared/domain/sending/accept/intake.ts";
import { addressesOf, SingleMessage } from "../../shared/domain/sending/accept/single-message.ts";
import { hashCopyAddress } from "../../shared/domain/sending/copy-hashes.ts";
import { keys } from "../../shared/keys.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";
import * as support from "../support/sending.ts";

let sender: support.TestSender;

beforeAll(async () => {
  await support.useOwnTableAndQueues();
  sender = await support.createSender("postmark");
});
afterAll(() => sender.provider.stop());

async function send(fields: object) {
  const message = SingleMessage.parse({
    sendingConfigId: sender.configId,
    subject: "Hello",
    html: "<p>Hello</p>",
    ...fields,
  });
  const context = await loadIntake(sender.caller, message, { emails: addressesOf(message) });
  return acceptSingle(sender.caller, message, { context });
}

const suppress = (email: string) =>
  suppressions.suppress(sender.caller.orgId, { email, reason: "bounce", source: "test" });
const isSuppressed = async (email: string) =>
  (
    await filterSuppressed(sender.caller.orgId, [email], {
      purpose: "transactional",
    })
  ).size === 1;
const countMails = async () => (await getQuota(sender.caller.orgId)).used.mails;
const mailOf = (id: number) => sender.provider.mails.find(({ sendId }) => sendId === id);

test("one mail goes to all addressees, an address that is repeated gets it once, and each counts", async () => {
  const before = await countMails();
  const { id, warnings } = await send({
    to: [{ email: "ada@example.com", name: "Ada" }, "ben@example.com", "ADA@example.com"],
    cc: { email: "cy@example.com", name: "Cy" },
    bcc: ["dee@example.com", "ben@example.com"],
  });
  await support.runWorkers();
  expect(mailOf(id)).toMatchObject({
    cc: '"Cy" <cy@example.com>',
    bcc: "dee@example.com",
  });
  expect(sender.provider.mails.filter(({ sendId }) => sendId === id)).toHaveLength(1);
  expect(await findDetail(sender.caller, id)).toMatchObject({ toEmail: "ada@example.com" });
  expect(warnings.join()).not.toContain("suppressed");
  expect((await countMails()) - before).toBe(4);
});

test("suppressed addresses are left out with a warning, and the next of `to` becomes the recipient", async () => {
  await Promise.all(["gone1@example.com", "gone2@example.com"].map(suppress));
  const before = await countMails();
  const { id, status, warnings } = await send({
    to: ["gone1@example.com", "eve@example.com"],
    cc: ["gone2@example.com", "fay@example.com"],
  });
  await support.runWorkers();
  expect(status).toBe("queued");
  expect(warnings.filter((text) => text.includes("left out"))).toEqual([
    expect.stringMatching(/^gone1@/),
    expect.stringMatching(/^gone2@/),
  ]);
  expect(mailOf(id)).toMatchObject({ to: "eve@example.com", cc: "fay@example.com" });
  expect((await countMails()) - before).toBe(2);
});

test("a mail whose `to` is suppressed altogether goes to nobody and costs nothing", async () => {
  await suppress("gone3@example.com");
  const before = await countMails();
  const { id, status } = await send({ to: "gone3@example.com", cc: "gil@example.com" });
  await support.runWorkers();
  expect(status).toBe("failed");
  expect(mailOf(id)).toBeUndefined();
  expect(await countMails()).toBe(before);
});

test("an address that is suppressed while a mail waits gets no copy", async () => {
  const scheduledAt = clock.addSeconds(600).toISOString();
  const { id } = await send({
    to: "hal@example.com",
    cc: ["ida@example.com", "jon@example.com"],
    scheduledAt,
  });
  await suppress("ida@example.com");
  await support.runWorkers();
  expect(mailOf(id)).toMatchObject({ to: "hal@example.com", cc: "jon@example.com" });
});

test("an event about a copy does not change the send; a bounce suppresses the address of the copy", async () => {
  const { id } = await send({ to: "kay@example.com", cc: "lee@example.com" });
  await support.runWorkers();
  const ofCopy = { email: "Lee@example.com" };
  await applyMessages(
    await createEventMessage(sender.caller.orgId, [
      createEvent(id, "bounce", 1, ofCopy),
      createEvent(id, "unsubscribe", 2, ofCopy),
      createEvent(id, "delivered", 3, { email: "kay@example.com" }),
    ]),
  );
  expect(await findDetail(sender.caller, id)).toMatchObject({
    status: "delivered",
    events: [{ type: "delivered" }],
  });
  expect(await isSuppressed("lee@example.com")).toBe(true);
  expect(await isSuppressed("kay@example.com")).toBe(false);
});

test.each([
  ["the copy's address", { email: "Copy@example.com" }, "Copy@example.com"],
  ["the recipient's address", { email: "ada@example.com" }, undefined],
  [
    "a server that names the copy, from Resend",
    { provider: "resend", data: { reason: "550 <copy@example.com>: unknown" } },
    "copy",
  ],
  [
    "a server that names the copy, from a provider that reports each address",
    { data: { reason: "550 <copy@example.com>: unknown" } },
    undefined,
  ],
  [
    "a server that names both",
    { provider: "resend", data: { reason: "ada@example.com, copy@example.com" } },
    undefined,
  ],
] as [string, Partial<Parameters<typeof findAddresseeOfCopy>[0]>, string | undefined][])(
  "an event with %s is recognized as about the mail or its copy",
  (_, fields, expected) => {
    const event = { email: "ada@example.com", data: {}, provider: "ses" as const, ...fields };
    const item = { toEmail: "ada@example.com", copies: [hashCopyAddress("copy@example.com")] };
    const found = findAddresseeOfCopy(event, item);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(expected);
    expect(findAddresseeOfCopy(event, { toEmail: "ada@example.com" })).toBeUndefined();
  },
);

test("each address counts for the warm-up of the provider account", async () => {
  const { caller, configId } = sender;
  // Days begin at midnight UTC, so the test starts at 6:00.
  const day = 24 * 3600;
  clock.advanceClock(day - (clock.epochSeconds() % day) + 6 * 3600);
  const warmUp = { firstDayMails: 4, lastDayMails: 16, days: 3 };
  await sendingConfigs.update(caller, configId, { warmUp });
  await send({ to: "mia@example.com", cc: "nan@example.com", bcc: "oli@example.com" });
  await support.runWorkers();
  const today = clock.now().toISOString().slice(0, 10);
  expect(await get(keys.warmUpDay(caller.orgId, configId, today))).toMatchObject({ mails: 3 });
});
