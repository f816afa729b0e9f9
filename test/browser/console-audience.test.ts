// The console's screens about the audience, in a real browser, as people use them.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus } from "../support/api-client.ts";
import { launchBrowser } from "../support/browser-pages.ts";
import {
  accountWithContacts,
  chooseOption,
  judgeScreens,
  openSignedIn,
} from "../support/console-pages.ts";

const exact = { exact: true } as const;

type Account = Awaited<ReturnType<typeof accountWithContacts>>;

/** Creates a record with the API and returns its id. */
async function create({ call }: Account, path: string, fields: object): Promise<number> {
  return expectStatus(201, await call<{ id: number }>("POST", path, fields)).body.data.id;
}

/** Opens the menu of a row and chooses an action. */
async function chooseAction(page: Page, name: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${name}`, exact: true }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

describe.skipIf(!inject("chromium"))("the console's screens about the audience", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it("a list is created, renamed and opened; its deletion is taken back until it is sent", async () => {
    const { email, call, siteId } = await accountWithContacts(2);
    const { page, problems } = await openSignedIn(browser, { email, path: "/groups" });
    await page.getByRole("heading", { name: "No list yet" }).waitFor();
    await page.keyboard.press("c");
    await page.getByRole("textbox", { name: "Name" }).fill("News");
    await page.getByRole("button", { name: "Create list" }).click();
    await page.getByRole("cell", { name: "News", exact: true }).waitFor();
    await chooseAction(page, "News", "Rename");
    await page.getByRole("textbox", { name: "Name" }).fill("Newsletter");
    await page.getByRole("button", { name: "Save list" }).click();
    await page.getByRole("cell", { name: "Newsletter", exact: true }).click();
    await page.getByRole("heading", { name: "No contact matches" }).waitFor();
    await page.goBack();
    await chooseAction(page, "Newsletter", "Delete");
    const empty = page.getByRole("heading", { name: "No list yet" });
    await empty.waitFor();
    await page.getByText("It is removed from 0 contacts.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("cell", { name: "Newsletter", exact: true }).waitFor();
    await chooseAction(page, "Newsletter", "Delete");
    await empty.waitFor();
    await page.keyboard.press("z");
    await page.getByRole("cell", { name: "Newsletter", exact: true }).waitFor();
    await chooseAction(page, "Newsletter", "Delete");
    await empty.waitFor();
    // The deletion is sent when the page is left.
    await page.goto("about:blank");
    const read = () => call<{ lists: unknown[] }>("GET", `/lists?siteId=${siteId}`);
    await expect.poll(async () => (await read()).body.data.lists).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("a contact is merged into another one, which opens with the history of both", async () => {
    const account = await accountWithContacts(0);
    const { email, siteId } = account;
    const old = await create(account, "/contacts", {
      ...{ siteId, email: "old@example.com", company: "Acme", tags: ["gold"] },
    });
    await create(account, "/contacts", { siteId, email: "ann@example.com", firstName: "Ann" });
    const { page, problems } = await openSignedIn(browser, {
      ...{ email, path: `/contacts?contact=${old}` },
    });
    await page.getByRole("button", { name: "Merge into…" }).click();
    const action = page.getByRole("button", { name: "Merge contacts" });
    expect(await action.isDisabled()).toBe(true);
    const select = page.getByRole("combobox", { name: "Merge into" });
    await select.fill("ann@");
    await page.getByRole("option", { name: "ann@example.com" }).click();
    await page.getByText("ann@example.com stays.").waitFor();
    await action.click();
    await page.getByRole("heading", { name: "Ann" }).waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    await page.getByText("The contact old@example.com was merged into this one").waitFor();
    await page.getByText("Got the tag “gold”").waitFor();
    expect(problems).toEqual([]);
  });

  it("a tag that a form uses stays, until it is deleted anyway", async () => {
    const account = await accountWithContacts(1);
    const { email, siteId } = account;
    await create(account, "/tags", { siteId, name: "vip" });
    await create(account, "/forms", { siteId, name: "Sign-up", tags: ["vip"] });
    const { page } = await openSignedIn(browser, { email, path: "/groups/tags" });
    await chooseAction(page, "vip", "Delete");
    await page.getByRole("button", { name: "Delete now" }).click();
    await page.getByText("Tag “vip” is not deleted").waitFor();
    await page.getByRole("listitem").filter({ hasText: "Sign-up" }).waitFor();
    await page.getByRole("cell", { name: "vip", exact: true }).waitFor();
    await page.getByRole("button", { name: "Delete anyway" }).click();
    await page.getByRole("heading", { name: "No tag yet" }).waitFor();
  });

  it("a template that a campaign uses stays, until it is deleted anyway", async () => {
    const account = await accountWithContacts(1);
    const { email, siteId } = account;
    const content = { subject: "Hi", html: "<p>Hi</p>" };
    const id = await create(account, "/templates", { siteId, name: "Letter", ...content });
    await create(account, "/campaigns", { siteId, name: "Spring", templateId: id });
    const { page } = await openSignedIn(browser, { email, path: `/templates/${id}` });
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Delete template" }).click();
    await page.getByLabel("Type Letter to confirm").fill("Letter");
    await page.getByRole("button", { name: "Delete template" }).click();
    await page.getByRole("listitem").filter({ hasText: "Spring" }).waitFor();
    await page.getByRole("button", { name: "Delete anyway" }).click();
    await page.waitForURL(/\/templates$/);
    expect((await account.call("GET", `/templates/${id}`)).status).toBe(404);
  });

  it("topics are created and put in order", async () => {
    const { email } = await accountWithContacts(1);
    const { page, problems } = await openSignedIn(browser, { email, path: "/groups/topics" });
    for (const name of ["News", "Offers"]) {
      await page.getByRole("button", { name: "New topic" }).click();
      await page.getByRole("textbox", { name: "Name" }).fill(name);
      await page.getByRole("button", { name: "Create topic" }).click();
      await page.getByRole("cell", { name, exact: true }).waitFor();
    }
    await chooseAction(page, "Offers", "Move up");
    await page.locator("tr[data-index='0']").getByText("Offers", exact).waitFor();
    expect(problems).toEqual([]);
  });

  it("a segment is built, counted while it is edited, and explained", async () => {
    const account = await accountWithContacts(3);
    const { email, siteId } = account;
    const vip = { siteId, email: "vip@shop.example", tags: ["vip"] };
    await create(account, "/contacts", vip);
    const { page, problems } = await openSignedIn(browser, { email, path: "/segments" });
    await page.getByRole("heading", { name: "No segment yet" }).waitFor();
    await page.keyboard.press("c");
    await page.getByText("Complete the conditions").waitFor();
    await page.getByLabel("Name", exact).fill("Best customers");
    await chooseOption(page.getByRole("combobox", { name: "Value of Tag" }), "vip");
    const matches = page.getByRole("region", { name: "Contacts that match" });
    await matches.locator("strong").getByText("1", exact).waitFor();
    await page.getByRole("button", { name: "Add condition" }).click();
    await chooseOption(page.getByRole("combobox", { name: "Field" }).last(), "Email");
    await chooseOption(page.getByRole("combobox", { name: "Comparison" }).last(), "begins with");
    await page.getByRole("textbox", { name: "Value of Email" }).fill("person");
    await matches.locator("strong").getByText("0", exact).waitFor();
    await chooseOption(page.getByRole("combobox", { name: /How many/ }), "Any");
    await matches.locator("strong").getByText("4", exact).waitFor();
    const contact = page.getByRole("combobox", { name: "Contact to explain" });
    await contact.fill("person1");
    await page.getByRole("option", { name: "person1@shop.example" }).click();
    await page.getByText("Is in the segment").waitFor();
    await page.getByRole("button", { name: "Create segment" }).click();
    await page.getByRole("heading", { name: "Best customers" }).waitFor();
    await matches.getByRole("link", { name: "vip@shop.example" }).waitFor();
    await contact.fill("person1");
    await page.getByRole("option", { name: "person1@shop.example" }).click();
    await page.getByText("Is in the segment").waitFor();
    await page.getByText("Tag is “vip”").waitFor();
    await page.getByText("Has none").waitFor();
    await page.getByRole("link", { name: "Segments" }).first().click();
    await page.getByText("Tag is “vip” or email begins with person").waitFor();
    await chooseAction(page, "Best customers", "Show contacts");
    await page.getByText("4 match").waitFor();
    expect(problems).toEqual([]);
  });

  it("a segment asks how often an event with a property happened in the last days", async () => {
    const account = await accountWithContacts(2);
    const { email, siteId } = account;
    for (const [i, total] of [80, 20].entries())
      await create(account, "/events/custom", {
        siteId,
        email: `person${i}@shop.example`,
        eventName: "bought",
        properties: { total },
      });
    const { page, problems } = await openSignedIn(browser, { email, path: "/segments" });
    await page.getByRole("heading", { name: "No segment yet" }).waitFor();
    await page.keyboard.press("c");
    await page.getByLabel("Name", exact).fill("Buyers");
    await chooseOption(page.getByRole("combobox", { name: "Field" }), "Event");
    await page.getByRole("combobox", { name: "Name of the event" }).fill("bought");
    const comparison = page.getByRole("combobox", { name: "Comparison", ...exact });
    await chooseOption(comparison, "happened at least … times");
    await page.getByRole("spinbutton", { name: "Value of Event" }).fill("1");
    await page.getByLabel("In the last days").fill("30");
    const matches = page.getByRole("region", { name: "Contacts that match" });
    await matches.locator("strong").getByText("2", exact).waitFor();
    await page.getByRole("button", { name: "Only with a property" }).click();
    await page.getByLabel("Name of the property").fill("total");
    const ofProperty = page.getByRole("combobox", { name: "Comparison of the property" });
    await chooseOption(ofProperty, "is more than");
    await page.getByRole("spinbutton", { name: "Value of Property" }).fill("50");
    await matches.locator("strong").getByText("1", exact).waitFor();
    const contact = page.getByRole("combobox", { name: "Contact to explain" });
    await contact.fill("person0");
    await page.getByRole("option", { name: "person0@shop.example" }).click();
    await page.getByText("Happened once").waitFor();
    await page.getByRole("button", { name: "Create segment" }).click();
    await page.getByRole("heading", { name: "Buyers" }).waitFor();
    await page.getByRole("link", { name: "Segments" }).first().click();
    const sentence =
      "Event bought happened at least 1 time in the last 30 days where total is more than 50";
    await page.getByText(sentence).waitFor();
    expect(problems).toEqual([]);
  });

  it("addresses are suppressed, imported, looked up and allowed again", async () => {
    const { email } = await accountWithContacts(1);
    const { page, problems } = await openSignedIn(browser, { email, path: "/suppressions" });
    await page.getByRole("heading", { name: "No address is suppressed" }).waitFor();
    await page.keyboard.press("c");
    await page.getByLabel("Email", exact).fill("person0@shop.example");
    await page.getByRole("button", { name: "Suppress address" }).click();
    await page.getByRole("cell", { name: "person0@shop.example", exact: true }).waitFor();
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByLabel("Or paste addresses").fill("old@shop.example\nnot an address");
    await page.getByRole("button", { name: "Suppress addresses" }).click();
    await page.getByRole("table", { name: "Lines that are not valid" }).waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("cell", { name: "old@shop.example", exact: true }).waitFor();
    await page.getByLabel("Email address").fill("person0@shop.example");
    const answer = page.getByRole("region", { name: "person0@shop.example" });
    await answer.getByText("Somebody of your organization").waitFor();
    await answer.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("button", { name: "Allow email again" }).click();
    await answer.getByText("The address is not suppressed").waitFor();
    expect(problems).toEqual([]);
  });

  it("a dialog asks before it is closed with what was typed", async () => {
    const { email } = await accountWithContacts(1);
    const { page, problems } = await openSignedIn(browser, { email, path: "/contacts" });
    await page.getByText("1 contact").first().waitFor();
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Email", exact: true }).fill("new@shop.example");
    await page.keyboard.press("Escape");
    await dialog.getByText("What you typed is not saved.").waitFor();
    await dialog.getByRole("button", { name: "Keep writing" }).click();
    await dialog.getByText("What you typed is not saved.").waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "Discard it" }).click();
    await dialog.waitFor({ state: "detached" });
    // Without typing, the dialog closes at once.
    await page.keyboard.press("c");
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    // A contact that was added is no reason to ask, and the next one is asked about again.
    const add = async (address: string) => {
      await page.keyboard.press("c");
      await dialog.getByRole("textbox", { name: "Email", exact: true }).fill(address);
    };
    await add("added@shop.example");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await add("next@shop.example");
    await page.keyboard.press("Escape");
    await dialog.getByText("What you typed is not saved.").waitFor();
    expect(problems).toEqual([]);
  });

  it("a form is designed, filled in by a visitor, and shows the evidence of consent", async () => {
    const { email } = await accountWithContacts(1);
    const { page, problems } = await openSignedIn(browser, { email, path: "/forms" });
    await page.getByRole("heading", { name: "No form yet" }).waitFor();
    await page.keyboard.press("c");
    await page.getByRole("heading", { name: "New form" }).first().waitFor();
    await page.getByLabel("Name", exact).fill("Newsletter");
    await page.getByRole("switch", { name: /confirm/i, checked: true }).click();
    await chooseOption(page.getByRole("combobox", { name: "Status" }), "Active: takes submissions");
    await page.getByLabel("Heading (optional)", exact).fill("Get our news");
    await page.getByRole("button", { name: "Add field" }).click();
    await page.getByRole("menuitem", { name: "A field of your own" }).click();
    await page.getByLabel("Label").last().fill("Shoe size");
    await page.getByRole("region", { name: "Preview" }).getByText("Shoe size").waitFor();
    await page.getByRole("button", { name: "Save form" }).click();
    await page.getByRole("status").getByText("Saved").waitFor();
    const url = (await page.getByRole("link", { name: /forms\/\d+\/page$/ }).textContent())!;
    const visitor = await page.context().newPage();
    await visitor.goto(url);
    await visitor.getByRole("heading", { name: "Get our news" }).waitFor();
    await visitor.getByLabel("Email").fill("visitor@shop.example");
    await visitor.getByLabel("Shoe size").fill("42");
    await visitor.getByRole("button").click();
    await visitor.getByRole("heading", { name: "Get our news" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "0 submissions" }).click();
    await page.getByRole("cell", { name: "visitor@shop.example" }).click();
    const panel = page.getByRole("complementary", { name: "Submission" });
    await panel.getByText("42", exact).waitFor();
    await panel.getByText("Accepted").waitFor();
    await panel.getByText("Get our news").waitFor();
    await panel.getByRole("link", { name: "Show contact" }).click();
    await page.getByText("Gets campaigns and sequences.").waitFor();
    expect(problems).toEqual([]);
  });

  it("contacts are sorted by address and age, also by keyboard and on a phone", async () => {
    const { email, call, siteId } = await accountWithContacts(0);
    for (const name of ["carl", "ann", "bob"])
      await call("POST", "/contacts", { siteId, email: `${name}@shop.example`, tags: ["vip"] });
    const { page, problems } = await openSignedIn(browser, { email, path: "/contacts" });
    const names = (on: Page) =>
      on
        .locator("tr[data-index] .who b")
        .allTextContents()
        .then((all) => all.map((one) => one.split("@")[0]));
    const hasOrder = (on: Page, ...order: string[]) => expect.poll(() => names(on)).toEqual(order);
    await hasOrder(page, "bob", "ann", "carl");
    const head = (name: string) => page.getByRole("columnheader", { name });
    expect(await head("Added").getAttribute("aria-sort")).toBe("descending");
    expect(await head("Status").getAttribute("aria-sort")).toBe(null);
    await page.getByRole("button", { name: "Added" }).click();
    await hasOrder(page, "carl", "ann", "bob");
    await page.getByRole("button", { name: "Contact by address" }).focus();
    await page.keyboard.press("Enter");
    await hasOrder(page, "ann", "bob", "carl");
    await page.keyboard.press("Enter");
    await hasOrder(page, "carl", "bob", "ann");
    expect(await head("Contact").getAttribute("aria-sort")).toBe("descending");
    expect(new URL(page.url()).searchParams.get("sort")).toBe("email");
    await page.reload();
    await hasOrder(page, "carl", "bob", "ann");
    // The choice is kept for a search, too, and the members of one tag have no other order.
    await page.goto(`${new URL(page.url()).origin}/app/contacts?search=shop`);
    await hasOrder(page, "carl", "bob", "ann");
    expect(await head("Added").getAttribute("aria-sort")).toBe(null);
    await page.getByRole("textbox", { name: "Search by email or name" }).fill("");
    await expect.poll(() => head("Added").getAttribute("aria-sort")).toBe("none");
    await page.getByRole("combobox", { name: "Tag" }).click();
    await page.getByRole("option", { name: "vip" }).click();
    await hasOrder(page, "bob", "ann", "carl");
    expect(await head("Contact").getAttribute("aria-sort")).toBe(null);
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByText("Members of one list or tag stand in the order").waitFor();
    const phone = await openSignedIn(browser, {
      email,
      path: "/contacts",
      viewport: { width: 390, height: 844 },
    });
    await chooseOption(phone.page.getByRole("combobox", { name: "Order" }), "Address, A to Z");
    await hasOrder(phone.page, "ann", "bob", "carl");
    expect([...problems, ...phone.problems]).toEqual([]);
  });

  it("own fields become columns of the contacts, also after a reload and on a phone", async () => {
    const account = await accountWithContacts(0);
    const { email, siteId } = account;
    const contact = { firstName: "Ada", email: "ada@shop.example", customFields: { plan: "gold" } };
    await create(account, "/contacts", { siteId, ...contact });
    const { page, problems } = await openSignedIn(browser, { email, path: "/contacts" });
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByLabel("plan", { exact: true }).check();
    await page.getByLabel("Tags", { exact: true }).uncheck();
    await page.keyboard.press("Escape");
    await page.getByRole("cell", { name: "gold", exact: true }).waitFor();
    await page.reload();
    await page.getByRole("columnheader", { name: "plan" }).waitFor();
    expect(await page.getByRole("columnheader", { name: "Tags" }).count()).toBe(0);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByText("gold · ada@shop.example").waitFor();
    expect(problems).toEqual([]);
  });

  it("a contact is edited, tagged, given a topic, unsubscribed and erased", async () => {
    const account = await accountWithContacts(1);
    const { email, siteId } = account;
    await create(account, "/topics", {
      siteId,
      name: "Offers",
      defaultSubscription: "unsubscribed",
    });
    const { page, problems } = await openSignedIn(browser, { email, path: "/contacts" });
    await page.locator("tr[data-index='0']").click();
    const panel = page.getByRole("complementary", { name: "Contact" });
    // It opens with tags, lists and fields.
    await panel.getByRole("combobox", { name: "Tags" }).fill("vip");
    await page.keyboard.press("Enter");
    await panel.getByRole("combobox", { name: "Tags", disabled: false }).waitFor();
    await panel.getByRole("tab", { name: "Timeline" }).click();
    await panel.getByText("Created", exact).waitFor();
    await panel.getByText("Got the tag “vip”").waitFor();
    await panel.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Edit fields" }).click();
    await panel.getByLabel("Company").fill("Acme");
    await panel.getByRole("button", { name: "Add custom field" }).click();
    await panel.getByLabel("Name of the custom field").fill("plan");
    await panel.getByLabel("Value of plan").fill("gold");
    await panel.getByRole("button", { name: "Save contact" }).click();
    await panel.getByText("gold", exact).waitFor();
    await panel.getByText("Acme", exact).waitFor();
    await panel.getByRole("tab", { name: "Consent" }).click();
    await panel.getByRole("switch", { name: "Offers" }).click();
    await panel.getByText("Joined Offers").waitFor();
    await panel.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Add to a sequence" }).click();
    await page.getByRole("dialog").getByRole("combobox", { name: "Sequence" }).waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await panel.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Unsubscribe" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Unsubscribe" }).click();
    await panel.getByText("unsubscribed from marketing").waitFor();
    await panel.getByRole("button", { name: "Erase person" }).click();
    const erase = page.getByRole("dialog").getByRole("button", { name: "Erase person" });
    expect(await erase.isDisabled()).toBe(true);
    await page.getByLabel("Type person0@shop.example to confirm").fill("person0@shop.example");
    await erase.click();
    await page.getByRole("heading", { name: "No contacts yet" }).waitFor();
    expect(problems).toEqual([]);
  });

  it("the screens have no accessibility issue", async () => {
    const account = await accountWithContacts(30);
    const { email, siteId } = account;
    await create(account, "/lists", { siteId, name: "Newsletter", description: "Every Tuesday" });
    await create(account, "/tags", { siteId, name: "customer" });
    await create(account, "/topics", { siteId, name: "Offers" });
    const conditions = [
      { field: "status", operator: "equals", value: "subscribed" },
      { match: "any", conditions: [{ field: "tag", operator: "equals", value: "customer" }] },
    ];
    const segment = { siteId, name: "Active", rules: { match: "all", conditions } };
    const segmentId = await create(account, "/segments", segment);
    const suppression = { email: "bounced@old.example", reason: "bounce", detail: "550 unknown" };
    expectStatus(201, await account.call("POST", "/suppressions", suppression));
    const formId = await create(account, "/forms", { siteId, name: "Sign-up" });
    const submission = { email: "new@shop.example", firstName: "Nora" };
    expectStatus(200, await account.call("POST", `/forms/${formId}/submit`, submission));
    const contact = { siteId, email: "ada@shop.example", tags: ["customer"] };
    const contactId = await create(account, "/contacts", contact);
    const opened = `/contacts?contact=${contactId}`;
    const screens = [
      {
        path: opened,
        ready: async (one: Page) => {
          await one.getByRole("tab", { name: "Consent" }).click();
          await one.getByRole("switch", { name: "Offers" }).waitFor();
        },
      },
      {
        path: opened,
        ready: async (one: Page) => {
          await one.getByRole("tab", { name: "Details" }).click();
          await one.getByRole("combobox", { name: "Tags" }).waitFor();
        },
      },
      {
        path: "/groups",
        ready: (one: Page) => one.getByText("Newsletter").waitFor(),
        open: async (one: Page) => {
          await chooseAction(one, "Newsletter", "Rename");
          await one.getByRole("button", { name: "Save list" }).waitFor();
        },
      },
      { path: "/groups/tags", ready: (one: Page) => one.getByText("customer").waitFor() },
      { path: "/groups/topics", ready: (one: Page) => one.getByText("Offers").waitFor() },
      { path: "/segments", ready: (one: Page) => one.getByText("Active").waitFor() },
      {
        path: "/segments/new",
        ready: (one: Page) => one.getByText("Complete the conditions").waitFor(),
      },
      {
        path: `/segments/${segmentId}`,
        ready: (one: Page) => one.getByRole("combobox", { name: "Value of Tag" }).waitFor(),
      },
      {
        path: "/suppressions?email=bounced@old.example",
        ready: (one: Page) => one.getByText("refused an email for good").waitFor(),
      },
      { path: "/forms", ready: (one: Page) => one.getByText("Sign-up").waitFor() },
      {
        path: `/forms/${formId}`,
        ready: (one: Page) => one.getByRole("region", { name: "Publish" }).waitFor(),
      },
      {
        path: `/forms/${formId}/submissions`,
        ready: async (one: Page) => {
          await one.locator("tr[data-index='0']").click();
          await one.getByText("The form as it was shown").waitFor();
        },
      },
    ];
    expect(await judgeScreens(browser, { email, screens })).toEqual([]);
  });
});
