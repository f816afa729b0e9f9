// Ways through several screens of the console, from the first visit on.
import type { Browser, Locator, Page } from "playwright-core";
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
  chooseOption,
  openConsole,
  openSignedIn,
  readSandbox,
  showScreen,
  tabTo,
  watchRequests,
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
  /** Goes to a button or link with Tab, and presses Enter. */
  const press = async (page: Page, button: Locator) => {
    await tabTo(page, button);
    await page.keyboard.press("Enter");
  };
  const type = async (page: Page, field: Locator, text: string) => {
    await tabTo(page, field);
    await page.keyboard.insertText(text);
  };
  /** Opens a box with the arrow key, goes to an option and takes it. */
  const choose = async (page: Page, input: string, option: string | RegExp) => {
    await tabTo(page, page.getByRole("combobox", { name: input }));
    const wanted = page.getByRole("option", { name: option });
    for (let presses = 0; presses < 20; presses++) {
      await page.keyboard.press("ArrowDown");
      await wanted.waitFor();
      if (await wanted.getAttribute("data-combobox-selected")) break;
    }
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
  };
  const takeFromMenu = async (page: Page, name: string) => {
    const item = page.getByRole("menuitem", { name });
    for (let presses = 0; presses < 10; presses++) {
      await page.keyboard.press("ArrowDown");
      if (await item.evaluate((one) => one.matches(":focus"))) break;
    }
    await page.keyboard.press("Enter");
  };
  /** `g` and a letter open a screen. */
  const goTo = async (page: Page, letter: string, heading: string) => {
    await page.keyboard.press("g");
    await page.keyboard.press(letter);
    await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
  };
  const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name }).first();

  it("a visitor signs up and reads the result of an A/B campaign, without a mouse", async () => {
    const { page, problems } = await openConsole(browser, "/sign-up");
    await type(page, page.getByLabel("Email"), uniqueEmail());
    await type(page, page.getByLabel("Password", exact), password);
    await page.keyboard.press("Enter");
    await type(page, page.getByLabel("Name", exact), "My shop");
    await page.keyboard.press("Enter");
    await choose(page, "Provider", "Postmark");
    const { apiKey } = (await readSandbox()).postmark.credentials;
    await type(page, page.getByLabel("API key"), apiKey);
    await type(page, page.getByLabel("Sender address"), "hello@shop.example");
    await page.keyboard.press("Enter");
    await button(page, /Done.*provider/).waitFor();
    await press(page, button(page, /postal address/));
    await type(
      page,
      page.getByRole("textbox", { name: "Postal address" }),
      "1 Main Street, Springfield",
    );
    await press(page, button(page, "Save address"));
    await button(page, /Done.*postal address/).waitFor();

    await goTo(page, "l", "Lists and tags");
    await page.keyboard.press("c");
    await type(page, page.getByLabel("Name", exact), "Newsletter");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await goTo(page, "c", "Contacts");
    for (const name of ["ada", "bob"]) {
      await page.keyboard.press("c");
      const dialog = page.getByRole("dialog");
      const address = dialog.getByRole("textbox", { name: "Email", exact: true });
      await type(page, address, `${name}@customer.example`);
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
    }
    await page.getByText("2 contacts").waitFor();
    await tabTo(page, page.locator("tr[data-index='0']"));
    for (const key of ["x", "ArrowDown", "x"]) await page.keyboard.press(key);
    await page.getByText("2 selected").waitFor();
    await press(page, button(page, "Add to list"));
    await takeFromMenu(page, "Newsletter");
    await press(page, page.getByRole("dialog").getByRole("button", { name: "Add to list" }));
    await page.getByText("Completed").waitFor();

    // The free plan has 100 requests a minute.
    await nextMinute(base);
    await goTo(page, "t", "Templates");
    await page.keyboard.press("c");
    await press(page, page.getByRole("dialog").getByRole("button", { name: /^Code/ }));
    await type(page, page.getByRole("textbox", { name: "Subject" }), "Hello");
    await page.keyboard.press("ControlOrMeta+s");
    await page.getByRole("status").getByText("Saved").waitFor();
    // In a field, letters are text.
    await tabTo(page, button(page, "More"));
    await goTo(page, "m", "Campaigns");
    await page.keyboard.press("c");
    await type(page, page.getByLabel("Name"), "First news");
    await page.keyboard.press("Enter");
    await choose(page, "Send to", "Newsletter");
    await press(page, button(page, /^A template/));
    await tabTo(page, page.getByRole("combobox", { name: "Template" }));
    await page.keyboard.press("ArrowDown");
    await page.getByRole("option", { name: "New template" }).waitFor();
    for (const key of ["ArrowDown", "Enter"]) await page.keyboard.press(key);
    await press(page, button(page, "Copy and edit"));
    await press(page, button(page, "Done"));
    await button(page, "Edit email").waitFor();
    await page.getByText("2 of 2 contacts get it.").waitFor();
    await press(page, button(page, "Test variants"));
    await page.getByText("The winner has").waitFor();
    await choose(page, "Who gets the variants", /whole audience/);
    await page.getByText("The winner has").waitFor({ state: "detached" });
    await type(page, page.getByRole("textbox", { name: "Subject of B" }), "Hello again");
    await press(page, button(page, "Send to 2 contacts"));
    const dialog = page.getByRole("dialog");
    await press(page, dialog.getByRole("button", { name: "Send to 2 contacts" }));
    await page.getByRole("region", { name: "Result" }).waitFor();
    await runUntilIdle();
    await page.reload();
    await page.getByText("The whole audience got the variants.").waitFor();
    await page.getByRole("table", { name: "Variants" }).getByRole("row").nth(2).waitFor();
    expect(problems).toEqual([]);
  });

  it("an owner invites a viewer, who opens the mail, joins, sees and cannot change", async () => {
    const { email: owner } = await accountWithContacts(1);
    const { page } = await openSignedIn(browser, { email: owner, path: "/settings/members" });
    const email = uniqueEmail();
    await page.getByLabel("Email").fill(email);
    await chooseOption(page.getByRole("combobox", { name: "Role", exact: true }), "Viewer");
    await page.getByRole("button", { name: "Send invitation" }).click();
    await page.getByRole("cell", { name: email }).waitFor();
    await waitForMail(email);
    const { page: inbox, problems } = await openConsole(browser, "/../_local/inbox");
    await inbox.getByRole("searchbox").fill(email);
    await inbox.locator("#mails li").filter({ hasText: email }).click();
    const link = inbox.frameLocator("iframe").getByRole("link").first();
    await inbox.goto((await link.getAttribute("href"))!);
    await inbox.getByLabel("Choose a password").fill(password);
    await inbox.keyboard.press("Enter");
    await inbox.getByRole("heading", { name: "You are now a member" }).waitFor();
    await inbox.goto(`${base}/app/contacts`);
    await inbox.getByText("1 contact").waitFor();
    expect(await inbox.getByRole("button", { name: "Add contact" }).count()).toBe(0);
    expect(await inbox.getByRole("checkbox").count()).toBe(0);
    const asViewer = await inbox.request.put(`${base}/api/v1/settings/org`, {
      data: { name: "Mine" },
      headers: { origin: base },
    });
    expect(asViewer.status()).toBe(403);
    expect(problems).toEqual([]);
  });

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
      ["sequences/holidays", "Holiday emails"],
      ["templates", "Templates"],
      [`templates/${idOf(stored)}`, "Spring"],
      ["log", "Log"],
      ["settings/members", "Settings"],
      ["settings/senders", "Settings"],
      ["settings/domains", "Settings"],
      ["settings/postmaster", "Settings"],
      ["settings/sites", "Settings"],
      ["settings/compliance", "Settings"],
      ["settings/organization", "Settings"],
    ] as const;
    const { page, problems } = await openSignedIn(browser, { email, path: "" });
    const answers = watchRequests(page);
    const found: string[] = [];
    for (const [place, [path, heading]] of screens.entries()) {
      // Requests are limited to 100 a minute.
      if (place % 8 === 7) await nextMinute(base);
      await showScreen(page, `/${path}`);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await answers();
      const buttons = page.locator("main").getByRole("button", { disabled: false });
      const names = await buttons.evaluateAll((all) =>
        all.map((one) => one.innerText || one.ariaLabel || ""),
      );
      found.push(...names.filter((name) => changing.test(name)).map((name) => `${path}: ${name}`));
    }
    expect(found).toEqual([]);
    expect(problems).toEqual([]);
  });

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
  });
});
