// Mails in the language of their recipients, from one template.
import { beforeAll, describe, expect, test } from "vitest";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import { preview } from "../../shared/domain/campaigns/campaign-preview.ts";
import { NewTemplate, TemplateChanges } from "../../shared/domain/content/template-schema.ts";
import * as templateVersions from "../../shared/domain/content/template-versions.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import * as unsubscribes from "../../shared/domain/delivery-events/unsubscribes.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { findSentContent } from "../../shared/domain/sending/sent-content.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  createVariant,
  insertListMembers,
  readConsistentNumbers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { createContact } from "../support/contacts.ts";
import { send, sendBatch, uniqueRecipients } from "../support/sending.ts";

beforeAll(useVirtualQueues);

const texts = {
  subject: "Hello {{ firstName }}",
  html: "<html><body><p>Hello {{ firstName }}, all is well</p></body></html>",
  locale: "en",
  translations: {
    de: {
      subject: "Hallo {{ firstName }}",
      html: '<html lang="en"><body><p>Hallo {{ firstName }}, alles gut</p></body></html>',
      previewText: "Von {{ company }}",
    },
    ar: { html: "<p>مرحبا {{ firstName }}</p>" },
    fr: { subject: "Bonjour" },
  },
};

async function createTranslated(sender: CampaignSender): Promise<number> {
  const { caller, siteId } = sender;
  const fields = NewTemplate.parse({ siteId, name: "News", ...texts });
  return (await templates.create(caller, fields)).id;
}

const siteOf = ({ caller, siteId }: CampaignSender) => ({ caller, siteId, orgId: caller.orgId });

const german = '<html lang="de"><body>';
const arabic = '<div lang="ar" dir="rtl">';

describe("a campaign", () => {
  test("reaches each contact once, in its language, with calls in one language", async () => {
    const sender = await createCampaignSender();
    const templateId = await createTranslated(sender);
    const locales = ["de-AT", undefined, "ar", "en-US", "fr"];
    const ids = await insertListMembers(sender, 60, (i) => ({
      company: "Shop",
      ...(locales[i % 5] && { locale: locales[i % 5] }),
    }));
    const { id } = await createDraft(sender, { templateId });
    const { samples, warnings } = await preview(sender.caller, id);
    expect(samples.some(({ subject }) => subject.startsWith("Hallo"))).toBe(true);
    expect(warnings.join()).not.toContain("languages");
    await actions.sendNow(sender.caller, id);
    await runWorkers({ forSeconds: 30 });
    const { mails } = sender.provider;
    expect(new Set(mails.map(({ to }) => to)).size).toBe(60);
    expect(mails).toHaveLength(60);
    const { sends } = await listSends(sender.caller, { limit: 100, page: 1 }, { campaignId: id });
    expect(sends).toHaveLength(60);
    for (const one of sends) {
      const position = ids.indexOf(one.contactId!) % 5;
      const mail = mails.find(({ sendId }) => sendId === one.id)!;
      expect(one.subject).toBe(mail.subject);
      expect(mail.subject).toMatch(position === 0 ? /^Hallo P\d+$/ : /^Hello P\d+$/);
      const marks = [german, '<html lang="en">', arabic, '<html lang="en">', '<html lang="en">'];
      expect(mail.html).toContain(marks[position]);
      expect(mail.html).toContain(
        ["Abmelden", "Unsubscribe", "إلغاء", "Unsubscribe", "Unsubscribe"][position],
      );
      expect(mail.html.includes("Von Shop")).toBe(position === 0);
    }
    for (const { call } of mails) {
      const together = mails.filter((mail) => mail.call === call);
      const marksOf = new Set(together.map(({ html }) => /lang="(\w+)"/.exec(html)?.[1]));
      expect(marksOf.size).toBe(1);
    }
    const mail = mails.find(({ subject }) => subject.startsWith("Hallo"))!;
    expect(await findSentContent(sender.caller, mail.sendId)).toMatchObject({
      subject: mail.subject,
      html: expect.stringContaining("alles gut"),
    });
    await readConsistentNumbers(sender, id);
    await sender.provider.stop();
  });

  test("keeps the translations with which it has started", async () => {
    const sender = await createCampaignSender();
    const templateId = await createTranslated(sender);
    await insertListMembers(sender, 4, () => ({ locale: "de" }));
    const { id } = await createDraft(sender, { templateId, subject: "For all" });
    expect((await preview(sender.caller, id)).warnings).toContainEqual(
      expect.stringMatching(/one subject for all languages, also for ar, de/),
    );
    await actions.sendNow(sender.caller, id);
    await templates.change(
      sender.caller,
      templateId,
      TemplateChanges.parse({ translations: { de: null } }),
    );
    await runWorkers({ forSeconds: 30 });
    expect(sender.provider.mails).toHaveLength(4);
    for (const { subject, html } of sender.provider.mails) {
      expect(subject).toBe("For all");
      expect(html).toContain("alles gut");
    }
    await sender.provider.stop();
  });

  test("sends its hold-out in the languages of the winner", async () => {
    const sender = await createCampaignSender();
    const translated = await createTranslated(sender);
    await insertListMembers(sender, 60, (i) => (i % 2 ? { locale: "de" } : {}));
    const { id } = await createDraft(sender, {
      abTest: { testPercent: 50, metric: "open_rate", durationMinutes: 60 },
    });
    // The heavier variant wins without opens.
    await createVariant(sender, id, { name: "A", templateId: sender.templateId, weight: 1 });
    await createVariant(sender, id, { name: "B", templateId: translated, weight: 9 });
    await actions.sendNow(sender.caller, id);
    await runWorkers({ forSeconds: 7200 });
    const { mails } = sender.provider;
    expect(mails).toHaveLength(60);
    const { sends } = await listSends(sender.caller, { limit: 100, page: 1 }, { campaignId: id });
    for (const { id: sendId, subject } of sends)
      expect(subject).toBe(mails.find((mail) => mail.sendId === sendId)!.subject);
    const inGerman = mails.filter(({ subject }) => subject.startsWith("Hallo"));
    expect(inGerman.length).toBeGreaterThan(15);
    await sender.provider.stop();
  });
});

describe("single sends and batches", () => {
  test("are in the locale of the request, else in that of the contact", async () => {
    const sender = await createCampaignSender();
    const templateId = await createTranslated(sender);
    const [a, b, c] = uniqueRecipients(3).map(({ to }) => to);
    await createContact(siteOf(sender), a!, { locale: "de" });
    const plain = { templateId, html: undefined, subject: undefined };
    const byContact = await send(sender, { to: a!, ...plain });
    const byRequest = await send(sender, { to: a!, ...plain, locale: "en-gb" });
    const unknown = await send(sender, { to: b!, ...plain });
    const arabicSend = await send(sender, { to: c!, ...plain, locale: "ar", secure: true });
    await runWorkers({ forSeconds: 10 });
    const htmlOf = (id: number) => sender.provider.mails.find((mail) => mail.sendId === id)!.html;
    expect(htmlOf(byContact.id)).toContain(`${german}<div`);
    expect(htmlOf(byRequest.id)).toContain("all is well");
    expect(htmlOf(unknown.id)).toContain("all is well");
    expect(sender.provider.mails.some(({ sendId }) => sendId === arabicSend.id)).toBe(true);
    expect(await findSentContent(sender.caller, byContact.id)).toMatchObject({
      subject: "Hallo ",
      html: expect.stringContaining("alles gut"),
    });
    await sender.provider.stop();
  });

  test("each recipient of a batch has a language of its own", async () => {
    const sender = await createCampaignSender();
    const templateId = await createTranslated(sender);
    const [a, b, c, d] = uniqueRecipients(4).map(({ to }) => to);
    await createContact(siteOf(sender), a!, { locale: "de" });
    const recipients = [{ to: a! }, { to: b!, locale: "ar" }, { to: c! }, { to: d!, locale: "de" }];
    const plain = { templateId, html: undefined, subject: undefined };
    const { results } = await sendBatch(sender, recipients, plain);
    const second = await sendBatch(sender, [{ to: a! }], { ...plain, locale: "ar" });
    await runWorkers({ forSeconds: 10 });
    const htmlOf = (id: number | null) =>
      sender.provider.mails.find((mail) => mail.sendId === id)!.html;
    const found = results.map(({ id }) => htmlOf(id));
    expect(found[0]).toContain(german);
    expect(found[1]).toContain(arabic);
    expect(found[2]).toContain('<html lang="en">');
    expect(found[3]).toContain(german);
    expect(htmlOf(second.results[0]!.id)).toContain(arabic);
    await sender.provider.stop();
  });
});

describe("a template", () => {
  test("restores a version with its translations", async () => {
    const sender = await createCampaignSender();
    const id = await createTranslated(sender);
    const { caller } = sender;
    const before = await templates.find(caller, id);
    expect(before.locales).toEqual(["ar", "de"]);
    const changed = await templates.change(
      caller,
      id,
      TemplateChanges.parse({ translations: { ar: null, de: { subject: "Neu" } }, locale: null }),
    );
    expect(changed).toMatchObject({
      version: 2,
      locales: ["de"],
      translations: { de: { subject: "Neu", previewText: "Von {{ company }}" }, fr: {} },
    });
    const same = TemplateChanges.parse({ translations: { de: { subject: "Neu" }, ja: null } });
    expect(await templates.change(caller, id, same)).toMatchObject({ version: 2 });
    const restored = await templateVersions.restore(caller, id, 1);
    const { previewText, html, locale, locales, translations, variables } = before;
    const content = { previewText, html, locale, locales, translations, variables };
    expect(restored).toMatchObject({ ...content, version: 3 });
    expect(await templates.find(caller, id)).toEqual(restored);
    await sender.provider.stop();
  });

  test.each([
    [{ translations: { de: { html: "{% if %}" } } }, "translations.de.html"],
    [{ translations: { en: { html: "x" } } }, "translations.en"],
    [
      {
        translations: Object.fromEntries(
          Array.from({ length: 21 }, (_, i) => [`de-${100 + i}`, { html: "x" }]),
        ),
      },
      "translations",
    ],
    [
      {
        translations: Object.fromEntries(
          Array.from({ length: 5 }, (_, i) => [`de-${100 + i}`, { html: "x".repeat(900_000) }]),
        ),
      },
      "translations",
    ],
  ])("refuses what is not valid, case %#", async (changes, path) => {
    const sender = await createCampaignSender();
    const id = await createTranslated(sender);
    await expect(
      templates.change(sender.caller, id, TemplateChanges.parse(changes)),
    ).rejects.toMatchObject({ details: [{ path }] });
    expect(await templates.find(sender.caller, id)).toMatchObject({ version: 1 });
    await sender.provider.stop();
  });

  test("uses snippets and pictures of each language", async () => {
    const sender = await createCampaignSender();
    await expect(
      templates.create(
        sender.caller,
        NewTemplate.parse({
          ...{ siteId: sender.siteId, name: "News", subject: "Hi", html: "<p>Hi</p>" },
          translations: { de: { html: "{% render 'gone' %}" } },
        }),
      ),
    ).rejects.toMatchObject({ details: [{ path: "translations.de.html" }] });
    await sender.provider.stop();
  });
});

test("the page behind the unsubscribe link is in the language of the mail", async () => {
  const sender = await createCampaignSender();
  const templateId = await createTranslated(sender);
  await insertListMembers(sender, 3, (i) => ({ locale: ["de-AT", "ar", "fr"][i] }));
  const { id } = await createDraft(sender, { templateId });
  await actions.sendNow(sender.caller, id);
  await runWorkers({ forSeconds: 30 });
  const locales = await Promise.all(
    sender.provider.mails.map(async ({ html }) => {
      const [, token] = /unsubscribe\/([\w.~-]+)/.exec(html)!;
      return (await unsubscribes.findStatus(token!)).locale;
    }),
  );
  expect(locales.toSorted()).toEqual(["ar", "de", "en"]);
  await sender.provider.stop();
});
