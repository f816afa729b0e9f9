// Mail that people send to a site: stored once, matched to the send that it answers, and told.
import { beforeAll, describe, expect, test } from "vitest";
import { worker as advance } from "../../functions/queue/advance.ts";
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as forward } from "../../functions/queue/forward.ts";
import { worker as inbound } from "../../functions/queue/inbound.ts";
import { worker as lane } from "../../functions/queue/lane.ts";
import { worker as report } from "../../functions/queue/report.ts";
import { worker as sendWorker } from "../../functions/queue/send.ts";
import * as objects from "../../shared/adapters/s3/objects.ts";
import * as clock from "../../shared/clock.ts";
import { listTimeline } from "../../shared/domain/analytics/contact-timeline.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as customEventListing from "../../shared/domain/audience/tracking/custom-event-listing.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { removeSite } from "../../shared/domain/identity/remove-site.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import type { InboundEmail } from "../../shared/domain/inbound/inbound-email.ts";
import { changeSettings, getSettings } from "../../shared/domain/inbound/inbound-settings.ts";
import * as inboundEmails from "../../shared/domain/inbound/list-inbound.ts";
import { receiveInbound } from "../../shared/domain/inbound/receive-inbound.ts";
import { erasePerson } from "../../shared/domain/privacy/erasure.ts";
import { getPersonalData } from "../../shared/domain/privacy/personal-data.ts";
import * as siteErasure from "../../shared/domain/privacy/site-erasure.ts";
import { findSend } from "../../shared/domain/sending/read-sends.ts";
import type { InboundMailProvider } from "../../shared/providers/inbound-mail/provider-keys.ts";
import { createAccount } from "../support/accounts.ts";
import { createContact } from "../support/contacts.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import { enqueueDueEnrollments, enqueueDueWork } from "../support/due-index.ts";
import { fileContent, mailgunKey, type SampleMail, writeRequest } from "../support/inbound-mail.ts";
import { addEndpoint } from "../support/outgoing-webhooks.ts";
import { send, uniqueRecipients } from "../support/sending.ts";
import {
  createSequence,
  createSequenceSender,
  listSubjectsTo,
  runFor,
  type SequenceSender,
} from "../support/sequences.ts";
import {
  pendingMessages,
  runWorkers,
  toSqsRecord,
  useVirtualQueues,
} from "../support/virtual-queues.ts";

beforeAll(async () => {
  process.env.ALLOW_LOOPBACK_WEBHOOKS = "on";
  await useVirtualQueues();
});

type Owner = Pick<SequenceSender, "caller" | "siteId">;

async function post(
  { caller, siteId }: Owner,
  mail: SampleMail,
  { provider = "postmark" as InboundMailProvider, token = undefined as string | undefined } = {},
) {
  const { urls } = await getSettings(caller, siteId);
  const { contentType, body } = await writeRequest[provider](mail, false, clock.now());
  await receiveInbound(provider, token ?? new URL(urls[provider]).searchParams.get("token")!, {
    headers: { "content-type": contentType },
    rawBody: body,
    url: urls[provider],
    querySecret: undefined,
  });
}

/** Runs all workers that mail and enrollments need. */
const work = (forSeconds = 0) =>
  runWorkers([inbound, report, forward, advance, drain, lane, sendWorker], {
    forSeconds,
    runSchedules: async (entries) => {
      await enqueueDueWork(entries);
      await enqueueDueEnrollments(entries);
    },
  });

/** Runs the worker of received mail once, and leaves its messages in the queue. */
const workOnce = () =>
  inbound.handler({
    Records: pendingMessages.filter(({ queue }) => queue === "inbound").map(toSqsRecord),
  });

/** All mails of the site, newest first. */
async function listAll({ caller, siteId }: Owner): Promise<InboundEmail[]> {
  const { inboundEmails: found } = await inboundEmails.list(caller, { limit: 100 }, { siteId });
  return found;
}

async function receive(owner: Owner, mail: SampleMail): Promise<InboundEmail> {
  await post(owner, mail);
  await work();
  return (await listAll(owner))[0]!;
}

/** A contact that got two single emails. */
async function createMailedContact() {
  const sender = await createSequenceSender();
  const email = uniqueRecipients(1)[0]!.to;
  const { id: contactId } = await createContact(sender, email);
  const sendIds: number[] = [];
  for (const subject of ["First", "Second"]) {
    clock.advanceClock(60);
    sendIds.push((await send(sender, { to: email, subject })).id);
    await work();
  }
  return { sender, email, contactId, sendIds };
}

describe("a received mail", () => {
  test("answers the send that it refers to, else the newest to its sender", async () => {
    const { sender, email, contactId, sendIds } = await createMailedContact();
    const first = await findSend(sender.caller, sendIds[0]!);
    const reference = `<${first.providerMessageId}@mtasv.net>`;
    const byReference = await receive(sender, {
      from: `Ann <${email}>`,
      headers: { References: `<other@x.example> ${reference}` },
    });
    expect(byReference).toMatchObject({
      kind: "reply",
      sendId: sendIds[0],
      matchedBy: "reference",
      contactId,
      fromEmail: email,
      fromName: "Ann",
      toEmails: ["replies@in.shop.example"],
      subject: "Re: Hello",
      attachmentCount: 1,
      provider: "postmark",
    });
    const bySender = await receive(sender, { from: email });
    expect(bySender).toMatchObject({ kind: "reply", sendId: sendIds[1], matchedBy: "sender" });
    const stranger = await receive(sender, { from: "stranger@example.com" });
    expect(stranger).toMatchObject({ kind: "other", sendId: null, contactId: null });
    await sender.provider.stop();
  });

  test("of a machine is no reply", async () => {
    const { sender, email, contactId, sendIds } = await createMailedContact();
    const listener = await addEndpoint(sender.caller, 200, ["email.replied"]);
    const mail = await receive(sender, {
      from: email,
      subject: "Out of office",
      headers: { "Auto-Submitted": "auto-replied" },
    });
    expect(mail).toMatchObject({ kind: "auto_reply", sendId: sendIds[1] });
    expect(listener.endpoint.deliveries).toEqual([]);
    const { entries } = await listTimeline(sender.caller, contactId, { limit: 50 });
    expect(entries.filter(({ type }) => type === "email_received")).toMatchObject([
      { summary: "A machine sent an email: “Out of office”" },
    ]);
    expect(entries.some(({ type }) => type === "email_replied")).toBe(false);
    await sender.provider.stop();
  });

  test("is stored once, and its reply told once, however often it comes and workers crash", async () => {
    const { sender, email, contactId } = await createMailedContact();
    const listener = await addEndpoint(sender.caller, 200, ["email.replied"]);
    let n = 0;
    await crashAtSomeSteps(async (crash) => {
      const mail = { from: email, messageId: `again-${n++}@mail.example` };
      await post(sender, mail);
      await post(sender, mail, { provider: "sendgrid" });
      await crash(workOnce);
      await post(sender, mail);
      await work();
    });
    // The due index finds events that a crashed worker did not enqueue.
    await work(120);
    expect(await listAll(sender)).toHaveLength(n);
    const { items } = await customEventListing.list(sender.caller, {
      limit: 100,
      contactId,
    } as never);
    expect(items.filter(({ eventName }) => eventName === "email_replied")).toHaveLength(n);
    const bodies = listener.endpoint.deliveries.map(({ body }) => JSON.parse(body) as object);
    const toldIds = new Set(bodies.map((body) => JSON.stringify(body)));
    expect(toldIds.size).toBe(n);
    await sender.provider.stop();
  });

  test("is read with its content, files and links, and by nobody else", async () => {
    const { sender, email } = await createMailedContact();
    const { id } = await receive(sender, { from: email, text: "Hello there" });
    const detail = await inboundEmails.find(sender.caller, id);
    expect(detail).toMatchObject({ text: "Hello there", html: null });
    expect(detail.headers).toContainEqual({ name: "subject", value: "Re: Hello" });
    expect(detail.attachments).toMatchObject([
      { filename: "order.pdf", type: "application/pdf", contentId: null },
    ]);
    const file = await fetch(detail.attachments[0]!.url);
    expect(await file.text()).toBe("%PDF-1.4 a small file");
    const { caller: other } = await createAccount();
    await expect(inboundEmails.find(other, id)).rejects.toMatchObject({ kind: "missing" });
    clock.advanceClock(61 * 24 * 3600);
    await expect(inboundEmails.find(sender.caller, id)).rejects.toMatchObject({ kind: "missing" });
    expect(await listAll(sender)).toEqual([]);
    await sender.provider.stop();
  });

  test("ends the sequence of a contact that replied, and is in its timeline", async () => {
    const { sender, email, contactId } = await createMailedContact();
    const sequence = await createSequence(sender, ["Are you there?", 60, "Still there?"], {
      exits: [{ eventName: "email_replied" }],
    });
    await enrollments.enroll(sender.caller, sequence.id, { contactIds: [contactId] });
    await runFor(120);
    await receive(sender, { from: email, subject: "Re: Are you there?" });
    await runFor(7200);
    expect(await listSubjectsTo(sender, contactId)).toEqual(["First", "Second", "Are you there?"]);
    const { entries } = await listTimeline(sender.caller, contactId, { limit: 50 });
    expect(entries).toContainEqual(
      expect.objectContaining({
        type: "email_replied",
        summary: "The contact replied: “Re: Are you there?”",
      }),
    );
    await sender.provider.stop();
  });

  test("is part of the data of a person, and erased with it", async () => {
    const { sender, email, contactId } = await createMailedContact();
    const { id } = await receive(sender, { from: email });
    const { inboundEmails: own } = await getPersonalData(sender.caller, contactId);
    expect(own.map((mail) => mail.id)).toEqual([id]);
    await erasePerson(sender.caller, email);
    expect(await listAll(sender)).toEqual([]);
    const { orgId } = sender.caller;
    expect(await objects.getSize(`inbound/${orgId}/${id}/0`)).toBeUndefined();
    await sender.provider.stop();
  });
});

describe("a site with an address", () => {
  const address = "replies+x@in.shop.example";

  test("unsubscribes by a mail of a mail program, once, and only with a token of its own", async () => {
    const { sender, email, contactId } = await createMailedContact();
    const { caller, siteId } = sender;
    await changeSettings(caller, siteId, { address });
    const sequence = await createSequence(sender, ["News"]);
    await enrollments.enroll(caller, sequence.id, { contactIds: [contactId] });
    await runFor(120);
    const header = sender.provider.mails.at(-1)!.headers!["List-Unsubscribe"]!;
    expect(header).toMatch(/^<https?:[^>]*>, <mailto:replies%2Bx@in\.shop\.example\?subject=/);
    const subject = decodeURIComponent(/subject=([^>]*)>/.exec(header)![1]!);
    const other = await createMailedContact();
    const atOther = await receive(other.sender, { from: email, subject });
    expect(atOther.kind).toBe("other");
    const cut = await receive(sender, { from: "eve@example.com", subject: subject.slice(0, -2) });
    expect(cut.kind).toBe("other");
    const status = async () => (await contacts.find(caller, contactId)).status;
    expect(await status()).toBe("subscribed");
    // Mail programs fold and encode a long subject.
    const mail = await receive(sender, {
      from: email,
      subject: `=?utf-8?B?${Buffer.from(subject).toString("base64")}?=`,
      headers: { "Auto-Submitted": "auto-generated" },
    });
    expect(mail).toMatchObject({ kind: "unsubscribe", contactId });
    expect(await status()).toBe("unsubscribed");
    await contacts.change(caller, contactId, { status: "subscribed" });
    await receive(sender, { from: email, subject: "Hello" });
    expect(await status()).toBe("subscribed");
    await Promise.all([sender.provider.stop(), other.sender.provider.stop()]);
  });

  test("forwards mail of people once, also after crashes, and never in a circle", async () => {
    const { sender, email } = await createMailedContact();
    const { caller, siteId } = sender;
    await changeSettings(caller, siteId, { address, forwardTo: "team@shop.example" });
    const forwarded = () => sender.provider.mails.filter(({ to }) => to === "team@shop.example");
    let n = 0;
    await crashAtSomeSteps(async (crash) => {
      n++;
      await post(sender, {
        from: `Ann <${email}>`,
        text: `{{ 7 | times: ${n} }} <b>`,
        subject: "Re: {{ x }}",
      });
      await crash(workOnce);
      await work();
    });
    expect(forwarded()).toHaveLength(n);
    const [first] = forwarded();
    expect(first).toMatchObject({ subject: "Re: {{ x }}", replyTo: email });
    expect(first!.text).toContain("{{ 7 | times: 1 }} <b>");
    expect(first!.html).toContain("{{ 7 | times: 1 }} &lt;b&gt;");
    const pdf = fileContent.toString("base64");
    expect(first!.attachments).toEqual([expect.objectContaining({ filename: "order.pdf" })]);
    expect(first!.attachments[0]!.content).toBe(pdf);
    expect(first!.text).not.toContain("order.pdf");
    const headers = first!.headers!;
    expect(headers).toMatchObject({ "Auto-Submitted": "auto-generated" });
    const { "X-Pennymail-Forwarded": mark = "" } = headers;
    await receive(sender, { from: "a@b.example", headers: { "X-Pennymail-Forwarded": mark } });
    await receive(sender, { from: "a@b.example", headers: { "Auto-Submitted": "auto-replied" } });
    await receive(sender, { from: "a@b.example", hops: 26 });
    await receive(sender, { from: "Team <Team@shop.example>" });
    await receive(sender, { from: address });
    expect(forwarded()).toHaveLength(n);
    await changeSettings(caller, siteId, { forwardTo: null });
    await receive(sender, { from: "a@b.example" });
    expect(forwarded()).toHaveLength(n);
    await expect(changeSettings(caller, siteId, { forwardTo: address })).rejects.toMatchObject({
      kind: "invalid",
    });
    await sender.provider.stop();
  });
});

describe("files of forwarded mail", () => {
  const fileOf = (filename: string, bytes: number) => ({
    filename,
    content: Buffer.alloc(bytes, filename),
  });

  test("are sent up to the limit of the provider, and the others are named", async () => {
    const { sender, email } = await createMailedContact();
    const { caller, siteId } = sender;
    await changeSettings(caller, siteId, { forwardTo: "team@shop.example" });
    const files = [
      fileOf("first.bin", 4_000_000),
      fileOf("huge.bin", 10_500_000),
      fileOf("second.bin", 2_000_000),
      fileOf("third.bin", 2_500_000),
      fileOf("empty.txt", 0),
      fileOf("small.txt", 700),
    ];
    await receive(sender, { from: email, text: "See the files", files });
    const [mail] = sender.provider.mails.filter(({ to }) => to === "team@shop.example");
    expect(
      mail!.attachments.map(({ filename, content }) => [
        filename,
        Buffer.from(content, "base64").length,
      ]),
    ).toEqual([
      ["first.bin", 4_000_000],
      ["second.bin", 2_000_000],
      ["small.txt", 700],
    ]);
    expect(mail!.text).toContain("See the files");
    expect(mail!.text).toContain(
      "Files that are not forwarded: huge.bin (10.5 MB), third.bin (2.5 MB), empty.txt (0 bytes)",
    );
    await sender.provider.stop();
  });

  test("are at most 20", async () => {
    const { sender, email } = await createMailedContact();
    await changeSettings(sender.caller, sender.siteId, { forwardTo: "team@shop.example" });
    const files = Array.from({ length: 22 }, (_, i) => fileOf(`${i}.txt`, 10));
    await receive(sender, { from: email, files });
    const [mail] = sender.provider.mails.filter(({ to }) => to === "team@shop.example");
    expect(mail!.attachments).toHaveLength(20);
    expect(mail!.text).toContain("20.txt (10 bytes), 21.txt (10 bytes)");
    await sender.provider.stop();
  });
});

describe("the list", () => {
  test("has pages, kinds and senders", async () => {
    const { sender, email } = await createMailedContact();
    for (let i = 0; i < 3; i++) await receive(sender, { from: `p${i}@example.com` });
    await receive(sender, { from: email });
    const { caller } = sender;
    const all = (await listAll(sender)).map(({ id }) => id);
    expect(all).toHaveLength(4);
    const page = await inboundEmails.list(caller, { limit: 3 }, {});
    const cursor = page.pagination.nextCursor!;
    const last = await inboundEmails.list(caller, { limit: 3, cursor }, {});
    expect(last.pagination.nextCursor).toBeNull();
    expect([...page.inboundEmails, ...last.inboundEmails].map(({ id }) => id)).toEqual(all);
    const replies = await inboundEmails.list(caller, { limit: 3 }, { kind: "reply" });
    expect(replies.inboundEmails.map(({ fromEmail }) => fromEmail)).toEqual([email]);
    const ofSender = await inboundEmails.list(caller, { limit: 3 }, { email: "p1@example.com" });
    expect(ofSender.inboundEmails).toHaveLength(1);
    await sender.provider.stop();
  });
});

describe("the URL of a site", () => {
  test("takes no mail after it was replaced, without a valid signature, or for a deleted site", async () => {
    const { caller } = await createAccount();
    const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Shop" }));
    const owner = { caller, siteId };
    const mail = { from: "ann@example.com" };
    const tokenOf = async () =>
      new URL((await getSettings(caller, siteId)).urls.mailgun).searchParams.get("token")!;
    const token = await tokenOf();
    await changeSettings(caller, siteId, { replaceUrls: true });
    expect(await tokenOf()).not.toBe(token);
    const refused = { kind: "unauthenticated", status: 406 };
    await expect(post(owner, mail, { provider: "mailgun", token })).rejects.toMatchObject(refused);
    await expect(
      post(owner, mail, { provider: "mailgun", token: `${token.slice(0, -1)}_` }),
    ).rejects.toMatchObject(refused);
    await changeSettings(caller, siteId, { signingKey: "another key" });
    await expect(post(owner, mail, { provider: "mailgun" })).rejects.toMatchObject(refused);
    // Amazon SNS always signs.
    const unsigned = post(owner, mail, { provider: "ses" });
    await expect(unsigned).rejects.toMatchObject({ kind: "unauthenticated", status: 401 });
    const settings = await changeSettings(caller, siteId, { signingKey: mailgunKey });
    expect(settings).toMatchObject({ signingKeySet: true });
    await post(owner, mail, { provider: "mailgun" });
    await work();
    const [stored] = await listAll(owner);
    expect(stored).toMatchObject({ provider: "mailgun", kind: "other" });
    expect((await changeSettings(caller, siteId, { signingKey: null })).signingKeySet).toBe(false);
    await removeSite(caller, siteId);
    await expect(post(owner, mail)).rejects.toThrow();
    const last = await tokenOf().catch(() => token);
    await expect(post(owner, mail, { provider: "mailgun", token: last })).rejects.toThrow();
    clock.advanceClock(1000);
    await siteErasure.erase(caller.orgId, siteId);
    expect(await objects.getSize(`inbound/${caller.orgId}/${stored!.id}/0`)).toBeUndefined();
    expect(pendingMessages.filter(({ queue }) => queue === "inbound")).toEqual([]);
  });
});
