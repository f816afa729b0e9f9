// Mail keeps the brand with which it was accepted, and new mail has the current one.
import { beforeAll, expect, test } from "vitest";
import { createBlock } from "../../shared/console/editors/visual/block-changes.ts";
import { compileDesign } from "../../shared/console/editors/visual/compile-design.ts";
import { defaultTheme } from "../../shared/console/editors/visual/design.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import { preview } from "../../shared/domain/campaigns/campaign-preview.ts";
import * as templateRendering from "../../shared/domain/content/template-rendering.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { findSentContent } from "../../shared/domain/sending/sent-content.ts";
import {
  createCampaignSender,
  createDraft,
  insertListMembers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { createSender, send, type TestSender, uniqueRecipients } from "../support/sending.ts";

beforeAll(useVirtualQueues);

const setBrand = (from: TestSender, brand: object | null) =>
  sites.change(from.caller, from.siteId, sites.SiteChanges.parse({ brand }));
const saveTemplate = (from: TestSender, html: string) =>
  templates.create(
    from.caller,
    NewTemplate.parse({ siteId: from.siteId, name: "Mail", subject: "Hi", html }),
  );
const to = () => uniqueRecipients(1)[0]!.to;
const byTemplate = (templateId: number) => ({ templateId, html: undefined, subject: undefined });
const source = "<p>{{ brand.name }} {{ brand.colors.accent }} {{ brand.footerText }}</p>";

/** A visual email that uses the brand. MJML for browsers looks for a window. */
async function compileBranded(): Promise<string> {
  Object.assign(globalThis, { window: globalThis });
  return compileDesign(
    {
      ...{ editor: "pennymail", version: 1, previewText: "" },
      theme: { ...defaultTheme, usesBrand: true },
      blocks: [
        createBlock("heading"),
        { ...createBlock("social"), usesBrand: true } as ReturnType<typeof createBlock>,
        createBlock("button"),
        createBlock("footer"),
      ],
    },
    "News",
  );
}

test("a single send, by template or inline, keeps the brand of its acceptance", async () => {
  const from = await createSender("postmark");
  await setBrand(from, { colors: { accent: "#102030" }, footerText: "A & B {{ to }}" });
  const template = await saveTemplate(from, source);
  expect(template.variables).toEqual(["brand"]);
  const sent = await send(from, { to: to(), ...byTemplate(template.id), strict: true });
  await send(from, { to: to(), html: source, subject: "From {{ brand.name }}" });
  await setBrand(from, { colors: { accent: "#405060" } });
  await runWorkers({ forSeconds: 5 });
  const { name } = await sites.find(from.caller, from.siteId);
  const first = `<p>${name} #102030 A &amp; B {{ to }}</p>`;
  expect(from.provider.mails.map(({ html }) => html)).toEqual([first, first]);
  // They are handed over in any order.
  expect(from.provider.mails.map(({ subject }) => subject)).toContain(`From ${name}`);
  expect((await findSentContent(from.caller, sent.id)).html).toBe(first);
  await send(from, { to: to(), ...byTemplate(template.id) });
  await runWorkers({ forSeconds: 5 });
  expect(from.provider.mails.at(-1)!.html).toBe(`<p>${name} #405060 </p>`);
  await from.provider.stop();
});

test("a variable `brand` of the email takes precedence", async () => {
  const from = await createSender("postmark");
  await send(from, {
    to: to(),
    html: "<p>{{ brand.name }}</p>",
    variables: { brand: { name: "Own" } },
  });
  await runWorkers({ forSeconds: 5 });
  expect(from.provider.mails[0]!.html).toBe("<p>Own</p>");
  await from.provider.stop();
});

test("a visual template that uses the brand follows it, also in its preview", async () => {
  const from = await createSender("postmark");
  const template = await saveTemplate(from, await compileBranded());
  expect(template.variables.filter((name) => /brand/i.test(name))).toEqual(["brand"]);
  const render = () => templateRendering.render(from.caller, template.id, { variables: {} });
  expect((await render()).html).toContain("#3b49c4");
  await setBrand(from, {
    logo: { url: "https://shop.example/logo.png", alt: "Shop" },
    colors: { accent: "#aa1155" },
    font: "georgia",
    corners: "square",
    socialLinks: [{ name: "Mastodon {{ x }}", url: "https://social.example/@shop" }],
    footerText: "Shop Ltd\n{{ firstName }} <b>",
  });
  const { html, missingVariables } = await render();
  expect(missingVariables).toEqual([]);
  await send(from, { to: to(), ...byTemplate(template.id) });
  await runWorkers({ forSeconds: 5 });
  for (const shown of [html!, from.provider.mails[0]!.html]) {
    expect(shown).toContain("#aa1155");
    expect(shown).not.toContain("#3b49c4");
    expect(shown).toContain('<img src="https://shop.example/logo.png" alt="Shop" width="140"');
    expect(shown).toContain("font-family:Georgia, &#39;Times New Roman&#39;, serif");
    expect(shown).toContain('<a href="https://social.example/@shop"');
    expect(shown).toContain("Mastodon {{ x }}</a>");
    expect(shown).toContain("Shop Ltd<br>{{ firstName }} &lt;b&gt;");
    expect(shown).toContain("border-radius:0px");
    expect(shown).not.toContain("brandLook");
  }
  await from.provider.stop();
});

test("all mail of a campaign has the brand of its start", async () => {
  const from = await createCampaignSender();
  await templates.change(from.caller, from.templateId, {
    html: `<p>Hi {{ firstName }}</p>${source}`,
  });
  await insertListMembers(from, 5);
  const draft = await createDraft(from);
  const before = await preview(from.caller, draft.id);
  await setBrand(from, { colors: { accent: "#102030" }, footerText: "one" });
  const approved = await preview(from.caller, draft.id);
  expect(approved.fingerprint).not.toBe(before.fingerprint);
  expect(approved.samples[0]).toMatchObject({
    html: expect.stringContaining("#102030 one"),
    missingVariables: [],
  });
  await actions.sendNow(from.caller, draft.id);
  await setBrand(from, null);
  await runWorkers({ forSeconds: 60 });
  expect(from.provider.mails).toHaveLength(5);
  for (const { html } of from.provider.mails) expect(html).toContain("#102030 one");
  await from.provider.stop();
});
