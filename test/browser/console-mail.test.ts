// Campaigns and templates in the console: what people do, without the API.
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus, uniqueEmail, waitForMail } from "../support/api-client.ts";
import { launchBrowser, openPage } from "../support/browser-pages.ts";
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
const exact = { exact: true } as const;

// The name of the image takes the place of a property of the document.
const emailHtml = `<!doctype html><html lang="en"><head>
<meta name="color-scheme" content="light dark">
<style>body { color: rgb(1, 2, 3) }
@media (prefers-color-scheme: dark) { body { color: rgb(4, 5, 6) } }</style></head>
<body><h1>Hello {{ firstName | default: "there" }}</h1>
<p><a href="https://shop.example/spring">Read more</a></p>
<img name="styleSheets" alt=""></body></html>`;

/** An account with a sender, a template, and a list of people who open and click. */
async function accountWithAudience() {
  const account = await accountWithContacts(0);
  const { call, siteId } = account;
  const { credentials, webhookSecret } = (await readSandbox()).postmark;
  const provider = { provider: "postmark", credentials, webhookSecret };
  const sender = { ...provider, fromEmail: "hello@shop.example" };
  const config = await call<{ id: number }>("POST", "/sending-configs", sender);
  const configId = expectStatus(201, config).body.data.id;
  expectStatus(200, await call("POST", `/sending-configs/${configId}/verify`));
  expectStatus(200, await call("PUT", "/compliance", { physicalAddress: "1 Main Street" }));
  const contacts = ["clicked", "clicked+1", "opened", "bounced"].map((name) => ({
    email: `${name}@simulator.pennymail.test`,
    firstName: "Ada",
  }));
  expectStatus(200, await call("POST", "/contacts/bulk", { siteId, contacts }));
  const list = await call<{ id: number }>("POST", "/lists", { siteId, name: "Newsletter" });
  const listId = expectStatus(201, list).body.data.id;
  const found = await call<{ contacts: { id: number }[] }>("GET", `/contacts?siteId=${siteId}`);
  const contactIds = expectStatus(200, found).body.data.contacts.map(({ id }) => id);
  expectStatus(200, await call("POST", `/lists/${listId}/contacts`, { contactIds }));
  const body = { siteId, name: "Spring", subject: "Spring is here", html: emailHtml };
  const template = await call<{ id: number }>("POST", "/templates", body);
  return {
    ...account,
    listId,
    contactIds,
    templateId: expectStatus(201, template).body.data.id,
    configId,
  };
}

/** A test clicks faster than a person, and the free plan allows 100 requests a minute. */
async function raiseRateLimit(organizationId: number): Promise<void> {
  const { status } = await fetch(`${base}/_local/plan`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ organizationId, plan: "growth" }),
  });
  expect(status).toBe(200);
}

/** Chooses an option of an input that offers some. */
async function choose(page: Page, input: string, option: string | RegExp): Promise<void> {
  await chooseOption(page.getByRole("combobox", { name: input }), option);
  await page.keyboard.press("Escape");
}

/** Fills an input that is saved when it is left, and waits until it is. */
async function fillAndSave(page: Page, label: string, text: string): Promise<void> {
  const saved = page.waitForResponse((answer) => answer.request().method() === "PUT");
  await page.getByRole("textbox", { name: label }).fill(text);
  await page.keyboard.press("Enter");
  await saved;
}

const pixel = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";

/** Replaces what a code editor holds. */
async function retype(page: Page, editor: Locator, text: string): Promise<void> {
  for (const key of ["ControlOrMeta+a", "Delete"]) await editor.press(key);
  await page.keyboard.insertText(text);
}

describe.skipIf(!inject("chromium"))("campaigns and templates in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
    // The first request builds the console.
    await fetch(`${base}/app`);
  });
  afterAll(() => browser?.close());

  it("an A/B campaign is planned, sent and its result read", async () => {
    const { email, call, siteId, orgId, contactIds } = await accountWithAudience();
    await raiseRateLimit(orgId);
    const tag = await call("POST", `/contacts/${contactIds[0]}/tags`, { name: "left out" });
    expectStatus(200, tag);
    const { page, problems } = await openSignedIn(browser, { email, path: "/campaigns" });
    await page.getByRole("heading", { name: "Campaigns" }).waitFor();
    await page.keyboard.press("c");
    await page.getByLabel("Name").fill("Spring sale");
    await page.getByRole("button", { name: "Create campaign" }).click();
    await choose(page, "Send to", /^Newsletter/);
    await beginWithTemplate(page, "Spring");
    await page.getByText("Another name, address or reply address").click();
    await page.getByText("4 of 4 contacts get it.").waitFor();
    await choose(page, "But not to", /^left out/);
    await page.getByText("3 of 3 contacts get it.").waitFor();
    await fillAndSave(page, "Sender name", "Ada of the shop");
    await fillAndSave(page, "Sender address", "ada@shop.example");
    await fillAndSave(page, "Replies to", "help@shop.example");
    await page
      .getByText("From Ada of the shop <ada@shop.example>, replies to help@shop.example")
      .waitFor();
    await fillAndSave(page, "Preview text", "The best of the season");
    await page.getByRole("button", { name: "Test variants" }).click();
    await page.getByText("The winner has").waitFor();
    await fillAndSave(page, "Subject of A", "Spring, {{ firstName }}");
    await fillAndSave(page, "Subject of B", "Sale, {{ firstName }}");
    await choose(page, "Who gets the variants", /whole audience/);
    await page.getByText("The winner has").waitFor({ state: "detached" });
    await page.getByRole("switch", { name: "Mark links" }).click();
    await fillAndSave(page, "Source", "spring-news");
    const frame = page.frameLocator("iframe");
    await frame.getByText("Hello Ada").waitFor();
    await frame.locator("a[href*='utm_source=spring-news']").waitFor();
    await page.getByText("Dark", exact).click();
    await expect
      .poll(() => frame.locator("body").evaluate("getComputedStyle(document.body).color"))
      .toBe("rgb(4, 5, 6)");
    await page.getByText("Text", exact).click();
    await page.getByText("Read more [https://shop.example/spring").waitFor();
    const reviewers = [uniqueEmail(), uniqueEmail()];
    await page.getByLabel("Send it to").fill(reviewers.join(", "));
    await page.getByRole("button", { name: "Send test email" }).click();
    await page.getByText("4 test emails are on the way.").waitFor();
    await page.getByRole("button", { name: "Send to 3 contacts" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("This email goes to 3 contacts now, from ada@shop.example.").waitFor();
    await dialog.getByRole("button", { name: "Send to 3 contacts" }).click();
    await page.getByRole("region", { name: "Result" }).waitFor();
    await runUntilIdle();
    await page.reload();
    await page.getByRole("table", { name: "Variants" }).waitFor();
    await page.getByText("The whole audience got the variants.").waitFor();
    const overTime = page.getByRole("region", { name: "Opens and clicks over time" });
    await overTime.getByRole("img", { name: /Most opens came in the hour from/ }).waitFor();
    await overTime.getByText("By day", exact).click();
    await overTime.getByRole("img", { name: /Most opens came on/ }).waitFor();
    await overTime.getByRole("button", { name: "Sent", pressed: false }).click();
    await overTime.getByRole("button", { name: "Sent", pressed: true }).waitFor();
    await page.getByRole("cell", { name: "https://shop.example/spring" }).waitFor();
    const { data: left } = expectStatus(
      200,
      await call<{ email: string }>("GET", `/contacts/${contactIds[0]}`),
    ).body;
    await page.getByLabel("Email address of a contact").fill(left.email);
    const answer = page.getByRole("region", { name: `Answer about ${left.email}` });
    await answer.getByText(/was not in the audience of the campaign “Spring sale”/).waitFor();
    await page
      .frameLocator("iframe")
      .getByText(/^\d recipients?$/)
      .waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Copy to a new draft" }).click();
    await page.getByRole("heading", { name: "Copy of Spring sale" }).waitFor();
    await expect
      .poll(() => page.getByRole("textbox", { name: "Subject of B" }).textContent())
      .toMatch(/^Sale/);
    await page.getByText("3 contacts get it.").waitFor();
    expect(await page.getByLabel("Replies to").inputValue()).toBe("help@shop.example");
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Delete campaign" }).click();
    await page.getByLabel("Type Copy of Spring sale to confirm").fill("Copy of Spring sale");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Campaigns" }).waitFor();
    await page.getByText("Copy of Spring sale").waitFor({ state: "detached" });
    const { data } = expectStatus(
      200,
      await call<{ campaigns: { status: string }[] }>("GET", `/campaigns?siteId=${siteId}`),
    ).body;
    expect(data.campaigns.map(({ status }) => status)).toEqual(["sent"]);
    expect(problems).toEqual([]);
  });

  it("what became of everybody is read, exported, audited again and resent", async () => {
    const account = await accountWithAudience();
    const { email, call, siteId, listId, templateId, configId } = account;
    const fields = { siteId, name: "Sent", listId, templateId, sendingConfigId: configId };
    const reader = { siteId, email: "never-opens@customer.example", lists: [listId] };
    expectStatus(201, await call("POST", "/contacts", reader));
    const created = await call<{ id: number }>("POST", "/campaigns", fields);
    const { id } = expectStatus(201, created).body.data;
    expectStatus(200, await call("POST", `/campaigns/${id}/send`));
    await runUntilIdle();
    const { page, problems } = await openSignedIn(browser, { email, path: `/campaigns/${id}` });
    const audit = page.getByRole("region", { name: "Audit" });
    await audit.getByRole("button", { name: "Show audit" }).click();
    await audit.getByText("Every candidate has exactly one outcome").waitFor();
    await audit.getByText("Accepted by the provider").waitFor();
    await audit.getByText(/^[0-9a-f]{64}$/).waitFor();
    await audit.getByRole("button", { name: "Export audit" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Export" }).click();
    await page.getByText("The file has 5 rows.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const started = page.waitForResponse((answer) => answer.request().method() === "POST");
    await audit.getByRole("button", { name: "Audit again" }).click();
    expect((await started).status()).toBe(202);
    await audit.getByText("Every candidate has exactly one outcome").waitFor();
    const recipients = page.getByRole("table", { name: "Recipients" });
    await choose(page, "Reaction", /^Clicked/);
    await recipients.getByRole("row").nth(2).waitFor();
    await recipients.getByText("never-opens@customer.example").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Resend to those who did not open" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Create draft" }).click();
    await page.getByText("1 of 1 contacts get it.").waitFor();
    await page.getByRole("button", { name: "Send to 1 contact" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Send to 1 contact" }).click();
    await page.getByRole("region", { name: "Result" }).waitFor();
    expect(problems).toEqual([]);
  });

  it("a campaign is paused and resumed while it waits for the winner of its test", async () => {
    const { email, call, siteId, listId, templateId, configId } = await accountWithAudience();
    // Chance chooses half of them for the test. Without others, the campaign would end with it.
    const contacts = Array.from({ length: 30 }, (_, n) => ({
      email: `tested${n}@shop.example`,
      lists: [listId],
    }));
    expectStatus(200, await call("POST", "/contacts/bulk", { siteId, contacts }));
    const abTest = { testPercent: 50, metric: "open_rate", durationMinutes: 60 };
    const fields = { siteId, name: "Tested", listId, templateId, sendingConfigId: configId };
    const created = await call<{ id: number }>("POST", "/campaigns", { ...fields, abTest });
    const { id } = expectStatus(201, created).body.data;
    for (const subject of ["One", "Two"])
      expectStatus(201, await call("POST", `/campaigns/${id}/variants`, { subject }));
    expectStatus(200, await call("POST", `/campaigns/${id}/send`));
    const { page, problems } = await openSignedIn(browser, { email, path: `/campaigns/${id}` });
    const status = page.locator(".page-head");
    await page.getByRole("button", { name: "Pause campaign" }).click();
    await status.getByText("Paused").waitFor();
    await page.getByRole("button", { name: "Resume campaign" }).click();
    await status.getByText("Sending").waitFor();
    expect(problems).toEqual([]);
  });

  it("a campaign is scheduled in the zone of the organization, moved and cancelled", async () => {
    const { email, call, siteId, listId, templateId, configId } = await accountWithAudience();
    expectStatus(200, await call("PUT", "/settings/org", { timezone: "Asia/Tokyo" }));
    const draft = { siteId, name: "Later", listId, templateId, sendingConfigId: configId };
    const { id } = expectStatus(201, await call<{ id: number }>("POST", "/campaigns", draft)).body
      .data;
    const { page, problems } = await openSignedIn(browser, { email, path: `/campaigns/${id}` });
    await page.getByText("At a time").click();
    await page.getByLabel("Start").fill(inDays(2));
    await page.getByText(/In the time zone Asia\/Tokyo/).waitFor();
    await page.getByRole("button", { name: "Schedule for 4 contacts" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("09:00 (Asia/Tokyo)").waitFor();
    await dialog.getByRole("button", { name: "Schedule for 4 contacts" }).click();
    await page.getByText(/Starts .* 09:00 \(Asia\/Tokyo\)/).waitFor();
    const read = () => call<{ scheduledAt: string }>("GET", `/campaigns/${id}`);
    expect(expectStatus(200, await read()).body.data.scheduledAt).toBe(
      `${inDays(2).slice(0, 10)}T00:00:00.000Z`,
    );
    await page.getByRole("button", { name: "Cancel campaign" }).click();
    await dialog.getByText("It will not be sent.").waitFor();
    const cancel = dialog.getByRole("button", { name: "Cancel campaign" });
    expect(await cancel.isDisabled()).toBe(true);
    await dialog.getByLabel("Type Later to confirm").fill("Later");
    await cancel.click();
    await page.getByRole("region", { name: "Result" }).waitFor();
    await page.locator(".page-head").getByText("Cancelled").waitFor();
    expect(problems).toEqual([]);
  });

  it("a campaign is scheduled at the local time of each contact", async () => {
    const { email, call, siteId, listId, templateId, configId } = await accountWithAudience();
    const draft = { siteId, name: "Local", listId, templateId, sendingConfigId: configId };
    const { id } = expectStatus(201, await call<{ id: number }>("POST", "/campaigns", draft)).body
      .data;
    const { page, problems } = await openSignedIn(browser, { email, path: `/campaigns/${id}` });
    await page.getByText("At a time").click();
    await page.getByLabel("Start").fill(inDays(2));
    await page.getByLabel("At the local time of each contact").check();
    await page.getByText("On the clock of each contact.").waitFor();
    await page.getByRole("button", { name: "Schedule for 4 contacts" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("on its own clock").waitFor();
    await dialog.getByRole("button", { name: "Schedule for 4 contacts" }).click();
    await page.getByText(/Each contact gets it at .* local time/).waitFor();
    const { data } = expectStatus(
      200,
      await call<{ localTime: string }>("GET", `/campaigns/${id}`),
    ).body;
    expect(data.localTime).toBe(inDays(2));
    expect(problems).toEqual([]);
  });

  it("a secure message is sent, opened with its passphrase, and revoked", async () => {
    const { email } = await accountWithAudience();
    const to = uniqueEmail();
    const { page, problems } = await openSignedIn(browser, { email, path: "/log" });
    await page.getByRole("link", { name: "Secure messages" }).click();
    await page.getByText("No secure message yet").waitFor();
    await page.getByRole("button", { name: "Secure message", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Recipient").fill(to);
    await dialog.getByLabel("Subject").fill("Your {{ papers }}");
    await dialog.getByLabel("Message").fill("Dear <Ann>,\n{{ firstName }} {% signed %}");
    await chooseOption(dialog.getByRole("combobox", { name: "Readable for" }), "7 days");
    await dialog.getByText("Everybody who has the link can read the message.").waitFor();
    await dialog.getByLabel("Passphrase").fill("plum cake");
    const summary = dialog.getByText(`${to} gets an email with the subject and a link`);
    expect(await summary.textContent()).toContain("asks for the passphrase. After 7 days,");
    await dialog.getByRole("button", { name: "Send message" }).click();
    const row = page.getByRole("row", { name: new RegExp(to.replace("+", "\\+")) });
    await row.getByText("Not opened").waitFor();
    const mail = await waitForMail(to);
    expect([mail.subject, mail.text]).toEqual([
      "Your {{ papers }}",
      expect.not.stringContaining("signed"),
    ]);
    const [link = ""] = /http:\S+\/secure\/[\w-]+/.exec(mail.text!) ?? [];
    const visitor = await openPage(browser, link);
    await visitor.getByLabel(/passphrase/i).fill("plum cake");
    await visitor.getByRole("button").click();
    const shown = visitor.frameLocator("iframe");
    await shown.getByText("Dear <Ann>, {{ firstName }} {% signed %}").waitFor();
    await page.reload();
    await row.getByText("Opened", exact).waitFor();
    await row.getByRole("button", { name: `Actions for ${to}` }).click();
    await page.getByRole("menuitem", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByText("Its content is deleted").waitFor();
    await page.getByRole("button", { name: "Revoke message" }).click();
    await row.getByText("Revoked").waitFor();
    expect((await fetch(link)).status).toBe(410);
    expect(problems).toEqual([]);
  });

  it("templates are seen as small pictures, of which only those in view are drawn", async () => {
    const { email, call, siteId } = await accountWithContacts(0);
    for (let i = 0; i < 40; i++) {
      const html = `<style>h1 { color: rgb(0, 90, 0) }</style><h1>Issue ${i}</h1>
        <script>top.hacked = true</script><img src=x onerror="top.hacked = true">`;
      const fields = i === 39 ? { text: "Only <b>text</b>" } : { html };
      const template = { siteId, name: `Letter ${i}`, subject: `News ${i}`, ...fields };
      expectStatus(201, await call("POST", "/templates", template));
    }
    const { page } = await openSignedIn(browser, { email, path: "/templates" });
    const picture = (name: string) =>
      page.getByRole("link", { name }).locator("iframe").contentFrame();
    const title = picture("Letter 38").getByRole("heading", { includeHidden: true });
    expect(await title.textContent()).toBe("Issue 38");
    const color = "getComputedStyle(document.querySelector('h1')).color";
    expect(await title.evaluate(color)).toBe("rgb(0, 90, 0)");
    await picture("Letter 39").getByText("Only <b>text</b>").waitFor();
    expect(await page.evaluate("window.hacked")).toBe(undefined);
    const drawn = page.locator("iframe");
    expect(await drawn.count()).toBeLessThan(25);
    await page.getByRole("link", { name: "Letter 0" }).scrollIntoViewIfNeeded();
    await picture("Letter 0").getByText("Issue 0").waitFor();
    expect(await drawn.count()).toBeLessThan(25);
    await page.getByText("List", exact).click();
    await page.getByRole("row", { name: /Letter 39/ }).waitFor();
    await page.goto(`${base}/app/templates`);
    await page.getByRole("row", { name: /Letter 39/ }).waitFor();
    await page.getByText("Grid", exact).click();
    await page.getByRole("link", { name: "Letter 39" }).press("Enter");
    await page.getByRole("heading", { name: "Letter 39" }).waitFor();
  });

  it("code of a template is previewed, checked, tested, saved, restored and filed", async () => {
    const { email, templateId } = await accountWithAudience();
    const path = `/templates/${templateId}`;
    const { page, problems } = await openSignedIn(browser, { email, path });
    const code = page.getByRole("textbox", { name: "HTML" });
    const frame = page.frameLocator("iframe");
    await frame.getByText("Hello Ada").waitFor();
    await retype(page, code, `<p>Bonjour {{ firstName }}</p><img src="${pixel}">`);
    await frame.getByText("Bonjour Ada").waitFor();
    await code.press("ControlOrMeta+End");
    await page.getByRole("button", { name: "Insert a field", exact: true }).click();
    await page.getByRole("menuitem", { name: "Email address" }).click();
    await frame.getByText("@simulator.pennymail.test").waitFor();
    await page.getByRole("combobox", { name: "As it looks for" }).fill("opened");
    await page.getByRole("option", { name: /^opened@/ }).click();
    await frame.getByText("opened@simulator.pennymail.test").waitFor();
    await page.getByRole("tab", { name: "Checks" }).click();
    await page.getByText(/alt/).first().waitFor();
    await page.getByRole("tab", { name: "Test email" }).click();
    await page.getByRole("button", { name: "Send test email" }).click();
    await page.getByText("1 test email is on the way.").waitFor();
    await code.press("ControlOrMeta+s");
    await page.getByText("Saved", exact).waitFor();
    await page.getByText("Version 2").waitFor();
    await page.getByRole("tab", { name: "Plain text" }).click();
    await retype(page, page.getByRole("textbox", { name: "Plain text" }), "In plain words");
    await page.getByRole("button", { name: "Save template" }).click();
    await page.getByText("Version 3").waitFor();
    await page.getByRole("tab", { name: "Versions" }).click();
    await page.getByRole("button", { name: "Restore version 1" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Restore version 1" }).click();
    await page.getByText("Version 4").waitFor();
    await page.getByRole("tab", { name: "HTML" }).click();
    await code.getByText("Read more").waitFor();
    await page.getByRole("link", { name: "Templates" }).last().click();
    await page.getByRole("button", { name: "Folders" }).click();
    await page.getByRole("menuitem", { name: "New folder" }).click();
    await page.getByLabel("Name").fill("Seasons");
    await page.getByRole("button", { name: "Create folder" }).click();
    await page.getByText("No template matches").waitFor();
    await page.goto(`${base}/app${path}`);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Move to Seasons" }).click();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Take out of its folder" }).waitFor();
    await page.goto(`${base}/app/templates`);
    await choose(page, "Folder", "Seasons");
    await page.getByRole("link", { name: "Spring" }).getByText("Spring", exact).waitFor();
    expect(problems).toEqual([]);
  });

  it("the screens have no accessibility issue", async () => {
    const { email, call, siteId, listId, templateId, configId } = await accountWithAudience();
    const ids: number[] = [];
    for (const name of ["Sent", "Draft"]) {
      const campaign = { siteId, name, listId, templateId, sendingConfigId: configId };
      const created = await call<{ id: number }>("POST", "/campaigns", campaign);
      ids.push(expectStatus(201, created).body.data.id);
    }
    const [sent, draft] = ids;
    for (const id of ids)
      for (const subject of ["One", "Two"])
        expectStatus(201, await call("POST", `/campaigns/${id}/variants`, { subject }));
    const abTest = { testPercent: 100, metric: "open_rate", durationMinutes: 60 };
    expectStatus(200, await call("PUT", `/campaigns/${sent}`, { abTest }));
    expectStatus(200, await call("POST", `/campaigns/${sent}/send`));
    await runUntilIdle();
    const screens = [
      { path: "/templates", ready: (page: Page) => page.getByText("Spring is here").waitFor() },
      {
        path: "/log/secure",
        ready: (page: Page) => page.getByText("No secure message yet").waitFor(),
        open: (page: Page) =>
          page.getByRole("button", { name: "Secure message", exact: true }).click(),
      },
      {
        path: "/campaigns?view=calendar",
        ready: (page: Page) => page.getByRole("button", { name: "Next month" }).waitFor(),
      },
      {
        path: `/templates/${templateId}`,
        ready: async (page: Page) => {
          await page.getByRole("textbox", { name: "HTML" }).waitFor();
          await page.frameLocator("iframe").getByText("Hello Ada").waitFor();
        },
      },
      { path: "/campaigns", ready: (page: Page) => page.getByText("Draft").first().waitFor() },
      {
        path: `/campaigns/${draft}`,
        ready: (page: Page) => page.frameLocator("iframe").getByText("Hello Ada").waitFor(),
        open: async (page: Page) => {
          await page.getByRole("button", { name: /^Send to \d/ }).click();
          await page
            .getByRole("dialog")
            .getByRole("button", { name: /^Send to/ })
            .waitFor();
        },
      },
      {
        path: `/campaigns/${sent}`,
        ready: async (page: Page) => {
          await page
            .getByText("is picked when the test emails have been out for 1 hour.")
            .waitFor();
          await page.frameLocator("iframe").getByText("Hello Ada").waitFor();
          await page.getByRole("img", { name: /^Line chart of opens/ }).waitFor();
        },
      },
    ];
    expect(await judgeScreens(browser, { email, screens })).toEqual([]);
  });
});

/** Nine in the morning, as an input of date and time has it. */
const inDays = (days: number): string =>
  `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)}T09:00`;
