// Blind copies of a site's mail: who gets them, and that events about them do not change the send.
import { afterAll, beforeAll, expect, test } from "vitest";
import { write } from "../../shared/adapters/dynamodb/table.ts";
import { now } from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { filterSuppressed } from "../../shared/domain/audience/suppressions/suppression-lookups.ts";
import { isAboutBlindCopy } from "../../shared/domain/delivery-events/events-of-copies.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import * as batches from "../../shared/domain/sending/accept/accept-batch.ts";
import { acceptSingle } from "../../shared/domain/sending/accept/accept-single.ts";
import { BatchMessage } from "../../shared/domain/sending/accept/batch-message.ts";
import { loadIntake } from "../../shared/domain/sending/accept/intake.ts";
import { SingleMessage } from "../../shared/domain/sending/accept/single-message.ts";
import * as lanes from "../../shared/domain/sending/bulk/lanes.ts";
import { encryptMessages } from "../../shared/domain/sending/secure-messages/encrypt-messages.ts";
import { createContact } from "../support/contacts.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";
import * as mailTest from "../support/sending.ts";
import { stageMail } from "../support/staged.ts";

const archive = "Archive@shop.example";
let from: mailTest.TestSender;

beforeAll(async () => {
  await mailTest.useOwnTableAndQueues();
  from = await mailTest.createSender("postmark");
  await sites.change(from.caller, from.siteId, { autoBcc: archive });
});
afterAll(() => from.provider.stop());

/** The body of POST /send. */
async function send(to: string, fields: object = {}): Promise<number> {
  const given = SingleMessage.parse({
    sendingConfigId: from.configId,
    subject: "Hello",
    html: "<p>Hello</p>",
    to,
    ...fields,
  });
  return (
    await acceptSingle(from.caller, given, {
      context: await loadIntake(from.caller, given, { emails: [to], withSiteBcc: true }),
      encrypt: encryptMessages,
    })
  ).id;
}

const copiesOf = (...ids: number[]) =>
  ids.map((id) => from.provider.mails.find(({ sendId }) => sendId === id)?.bcc);

test("POST /send and /send/batch send a blind copy to the site's address", async () => {
  const ids = [await send("ada@example.com"), await send("archive@shop.example")];
  const given = BatchMessage.parse({
    sendingConfigId: from.configId,
    subject: "Hello",
    html: "<p>Hello</p>",
    recipients: [
      { to: "ben@example.com" },
      { to: "ARCHIVE@shop.example" },
      { to: "cy@example.com" },
    ],
  });
  const emails = given.recipients.map(({ to }) => String(to));
  const { results } = await batches.acceptBatch(
    from.caller,
    { message: given, checked: batches.validateRecipients(given) },
    await loadIntake(from.caller, given, { emails, withSiteBcc: true }),
  );
  await mailTest.runWorkers();
  expect(copiesOf(...ids)).toEqual([archive, undefined]);
  expect(copiesOf(...results.map(({ id }) => id!))).toEqual([archive, undefined, archive]);
});

test("secure messages and mail that is not from a site get no blind copy", async () => {
  const secure = await send("eve@example.com", { secure: true });
  const given = SingleMessage.parse({
    sendingConfigId: from.configId,
    subject: "Please confirm",
    html: "<p>Confirm</p>",
    to: "new@example.com",
  });
  const confirming = await acceptSingle(from.caller, given, {
    context: await loadIntake(from.caller, given, { emails: [given.to] }),
    encrypt: encryptMessages,
  });
  await mailTest.runWorkers();
  expect(from.provider.mails.map(({ sendId }) => sendId)).toEqual(
    expect.arrayContaining([secure, confirming.id]),
  );
  expect(copiesOf(secure, confirming.id)).toEqual([undefined, undefined]);
});

test("marketing mail gets a blind copy to the address of its source, otherwise of the site", async () => {
  const { caller, siteId, configId } = from;
  const contact = await contacts.findItem(
    caller,
    (await createContact({ caller, siteId, orgId: caller.orgId }, "fan@example.com")).id,
  );
  const [site, config] = await Promise.all([
    sites.find(caller, siteId),
    sendingConfigs.find(caller, configId),
  ]);
  const shots = [undefined, "sequence@shop.example"].map((bcc, i) => ({
    ...{
      orgId: caller.orgId,
      site,
      config,
      source: { kind: "campaign", id: 900 + i } as const,
      subject: "News",
      html: "<p>News</p>",
    },
    ...{ startedAt: now(), bcc },
  }));
  const ids: number[] = [];
  for (const shot of shots) {
    const { sendIds, writes } = await stageMail(shot, [contact]);
    await write(...writes);
    await lanes.announceArrival(caller.orgId, configId);
    ids.push(...sendIds.values());
  }
  await mailTest.runWorkers();
  expect(copiesOf(...ids)).toEqual([archive, "sequence@shop.example"]);
});

test("events about the blind copy change neither the send nor counters nor suppressions", async () => {
  const { orgId } = from.caller;
  const id = await send("dee@example.com");
  await mailTest.runWorkers();
  const ofCopy = { email: archive.toUpperCase() };
  const copyEvents = (["bounce", "spam_report", "unsubscribe", "open", "delivered"] as const).map(
    (type, i) => createEvent(id, type, i, ofCopy),
  );
  await applyMessages(await createEventMessage(orgId, copyEvents));
  expect(await findDetail(from.caller, id)).toMatchObject({
    status: "sent",
    events: [],
    deliveredAt: null,
    openedAt: null,
  });
  await applyMessages(
    await createEventMessage(orgId, [
      ...copyEvents,
      createEvent(id, "delivered", 9, { email: "Dee@example.com" }),
    ]),
  );
  expect(await findDetail(from.caller, id)).toMatchObject({
    status: "delivered",
    events: [{ type: "delivered" }],
  });
  expect(
    (
      await filterSuppressed(orgId, ["dee@example.com", archive], {
        purpose: "marketing",
      })
    ).size,
  ).toBe(0);
});

test("events count when the blind copy goes to the recipient, or when there is none", async () => {
  const toArchive = await send("archive@shop.example");
  await mailTest.runWorkers();
  await applyMessages(
    await createEventMessage(from.caller.orgId, [
      createEvent(toArchive, "delivered", 1, { email: archive }),
    ]),
  );
  expect(await findDetail(from.caller, toArchive)).toMatchObject({ status: "delivered" });
});

test.each([
  ["the copy's address", { email: "archive@shop.example" }, true],
  [
    "the copy's address in ASCII",
    { email: "archive@xn--bcher-kva.example" },
    true,
    "archive@b\u00fccher.example",
  ],
  ["the recipient's address", { email: "Ada@Example.com" }, false],
  ["an address it was forwarded to", { email: "ada@elsewhere.example" }, false],
  [
    "the recipient, with words about the copy",
    { email: "ada@example.com", data: { reason: "550 5.1.1 <archive@shop.example> unknown" } },
    true,
  ],
  [
    "the recipient, with words about both",
    { email: "ada@example.com", data: { reason: "archive@shop.example ada@example.com" } },
    false,
  ],
] as [string, { email: string; data?: { reason: string } }, boolean, string?][])(
  "an event of %s is recognized as about the mail or its blind copy",
  (_, event, expected, bcc = archive) => {
    expect(isAboutBlindCopy({ data: {}, ...event }, { toEmail: "ada@example.com", bcc })).toBe(
      expected,
    );
    expect(isAboutBlindCopy({ data: {}, ...event }, { toEmail: "ada@example.com" })).toBe(false);
    expect(isAboutBlindCopy({ data: {}, ...event }, { toEmail: bcc, bcc })).toBe(false);
  },
);
