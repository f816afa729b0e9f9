// What becomes of mail between its acceptance and its end, when all workers live.
import { randomBytes } from "node:crypto";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type * as z from "zod";
import * as clock from "../../shared/clock.ts";
import { NewContact } from "../../shared/domain/contacts/contact.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import { gather } from "../../shared/domain/sending/accept.ts";
import { single } from "../../shared/domain/sending/accept-single.ts";
import * as attachments from "../../shared/domain/sending/attachments.ts";
import { type AttachmentInput, SingleMessage } from "../../shared/domain/sending/message.ts";
import * as singles from "../../shared/domain/sending/singles.ts";
import * as sendingConfigs from "../../shared/domain/sending-configs.ts";
import * as sends from "../../shared/domain/sends.ts";
import * as suppressions from "../../shared/domain/suppressions.ts";
import * as templates from "../../shared/domain/templates.ts";
import * as blobs from "../../shared/doors/blobs.ts";
import { get, getMany, put, remove, update, write, writeMany } from "../../shared/doors/table.ts";
import { keys } from "../../shared/keys.ts";
import { queues } from "../../shared/queues.ts";
import { killed } from "../support/killer.ts";
import * as mailroom from "../support/mailroom.ts";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(mailroom.opened);
beforeEach(() => mailroom.messages.splice(0));
const open: mailroom.Sender[] = [];
afterEach(async () => {
  for (const { provider } of open.splice(0)) await provider.stop();
});

async function sender(...args: Parameters<typeof mailroom.sender>): Promise<mailroom.Sender> {
  const from = await mailroom.sender(...args);
  open.push(from);
  return from;
}

const sendOf = ({ caller }: mailroom.Sender, id: number) => sends.detail(caller, id);
const idsOf = ({ results }: { results: { id: number | null }[] }) => results.map(({ id }) => id!);
const mailTo = ({ provider }: mailroom.Sender, to: string) => provider.mails.find((mail) => mail.to === to)!;
const suppress = ({ caller }: mailroom.Sender, email: string) =>
  suppressions.suppress(caller.orgId, { email, reason: "manual", source: "api" });

test("each recipient reads their own variables, over those of all", async () => {
  const from = await sender("postmark");
  const { id: templateId } = await templates.create(
    from.caller,
    templates.NewTemplate.parse({
      name: "Order",
      subject: "{{ shop }}: {{ order.total }}",
      html: "<p>{{ name }}, {{ note | default: 'thanks' }}</p>",
    }),
  );
  const recipients = [
    { to: "ada@example.com", toName: "Ada", variables: { order: { total: 3 } } },
    { to: "bob@example.com", variables: { order: { total: "<5>" }, name: "Bob & Co", shop: "Bobs" } },
  ];
  const accepted = await mailroom.sendBatch(from, recipients, {
    templateId,
    html: undefined,
    subject: undefined,
    variables: { shop: "Shop", note: "<b>" },
  });
  await templates.change(from.caller, templateId, { subject: "changed", html: "<p>changed</p>" });
  expect((await sendOf(from, accepted.results[0]!.id!)).subject).toBe("Shop: 3");
  await mailroom.settle();
  expect(mailTo(from, "ada@example.com")).toMatchObject({ subject: "Shop: 3", html: "<p>Ada, &lt;b&gt;</p>", text: "Ada, <b>" });
  expect(mailTo(from, "bob@example.com")).toMatchObject({ subject: "Bobs: <5>", html: "<p>Bob &amp; Co, &lt;b&gt;</p>" });
  expect(await mailroom.balanced(from, idsOf(accepted))).toEqual({ sent: 2 });
});

test("mail to an address knows whose it is, once it is handed over", async () => {
  const from = await sender("postmark");
  const [ann, bea] = await Promise.all(
    ["Ann@example.com", "bea@example.com"].map((email) => contacts.create(from.caller, NewContact.parse({ siteId: from.siteId, email }))),
  );
  const batch = await mailroom.sendBatch(from, [{ to: "ann@example.com" }, { to: "nobody@example.com" }], { siteId: from.siteId });
  const single = await mailroom.send(from, { to: "BEA@example.com", siteId: from.siteId });
  const all = [...idsOf(batch), single.id];
  expect((await Promise.all(all.map((id) => sendOf(from, id)))).map(({ contactId }) => contactId)).toEqual([null, null, null]);
  await mailroom.settle();
  expect((await Promise.all(all.map((id) => sendOf(from, id)))).map(({ contactId }) => contactId)).toEqual([ann!.id, null, bea!.id]);
});

test("accepted and rejected make up the recipients; who is suppressed is recorded and not mailed, who is invalid has no send", async () => {
  const from = await sender("postmark");
  await suppress(from, "Gone@example.com");
  const recipients = [
    { to: "a@example.com" },
    { to: "A@example.com" },
    { to: "gone@example.com" },
    { to: "no address" },
    { email: "b@example.com" },
  ];
  const { accepted, rejected, results } = await mailroom.sendBatch(from, recipients);
  expect({ accepted, rejected }).toEqual({ accepted: 2, rejected: 3 });
  expect(results.map(({ index, to, status, error }) => ({ index, to, status, error }))).toEqual([
    { index: 0, to: "a@example.com", status: "queued", error: null },
    { index: 1, to: "A@example.com", status: "rejected", error: "duplicate" },
    { index: 2, to: "gone@example.com", status: "failed", error: "suppressed" },
    { index: 3, to: "no address", status: "rejected", error: "to: must be one valid email address" },
    { index: 4, to: "b@example.com", status: "queued", error: null },
  ]);
  const single = await mailroom.send(from, { to: "gone@example.com" });
  expect(single.status).toBe("failed");
  expect(await sendOf(from, results[2]!.id!)).toMatchObject({ status: "failed", error: "suppressed" });
  await mailroom.settle();
  expect(await mailroom.balanced(from, [single.id, ...results.flatMap(({ id }) => id ?? [])])).toEqual({ sent: 2, failed: 2 });
});

test("a batch of nobody who can be sent to is refused, and a batch of suppressed ones is not", async () => {
  const from = await sender("postmark");
  await expect(mailroom.sendBatch(from, [{ to: "x" }, {}])).rejects.toMatchObject({
    kind: "invalid",
    details: [{ path: "recipients.0" }, { path: "recipients.1" }],
  });
  await suppress(from, "gone@example.com");
  const accepted = await mailroom.sendBatch(from, [{ to: "gone@example.com" }]);
  await mailroom.settle();
  expect(await mailroom.balanced(from, idsOf(accepted))).toEqual({ failed: 1 });
  expect(from.provider.calls).toEqual([]);
});

test("a suppression between acceptance and hand-over is heeded", async () => {
  const from = await sender("postmark");
  const { id } = await mailroom.send(from, { to: "late@example.com", scheduledAt: clock.after(3600).toISOString() });
  const batch = await mailroom.sendBatch(from, [{ to: "late@example.com" }, { to: "ok@example.com" }]);
  await suppress(from, "late@example.com");
  await mailroom.settle();
  expect(await sendOf(from, id)).toMatchObject({ status: "failed", error: "suppressed" });
  expect(await sendOf(from, batch.results[0]!.id!)).toMatchObject({ status: "failed", error: "suppressed" });
  expect(await mailroom.balanced(from, [id, ...idsOf(batch)])).toEqual({ failed: 2, sent: 1 });
});

test("a send within 15 minutes rides on the queue, a later one on the due index; both go at their time and not before", async () => {
  const from = await sender("postmark");
  const soon = clock.after(600);
  const later = clock.after(7200);
  const sent = [await mailroom.send(from, { to: "soon@example.com", scheduledAt: soon.toISOString() })];
  expect(mailroom.messages.map(({ visibleAt }) => Math.round((visibleAt - soon.getTime()) / 10_000))).toEqual([0]);
  sent.push(await mailroom.send(from, { to: "later@example.com", scheduledAt: later.toISOString() }));
  expect(mailroom.messages).toHaveLength(1);
  expect(sent.map(({ status }) => status)).toEqual(["scheduled", "scheduled"]);
  await singles.deliver(from.caller.orgId, sent[0]!.id);
  await mailroom.settle({ forSeconds: 590 });
  expect(from.provider.mails).toEqual([]);
  await mailroom.settle({ forSeconds: 60 });
  expect(from.provider.mails.map(({ to }) => to)).toEqual(["soon@example.com"]);
  await mailroom.settle();
  const late = Date.parse((await sendOf(from, sent[1]!.id)).sentAt!) - later.getTime();
  expect(late).toBeGreaterThanOrEqual(0);
  expect(late).toBeLessThan(60_000);
  expect(
    await mailroom.balanced(
      from,
      sent.map(({ id }) => id),
    ),
  ).toEqual({ sent: 2 });
});

test("scheduled batches go at their times, whatever the order in which they came", async () => {
  const from = await sender("postmark");
  const at = (seconds: number) => ({ scheduledAt: clock.after(seconds).toISOString() });
  const last = await mailroom.sendBatch(from, [{ to: "3@example.com" }], at(86_400));
  const second = await mailroom.sendBatch(from, [{ to: "2@example.com" }], at(3600));
  const first = await mailroom.sendBatch(from, [{ to: "1@example.com" }], at(300));
  const now = await mailroom.sendBatch(from, [{ to: "0@example.com" }]);
  expect(last.results[0]!.status).toBe("scheduled");
  expect((await sendOf(from, last.results[0]!.id!)).status).toBe("scheduled");
  const order = () => from.provider.mails.map(({ to }) => to[0]);
  await mailroom.settle({ forSeconds: 290 });
  expect(order()).toEqual(["0"]);
  await mailroom.settle({ forSeconds: 20 });
  expect(order()).toEqual(["0", "1"]);
  await mailroom.settle({ forSeconds: 3600 });
  expect(order()).toEqual(["0", "1", "2"]);
  await mailroom.settle();
  expect(await mailroom.balanced(from, [last, second, first, now].flatMap(idsOf))).toEqual({ sent: 4 });
});

test("what is cancelled before its time is not sent; the rest of its batch is", async () => {
  const from = await sender("postmark");
  const at = { scheduledAt: clock.after(600).toISOString() };
  const one = await mailroom.send(from, { to: "one@example.com", ...at });
  const batch = await mailroom.sendBatch(from, mailroom.recipients(3), at);
  const [, cancelled] = idsOf(batch);
  for (const id of [one.id, cancelled!]) expect(await sends.cancel(from.caller, id)).toMatchObject({ id, status: "cancelled" });
  await expect(sends.cancel(from.caller, cancelled!)).rejects.toMatchObject({ kind: "conflict" });
  await mailroom.settle();
  expect(await sendOf(from, cancelled!)).toMatchObject({ status: "cancelled", sentAt: null });
  expect(await mailroom.balanced(from, [one.id, ...idsOf(batch)])).toEqual({ cancelled: 2, sent: 2 });
  await expect(sends.cancel(from.caller, idsOf(batch)[0]!)).rejects.toMatchObject({ kind: "conflict" });
});

test("a send that is just being handed over is cancelled or sent, never both", async () => {
  const from = await sender("postmark");
  for (const delayMs of [0, 2, 4, 6, 8, 10, 15, 20]) {
    const at = { scheduledAt: clock.after(100).toISOString() };
    const one = await mailroom.send(from, { to: mailroom.recipients(1)[0]!.to, ...at });
    const [line] = idsOf(await mailroom.sendBatch(from, mailroom.recipients(2), at));
    clock.advance(99.99);
    const found = await Promise.all([one.id, line!].map((id) => sendOf(from, id)));
    expect(found.map(({ status }) => status)).toContain("scheduled");
    const cancelling = [one.id, line!].map((id) =>
      sends.cancel(from.caller, id).then(
        () => true,
        () => false,
      ),
    );
    await clock.sleep(delayMs);
    clock.advance(1);
    mailroom.messages.length = 0;
    await Promise.all([singles.deliver(from.caller.orgId, one.id), mailroom.runLane(from.caller.orgId, from.configId)]);
    const outcomes = await Promise.all(cancelling);
    await mailroom.settle();
    await mailroom.balanced(from, [one.id, line!]);
    for (const [i, id] of [one.id, line!].entries()) expect((await sendOf(from, id)).status).toBe(outcomes[i] ? "cancelled" : "sent");
  }
});

test("a line that is cancelled after its chunk was looked up and before it is claimed is not sent", async () => {
  const from = await sender("postmark");
  const batch = await mailroom.sendBatch(from, mailroom.recipients(3), { scheduledAt: clock.after(60).toISOString() });
  const [, line] = idsOf(batch);
  // A request that is a little behind: it sees the chunk as still to come.
  const cancel = async () => {
    clock.advance(-2);
    await sends.cancel(from.caller, line!).finally(() => clock.advance(2));
  };
  clock.advance(61);
  await mailroom.whenLookedInto(
    (items) => items.length === 1,
    cancel,
    () => mailroom.runLane(from.caller.orgId, from.configId),
  );
  await mailroom.settle();
  expect(await mailroom.balanced(from, idsOf(batch))).toEqual({ cancelled: 1, sent: 2 });
});

test("mail whose sending config was deleted meanwhile fails and says so", async () => {
  const from = await sender("postmark");
  const { id } = await mailroom.send(from, { to: "one@example.com" });
  const batch = await mailroom.sendBatch(from, mailroom.recipients(3));
  await expect(sendingConfigs.remove(from.caller, from.configId)).rejects.toMatchObject({ kind: "conflict" });
  await write(remove(keys.record(from.caller.orgId, "CONFIG", from.configId)));
  await mailroom.settle();
  expect(await mailroom.balanced(from, [id, ...idsOf(batch)])).toEqual({ failed: 4 });
  for (const send of await mailroom.listed(from)) expect(send.error).toBe("Its sending config was deleted");
});

test("an answer that was lost at one account is not asked for at another", async () => {
  const from = await sender("resend");
  from.provider.trouble = () => "lost";
  const { id } = await mailroom.send(from, { to: "one@example.com" });
  const batch = await mailroom.sendBatch(from, mailroom.recipients(3));
  await mailroom.settle({ forSeconds: 30 });
  const { length } = from.provider.calls;
  expect(length).toBeGreaterThan(4);
  from.provider.trouble = () => undefined;
  await sendingConfigs.update(from.caller, from.configId, { credentials: { apiKey: "re_other" } });
  await mailroom.settle();
  expect(from.provider.calls).toHaveLength(length);
  expect(await mailroom.balanced(from, [id, ...idsOf(batch)])).toEqual({ uncertain: 4 });
});

test("a key that the provider has forgotten is not asked again, whatever held the mail up", async () => {
  const from = await sender("resend");
  from.provider.trouble = ({ n }) => (n <= 2 ? "lost" : { status: 429, headers: { "retry-after": "3600" } });
  const { id } = await mailroom.send(from, { to: "one@example.com" });
  const batch = await mailroom.sendBatch(from, mailroom.recipients(3));
  await mailroom.settle({ forSeconds: 23.9 * 3600 });
  from.provider.trouble = () => undefined;
  clock.advance(3600);
  await mailroom.settle();
  expect(await mailroom.balanced(from, [id, ...idsOf(batch)])).toEqual({ uncertain: 4 });
});

test("a question that may have been heard is put again under the same key, whatever is answered in between", async () => {
  const from = await sender("resend");
  from.provider.trouble = ({ n }) => ["lost" as const, { status: 429, headers: { "retry-after": "5" } }, { status: 500 }][n - 1];
  const batch = await mailroom.sendBatch(from, mailroom.recipients(3));
  await mailroom.settle();
  expect(new Set(from.provider.calls.map(({ key }) => key)).size).toBe(1);
  expect(from.provider.calls).toHaveLength(4);
  expect(await mailroom.balanced(from, idsOf(batch))).toEqual({ sent: 3 });
});

test("a refusal of the account, to a question that may have been heard before, leaves the mail uncertain", async () => {
  const from = await sender("resend");
  from.provider.trouble = ({ n }) => (n <= 2 ? "lost" : { status: 401 });
  const batch = await mailroom.sendBatch(from, mailroom.recipients(3));
  const { id } = await mailroom.send(from, { to: "one@example.com" });
  await mailroom.settle();
  expect(from.provider.mails).toHaveLength(4);
  expect(await mailroom.balanced(from, [...idsOf(batch), id])).toEqual({ uncertain: 4 });
});

test("mail that is refused for the account's sake names the sending config and what to look at, beside the provider's words", async () => {
  const from = await sender("postmark");
  from.provider.trouble = () => ({ status: 401 });
  const { id } = await mailroom.send(from, { to: "one@example.com" });
  const ids = [id, ...idsOf(await mailroom.sendBatch(from, mailroom.recipients(2)))];
  await mailroom.settle();
  const named = new RegExp(`sending config ${from.configId}; check its credentials and sender: .+`);
  for (const one of ids) expect(await sendOf(from, one)).toMatchObject({ status: "failed", error: expect.stringMatching(named) });
  from.provider.trouble = () => ({ status: 400 });
  const other = await mailroom.send(from, { to: "two@example.com" });
  await mailroom.settle();
  expect((await sendOf(from, other.id)).error).not.toContain("sending config");
});

test("mails that were asked for one by one are asked for again one by one", async () => {
  const from = await sender("resend");
  from.provider.trouble = ({ n, recipients }) => (recipients > 1 ? { status: 400 } : n < 5 ? "lost" : undefined);
  const batch = await mailroom.sendBatch(from, mailroom.recipients(4));
  await mailroom.settle();
  expect(from.provider.calls.filter(({ recipients }) => recipients > 1)).toHaveLength(1);
  expect(await mailroom.balanced(from, idsOf(batch))).toEqual({ sent: 4 });
});

test("who worked through a call mail by mail and died is followed by one who does so too", async () => {
  const from = await sender("resend");
  from.provider.trouble = ({ recipients }) => (recipients > 1 ? { status: 400 } : undefined);
  const batch = await mailroom.sendBatch(from, mailroom.recipients(3));
  const run = () => mailroom.runLane(from.caller.orgId, from.configId);
  for (let steps = 5; !from.provider.mails.length; steps++) {
    await killed(steps, "after", run);
    clock.advance(queues.lane.timeoutSeconds * 2);
  }
  from.provider.trouble = () => undefined;
  await mailroom.settle();
  expect(await mailroom.balanced(from, idsOf(batch))).toEqual({ sent: 3 });
});

test("a mail that may have arrived is uncertain, and not refused, when its address is suppressed before it is asked for again", async () => {
  const from = await sender("resend");
  from.provider.trouble = ({ n, recipients }) => (recipients > 1 ? { status: 400 } : n === 2 ? "lost" : undefined);
  const batch = await mailroom.sendBatch(from, mailroom.recipients(2));
  await mailroom.runLane(from.caller.orgId, from.configId);
  const lost = (await mailroom.listed(from)).filter(({ status }) => status !== "sent");
  expect(lost).toHaveLength(1);
  await suppress(from, lost[0]!.toEmail);
  await mailroom.settle();
  expect(await mailroom.balanced(from, idsOf(batch))).toEqual({ sent: 1, uncertain: 1 });
});

test("a mail that its template cannot be rendered for fails alone", async () => {
  const from = await sender("postmark");
  const html = "<p>{% for i in (1..n) %}.{% endfor %}</p>";
  const recipients = mailroom.recipients(4).map((one, n) => ({ ...one, variables: { n: n === 0 ? 1e6 : n } }));
  const batch = await mailroom.sendBatch(from, recipients, { html, subject: "{% for i in (1..n) %}.{% endfor %}" });
  expect((await sendOf(from, batch.results[0]!.id!)).subject).toBe("{% for i in (1..n) %}.{% endfor %}");
  const { id } = await mailroom.send(from, { to: "one@example.com", html, variables: { n: 1e6 } });
  await mailroom.settle();
  expect(await sendOf(from, batch.results[0]!.id!)).toMatchObject({
    status: "failed",
    error: expect.stringContaining("cannot be rendered"),
  });
  expect(await sendOf(from, id)).toMatchObject({ status: "failed", error: expect.stringContaining("html cannot be rendered (line 1)") });
  expect(await mailroom.balanced(from, [id, ...idsOf(batch)])).toEqual({ failed: 2, sent: 3 });
  await expect(mailroom.send(from, { to: "one@example.com", subject: html, variables: { n: 1e6 } })).rejects.toMatchObject({
    kind: "invalid",
  });
});

test("tracking is as the batch says, and as the recipient says where both do", async () => {
  const from = await sender("postmark");
  const recipients = [
    { to: "all@example.com" },
    { to: "no-opens@example.com", trackOpens: false },
    { to: "clicks@example.com", trackClicks: true },
    { to: "as-all@example.com" },
  ];
  await mailroom.sendBatch(from, recipients, { trackOpens: true, trackClicks: false });
  await mailroom.settle();
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

test("attachments arrive as they were given, inline or uploaded, with every mail of a batch", async () => {
  const from = await sender("postmark");
  const bytes = randomBytes(50_000);
  const { uploadId } = await attachments.prepareUpload(from.caller, { filename: "b.bin", type: "application/pdf", size: bytes.length });
  const upload = await get<{ blob: string }>(keys.upload(from.caller.orgId, uploadId));
  const files: z.input<typeof AttachmentInput>[] = [
    { filename: "a.bin", content: bytes.toString("base64") },
    { filename: "b.bin", uploadId },
  ];
  const early = mailroom.send(from, { to: "x@example.com", attachments: files });
  await expect(early).rejects.toMatchObject({ details: [{ path: "attachments.1.uploadId" }] });
  await blobs.put(upload!.blob, bytes);
  const batch = await mailroom.sendBatch(from, mailroom.recipients(3), { attachments: files });
  const { id } = await mailroom.send(from, { to: "x@example.com", attachments: files });
  await mailroom.settle();
  expect(from.provider.mails).toHaveLength(4);
  for (const mail of from.provider.mails)
    expect(mail.attachments.map(({ filename, content }) => [filename, Buffer.from(content, "base64").equals(bytes)])).toEqual([
      ["a.bin", true],
      ["b.bin", true],
    ]);
  expect(await mailroom.balanced(from, [id, ...idsOf(batch)])).toEqual({ sent: 4 });
});

test("a worker takes no more heavy mails in hand than it can hold; the others come again", async () => {
  const from = await sender("resend");
  from.provider.slowMs = 100;
  const file = { filename: "a.bin", content: Buffer.alloc(10 * 1024 * 1024, 7).toString("base64") };
  const sent = await Promise.all(mailroom.recipients(4).map((one) => mailroom.send(from, { ...one, attachments: [file, file] })));
  const ids = sent.map(({ id }) => id);
  mailroom.messages.length = 0;
  await Promise.all(ids.map((id) => singles.deliver(from.caller.orgId, id)));
  expect(from.provider.calls).toHaveLength(3);
  expect(mailroom.messages).toHaveLength(1);
  await mailroom.settle();
  expect(await mailroom.balanced(from, ids)).toEqual({ sent: 4 });
});

test("fewer mails are in flight at once when they are heavy", async () => {
  const from = await sender("ses");
  from.provider.slowMs = 20;
  const file = { filename: "a.bin", content: Buffer.alloc(7 * 1024 * 1024, 7).toString("base64") };
  const batch = await mailroom.sendBatch(from, mailroom.recipients(8), { attachments: [file, file] });
  await mailroom.settle();
  expect(from.provider.busiest).toBeLessThanOrEqual(4);
  expect(await mailroom.balanced(from, idsOf(batch))).toEqual({ sent: 8 });
});

test("variables too big for an item lie in a blob and come back", async () => {
  const from = await sender("postmark");
  const recipients = mailroom.recipients(300).map((one) => ({ ...one, variables: { word: randomBytes(3000).toString("base64") } }));
  const batch = await mailroom.sendBatch(from, recipients, { html: "<p>{{ word }}</p>" });
  await mailroom.settle();
  for (const [i, { to, variables }] of recipients.entries()) if (i % 50 === 0) expect(mailTo(from, to).text).toBe(variables.word);
  expect(await mailroom.balanced(from, idsOf(batch))).toEqual({ sent: 300 });
});

test("a send whose content never came to be fails instead of waiting for ever", async () => {
  const from = await sender("postmark");
  const { id } = await mailroom.send(from, { to: "one@example.com", html: `<p>${randomBytes(2000).toString("hex")}</p>` });
  await write(remove(keys.singleContent(from.caller.orgId, id)));
  await mailroom.settle();
  expect(await sendOf(from, id)).toMatchObject({ status: "failed", error: "It was never accepted: its content is missing" });
});

test("an attachment that is gone fails its mail instead of stopping the lane", async () => {
  const from = await sender("postmark");
  const files = { attachments: [{ filename: "a.txt", content: randomBytes(100).toString("base64") }] };
  const batch = await mailroom.sendBatch(from, mailroom.recipients(2), files);
  const [{ blob } = { blob: "" }] = await attachments.store(
    from.caller.orgId,
    await attachments.checked(from.caller.orgId, files.attachments),
  );
  await blobs.remove(blob);
  const after = await mailroom.sendBatch(from, mailroom.recipients(1));
  await mailroom.settle();
  expect(await mailroom.balanced(from, [...idsOf(batch), ...idsOf(after)])).toEqual({ failed: 2, sent: 1 });
});

test.each(["postmark", "resend", "ses"] as const)("of a batch at %s, each refused mail fails in the provider's words", async (key) => {
  const from = await sender(key);
  const recipients = mailroom.recipients(120);
  from.provider.refuses = (to) => /-(0|50|119)@/.test(to);
  const batch = await mailroom.sendBatch(from, recipients);
  await mailroom.settle();
  expect(await sendOf(from, batch.results[50]!.id!)).toMatchObject({ status: "failed", error: expect.stringMatching(/^Invalid/) });
  expect(await sendOf(from, batch.results[51]!.id!)).toMatchObject({
    status: "sent",
    provider: key,
    providerMessageId: `m-${batch.results[51]!.id}`,
  });
  expect(await mailroom.balanced(from, idsOf(batch))).toEqual({ failed: 3, sent: 117 });
});

test("a call that is refused as a whole is made mail by mail, and stops where the provider asks for a pause", async () => {
  const from = await sender("postmark");
  const recipients = mailroom.recipients(100);
  from.provider.trouble = ({ n, recipients }) => {
    if (recipients > 1) return { status: 422, body: { ErrorCode: 300, Message: "one of them is bad" } };
    return n === 3 ? { status: 429, headers: { "retry-after": "5" } } : undefined;
  };
  const batch = await mailroom.sendBatch(from, recipients);
  mailroom.messages.length = 0;
  await mailroom.runLane(from.caller.orgId, from.configId);
  expect(from.provider.calls.length).toBeLessThan(60);
  await mailroom.settle();
  expect(await mailroom.balanced(from, idsOf(batch))).toEqual({ sent: 100 });
});

test("an event that comes before our own record is kept, and the send leaves the due index", async () => {
  const from = await sender("postmark");
  const { id } = await mailroom.send(from, { to: "quick@example.com" });
  const batch = await mailroom.sendBatch(from, [{ to: "quicker@example.com" }]);
  const { orgId } = from.caller;
  const line = batch.results[0]!.id!;
  // As events.apply leaves it.
  from.provider.trouble = () => {
    void write(update(keys.send(orgId, id), { set: { status: "delivered", v: 1 } }));
    void write(put(keys.send(orgId, line), { id: line, siteId: from.siteId, status: "delivered", v: 1, toEmail: "quicker@example.com" }));
    return undefined;
  };
  from.provider.slowMs = 0;
  const slow = new Promise((resolve) => setTimeout(resolve, 50));
  await mailroom.settle();
  await slow;
  const [single, bulk] = await getMany<Record<string, unknown>>([keys.send(orgId, id), keys.send(orgId, line)], { consistent: true });
  for (const item of [single!, bulk!]) {
    expect(item).toMatchObject({ status: "delivered", v: 1, sentAt: expect.any(String), providerMessageId: `m-${item.id}` });
    expect(item).not.toHaveProperty("duepk");
  }
});

test("a send that an event settled while its worker died leaves the due index", async () => {
  const from = await sender("postmark");
  const { id } = await mailroom.send(from, { to: "quick@example.com" });
  const { orgId } = from.caller;
  mailroom.messages.length = 0;
  await write(update(keys.send(orgId, id), { set: { status: "delivered", attempt: 1, lease: clock.after(100).toISOString(), v: 1 } }));
  await mailroom.settle();
  const item = await get<Record<string, unknown>>(keys.send(orgId, id));
  expect(item).toMatchObject({ status: "delivered", v: 1 });
  for (const gone of ["duepk", "duesk", "lease", "attempt", "content"]) expect(item).not.toHaveProperty(gone);
  expect(from.provider.calls).toEqual([]);
});

test("GET /sends pages through every send once, by cursor of any size, while others arrive", async () => {
  const from = await sender("postmark");
  const first = [(await mailroom.send(from, { to: "one@example.com" })).id];
  for (const n of [7, 1, 120]) first.push(...idsOf(await mailroom.sendBatch(from, mailroom.recipients(n))));
  for (const limit of [1, 3, 50, 100]) {
    if (limit === 1) continue;
    let late = 0;
    const seen: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await sends.list(from.caller, { limit, cursor }, {});
      expect(page.sends.length).toBeLessThanOrEqual(limit);
      seen.push(...page.sends.map(({ id }) => id));
      cursor = page.pagination.nextCursor ?? undefined;
      if (late++ < 3) first.unshift((await mailroom.send(from, { to: mailroom.recipients(1)[0]!.to })).id);
    } while (cursor);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(first.slice(3)));
  }
  await mailroom.settle();
  expect(await mailroom.balanced(from, first)).toEqual({ sent: first.length });
});

test("a send with any number of events beside it is listed with its neighbours, and no event is taken for a send", async () => {
  const from = await sender("postmark");
  const batch = await mailroom.sendBatch(from, mailroom.recipients(12));
  await mailroom.settle();
  const [first, second] = idsOf(batch);
  const beside = (n: number) =>
    put({ ...keys.send(from.caller.orgId, first!), sk: `${keys.send(from.caller.orgId, first!).sk}#E${n}` }, { id: second });
  const mine = async () => (await sends.list(from.caller, { limit: 50 }, {})).sends.map(({ id, toEmail }) => [id, toEmail]);
  const expected = batch.results.map(({ id, to }) => [id, to]);
  await writeMany([1, 2, 3].map(beside));
  expect(await mine()).toEqual(expected);
  await writeMany(Array.from({ length: 300 }, (_, n) => beside(n)));
  expect(await mine()).toEqual(expected);
});

test("a batch is listed by its id, and an id that is no batch lists nothing", async () => {
  const from = await sender("postmark");
  const { id } = await mailroom.send(from, { to: "one@example.com" });
  const batch = await mailroom.sendBatch(from, mailroom.recipients(70));
  const page = await sends.list(from.caller, { limit: 50 }, { batchId: batch.batchId });
  expect(page.sends.map(({ id }) => id)).toEqual(idsOf(batch).slice(0, 50));
  const rest = await sends.list(from.caller, { limit: 50, cursor: page.pagination.nextCursor! }, { batchId: batch.batchId });
  expect(rest.sends.map(({ id }) => id)).toEqual(idsOf(batch).slice(50));
  expect(rest.pagination.nextCursor).toBeNull();
  expect((await sends.list(from.caller, { limit: 50 }, { batchId: Math.floor(id / 1000) })).sends).toEqual([]);
  await mailroom.settle();
});

test("a secure mail is not taken by anybody who would not lock it away", async () => {
  const { caller, configId } = await sender("postmark");
  const given = { sendingConfigId: configId, to: "one@example.com", subject: "Yours", html: "<p>4711</p>", secure: true };
  const message = SingleMessage.parse(given);
  await expect(single(caller, message, await gather(caller, message, [message.to]))).rejects.toThrow("for all to read");
});
