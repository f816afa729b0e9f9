// Ways through several screens of the console, from the first visit on.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import {
  expectStatus,
  nextMinute,
  password,
  request,
  uniqueEmail,
  waitForMail,
} from "../support/api-client.ts";
import { launchBrowser } from "../support/browser-pages.ts";
import {
  accountWithContacts,
  openConsole,
  openSignedIn,
  readSandbox,
} from "../support/console-pages.ts";
import { runUntilIdle } from "../support/sending-client.ts";

const base = inject("baseUrl");
const exact = { exact: true } as const;

describe.skipIf(!inject("chromium"))("journeys through the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
    // The first request builds the console.
    await fetch(`${base}/app`);
  });
  afterAll(() => browser?.close());

  const open = (page: Page, screen: string) =>
    page
      .getByRole("navigation", { name: "Main" })
      .first()
      .getByRole("link", { name: screen, exact: true })
      .click();
  const choose = async (page: Page, input: string, option: string | RegExp) => {
    await page.getByRole("combobox", { name: input }).click();
    await page.getByRole("option", { name: option }).click();
    await page.keyboard.press("Escape");
  };

  it("a visitor signs up and reads the result of an A/B campaign", async () => {
    const { page, problems } = await openConsole(browser, "/sign-up");
    await page.getByLabel("Email").fill(uniqueEmail());
    await page.getByLabel("Password", exact).fill(password);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByLabel("Name", exact).fill("My shop");
    await page.getByRole("button", { name: "Create site" }).click();
    await choose(page, "Provider", "Postmark");
    await page.getByLabel("API key").fill((await readSandbox()).postmark.credentials.apiKey);
    await page.getByLabel("Sender address").fill("hello@shop.example");
    await page.getByRole("button", { name: "Connect provider" }).click();
    await page.getByRole("button", { name: /Done.*provider/ }).waitFor();
    await page.getByRole("button", { name: /postal address/ }).click();
    await page.getByRole("textbox", { name: "Postal address" }).fill("1 Main Street, Springfield");
    await page.getByRole("button", { name: "Save address" }).click();
    await page.getByRole("button", { name: /Done.*postal address/ }).waitFor();

    await open(page, "Lists and tags");
    await page.getByRole("button", { name: "New list" }).first().click();
    await page.getByLabel("Name", exact).fill("Newsletter");
    await page.getByRole("button", { name: "Create list" }).click();
    await page.getByText("Newsletter").waitFor();
    await open(page, "Contacts");
    for (const name of ["ada", "bob"]) {
      await page.getByRole("button", { name: "Add contact" }).first().click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Email").fill(`${name}@customer.example`);
      await dialog.getByRole("button", { name: "Add contact" }).click();
      await dialog.waitFor({ state: "detached" });
    }
    await page.getByText("2 contacts").waitFor();
    for (const box of await page.getByRole("checkbox").all()) await box.check();
    await page.getByText("2 selected").waitFor();
    await page.getByRole("button", { name: "Add to list" }).click();
    await page.getByRole("menuitem", { name: "Newsletter" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Add to list" }).click();
    await page.getByText("Completed").waitFor();

    // The free plan has 100 requests a minute.
    await nextMinute(base);
    await open(page, "Templates");
    await page.getByRole("button", { name: "New template" }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: /^Code/ }).click();
    await page.getByLabel("Subject").fill("Hello");
    await page.getByRole("button", { name: "Save template" }).click();
    await page.getByRole("status").getByText("Saved").waitFor();
    await open(page, "Campaigns");
    await page.getByRole("button", { name: "New campaign" }).first().click();
    await page.getByLabel("Name").fill("First news");
    await page.getByRole("button", { name: "Create campaign" }).click();
    await choose(page, "Send to", "Newsletter");
    await choose(page, "Template", "New template");
    await choose(page, "From", /hello@shop.example/);
    await page.getByText("2 of 2 contacts get it.").waitFor();
    await page.getByRole("button", { name: "Test variants" }).click();
    await page.getByText("The winner has").waitFor();
    await choose(page, "Who gets the variants", /whole audience/);
    await page.getByText("The winner has").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Send to 2 contacts" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Send to 2 contacts" }).click();
    await page.getByRole("region", { name: "Result" }).waitFor();
    await runUntilIdle();
    await page.reload();
    await page.getByText("The whole audience got the variants.").waitFor();
    await page.getByRole("table", { name: "Variants" }).getByRole("row").nth(2).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  }, 150_000);

  it("a viewer finds every screen without a button that changes something", async () => {
    const { call, siteId } = await accountWithContacts(2);
    expectStatus(201, await call("POST", "/lists", { siteId, name: "Customers" }));
    const template = { siteId, name: "Spring", subject: "Hello", html: "<p>Hello</p>" };
    const stored = await call<{ id: number }>("POST", "/templates", template);
    const campaign = await call<{ id: number }>("POST", "/campaigns", { siteId, name: "Sale" });
    const form = await call<{ id: number }>("POST", "/forms", { siteId, name: "Sign up" });
    const idOf = (answer: typeof stored) => expectStatus(201, answer).body.data.id;
    const email = uniqueEmail();
    const invitation = { email, role: "viewer" };
    expectStatus(201, await call("POST", "/invitations", invitation, { as: "session" }));
    const { text } = await waitForMail(email);
    const token = /\/accept-invitation\?token=(\w+)/.exec(text ?? "")?.[1] ?? "";
    expectStatus(200, await request("POST", "/invitations/accept", { token, password }));
    const screens = [
      ["contacts", "Contacts"],
      ["groups", "Lists and tags"],
      ["segments", "Segments"],
      ["forms", "Forms"],
      [`forms/${idOf(form)}`, "Sign up"],
      ["scoring", "Lead scoring"],
      ["suppressions", "Suppressions"],
      ["campaigns", "Campaigns"],
      [`campaigns/${idOf(campaign)}`, "Sale"],
      ["sequences", "Sequences"],
      ["holidays", "Holiday emails"],
      ["templates", "Templates"],
      [`templates/${idOf(stored)}`, "Spring"],
      ["log", "Log"],
      ["settings/members", "Settings"],
      ["settings/senders", "Settings"],
      ["settings/domains", "Settings"],
      ["settings/sites", "Settings"],
      ["settings/compliance", "Settings"],
      ["settings/organization", "Settings"],
    ] as const;
    const { page, problems } = await openSignedIn(browser, { email, path: "" });
    const found: string[] = [];
    for (const [place, [path, heading]] of screens.entries()) {
      // Requests are limited to 100 a minute.
      if (place % 8 === 7) await nextMinute(base);
      await page.goto(`${base}/app/${path}`);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await page.waitForLoadState("networkidle");
      for (const button of await page.locator("main").getByRole("button").all())
        if (await button.isEnabled()) {
          const name = (await button.innerText()) || (await button.getAttribute("aria-label"));
          if (name && changing.test(name)) found.push(`${path}: ${name}`);
        }
    }
    expect(found).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  }, 150_000);

  const changing =
    /^(New|Add|Create|Save|Delete|Remove|Import|Invite|Send|Edit|Test|Publish|Revoke|Rename|Pause)\b/;

  it("a screen that was seen shows its rows again without waiting for the network", async () => {
    const { email } = await accountWithContacts(30);
    const { page, problems } = await openSignedIn(browser, { email, path: "/contacts" });
    await page.getByText("person29@shop.example").waitFor();
    await open(page, "Log");
    await page.getByRole("heading", { name: "Log" }).waitFor();
    // From now on, no request is answered.
    await page.route("**/api/v1/**", () => {});
    await open(page, "Contacts");
    await page.getByText("person29@shop.example").waitFor();
    await page.getByText("30 contacts").waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
