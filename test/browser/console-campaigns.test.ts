// How a campaign is written, found and planned in the console.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus } from "../support/api-client.ts";
import { launchBrowser } from "../support/browser-pages.ts";
import {
  accountWithContacts,
  beginWithTemplate,
  chooseOption,
  judgeScreens,
  openSignedIn,
  readSandbox,
} from "../support/console-pages.ts";

import { runUntilIdle } from "../support/sending-client.ts";

const base = inject("baseUrl");

interface Named {
  id: number;
}
interface Campaign extends Named {
  subject: string | null;
  templateId: number;
  ownTemplateId: number;
  audience: { all: boolean; segments: number[] } | null;
  sendingConfigId: number | null;
}
interface Template extends Named {
  subject: string;
  previewText: string | null;
  html: string;
  campaignId: number | null;
}

/** An account that can send, with a template and a segment. */
async function sendingAccount() {
  const account = await accountWithContacts(3);
  const { call, siteId } = account;
  const { credentials, webhookSecret } = (await readSandbox()).postmark;
  const config = { provider: "postmark", credentials, webhookSecret };
  const sender = { ...config, fromEmail: "hello@shop.example" };
  expectStatus(201, await call("POST", "/sending-configs", sender));
  expectStatus(200, await call("PUT", "/compliance", { physicalAddress: "1 Main Street" }));
  const make = async (path: string, body: object): Promise<number> =>
    expectStatus(201, await call<Named>("POST", path, { siteId, ...body })).body.data.id;
  const html = "<p>Spring, {{ firstName }}</p>";
  const templateId = await make("/templates", { name: "Spring", subject: "Spring is here", html });
  const read = async <T>(path: string): Promise<T> =>
    expectStatus(200, await call<T>("GET", path)).body.data;
  return { ...account, make, read, templateId };
}

describe.skipIf(!inject("chromium"))("campaigns in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
    // The first request builds the console.
    await fetch(`${base}/app`);
  });
  afterAll(() => browser?.close());

  it("a campaign has its own email, which begins with a template, a design or an earlier one", async () => {
    const { email, read, templateId } = await sendingAccount();
    const { page, problems } = await openSignedIn(browser, { email, path: "/campaigns" });
    const newCampaign = async (name: string): Promise<number> => {
      await page.getByRole("button", { name: "New campaign" }).first().click();
      await page.getByLabel("Name").fill(name);
      await page.getByRole("button", { name: "Create campaign" }).click();
      await page.getByRole("heading", { name, level: 1 }).waitFor();
      return Number(/\d+$/.exec(page.url())![0]);
    };
    const first = await newCampaign("First");
    await chooseOption(page.getByRole("combobox", { name: "Send to" }), "All subscribed contacts");
    await page.getByText("3 of 3 contacts get it.").waitFor();
    await beginWithTemplate(page, "Spring");
    const subject = page.getByRole("textbox", { name: "Subject", exact: true });
    await subject.fill("Only in the first");
    await subject.press("Enter");
    await page.getByRole("region", { name: "Preview" }).getByText("Only in the first").waitFor();
    const own = await read<Campaign>(`/campaigns/${first}`);
    expect(own).toMatchObject({ subject: null, audience: { all: true } });
    expect(own.sendingConfigId).not.toBe(null);
    expect(own.templateId).toBe(own.ownTemplateId);
    expect(await read<Template>(`/templates/${own.templateId}`)).toMatchObject({
      ...{ subject: "Only in the first", campaignId: first },
    });
    expect((await read<Template>(`/templates/${templateId}`)).subject).toBe("Spring is here");

    await page.getByRole("link", { name: "Campaigns" }).first().click();
    const second = await newCampaign("Second");
    await page.getByRole("button", { name: /^An earlier campaign/ }).click();
    const dialog = page.getByRole("dialog");
    await chooseOption(dialog.getByRole("combobox", { name: "Campaign" }), "First");
    await dialog.getByRole("button", { name: "Copy and edit" }).click();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Begin again" }).click();
    await page.getByRole("button", { name: /^A design/ }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Announcement/ })
      .click();
    await page.getByText("Say it in one line").first().waitFor();
    await page.getByRole("link", { name: "Back to the campaign" }).click();
    await page.getByRole("textbox", { name: "Subject", exact: true }).waitFor();
    const copied = await read<Campaign>(`/campaigns/${second}`);
    const content = await read<Template>(`/templates/${copied.templateId}`);
    expect(content).toMatchObject({ campaignId: second, version: 2 });
    expect(content.html).toContain("Say it in one line");
    // The preview text of a design is that of the campaign.
    expect(content.previewText).toBe("We have worked on it all year");
    expect(content.html).not.toContain(content.previewText);
    expect(await read<Template>(`/templates/${own.templateId}`)).toMatchObject({ version: 2 });
    expect(problems).toEqual([]);
  });

  it("campaigns are found by name and status, with their figures", async () => {
    const { email, call, make, templateId } = await sendingAccount();
    const configs = await call<{ sendingConfigs: Named[] }>("GET", "/sending-configs");
    const sendingConfigId = expectStatus(200, configs).body.data.sendingConfigs[0]!.id;
    await make("/campaigns", { name: "Später" });
    const content = { templateId, audience: { all: true }, sendingConfigId };
    const sent = await make("/campaigns", { name: "Frühling", ...content });
    expectStatus(200, await call("POST", `/campaigns/${sent}/send`, {}));
    await runUntilIdle();
    const { page, problems } = await openSignedIn(browser, { email, path: "/campaigns" });
    const row = (name: string) => page.getByRole("row", { name: new RegExp(name) });
    await row("Frühling").getByRole("cell", { name: "3", exact: true }).waitFor();
    await page.getByLabel("Search campaigns").fill("spat");
    await row("Frühling").waitFor({ state: "detached" });
    await row("Später").waitFor();
    await page.getByLabel("Search campaigns").fill("");
    await row("Frühling").waitFor();
    await chooseOption(page.getByRole("combobox", { name: "Status" }), "Sent");
    await row("Später").waitFor({ state: "detached" });
    await row("Frühling").waitFor();
    expect(problems).toEqual([]);
  });

  it("a calendar shows what starts on each day, and opens it, also on a phone", async () => {
    const { email, call, make, siteId, templateId } = await sendingAccount();
    const configs = await call<{ sendingConfigs: Named[] }>("GET", "/sending-configs");
    const sendingConfigId = expectStatus(200, configs).body.data.sendingConfigs[0]!.id;
    const content = { templateId, audience: { all: true }, sendingConfigId };
    expectStatus(200, await call("PUT", "/settings/org", { timezone: "Pacific/Auckland" }));
    // In Auckland, it is the next day.
    const year = new Date().getUTCFullYear() + 1;
    const soon = await make("/campaigns", { name: "Autumn sale", ...content });
    const scheduledAt = `${year}-04-14T22:30:00Z`;
    expectStatus(200, await call("POST", `/campaigns/${soon}/schedule`, { scheduledAt }));
    await make("/campaigns", { name: "Only a draft", ...content });
    const schedule = { frequency: "monthly", dayOfMonth: 20, time: "08:15" };
    await make("/campaign-series", { name: "Monthly news", schedule, ...content });
    await make("/holidays", { siteId, name: "Easter", date: `${year}-04-05`, templateId });
    const { page, problems } = await openSignedIn(browser, { email, path: "/campaigns" });
    await page.getByText("Calendar", { exact: true }).click();
    await page.getByRole("button", { name: "Previous month" }).click();
    await page.getByRole("button", { name: "Today" }).click();
    await page.locator('td[aria-current="date"]').waitFor();
    await page.goto(`${base}/app/campaigns?view=calendar&month=${year}-04`);
    await page.getByRole("heading", { name: `April ${year}` }).waitFor();
    const day = (name: string) => page.getByRole("cell", { name: new RegExp(name) });
    await day("15 April").getByRole("link", { name: "10:30 Autumn sale Scheduled" }).waitFor();
    await day("20 April").getByRole("link", { name: "08:15 Monthly news" }).waitFor();
    await day(" 5 April").getByRole("link", { name: "09:00 Easter" }).waitFor();
    expect(await page.getByText("Only a draft").count()).toBe(0);
    await page.getByRole("button", { name: "Next month" }).click();
    await page.getByRole("heading", { name: `May ${year}` }).waitFor();
    await day("20 May").getByRole("link", { name: "08:15 Monthly news" }).waitFor();
    await page.goBack();
    await page.getByRole("link", { name: /Autumn sale/ }).press("Enter");
    await page.getByRole("heading", { name: "Autumn sale" }).waitFor();
    const phone = await openSignedIn(browser, {
      email,
      path: `/campaigns?view=calendar&month=${year}-04`,
      viewport: { width: 390, height: 844 },
    });
    await phone.page.getByRole("heading", { name: /15 April/ }).waitFor();
    await phone.page.getByRole("link", { name: /Easter/ }).click();
    await phone.page
      .getByRole("heading", { name: /oliday/ })
      .first()
      .waitFor();
    expect([...problems, ...phone.problems]).toEqual([]);
  });

  it("a segment opens a draft to its contacts", async () => {
    const { email, make, read } = await sendingAccount();
    const rules = { match: "all", conditions: [] };
    const segment = await make("/segments", { name: "Everyone", rules });
    const { page } = await openSignedIn(browser, { email, path: `/segments/${segment}` });
    await page.getByRole("button", { name: "Send a campaign" }).click();
    await page.getByText("3 of 3 contacts get it.").waitFor();
    const id = Number(/\d+$/.exec(page.url())![0]);
    expect(await read<Campaign>(`/campaigns/${id}`)).toMatchObject({
      ...{ name: "Everyone", audience: { segments: [segment] } },
    });
  });

  it("its screens have no accessibility issues and fit on a phone", async () => {
    const { email, make, templateId } = await sendingAccount();
    const empty = await make("/campaigns", { name: "Empty" });
    const content = { copyOf: templateId };
    const own = await make("/campaigns", { name: "Own", content, audience: { all: true } });
    const issues = await judgeScreens(browser, {
      email,
      screens: [
        {
          path: `/campaigns/${empty}`,
          ready: (page) => page.getByRole("button", { name: /^A design/ }).waitFor(),
          open: async (page) => {
            await page.getByRole("button", { name: /^A template/ }).click();
            await page.getByRole("button", { name: "Copy and edit" }).waitFor();
          },
        },
        {
          path: `/campaigns/${own}`,
          ready: (page) => page.getByRole("button", { name: "Edit email" }).waitFor(),
        },
        {
          path: `/campaigns/${own}/email`,
          ready: (page) => page.getByRole("button", { name: "Done" }).waitFor(),
        },
      ],
    });
    expect(issues).toEqual([]);
  });
});
