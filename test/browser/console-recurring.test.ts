// Recurring campaigns in the console: start one from a draft, change its times, pause and delete it.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus } from "../support/api-client.ts";
import { launchBrowser } from "../support/browser-pages.ts";
import {
  accountWithContacts,
  judgeScreens,
  openSignedIn,
  readSandbox,
} from "../support/console-pages.ts";

async function accountWithDraft() {
  const account = await accountWithContacts(0);
  const { call, siteId } = account;
  const create = async (path: string, body: object) =>
    expectStatus(201, await call<{ id: number }>("POST", path, body)).body.data.id;
  const { credentials, webhookSecret } = (await readSandbox()).postmark;
  const provider = { provider: "postmark", credentials, webhookSecret };
  const sendingConfigId = await create("/sending-configs", {
    ...provider,
    fromEmail: "hello@shop.example",
  });
  expectStatus(200, await call("POST", `/sending-configs/${sendingConfigId}/verify`));
  expectStatus(200, await call("PUT", "/compliance", { physicalAddress: "1 Main Street" }));
  const listId = await create("/lists", { siteId, name: "Newsletter" });
  const html = "<p>Hello</p>";
  const templateId = await create("/templates", { siteId, name: "News", subject: "News", html });
  const fields = { siteId, name: "Weekly news", listId, templateId, sendingConfigId };
  return { ...account, draftId: await create("/campaigns", fields) };
}

describe.skipIf(!inject("chromium"))("recurring campaigns in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it("starts from a draft, and is changed, paused, resumed and deleted", async () => {
    const { email, draftId } = await accountWithDraft();
    const { page } = await openSignedIn(browser, { email, path: `/campaigns/${draftId}` });
    await page.getByText("Again and again").click();
    await page.getByText("Thursday").click();
    await page.getByRole("textbox", { name: "Time" }).fill("18:30");
    await page.getByRole("button", { name: "Start recurring campaign" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Every Monday and Thursday at 18:30").waitFor();
    await dialog.getByRole("button", { name: "Start recurring campaign" }).click();
    await page.waitForURL(/\/recurring\/\d+$/);
    const path = new URL(page.url()).pathname.replace("/app", "");
    await page.getByText("It has not been sent yet.").waitFor();
    await page.getByText("Once a month").click();
    await page.getByLabel("Day of the month").fill("31");
    await page.getByRole("button", { name: "Save times" }).click();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    const screens = [
      { path, ready: (shown: Page) => shown.getByText("It has not been sent yet.").waitFor() },
      { path: "/campaigns", ready: (shown: Page) => shown.getByText("On day 31").waitFor() },
    ];
    expect(await judgeScreens(browser, { email, screens })).toEqual([]);
    await page.goto(page.url().replace(/\/recurring.*/, "/campaigns"));
    await page.getByText("On day 31 of each month at 18:30").waitFor();
    await page.getByRole("link", { name: "Weekly news" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete recurring campaign" }).click();
    await page.waitForURL(/\/campaigns$/);
    await page.getByText("Every Monday", { exact: false }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Weekly news" }).waitFor({ state: "detached" });
  });
});
