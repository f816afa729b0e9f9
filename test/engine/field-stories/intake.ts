// Imports, forms, links and clocks.
import { expect } from "vitest";
import * as clock from "../../../shared/clock.ts";
import * as contacts from "../../../shared/domain/audience/contacts/contacts.ts";
import { NewImport } from "../../../shared/domain/audience/imports/import-record.ts";
import * as imports from "../../../shared/domain/audience/imports/imports.ts";
import { runImport } from "../../../shared/domain/audience/imports/run-import.ts";
import * as actions from "../../../shared/domain/campaigns/campaign-actions.ts";
import { CampaignSchedule } from "../../../shared/domain/campaigns/campaign-schema.ts";
import { NewTemplate } from "../../../shared/domain/content/template-schema.ts";
import * as templates from "../../../shared/domain/content/templates.ts";
import { listSends } from "../../../shared/domain/sending/list-sends.ts";
import { instantOfLocalTime } from "../../../shared/kernel/time-zones.ts";
import { createCampaignSender, createDraft, runWorkers } from "../../support/campaigns.ts";
import { createTestSite, newContact, readContactCount } from "../../support/contacts.ts";
import { runUntilCrash } from "../../support/crash-injection.ts";
import { startFakeProvider } from "../../support/fake-provider.ts";
import {
  createForm,
  createSiteWithSender,
  findContactByEmail,
  processSubmissions,
  submitForm,
} from "../../support/forms.ts";
import { hours, type Story, startDraft } from "./story.ts";

async function exportedByExcel(): Promise<void> {
  const shop = await createTestSite();
  const file = "\ufeffemail;Vorname\r\nann@example.com;Änne\r\nbob@example.com;Bob\r\n";
  const request = NewImport.parse({ siteId: shop.siteId });
  const { id } = await imports.start(shop.caller, request, { bytes: Buffer.from(file) });
  await runImport(shop.orgId, id);
  expect(await imports.find(shop.caller, id)).toMatchObject({
    status: "completed",
    total: 2,
    created: 2,
    failed: 0,
  });
  expect(await findContactByEmail(shop, "ann@example.com")).toMatchObject({ firstName: "Änne" });
}

async function interruptedImport(): Promise<void> {
  const shop = await createTestSite();
  const rows = Array.from({ length: 426 }, (_, i) => `p${i}@example.com,"P ${i}"`);
  rows[100] = "not an address,Eve";
  const file = Buffer.from(["email,firstName", ...rows].join("\n"));
  const request = NewImport.parse({ siteId: shop.siteId });
  const { id } = await imports.start(shop.caller, request, { bytes: file });
  for (const step of [6, 12, 18]) {
    await runUntilCrash(step, "after", () => runImport(shop.orgId, id));
    clock.advanceClock(200);
  }
  await runImport(shop.orgId, id);
  expect(await imports.find(shop.caller, id)).toMatchObject({
    status: "completed",
    processed: 426,
    failed: 1,
    errors: [{ row: 102, email: "not an address" }],
  });
  expect(await readContactCount(shop)).toBe(425);
}

async function floodedForm(): Promise<void> {
  const provider = await startFakeProvider("postmark");
  const site = await createSiteWithSender();
  const form = await createForm(site, { doubleOptIn: true });
  for (let i = 0; i < 8; i++) {
    await submitForm(form.id, { email: "victim@example.com", firstName: `Bot ${i}` });
    await processSubmissions(site, form.id);
  }
  await runWorkers();
  expect(provider.mails.map(({ to }) => to)).toEqual(["victim@example.com"]);
  expect((await findContactByEmail(site, "victim@example.com"))?.status).toBe("pending");
  await provider.stop();
}

async function linksWithParameters(): Promise<void> {
  const sender = await createCampaignSender();
  const { caller, siteId, listId } = sender;
  const html =
    '<p><a href="https://shop.example/sale?id=1&amp;size={{ firstName | url_encode }}&b=2">Go</a></p>';
  const template = await templates.create(
    caller,
    NewTemplate.parse({ siteId, name: "Links", subject: "News", html }),
  );
  await contacts.create(
    caller,
    newContact("ann@example.com", { siteId, lists: [listId], firstName: "M&S" }),
  );
  await startDraft(sender, { templateId: template.id, utm: { source: "news" } });
  await runWorkers(hours(1));
  const [, href = ""] = /href="(https:\/\/shop\.example[^"]*)"/.exec(
    sender.provider.mails[0]!.html,
  )!;
  const query = new URL(href.replaceAll("&amp;", "&")).searchParams;
  expect(Object.fromEntries(query)).toMatchObject({
    id: "1",
    size: "M&S",
    b: "2",
    utm_source: "news",
  });
  expect(href).not.toContain("amp;amp;");
  await sender.provider.stop();
}

async function changedClocks(): Promise<void> {
  const sender = await createCampaignSender();
  const { caller, siteId, listId } = sender;
  const timezone = "Europe/Berlin";
  await contacts.create(
    caller,
    newContact("ann@example.com", { siteId, lists: [listId], timezone }),
  );
  const nineOn = (day: number) =>
    clock
      .addSeconds(day * 24 * 3600)
      .toISOString()
      .replace(/T.*/, "T09:00");
  const instantOn = (day: number) => instantOfLocalTime(nineOn(day), timezone);
  let day = 2;
  while (instantOn(day).getUTCHours() === instantOn(day + 1).getUTCHours()) day++;
  const days = [day, day + 1];
  for (const on of days) {
    const { id } = await createDraft(sender);
    await actions.schedule(caller, id, CampaignSchedule.parse({ localTime: nineOn(on) }));
  }
  const seconds = (instantOn(day + 2).getTime() - clock.now().getTime()) / 1000;
  await runWorkers({ forSeconds: seconds });
  const { sends: all } = await listSends(caller, { limit: 10 }, { siteId });
  const berlin = new Intl.DateTimeFormat("en", {
    timeZone: timezone,
    hour: "numeric",
    hourCycle: "h23",
  });
  expect(all.map(({ sentAt }) => berlin.format(new Date(sentAt!)))).toEqual(["09", "09"]);
  const utcHours = all.map(({ sentAt }) => new Date(sentAt!).getUTCHours());
  expect(utcHours.toSorted()).toEqual([7, 8]);
  await sender.provider.stop();
}

export const intake: Record<string, Story> = {
  "a file with a byte order mark, semicolons and umlauts is imported": exportedByExcel,
  "an import that is interrupted ends, with every row counted once": interruptedImport,
  "a form that is submitted again and again mails an address once an hour": floodedForm,
  "a link with several parameters arrives whole": linksWithParameters,
  "a local time stays the same when clocks change": changedClocks,
};
