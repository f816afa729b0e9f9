// Reports, exports, lead scoring and holiday emails of the console in a real browser.
import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus, signedUp } from "../support/api-client.ts";
import { launchBrowser } from "../support/browser-pages.ts";
import {
  accountWithContacts,
  chooseOption,
  judgeScreens,
  openSignedIn,
  readSandbox,
} from "../support/console-pages.ts";

/** An account that has sent two emails. */
async function accountWithEmails() {
  const account = await accountWithContacts(2);
  const { call, siteId, email } = account;
  const { credentials } = (await readSandbox()).postmark;
  const config = { provider: "postmark", credentials, fromEmail: "hello@shop.example" };
  const { id } = expectStatus(201, await call<{ id: number }>("POST", "/sending-configs", config))
    .body.data;
  expectStatus(200, await call("POST", `/sending-configs/${id}/verify`, { to: email }));
  for (const to of ["person0@shop.example", "person1@shop.example"]) {
    const mail = { siteId, sendingConfigId: id, to, subject: "Hello", html: "<p>Hello</p>" };
    expectStatus(202, await call("POST", "/send", mail));
  }
  return account;
}

describe.skipIf(!inject("chromium"))("reports and rules in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it("the contacts that match a filter are exported to a file", async () => {
    const { email } = await accountWithContacts(30);
    const path = "/contacts?search=person2";
    const { page, problems } = await openSignedIn(browser, { email, path });
    await page.getByText("person2@shop.example").first().waitFor();
    await page.getByRole("button", { name: "Export" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("contacts that match the filters").waitFor();
    await dialog.getByRole("button", { name: "Export" }).click();
    await dialog.getByText("The file has 11 rows.").waitFor();
    const downloading = page.waitForEvent("download");
    await dialog.getByRole("link", { name: "Download file" }).click();
    const file = await readFile(await (await downloading).path(), "utf8");
    const rows = file.trim().split(/\r?\n/);
    expect(rows[0]).toMatch(/^\W*email|,email/);
    expect(rows).toHaveLength(12);
    expect(problems).toEqual([]);
  });

  it("a scoring rule is made, changed, turned off and deleted", async () => {
    const { email } = await signedUp();
    const { page, problems } = await openSignedIn(browser, { email, path: "/scoring" });
    await page.getByText("No rule yet").waitFor();
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Looked at prices");
    await chooseOption(dialog.getByRole("combobox", { name: "When a contact" }), "Visits a page");
    await dialog.getByLabel("Address contains (optional)").fill("/pricing");
    await dialog.getByLabel("Points").fill("20");
    await dialog.getByRole("button", { name: "Save rule" }).click();
    await page.getByText("Visits a page: /pricing").waitFor();
    await page.getByText("+20").click();
    await dialog.getByLabel("Points").fill("25");
    await dialog.getByRole("button", { name: "Save rule" }).click();
    await page.getByText("+25").waitFor();
    const act = async (name: string) => {
      await page.getByRole("button", { name: /Looked at prices/ }).click();
      await page.getByRole("menuitem", { name }).click();
    };
    await act("Turn off");
    await page.getByRole("cell", { name: "Off" }).waitFor();
    await act("Delete");
    await page.getByText("No rule yet").waitFor();
    expect(problems).toEqual([]);
  });

  it("a holiday email is planned and cancelled", async () => {
    const { email, call, siteId } = await signedUp();
    const template = { siteId, name: "New Year", subject: "Happy new year", html: "<p>Hi</p>" };
    expectStatus(201, await call("POST", "/templates", template));
    const { page, problems } = await openSignedIn(browser, { email, path: "/sequences/holidays" });
    await page.getByRole("button", { name: "New holiday email" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Greetings");
    await dialog.getByLabel("Day").fill("2031-01-01");
    await chooseOption(dialog.getByRole("combobox", { name: "Template" }), "New Year");
    await dialog.getByLabel("Replies to").fill("help@shop.example");
    await dialog.getByRole("button", { name: "Save holiday email" }).click();
    await page.getByRole("cell", { name: "1 Jan 2031" }).waitFor();
    await page.getByRole("button", { name: /Greetings/ }).click();
    await page.getByRole("menuitem", { name: "Cancel" }).click();
    await page.getByLabel("Type Greetings to confirm").fill("Greetings");
    await page.getByRole("button", { name: "Cancel holiday email" }).click();
    await page.getByRole("cell", { name: "Cancelled" }).waitFor();
    expect(problems).toEqual([]);
  });

  it("the reports show how much email arrived, and who gets a summary by email", async () => {
    const { email } = await accountWithEmails();
    const { page, problems } = await openSignedIn(browser, { email, path: "/reports" });
    const figures = page.getByRole("region", { name: "Figures" });
    await figures.getByText("Delivered").waitFor();
    await page.getByRole("table", { name: "Senders" }).getByText("hello@shop.example").waitFor();
    await page.getByRole("link", { name: "Contacts" }).last().click();
    await page.getByText("In no sequence", { exact: true }).click();
    await page.getByText("person1@shop.example").waitFor();
    await page.getByRole("link", { name: "Topics" }).click();
    await page.getByText("No topic yet").waitFor();
    await page.getByRole("link", { name: "By email" }).click();
    await page.getByLabel("Send it to").fill("boss@shop.example");
    await page.getByRole("button", { name: "Add summary" }).click();
    const row = page.getByRole("row", { name: "boss@shop.example" });
    await row.getByRole("button", { name: "Pause" }).click();
    await row.getByRole("button", { name: "Resume" }).waitFor();
    await row.getByRole("button", { name: "Delete" }).click();
    await page.getByText("Nobody gets one yet").waitFor();
    expect(problems).toEqual([]);
  });

  it("a scheduled email is found by the contact, read with its headers and cancelled", async () => {
    const { email, call, siteId } = await accountWithEmails();
    const mail = {
      siteId,
      fromEmail: "hello@shop.example",
      subject: "Later",
      html: "<p>Hello</p>",
    };
    const scheduledAt = new Date(Date.now() + 86_400_000).toISOString();
    expectStatus(
      202,
      await call("POST", "/send", { ...mail, to: "person0@shop.example", scheduledAt }),
    );
    const { page, problems } = await openSignedIn(browser, {
      email,
      path: "/contacts?search=person0",
    });
    await page.locator("tr[data-index='0']").click();
    await page.getByRole("tab", { name: "Emails" }).click();
    await page.getByRole("link", { name: "Show them in the log" }).click();
    await page.getByRole("cell", { name: /Later/ }).click();
    const panel = page.getByRole("complementary", { name: "Email" });
    await panel.getByRole("button", { name: "Show the email" }).click();
    await panel.getByRole("heading", { name: "Headers" }).waitFor();
    await panel.getByRole("button", { name: "Cancel email" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel email" }).click();
    await panel.locator(".answer").getByText("Cancelled").waitFor();
    expect(await panel.getByRole("button", { name: "Cancel email" }).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("the screens have no accessibility issue", async () => {
    const { email, call, siteId } = await accountWithEmails();
    const rule = { siteId, name: "Prices", trigger: "page_view", match: { url: "/p" }, points: 5 };
    expectStatus(201, await call("POST", "/scoring/rules", rule));
    const schedule = { siteId, frequency: "weekly", recipient: "boss@shop.example" };
    expectStatus(201, await call("POST", "/reports/schedules", schedule));
    const issues = await judgeScreens(browser, {
      email,
      screens: [
        {
          path: "",
          ready: (page) => page.getByRole("heading", { name: "Emails by day" }).waitFor(),
        },
        { path: "/reports", ready: (page) => page.getByRole("img", { name: /^Line/ }).waitFor() },
        { path: "/reports/contacts", ready: (page) => page.getByText("Nobody").waitFor() },
        { path: "/reports/topics", ready: (page) => page.getByText("No topic yet").waitFor() },
        // A deletion is sent after eight seconds, so this screen is judged without its toast.
        {
          path: "/reports/schedules",
          ready: (page) => page.getByText("boss@shop.example").waitFor(),
        },
        { path: "/scoring", ready: (page) => page.getByText("Prices").waitFor() },
        {
          path: "/log",
          ready: (page) => page.getByText("person1@shop.example").waitFor(),
          open: async (page) => {
            await page.getByText("person1@shop.example").click();
            await page.getByRole("button", { name: "Show the email" }).click();
            await page.frameLocator("iframe").getByText("Hello").waitFor();
          },
        },
        { path: "/log/events", ready: (page) => page.getByText("No event yet").waitFor() },
        {
          path: "/log/unmatched",
          ready: (page) => page.getByText("All events are matched").waitFor(),
        },
        {
          path: "/log/inbound",
          ready: (page) => page.getByText("No email received yet").waitFor(),
        },
        {
          path: "/sequences/holidays",
          ready: (page) => page.getByText("No holiday email yet").waitFor(),
        },
      ],
    });
    expect(issues).toEqual([]);
  });
});
