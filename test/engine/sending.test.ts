// Mail from its acceptance to its final status.
import { randomBytes } from "node:crypto";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type * as z from "zod";
import {
  get,
  put,
  remove,
  update,
  write,
  writeMany,
} from "../../shared/adapters/dynamodb/table.ts";
import * as blobs from "../../shared/adapters/s3/objects.ts";
import * as clock from "../../shared/clock.ts";
import { NewContact } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import { NewTemplate, TemplateChanges } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { acceptSingle } from "../../shared/domain/sending/accept/accept-single.ts";
import type { AttachmentInput } from "../../shared/domain/sending/accept/attachment-input.ts";
import * as attachments from "../../shared/domain/sending/accept/attachments.ts";
import { loadIntake } from "../../shared/domain/sending/accept/intake.ts";
import { SingleMessage } from "../../shared/domain/sending/accept/single-message.ts";
import { maxContentLength } from "../../shared/domain/sending/attachment-types.ts";
import { cancelSend } from "../../shared/domain/sending/cancel-send.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { handOverSingle } from "../../shared/domain/sending/single/hand-over.ts";
import { createUpload } from "../../shared/kernel/uploads.ts";
import { keys } from "../../shared/keys.ts";
import { queues } from "../../shared/queues.ts";
import { runUntilCrash } from "../support/crash-injection.ts";
import * as mailTest from "../support/sending.ts";

beforeAll(mailTest.useOwnTableAndQueues);
beforeEach(() => mailTest.pendingMessages.splice(0));
const senders: mailTest.TestSender[] = [];
afterEach(async () => {
  for (const { provider } of senders.splice(0)) await provider.stop();
});

async function sender(
  ...args: Parameters<typeof mailTest.createSender>
): Promise<mailTest.TestSender> {
  const from = await mailTest.createSender(...args);
  senders.push(from);
  return from;
}

const sendOf = ({ caller }: mailTest.TestSender, id: number) => findDetail(caller, id);
const idsOf = ({ results }: { results: { id: number | null }[] }) => results.map(({ id }) => id!);
const mailTo = ({ provider }: mailTest.TestSender, to: string) =>
  provider.mails.find((mail) => mail.to === to)!;
const suppress = ({ caller }: mailTest.TestSender, email: string) =>
  suppressions.suppress(caller.orgId, { email, reason: "manual", source: "api" });

test("metadata keeps the largest and smallest numbers that DynamoDB can store", async () => {
  const from = await sender("postmark");
  const metadata = { most: 2 ** 53 - 1, least: 1 - 2 ** 53, near: 1e-130, part: 0.1 };
  const [id] = idsOf(await mailTest.sendBatch(from, [{ to: "ada@example.com", metadata }]));
  await mailTest.runWorkers();
  expect(await sendOf(from, id!)).toMatchObject({ status: "sent", metadata });
});

test("each mail is rendered with the recipient's variables, which override those of the batch", async () => {
  const from = await sender("postmark");
  const { id: templateId } = await templates.create(
    from.caller,
    NewTemplate.parse({
      name: "Order",
      subject: "{{ shop }}: {{ order.total }}",
      html: "<p>{{ name }}, {{ note | default: 'thanks' }}</p>",
    }),
  );
  const recipients = [
    { to: "ada@example.com", toName: "Ada", variables: { order: { total: 3 } } },
    {
      to: "bob@example.com",
      variables: { order: { total: "<5>" }, name: "Bob & Co", shop: "Bobs" },
    },
  ];
  const accepted = await mailTest.sendBatch(from, recipients, {
    templateId,
    html: undefined,
    subject: undefined,
    variables: { shop: "Shop", note: "<b>" },
  });
  await templates.change(from.caller, templateId, { subject: "changed", html: "<p>changed</p>" });
  expect((await sendOf(from, accepted.results[0]!.id!)).subject).toBe("Shop: 3");
  await mailTest.runWorkers();
  expect(mailTo(from, "ada@example.com")).toMatchObject({
    subject: "Shop: 3",
    html: "<p>Ada, &lt;b&gt;</p>",
    text: "Ada, <b>",
  });
  expect(mailTo(from, "bob@example.com")).toMatchObject({
    subject: "Bobs: <5>",
    html: "<p>Bob &amp; Co, &lt;b&gt;</p>",
  });
  expect(await mailTest.expectBalanced(from, idsOf(accepted))).toEqual({ sent: 2 });
});

test("a send to the address of a contact has its contactId after the hand-over", async () => {
  const from = await sender("postmark");
  const [ann, bea] = await Promise.all(
    ["Ann@example.com", "bea@example.com"].map((email) =>
      contacts.create(from.caller, NewContact.parse({ siteId: from.siteId, email })),
    ),
  );
  const batch = await mailTest.sendBatch(
    from,
    [{ to: "ann@example.com" }, { to: "nobody@example.com" }],
    { siteId: from.siteId },
  );
  const single = await mailTest.send(from, { to: "BEA@example.com", siteId: from.siteId });
  const all = [...idsOf(batch), single.id];
  expect(
    (await Promise.all(all.map((id) => sendOf(from, id)))).map(({ contactId }) => contactId),
  ).toEqual([null, null, null]);
  await mailTest.runWorkers();
  expect(
    (await Promise.all(all.map((id) => sendOf(from, id)))).map(({ contactId }) => contactId),
  ).toEqual([ann!.id, null, bea!.id]);
});

test("invalid and repeated recipients of a batch get no send; suppressed ones get a failed send", async () => {
  const from = await sender("postmark");
  await suppress(from, "Gone@example.com");
  const recipients = [
    { to: "a@example.com" },
    { to: "A@example.com" },
    { to: "gone@example.com" },
    { to: "no address" },
    { email: "b@example.com" },
  ];
  const { accepted, rejected, results } = await mailTest.sendBatch(from, recipients);
  expect({ accepted, rejected }).toEqual({ accepted: 2, rejected: 3 });
  expect(results.map(({ index, to, status, error }) => ({ index, to, status, error }))).toEqual([
    { index: 0, to: "a@example.com", status: "queued", error: null },
    { index: 1, to: "A@example.com", status: "rejected", error: "duplicate" },
    { index: 2, to: "gone@example.com", status: "failed", error: "suppressed" },
    {
      index: 3,
      to: "no address",
      status: "rejected",
      error: "to: must be one valid email address",
    },
    { index: 4, to: "b@example.com", status: "queued", error: null },
  ]);
  const single = await mailTest.send(from, { to: "gone@example.com" });
  expect(single.status).toBe("failed");
  expect(await sendOf(from, results[2]!.id!)).toMatchObject({
    status: "failed",
    error: "suppressed",
  });
  await mailTest.runWorkers();
  expect(
    await mailTest.expectBalanced(from, [single.id, ...results.flatMap(({ id }) => id ?? [])]),
  ).toEqual({ sent: 2, failed: 2 });
});

test("a batch without a valid recipient is refused; a batch of suppressed recipients is accepted", async () => {
  const from = await sender("postmark");
  await expect(mailTest.sendBatch(from, [{ to: "x" }, {}])).rejects.toMatchObject({
    kind: "invalid",
    details: [{ path: "recipients.0.to" }, { path: "recipients.1.to" }],
  });
  await suppress(from, "gone@example.com");
  const accepted = await mailTest.sendBatch(from, [{ to: "gone@example.com" }]);
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, idsOf(accepted))).toEqual({ failed: 1 });
  expect(from.provider.calls).toEqual([]);
});

test("an address that is suppressed between acceptance and hand-over gets no mail", async () => {
  const from = await sender("postmark");
  const { id } = await mailTest.send(from, {
    to: "late@example.com",
    scheduledAt: clock.addSeconds(3600).toISOString(),
  });
  const batch = await mailTest.sendBatch(from, [
    { to: "late@example.com" },
    { to: "ok@example.com" },
  ]);
  await suppress(from, "late@example.com");
  await mailTest.runWorkers();
  expect(await sendOf(from, id)).toMatchObject({ status: "failed", error: "suppressed" });
  expect(await sendOf(from, batch.results[0]!.id!)).toMatchObject({
    status: "failed",
    error: "suppressed",
  });
  expect(await mailTest.expectBalanced(from, [id, ...idsOf(batch)])).toEqual({
    failed: 2,
    sent: 1,
  });
});

test("a send due within 15 minutes waits in the queue, a later one on the due index", async () => {
  const from = await sender("postmark");
  const soon = clock.addSeconds(600);
  const later = clock.addSeconds(7200);
  const sent = [
    await mailTest.send(from, { to: "soon@example.com", scheduledAt: soon.toISOString() }),
  ];
  expect(
    mailTest.pendingMessages.map(({ visibleAt }) =>
      Math.round((visibleAt - soon.getTime()) / 10_000),
    ),
  ).toEqual([0]);
  sent.push(
    await mailTest.send(from, { to: "later@example.com", scheduledAt: later.toISOString() }),
  );
  expect(mailTest.pendingMessages).toHaveLength(1);
  expect(sent.map(({ status }) => status)).toEqual(["scheduled", "scheduled"]);
  await handOverSingle(from.caller.orgId, sent[0]!.id);
  await mailTest.runWorkers({ forSeconds: 590 });
  expect(from.provider.mails).toEqual([]);
  await mailTest.runWorkers({ forSeconds: 60 });
  expect(from.provider.mails.map(({ to }) => to)).toEqual(["soon@example.com"]);
  await mailTest.runWorkers();
  const added = Date.parse((await sendOf(from, sent[1]!.id)).sentAt!) - later.getTime();
  expect(added).toBeGreaterThanOrEqual(0);
  expect(added).toBeLessThan(60_000);
  expect(
    await mailTest.expectBalanced(
      from,
      sent.map(({ id }) => id),
    ),
  ).toEqual({ sent: 2 });
});

test("scheduled batches are sent at their times, whatever the order of their acceptance", async () => {
  const from = await sender("postmark");
  const at = (seconds: number) => ({ scheduledAt: clock.addSeconds(seconds).toISOString() });
  const last = await mailTest.sendBatch(from, [{ to: "3@example.com" }], at(86_400));
  const second = await mailTest.sendBatch(from, [{ to: "2@example.com" }], at(3600));
  const first = await mailTest.sendBatch(from, [{ to: "1@example.com" }], at(300));
  const now = await mailTest.sendBatch(from, [{ to: "0@example.com" }]);
  expect(last.results[0]!.status).toBe("scheduled");
  expect((await sendOf(from, last.results[0]!.id!)).status).toBe("scheduled");
  const order = () => from.provider.mails.map(({ to }) => to[0]);
  await mailTest.runWorkers({ forSeconds: 290 });
  expect(order()).toEqual(["0"]);
  await mailTest.runWorkers({ forSeconds: 20 });
  expect(order()).toEqual(["0", "1"]);
  await mailTest.runWorkers({ forSeconds: 3600 });
  expect(order()).toEqual(["0", "1", "2"]);
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, [last, second, first, now].flatMap(idsOf))).toEqual({
    sent: 4,
  });
});

test("a cancelled scheduled send is not sent; the rest of its batch is", async () => {
  const from = await sender("postmark");
  const at = { scheduledAt: clock.addSeconds(600).toISOString() };
  const one = await mailTest.send(from, { to: "one@example.com", ...at });
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(3), at);
  const [, cancelled] = idsOf(batch);
  for (const id of [one.id, cancelled!]) {
    const { createdAt, updatedAt: before } = await sendOf(from, id);
    expect(before).toBe(createdAt);
    const { status, updatedAt } = await cancelSend(from.caller, id);
    expect(status).toBe("cancelled");
    expect(updatedAt > createdAt).toBe(true);
    expect(await sendOf(from, id)).toMatchObject({ updatedAt });
  }
  await expect(cancelSend(from.caller, cancelled!)).rejects.toMatchObject({ kind: "conflict" });
  await mailTest.runWorkers();
  expect(await sendOf(from, cancelled!)).toMatchObject({ status: "cancelled", sentAt: null });
  expect(await mailTest.expectBalanced(from, [one.id, ...idsOf(batch)])).toEqual({
    cancelled: 2,
    sent: 2,
  });
  await expect(cancelSend(from.caller, idsOf(batch)[0]!)).rejects.toMatchObject({
    kind: "conflict",
  });
});

test("a send that is cancelled during its hand-over is cancelled or sent, never both", async () => {
  const from = await sender("postmark");
  for (const delayMs of [0, 2, 4, 6, 8, 10, 15, 20]) {
    const at = { scheduledAt: clock.addSeconds(100).toISOString() };
    const one = await mailTest.send(from, { to: mailTest.uniqueRecipients(1)[0]!.to, ...at });
    const [line] = idsOf(await mailTest.sendBatch(from, mailTest.uniqueRecipients(2), at));
    clock.advanceClock(99.99);
    const found = await Promise.all([one.id, line!].map((id) => sendOf(from, id)));
    expect(found.map(({ status }) => status)).toContain("scheduled");
    const cancelling = [one.id, line!].map((id) =>
      cancelSend(from.caller, id).then(
        () => true,
        () => false,
      ),
    );
    await clock.sleep(delayMs);
    clock.advanceClock(1);
    mailTest.pendingMessages.length = 0;
    await Promise.all([
      handOverSingle(from.caller.orgId, one.id),
      mailTest.runLane(from.caller.orgId, from.configId),
    ]);
    const outcomes = await Promise.all(cancelling);
    await mailTest.runWorkers();
    await mailTest.expectBalanced(from, [one.id, line!]);
    for (const [i, id] of [one.id, line!].entries())
      expect((await sendOf(from, id)).status).toBe(outcomes[i] ? "cancelled" : "sent");
  }
});

test("a recipient cancelled between the runner's read of the chunk and its claim gets no mail", async () => {
  const from = await sender("postmark");
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(3), {
    scheduledAt: clock.addSeconds(60).toISOString(),
  });
  const [, line] = idsOf(batch);
  // The clock of this request is behind, so it sees the chunk as scheduled.
  const cancel = async () => {
    clock.advanceClock(-2);
    await cancelSend(from.caller, line!).finally(() => clock.advanceClock(2));
  };
  clock.advanceClock(61);
  await mailTest.whenLaneIsRead(
    (items) => items.length === 1,
    cancel,
    () => mailTest.runLane(from.caller.orgId, from.configId),
  );
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, idsOf(batch))).toEqual({ cancelled: 1, sent: 2 });
});

test("mail whose sending config was deleted fails with that reason", async () => {
  const from = await sender("postmark");
  const { id } = await mailTest.send(from, { to: "one@example.com" });
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(3));
  await sendingConfigs.remove(from.caller, from.configId);
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, [id, ...idsOf(batch)])).toEqual({ failed: 4 });
  for (const send of await mailTest.listAllSends(from))
    expect(send.error).toBe("The mail's sending config was deleted");
});

test("after a lost response, mail is not repeated through another account of the provider", async () => {
  const from = await sender("resend");
  from.provider.faultFor = () => "lost";
  const { id } = await mailTest.send(from, { to: "one@example.com" });
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(3));
  await mailTest.runWorkers({ forSeconds: 30 });
  const { length } = from.provider.calls;
  expect(length).toBeGreaterThan(4);
  from.provider.faultFor = () => undefined;
  await sendingConfigs.update(from.caller, from.configId, { credentials: { apiKey: "re_other" } });
  await mailTest.runWorkers();
  expect(from.provider.calls).toHaveLength(length);
  expect(await mailTest.expectBalanced(from, [id, ...idsOf(batch)])).toEqual({ uncertain: 4 });
});

test("mail is uncertain, and not repeated, once the provider has forgotten its idempotency key", async () => {
  const from = await sender("resend");
  from.provider.faultFor = ({ n }) =>
    n <= 2 ? "lost" : { status: 429, headers: { "retry-after": "3600" } };
  const { id } = await mailTest.send(from, { to: "one@example.com" });
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(3));
  await mailTest.runWorkers({ forSeconds: 23.9 * 3600 });
  from.provider.faultFor = () => undefined;
  clock.advanceClock(3600);
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, [id, ...idsOf(batch)])).toEqual({ uncertain: 4 });
});

test("after a lost response, each repeated call has the same idempotency key, despite 429 and 500", async () => {
  const from = await sender("resend");
  from.provider.faultFor = ({ n }) =>
    ["lost" as const, { status: 429, headers: { "retry-after": "5" } }, { status: 500 }][n - 1];
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(3));
  await mailTest.runWorkers();
  expect(new Set(from.provider.calls.map(({ key }) => key)).size).toBe(1);
  expect(from.provider.calls).toHaveLength(4);
  expect(await mailTest.expectBalanced(from, idsOf(batch))).toEqual({ sent: 3 });
});

test("a 401 to a call that is repeated after a lost response leaves the mail uncertain", async () => {
  const from = await sender("resend");
  from.provider.faultFor = ({ n }) => (n <= 2 ? "lost" : { status: 401 });
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(3));
  const { id } = await mailTest.send(from, { to: "one@example.com" });
  await mailTest.runWorkers();
  expect(from.provider.mails).toHaveLength(4);
  expect(await mailTest.expectBalanced(from, [...idsOf(batch), id])).toEqual({ uncertain: 4 });
});

test("the error of a 401 names the sending config and what to check; the error of a 400 does not", async () => {
  const from = await sender("postmark");
  from.provider.faultFor = () => ({ status: 401 });
  const { id } = await mailTest.send(from, { to: "one@example.com" });
  const ids = [id, ...idsOf(await mailTest.sendBatch(from, mailTest.uniqueRecipients(2)))];
  await mailTest.runWorkers();
  const expectedError = new RegExp(
    `sending config ${from.configId}: check its credentials and sender. .+`,
  );
  for (const one of ids)
    expect(await sendOf(from, one)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(expectedError),
    });
  from.provider.faultFor = () => ({ status: 400 });
  const other = await mailTest.send(from, { to: "two@example.com" });
  await mailTest.runWorkers();
  expect((await sendOf(from, other.id)).error).not.toContain("sending config");
});

test("mails of a batch that are sent one by one are retried one by one", async () => {
  const from = await sender("resend");
  from.provider.faultFor = ({ n, recipients }) => {
    if (recipients > 1) return { status: 400 };
    return n < 5 ? "lost" : undefined;
  };
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(4));
  await mailTest.runWorkers();
  expect(from.provider.calls.filter(({ recipients }) => recipients > 1)).toHaveLength(1);
  expect(await mailTest.expectBalanced(from, idsOf(batch))).toEqual({ sent: 4 });
});

test("after a crash in a call that is made mail by mail, the next worker continues mail by mail", async () => {
  const from = await sender("resend");
  from.provider.faultFor = ({ recipients }) => (recipients > 1 ? { status: 400 } : undefined);
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(3));
  const run = () => mailTest.runLane(from.caller.orgId, from.configId);
  for (let steps = 5; !from.provider.mails.length; steps++) {
    await runUntilCrash(steps, "after", run);
    clock.advanceClock(queues.lane.timeoutSeconds * 2);
  }
  from.provider.faultFor = () => undefined;
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, idsOf(batch))).toEqual({ sent: 3 });
});

test("a mail with a lost response is uncertain, not failed, if its address is suppressed meanwhile", async () => {
  const from = await sender("resend");
  from.provider.faultFor = ({ n, recipients }) => {
    if (recipients > 1) return { status: 400 };
    return n === 2 ? "lost" : undefined;
  };
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(2));
  await mailTest.runLane(from.caller.orgId, from.configId);
  const lost = (await mailTest.listAllSends(from)).filter(({ status }) => status !== "sent");
  expect(lost).toHaveLength(1);
  await suppress(from, lost[0]!.toEmail);
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, idsOf(batch))).toEqual({ sent: 1, uncertain: 1 });
});

test("a mail whose template cannot be rendered fails alone", async () => {
  const from = await sender("postmark");
  const html = "<p>{% for i in (1..n) %}.{% endfor %}</p>";
  const recipients = mailTest
    .uniqueRecipients(4)
    .map((one, n) => ({ ...one, variables: { n: n === 0 ? 1e6 : n } }));
  const batch = await mailTest.sendBatch(from, recipients, {
    html,
    subject: "{% for i in (1..n) %}.{% endfor %}",
  });
  expect((await sendOf(from, batch.results[0]!.id!)).subject).toBe(
    "{% for i in (1..n) %}.{% endfor %}",
  );
  const { id } = await mailTest.send(from, { to: "one@example.com", html, variables: { n: 1e6 } });
  await mailTest.runWorkers();
  expect(await sendOf(from, batch.results[0]!.id!)).toMatchObject({
    status: "failed",
    error: expect.stringContaining("cannot be rendered"),
  });
  expect(await sendOf(from, id)).toMatchObject({
    status: "failed",
    error: expect.stringContaining("html cannot be rendered (line 1)"),
  });
  expect(await mailTest.expectBalanced(from, [id, ...idsOf(batch)])).toEqual({
    failed: 2,
    sent: 3,
  });
  await expect(
    mailTest.send(from, { to: "one@example.com", subject: html, variables: { n: 1e6 } }),
  ).rejects.toMatchObject({
    kind: "invalid",
  });
});

test("a batch of 1,000 whose template exceeds the work limit fails with the reason", async () => {
  const from = await sender("postmark");
  const html = `{% assign x = "a,b" | split: "," %}${"{% assign x = x | push: x %}".repeat(40)}{{ x }}`;
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(1000), {
    html,
    subject: "{{ 'a' | append: 'b' }}",
  });
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, idsOf(batch))).toEqual({ failed: 1000 });
  expect(await sendOf(from, batch.results[999]!.id!)).toMatchObject({
    subject: "ab",
    error: expect.stringContaining("it takes too much work"),
  });
  expect(from.provider.calls).toEqual([]);
});

test("the tracking settings of a recipient override those of the batch", async () => {
  const from = await sender("postmark");
  const recipients = [
    { to: "all@example.com" },
    { to: "no-opens@example.com", trackOpens: false },
    { to: "clicks@example.com", trackClicks: true },
    { to: "as-all@example.com" },
  ];
  await mailTest.sendBatch(from, recipients, { trackOpens: true, trackClicks: false });
  await mailTest.runWorkers();
  const flags = (name: string) => {
    const { trackOpens, trackClicks } = mailTo(from, `${name}@example.com`);
    return [trackOpens, trackClicks];
  };
  expect(["all", "no-opens", "clicks", "as-all"].map(flags)).toEqual([
    [true, false],
    [false, false],
    [true, true],
    [true, false],
  ]);
});

test("inline and uploaded attachments arrive unchanged with every mail of a batch", async () => {
  const from = await sender("postmark");
  const bytes = randomBytes(50_000);
  const { uploadId } = await createUpload(from.caller, {
    filename: "b.bin",
    type: "application/pdf",
    size: bytes.length,
  });
  const upload = await get<{ blob: string }>(keys.upload(from.caller.orgId, uploadId));
  const files: z.input<typeof AttachmentInput>[] = [
    { filename: "a.bin", content: bytes.toString("base64") },
    { filename: "b.bin", uploadId },
  ];
  const early = mailTest.send(from, { to: "x@example.com", attachments: files });
  await expect(early).rejects.toMatchObject({ details: [{ path: "attachments.1.uploadId" }] });
  await blobs.put(upload!.blob, bytes);
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(3), {
    attachments: files,
  });
  const { id } = await mailTest.send(from, { to: "x@example.com", attachments: files });
  await mailTest.runWorkers();
  expect(from.provider.mails).toHaveLength(4);
  for (const mail of from.provider.mails)
    expect(
      mail.attachments.map(({ filename, content }) => [
        filename,
        Buffer.from(content, "base64").equals(bytes),
      ]),
    ).toEqual([
      ["a.bin", true],
      ["b.bin", true],
    ]);
  expect(await mailTest.expectBalanced(from, [id, ...idsOf(batch)])).toEqual({ sent: 4 });
});

test("a worker loads only as many heavy mails as fit into memory; the others return to the queue", async () => {
  const from = await sender("resend");
  from.provider.latencyMs = 100;
  const file = { filename: "a.bin", content: Buffer.alloc(10 * 1024 * 1024, 7).toString("base64") };
  const sent = await Promise.all(
    mailTest
      .uniqueRecipients(4)
      .map((one) => mailTest.send(from, { ...one, attachments: [file, file] })),
  );
  const ids = sent.map(({ id }) => id);
  mailTest.pendingMessages.length = 0;
  await Promise.all(ids.map((id) => handOverSingle(from.caller.orgId, id)));
  expect(from.provider.calls).toHaveLength(3);
  expect(mailTest.pendingMessages).toHaveLength(1);
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: 4 });
});

test("a lane has fewer calls in flight when its mails are heavy", async () => {
  const from = await sender("ses");
  from.provider.latencyMs = 20;
  const file = { filename: "a.bin", content: Buffer.alloc(7 * 1024 * 1024, 7).toString("base64") };
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(8), {
    attachments: [file, file],
  });
  await mailTest.runWorkers();
  expect(from.provider.maxConcurrentCalls).toBeLessThanOrEqual(4);
  expect(await mailTest.expectBalanced(from, idsOf(batch))).toEqual({ sent: 8 });
});

test("variables too large for an item are stored in S3 and rendered", async () => {
  const from = await sender("postmark");
  const recipients = mailTest
    .uniqueRecipients(300)
    .map((one) => ({ ...one, variables: { word: randomBytes(3000).toString("base64") } }));
  const batch = await mailTest.sendBatch(from, recipients, { html: "<p>{{ word }}</p>" });
  await mailTest.runWorkers();
  for (const [i, { to, variables }] of recipients.entries())
    if (i % 50 === 0) expect(mailTo(from, to).text).toBe(variables.word);
  expect(await mailTest.expectBalanced(from, idsOf(batch))).toEqual({ sent: 300 });
});

test("a send whose content was never stored fails instead of waiting for ever", async () => {
  const from = await sender("postmark");
  const { id } = await mailTest.send(from, {
    to: "one@example.com",
    html: `<p>${randomBytes(2000).toString("hex")}</p>`,
  });
  await write(remove(keys.singleContent(from.caller.orgId, id)));
  await mailTest.runWorkers();
  expect(await sendOf(from, id)).toMatchObject({
    status: "failed",
    error: "The send was never accepted: its content is missing",
  });
});

test("a missing attachment fails its mails and does not block the lane", async () => {
  const from = await sender("postmark");
  const files = {
    attachments: [{ filename: "a.txt", content: randomBytes(100).toString("base64") }],
  };
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(2), files);
  const [{ blob } = { blob: "" }] = await attachments.storeAttachments(
    from.caller.orgId,
    await attachments.validateAttachments(from.caller.orgId, files.attachments),
  );
  await blobs.remove(blob);
  const after = await mailTest.sendBatch(from, mailTest.uniqueRecipients(1));
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, [...idsOf(batch), ...idsOf(after)])).toEqual({
    failed: 2,
    sent: 1,
  });
});

test.each(["postmark", "resend", "ses"] as const)(
  "each refused mail of a batch at %s fails with the provider's message",
  async (key) => {
    const from = await sender(key);
    const recipients = mailTest.uniqueRecipients(120);
    from.provider.isRefused = (to) => /-(0|50|119)@/.test(to);
    const batch = await mailTest.sendBatch(from, recipients);
    await mailTest.runWorkers();
    expect(await sendOf(from, batch.results[50]!.id!)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^Invalid/),
    });
    expect(await sendOf(from, batch.results[51]!.id!)).toMatchObject({
      status: "sent",
      provider: key,
      providerMessageId: `m-${batch.results[51]!.id}`,
    });
    expect(await mailTest.expectBalanced(from, idsOf(batch))).toEqual({ failed: 3, sent: 117 });
  },
);

test("a call that is refused as a whole is made mail by mail, until the provider asks for a pause", async () => {
  const from = await sender("postmark");
  const recipients = mailTest.uniqueRecipients(100);
  from.provider.faultFor = ({ n, recipients }) => {
    if (recipients > 1)
      return { status: 422, body: { ErrorCode: 300, Message: "one of them is bad" } };
    return n === 3 ? { status: 429, headers: { "retry-after": "5" } } : undefined;
  };
  const batch = await mailTest.sendBatch(from, recipients);
  mailTest.pendingMessages.length = 0;
  await mailTest.runLane(from.caller.orgId, from.configId);
  expect(from.provider.calls.length).toBeLessThan(60);
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, idsOf(batch))).toEqual({ sent: 100 });
});

test("an event that arrives before our own write is kept, and the send leaves the due index", async () => {
  const from = await sender("postmark");
  const { id } = await mailTest.send(from, { to: "quick@example.com" });
  const batch = await mailTest.sendBatch(from, [{ to: "quicker@example.com" }]);
  const { orgId } = from.caller;
  const line = batch.results[0]!.id!;
  // The state that an early delivered event leaves.
  from.provider.faultFor = () => {
    void write(update(keys.send(orgId, id), { set: { status: "delivered", v: 1 } }));
    void write(
      put(keys.send(orgId, line), {
        id: line,
        siteId: from.siteId,
        status: "delivered",
        v: 1,
        toEmail: "quicker@example.com",
        early: true,
      }),
    );
    return undefined;
  };
  from.provider.latencyMs = 0;
  const slow = new Promise((resolve) => setTimeout(resolve, 50));
  await mailTest.runWorkers();
  await slow;
  for (const one of [id, line])
    expect(await findDetail(from.caller, one)).toMatchObject({
      status: "delivered",
      v: 1,
      sentAt: expect.any(String),
      providerMessageId: `m-${one}`,
    });
  expect(await get(keys.send(orgId, id))).not.toHaveProperty("duepk");
});

test("a send that an event settles after its worker crashed leaves the due index", async () => {
  const from = await sender("postmark");
  const { id } = await mailTest.send(from, { to: "quick@example.com" });
  const { orgId } = from.caller;
  mailTest.pendingMessages.length = 0;
  await write(
    update(keys.send(orgId, id), {
      set: { status: "delivered", attempt: 1, lease: clock.addSeconds(100).toISOString(), v: 1 },
    }),
  );
  await mailTest.runWorkers();
  const item = await get<Record<string, unknown>>(keys.send(orgId, id));
  expect(item).toMatchObject({ status: "delivered" });
  for (const attribute of ["duepk", "duesk", "lease", "attempt", "content"])
    expect(item).not.toHaveProperty(attribute);
  expect(from.provider.calls).toEqual([]);
});

test("GET /sends returns every send once by cursor, with any page size, while others are added", async () => {
  const from = await sender("postmark");
  const first = [(await mailTest.send(from, { to: "one@example.com" })).id];
  for (const n of [7, 1, 120])
    first.push(...idsOf(await mailTest.sendBatch(from, mailTest.uniqueRecipients(n))));
  for (const limit of [1, 3, 50, 100]) {
    if (limit === 1) continue;
    let added = 0;
    const seen: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await listSends(from.caller, { limit, cursor }, {});
      expect(page.sends.length).toBeLessThanOrEqual(limit);
      seen.push(...page.sends.map(({ id }) => id));
      cursor = page.pagination.nextCursor ?? undefined;
      if (added++ < 3)
        first.unshift((await mailTest.send(from, { to: mailTest.uniqueRecipients(1)[0]!.to })).id);
    } while (cursor);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(first.slice(3)));
  }
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, first)).toEqual({ sent: first.length });
});

test("a send with 300 stored events is listed once, and no event is listed as a send", async () => {
  const from = await sender("postmark");
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(12));
  await mailTest.runWorkers();
  const [first, second] = idsOf(batch);
  const eventWrite = (n: number) =>
    put(
      {
        ...keys.send(from.caller.orgId, first!),
        sk: `${keys.send(from.caller.orgId, first!).sk}#E${n}`,
      },
      { id: second },
    );
  const listed = async () =>
    (await listSends(from.caller, { limit: 50 }, {})).sends.map(({ id, toEmail }) => [id, toEmail]);
  const expected = batch.results.map(({ id, to }) => [id, to]);
  await writeMany([1, 2, 3].map(eventWrite));
  expect(await listed()).toEqual(expected);
  await writeMany(Array.from({ length: 300 }, (_, n) => eventWrite(n)));
  expect(await listed()).toEqual(expected);
});

test("a batch is listed by its id; an id that is no batch lists nothing", async () => {
  const from = await sender("postmark");
  const { id } = await mailTest.send(from, { to: "one@example.com" });
  const batch = await mailTest.sendBatch(from, mailTest.uniqueRecipients(70));
  const page = await listSends(from.caller, { limit: 50 }, { batchId: batch.batchId });
  expect(page.sends.map(({ id }) => id)).toEqual(idsOf(batch).slice(0, 50));
  const rest = await listSends(
    from.caller,
    { limit: 50, cursor: page.pagination.nextCursor! },
    { batchId: batch.batchId },
  );
  expect(rest.sends.map(({ id }) => id)).toEqual(idsOf(batch).slice(50));
  expect(rest.pagination.nextCursor).toBeNull();
  expect(
    (await listSends(from.caller, { limit: 50 }, { batchId: Math.floor(id / 1000) })).sends,
  ).toEqual([]);
  await mailTest.runWorkers();
});

test("a secure mail is not accepted without encryption", async () => {
  const { caller, configId } = await sender("postmark");
  const given = {
    sendingConfigId: configId,
    to: "one@example.com",
    subject: "Yours",
    html: "<p>4711</p>",
    secure: true,
  };
  const message = SingleMessage.parse(given);
  await expect(
    acceptSingle(caller, message, {
      context: await loadIntake(caller, message, { emails: [message.to] }),
    }),
  ).rejects.toThrow("must be encrypted");
});

test("content that the provider would refuse gets an error that names the field", async () => {
  const [postmark, ses] = [await sender("postmark"), await sender("ses")];
  const refused = (from: mailTest.TestSender, fields: object) =>
    mailTest.send(from, { to: "one@example.com", ...fields });
  const content = Buffer.alloc(4_000_000).toString("base64");
  const tooMany = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`X-${n}`, "a"]));
  const refusedInputs: [mailTest.TestSender, object, string][] = [
    [
      postmark,
      { attachments: ["a.txt", "b.txt"].map((filename) => ({ filename, content })) },
      "attachments",
    ],
    [postmark, { attachments: [{ filename: "a.txt", content: "" }] }, "attachments.0.content"],
    [
      postmark,
      {
        fromEmail: `${"a".repeat(60)}@${"b".repeat(60)}.${"c".repeat(60)}.example.com`,
        fromName: "n".repeat(100),
      },
      "fromName",
    ],
    [ses, { headers: tooMany }, "headers"],
    [ses, { headers: { "X-A": "a".repeat(996) } }, "headers.X-A"],
    [ses, { subject: "{{ nothing }} " }, "subject"],
    [ses, { html: "{{ nothing }}\n" }, "html"],
  ];
  for (const [from, fields, path] of refusedInputs)
    await expect(refused(from, fields), path).rejects.toMatchObject({
      kind: "invalid",
      details: [{ path }],
    });
  expect(await mailTest.listAllSends(postmark)).toEqual([]);
  expect(await mailTest.listAllSends(ses)).toEqual([]);
});

test("a template that is empty with any variables is refused at acceptance until it is changed", async () => {
  const from = await sender("postmark");
  const create = (fields: object) =>
    templates.create(
      from.caller,
      NewTemplate.parse({
        name: "Empty",
        subject: "Hello",
        html: "<p>Hello</p>",
        ...fields,
      }),
    );
  const send = (templateId: number) =>
    mailTest.send(from, { to: "one@example.com", templateId, subject: undefined, html: undefined });
  const noSubject = await create({ subject: "{% comment %}Hello{% endcomment %}" });
  await expect(send(noSubject.id)).rejects.toMatchObject({
    kind: "invalid",
    details: [{ path: "subject", message: "renders empty" }],
  });
  const noBody = await create({ html: " \n", text: "" });
  const refused = {
    kind: "invalid",
    details: [{ path: "templateId", message: "the template has an empty body" }],
  };
  await expect(send(noBody.id)).rejects.toMatchObject(refused);
  const batch = { templateId: noBody.id, html: undefined, subject: undefined };
  await expect(mailTest.sendBatch(from, mailTest.uniqueRecipients(2), batch)).rejects.toMatchObject(
    refused,
  );
  expect(await mailTest.listAllSends(from)).toEqual([]);
  await templates.change(from.caller, noBody.id, TemplateChanges.parse({ text: "Hello" }));
  await send(noBody.id);
  await mailTest.runWorkers();
  expect(from.provider.mails).toHaveLength(1);
});

test("recipients whose inline content renders empty are rejected; with a template their sends fail", async () => {
  const from = await sender("postmark");
  const recipients = [{ to: "a@example.com", variables: { word: "Hi" } }, { to: "b@example.com" }];
  const { accepted, rejected, results } = await mailTest.sendBatch(from, recipients, {
    subject: "{{ word }}",
  });
  expect({ accepted, rejected }).toEqual({ accepted: 1, rejected: 1 });
  expect(results[1]).toMatchObject({ status: "rejected", error: "subject: renders empty" });
  await expect(
    mailTest.sendBatch(from, [{ to: "b@example.com" }], { subject: "{{ word }}" }),
  ).rejects.toMatchObject({
    details: [{ path: "recipients.0.subject" }],
  });
  const template = { name: "Words", subject: "Hello", html: "{{ word }}" };
  const { id: templateId } = await templates.create(from.caller, NewTemplate.parse(template));
  const batch = await mailTest.sendBatch(from, recipients, {
    templateId,
    html: undefined,
    subject: undefined,
  });
  const { id } = await mailTest.send(from, {
    to: "c@example.com",
    templateId,
    html: undefined,
    subject: undefined,
  });
  await mailTest.runWorkers();
  for (const one of [id, batch.results[1]!.id!])
    expect(await sendOf(from, one)).toMatchObject({
      status: "failed",
      error: "The body renders empty",
    });
  expect(from.provider.mails.map(({ to }) => to)).toEqual(["a@example.com", "a@example.com"]);
});

test("a file without a type gets one from its name, and text outside ASCII gets a charset", async () => {
  const from = await sender("postmark");
  const file = (filename: string, text: string, type?: string) => ({
    filename,
    content: Buffer.from(text).toString("base64"),
    type,
  });
  const files = [
    file("a.pdf", "x"),
    file("a.txt", "é"),
    file("a.txt", "e"),
    file("a.csv", "é", "text/csv; charset=iso-8859-1"),
    file("a.zzz", "x"),
  ];
  const stored = await attachments.storeAttachments(
    from.caller.orgId,
    await attachments.validateAttachments(from.caller.orgId, files),
  );
  expect((await attachments.loadAttachments(stored)).map(({ type }) => type)).toEqual([
    "application/pdf",
    "text/plain; charset=utf-8",
    "text/plain",
    "text/csv; charset=iso-8859-1",
    "application/octet-stream",
  ]);
});

test("content of more than 20 million characters is a file of more than 10 MB", async () => {
  const content = "\n".repeat(maxContentLength + 1);
  await expect(
    attachments.validateAttachments(1, [{ filename: "terms.pdf", content }]),
  ).rejects.toMatchObject({ code: "limit_exceeded" });
});

test("a file that mails of one request share is stored once", async () => {
  const from = await sender("postmark");
  const { orgId } = from.caller;
  const content = Buffer.from("shared by all").toString("base64");
  const files = await attachments.validateAttachments(orgId, [{ filename: "a.txt", content }]);
  const [first] = await attachments.storeAttachments(orgId, files);
  await blobs.remove(first!.blob);
  expect(await attachments.storeAttachments(orgId, files)).toEqual([first]);
  expect(await blobs.get(first!.blob)).toBeUndefined();
});
