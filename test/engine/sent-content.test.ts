// GET /sends/:id/content renders again what the provider got.
import { beforeAll, expect, test } from "vitest";
import { get } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { erase } from "../../shared/domain/privacy/erasure.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { createBrowserLinkBuilder } from "../../shared/domain/sending/rendering/browser-links.ts";
import { findBrowserView, findSentContent } from "../../shared/domain/sending/sent-content.ts";
import { keys } from "../../shared/keys.ts";
import {
  createCampaignSender,
  createDraft,
  insertListMembers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { createContact } from "../support/contacts.ts";
import {
  createSender,
  send,
  sendBatch,
  type TestSender,
  uniqueRecipients,
} from "../support/sending.ts";

beforeAll(useVirtualQueues);

const uniqueAddress = () => uniqueRecipients(1)[0]!.to;

const hideTokens = (text: string) => text.replace(/(unsubscribe\/)[\w.~-]+/g, "$1hidden");

async function expectSame(from: TestSender, id: number): Promise<void> {
  const { subject, html, text } = await findSentContent(from.caller, id);
  const mail = from.provider.mails.find(({ sendId }) => sendId === id)!;
  expect({ subject, html, text }).toEqual({
    subject: mail.subject,
    html: hideTokens(mail.html),
    text: hideTokens(mail.text),
  });
}

test("a single send by template: the same before and after it is handed over", async () => {
  const from = await createSender("postmark");
  const template = await templates.create(
    from.caller,
    NewTemplate.parse({
      siteId: from.siteId,
      name: "Receipt",
      subject: "Receipt for {{ name }}",
      html: "<p>Thank you, {{ name }}: {{ amount }}</p>",
    }),
  );
  const input = { templateId: template.id, html: undefined, subject: undefined };
  const variables = { name: "Bob & Co", amount: 12 };
  const { id } = await send(from, { to: uniqueAddress(), ...input, variables });
  const before = await findSentContent(from.caller, id);
  expect(before).toMatchObject({
    sendId: id,
    subject: "Receipt for Bob & Co",
    html: "<p>Thank you, Bob &amp; Co: 12</p>",
    text: "Thank you, Bob & Co: 12",
    templateId: template.id,
    templateVersion: 1,
  });
  await templates.change(from.caller, template.id, { html: "<p>New</p>" });
  await runWorkers({ forSeconds: 5 });
  expect(await findSentContent(from.caller, id)).toEqual(before);
  await expectSame(from, id);
  await from.provider.stop();
});

test("a single send with copies, headers and a file", async () => {
  const from = await createSender("postmark");
  const [to, cc, bcc] = uniqueRecipients(3).map((recipient) => recipient.to);
  const { id } = await send(from, {
    to: to!,
    cc: { email: cc!, name: "Cora" },
    bcc: bcc!,
    html: `<p>${"Long text. ".repeat(200)}</p>`,
    headers: { "X-Order": "A-1" },
    tags: ["receipt"],
    replyTo: "help@example.com",
    attachments: [{ filename: "a.txt", type: "text/plain", content: "SGVsbG8=" }],
  });
  await runWorkers({ forSeconds: 5 });
  await expectSame(from, id);
  expect(await findSentContent(from.caller, id)).toMatchObject({
    from: { email: "shop@example.com", name: "Shop" },
    to: [{ email: to, name: null }],
    cc: [{ email: cc, name: "Cora" }],
    bcc: [{ email: bcc }],
    replyTo: ["help@example.com"],
    headers: { "X-Order": "A-1" },
    tags: ["receipt"],
    attachments: [{ filename: "a.txt", type: "text/plain", size: 5, contentId: null }],
    templateId: null,
    secure: false,
  });
  await from.provider.stop();
});

test("bulk email: each recipient's own content, without the tokens of its links", async () => {
  const from = await createCampaignSender();
  const recipients = uniqueRecipients(12).map((recipient, i) => ({
    ...recipient,
    variables: { name: `Person ${i}` },
  }));
  const { results } = await sendBatch(from, recipients, { html: "<p>Dear {{ name }}</p>" });
  await insertListMembers(from, 8);
  const { id: campaignId } = await createDraft(from);
  await actions.sendNow(from.caller, campaignId);
  await runWorkers({ forSeconds: 60 });
  for (const { id } of results) await expectSame(from, id!);
  const page = await listSends(from.caller, { limit: 50 }, { campaignId });
  expect(page.sends.length).toBe(8);
  for (const { id } of page.sends) {
    await expectSame(from, id);
    const { html, headers } = await findSentContent(from.caller, id);
    expect(html).toContain("/unsubscribe/hidden");
    expect(headers["List-Unsubscribe"]).toMatch(/token=hidden>$/);
  }
  await from.provider.stop();
});

test("a secure message is not revealed", async () => {
  const from = await createSender("postmark");
  const html = "<p>The code is 4711</p>";
  const { id } = await send(from, { to: uniqueAddress(), html, secure: true });
  await runWorkers({ forSeconds: 5 });
  const content = await findSentContent(from.caller, id);
  expect(content.secure).toBe(true);
  expect(JSON.stringify(content)).not.toContain("4711");
  expect(content.html).toContain("/secure/hidden");
  await from.provider.stop();
});

test("content of suppressed, erased or foreign sends is a 404", async () => {
  const from = await createSender("postmark");
  const { caller, siteId } = from;
  const stranger = await createSender("postmark");
  const [bob, eve] = [uniqueAddress(), uniqueAddress()];
  const blocked = { email: eve, reason: "manual" as const, source: "api" };
  await suppressions.suppress(caller.orgId, blocked);
  const suppressed = await send(from, { to: eve });
  const contact = await createContact({ caller, orgId: caller.orgId, siteId }, bob);
  const ids = [(await send(from, { to: bob })).id];
  const batch = await sendBatch(from, [{ to: bob }, ...uniqueRecipients(9), { to: eve }]);
  ids.push(batch.results[0]!.id!);
  await runWorkers({ forSeconds: 60 });
  const notFound = { kind: "missing" };
  for (const id of [suppressed.id, batch.results.at(-1)!.id!])
    await expect(findSentContent(caller, id)).rejects.toMatchObject(notFound);
  for (const id of ids) {
    expect(await findSentContent(caller, id)).toMatchObject({ to: [{ email: bob }] });
    await expect(findSentContent(stranger.caller, id)).rejects.toMatchObject(notFound);
  }
  expect(await contacts.find(caller, contact.id)).toMatchObject({ sendCount: 2 });
  await erase(caller, contact.id);
  for (const id of ids) await expect(findSentContent(caller, id)).rejects.toMatchObject(notFound);
  await Promise.all([from.provider.stop(), stranger.provider.stop()]);
});

test("email by a template that is deleted can be read for 60 days", async () => {
  const from = await createSender("postmark");
  const fields = { siteId: from.siteId, name: "Receipt", subject: "Receipt", html: "<p>Hi</p>" };
  const template = await templates.create(from.caller, NewTemplate.parse(fields));
  const input = { templateId: template.id, html: undefined, subject: undefined };
  const { id } = await send(from, { to: uniqueAddress(), ...input });
  await runWorkers({ forSeconds: 5 });
  await templates.remove(from.caller, template.id);
  clock.advanceClock(59 * 86_400);
  expect(await findSentContent(from.caller, id)).toMatchObject({ html: "<p>Hi</p>" });
  // The process caches bodies, so the item itself is read too.
  const key = keys.recordBody(from.caller.orgId, "TEMPLATE", { id: template.id, version: 1 });
  const { expires } = (await get<{ expires?: number }>(key))!;
  expect(expires).toBeGreaterThan(clock.epochSeconds() + 86_400);
  await from.provider.stop();
});

test("the page of an email shows it for 60 days", async () => {
  const from = await createSender("postmark");
  const { id } = await send(from, { to: uniqueAddress(), html: "<p>Hi</p>", subject: "News" });
  await runWorkers({ forSeconds: 5 });
  const linkOf = await createBrowserLinkBuilder(from.caller.orgId);
  const token = linkOf(id).split("/").at(-1)!;
  clock.advanceClock(59 * 86_400);
  expect(await findBrowserView(token)).toMatchObject({ subject: "News", html: "<p>Hi</p>" });
  clock.advanceClock(2 * 86_400);
  const branded = sites.SiteChanges.parse({ brand: { footerText: "Shop Ltd." } });
  await sites.change(from.caller, from.siteId, branded);
  const brand = { footerText: "Shop Ltd." };
  expect(await findBrowserView(token)).toMatchObject({ reason: "gone", brand });
  const unknown = linkOf(id + 1_000_000)
    .split("/")
    .at(-1)!;
  expect(await findBrowserView(unknown)).toEqual({ reason: "gone", brand: null });
  const broken = token.slice(0, -4);
  expect(await findBrowserView(broken)).toEqual({ reason: "invalid", brand: null });
  await from.provider.stop();
});
