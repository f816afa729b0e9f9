// Mail keeps the snippets with which it was accepted.
import { beforeAll, expect, test } from "vitest";
import { get } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import { preview } from "../../shared/domain/campaigns/campaign-preview.ts";
import { change, removeUnused } from "../../shared/domain/campaigns/snippet-uses.ts";
import { readDirectory } from "../../shared/domain/content/snippet-directory.ts";
import { NewSnippet } from "../../shared/domain/content/snippet-schema.ts";
import * as snippets from "../../shared/domain/content/snippets.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import { findSentContent } from "../../shared/domain/sending/sent-content.ts";
import { keys } from "../../shared/keys.ts";
import {
  createCampaignSender,
  createDraft,
  insertListMembers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { createSender, send, type TestSender, uniqueRecipients } from "../support/sending.ts";

beforeAll(useVirtualQueues);

const save = (from: TestSender, name: string, html: string) =>
  snippets.create(from.caller, NewSnippet.parse({ siteId: from.siteId, name, html, text: html }));
const saveTemplate = (from: TestSender, html: string) =>
  templates.create(
    from.caller,
    NewTemplate.parse({ siteId: from.siteId, name: "Mail", subject: "Hi", html }),
  );
const htmlOf = async (from: TestSender, id: number) =>
  (await findSentContent(from.caller, id)).html;

test("a single send, by template or inline, keeps its snippets and those that they use", async () => {
  const from = await createSender("postmark");
  const logo = await save(from, "logo", "<b>one</b>");
  await save(from, "header", "{% render 'logo' %}<i>{{ name }}</i>");
  const template = await saveTemplate(from, "{% render 'header' %}");
  const byTemplate = { templateId: template.id, html: undefined, subject: undefined };
  const [first, second] = uniqueRecipients(2).map(({ to }) => ({ to, variables: { name: "Ada" } }));
  const sends = [
    await send(from, { ...first!, ...byTemplate }),
    await send(from, { ...second!, html: "{% render 'header' %}" }),
  ];
  await snippets.change(from.caller, logo.id, { html: "<b>two</b>" });
  await runWorkers({ forSeconds: 5 });
  expect(from.provider.mails.map(({ html }) => html)).toEqual([
    "<b>one</b><i>Ada</i>",
    "<b>one</b><i>Ada</i>",
  ]);
  for (const { id } of sends) expect(await htmlOf(from, id)).toBe("<b>one</b><i>Ada</i>");
  await send(from, { to: uniqueRecipients(1)[0]!.to, ...byTemplate, variables: { name: "Bob" } });
  await runWorkers({ forSeconds: 5 });
  expect(from.provider.mails.at(-1)!.html).toBe("<b>two</b><i>Bob</i>");
  await from.provider.stop();
});

test("an unknown snippet in inline html is refused before anything is accepted", async () => {
  const from = await createSender("postmark");
  const to = uniqueRecipients(1)[0]!.to;
  await expect(send(from, { to, html: "{% render 'nope' %}" })).rejects.toThrow(
    'there is no snippet "nope"',
  );
  await from.provider.stop();
});

test("all mail of a campaign has the snippets of its start, with one unsubscribe link", async () => {
  const from = await createCampaignSender();
  const footer = await save(from, "footer", "<a href='{{ unsubscribeUrl }}'>Leave</a> v1");
  await templates.change(from.caller, from.templateId, {
    html: "<p>Hi {{ firstName }}</p>{% render 'footer' %}",
  });
  await insertListMembers(from, 20);
  const draft = await createDraft(from);
  const before = await preview(from.caller, draft.id);
  await snippets.change(from.caller, footer.id, {
    html: "<a href='{{ unsubscribeUrl }}'>Leave</a> v2",
  });
  const approved = await preview(from.caller, draft.id);
  expect(approved.fingerprint).not.toBe(before.fingerprint);
  await actions.sendNow(from.caller, draft.id);
  await snippets.change(from.caller, footer.id, { html: "changed too late" });
  await runWorkers({ forSeconds: 60 });
  expect(from.provider.mails).toHaveLength(20);
  for (const { html, sendId } of from.provider.mails) {
    expect(html).toContain("Leave</a> v2");
    expect(html.match(/\/unsubscribe\//g)).toHaveLength(1);
    expect(await htmlOf(from, sendId!)).toContain("Leave</a> v2");
  }
  await from.provider.stop();
});

test("a deleted snippet stays readable for the mail that used it", async () => {
  const from = await createSender("postmark");
  const { id } = await save(from, "note", "<p>one</p>");
  const sent = await send(from, { to: uniqueRecipients(1)[0]!.to, html: "{% render 'note' %}" });
  await runWorkers({ forSeconds: 5 });
  await removeUnused(from.caller, id);
  expect(await htmlOf(from, sent.id)).toBe("<p>one</p>");
  const key = keys.recordBody(from.caller.orgId, "SNIPPET", { id, version: 1 });
  const { expires } = (await get<{ expires?: number }>(key))!;
  expect(expires).toBeGreaterThan(clock.epochSeconds() + 60 * 86_400);
  expect(await readDirectory(from.caller.orgId, from.siteId)).toEqual({ v: 3 });
  await from.provider.stop();
});

test("only the last 20 versions are kept, and the others expire", async () => {
  const from = await createSender("postmark");
  const { id } = await save(from, "note", "0");
  for (let n = 1; n <= 21; n++) await snippets.change(from.caller, id, { html: String(n) });
  const { versions } = await snippets.find(from.caller, id);
  expect(versions.map(({ version }) => version)).toEqual(
    Array.from({ length: 20 }, (_, i) => 22 - i),
  );
  const bodyOf = (version: number) =>
    get<{ expires?: number }>(keys.recordBody(from.caller.orgId, "SNIPPET", { id, version }));
  expect((await bodyOf(2))!.expires).toBeDefined();
  expect((await bodyOf(3))!.expires).toBeUndefined();
  await from.provider.stop();
});

test("a template that is saved while a snippet is deleted either prevents that or fails", async () => {
  const from = await createSender("postmark");
  const { id } = await save(from, "note", "<p>one</p>");
  const results = await Promise.allSettled([
    saveTemplate(from, "{% render 'note' %}"),
    removeUnused(from.caller, id),
  ]);
  expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
  await from.provider.stop();
});

test("a template that is saved while a snippet is renamed either prevents that or fails", async () => {
  const from = await createSender("postmark");
  const { id } = await save(from, "note", "<p>one</p>");
  const results = await Promise.allSettled([
    saveTemplate(from, "{% render 'note' %}"),
    change(from.caller, id, { name: "remark" }),
  ]);
  expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
  await from.provider.stop();
});

test("a rename that died halfway is finished by the next change of the snippet", async () => {
  const from = await createSender("postmark");
  const { id } = await save(from, "note", "<p>one</p>");
  await snippets.close(from.caller, id);
  await expect(saveTemplate(from, "{% render 'note' %}")).rejects.toThrow();
  await change(from.caller, id, { html: "<p>two</p>" });
  await saveTemplate(from, "{% render 'note' %}");
  const directory = await readDirectory(from.caller.orgId, from.siteId);
  expect(Object.keys(directory).sort()).toEqual([`s${id}`, "v"]);
  await from.provider.stop();
});
