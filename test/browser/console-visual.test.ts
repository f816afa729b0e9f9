// The visual editor of templates: what marketers do, without the API.
import type { Browser, Locator, Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { startingDesigns } from "../../shared/console/editors/visual/starting-designs.ts";
import { expectStatus, uniqueEmail, waitForMail } from "../support/api-client.ts";
import { launchBrowser, phone } from "../support/browser-pages.ts";
import { accountWithContacts, judgeScreens, openSignedIn } from "../support/console-pages.ts";
import { createSendingConfig } from "../support/newsletters.ts";

const base = inject("baseUrl");
const exact = { exact: true } as const;
const imageUrl = "https://images.shop.example/shoe.png";
const pixel = Buffer.from("R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==", "base64");

interface Template {
  id: number;
  html: string;
  version: number;
  designJson: { blocks: { type: string }[] } | null;
}
type Account = Awaited<ReturnType<typeof accountWithContacts>>;

const readTemplate = async ({ call }: Account, id: number) =>
  expectStatus(200, await call<Template>("GET", `/templates/${id}`)).body.data;

/** An account with one contact, Person0, and a template with a starting design. */
async function accountWithTemplate(key = "welcome", designJson?: unknown) {
  const account = await accountWithContacts(1);
  const design = startingDesigns.find((start) => start.key === key)!.create();
  const created = await account.call<Template>("POST", "/templates", {
    siteId: account.siteId,
    name: "Mine",
    subject: "News",
    html: "<p>As it was saved</p>",
    designJson: designJson ?? design,
  });
  return { ...account, templateId: expectStatus(201, created).body.data.id };
}

/** The blocks of the email, as screen readers name them. */
const blockNames = (page: Page) =>
  page
    .locator(".canvas > .canvas-list > li > .block")
    .locator("[data-focus]")
    .evaluateAll((all) =>
      all.map((one) => one.getAttribute("aria-label") ?? one.textContent.split(":")[0]),
    );

/** Presses a key until the element has the focus. */
async function pressTo(page: Page, element: Locator, key = "Tab"): Promise<void> {
  await element.waitFor();
  for (let presses = 0; presses < 150; presses++) {
    if (await element.evaluate((one) => one === one.ownerDocument.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead to the element`);
}

describe.skipIf(!inject("chromium"))("the visual editor in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
    // The first request builds the console.
    await fetch(`${base}/app`);
  });
  afterAll(() => browser?.close());

  it("a newsletter is made from a design, previewed, saved and sent as a test", async () => {
    const account = await accountWithContacts(1);
    const config = await createSendingConfig(account, base, "postmark");
    expectStatus(200, await account.call("POST", `/sending-configs/${config}/verify`));
    const { email } = account;
    const { page, problems } = await openSignedIn(browser, { email, path: "/templates" });
    await page.route(imageUrl, (route) => route.fulfill({ body: pixel, contentType: "image/gif" }));
    await page.getByText("No template yet").waitFor();
    await page.keyboard.press("c");
    await page.getByRole("dialog").getByRole("button", { name: "Newsletter" }).click();
    await page.getByRole("heading", { name: "Newsletter", exact: true }).waitFor();
    const text = page.getByRole("textbox", { name: "Text", exact: true }).nth(1);
    await text.click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText('<b>Dear</b> {{ firstName | default: "friend" }} ');
    await text.getByRole("img", { name: "Field First name, or else “friend”" }).waitFor();
    const bar = page.getByRole("toolbar", { name: "Text", exact: true });
    await bar.getByRole("button", { name: "Insert a field" }).click();
    await page.getByRole("menuitem", { name: "Email address" }).click();
    await text.getByRole("img", { name: "Field Email address" }).waitFor();
    await text.press("ControlOrMeta+a");
    await page.getByRole("button", { name: "Bold" }).click();
    await text.locator("strong").first().waitFor();

    await page.getByRole("button", { name: /^Image:/ }).click();
    await page.getByLabel("Address of the image").fill(imageUrl);
    const settings = page.getByRole("complementary", { name: "Settings" });
    await settings.getByText("Describe the image").waitFor();
    await page.getByLabel("Description").fill("A red shoe");
    await page.getByRole("button", { name: /^Image: A red shoe$/ }).waitFor();

    await page.getByRole("button", { name: "Add a block before divider" }).click();
    await page.getByRole("menuitem", { name: "Button" }).click();
    await page.getByLabel("Words on the button").fill("Buy the shoe");
    await page.getByLabel("Leads to", exact).fill("shop.example/red");
    await page.getByRole("button", { name: /^Button: Buy the shoe$/ }).waitFor();

    await page.getByRole("tab", { name: "Preview" }).click();
    const frame = page.frameLocator("iframe");
    const sent = "<b>Dear</b> Person0 person0@shop.example";
    await frame.locator("strong", { hasText: sent }).waitFor();
    await frame.getByRole("img", { name: "A red shoe" }).waitFor();
    await frame.locator('a[href="https://shop.example/red"]').waitFor();
    await page.getByText("Dark", exact).click();
    await expect
      .poll(() => frame.locator("body").evaluate("getComputedStyle(document.body).backgroundColor"))
      .toBe("rgb(18, 19, 22)");

    await page.getByRole("button", { name: "Save template" }).click();
    await page.getByText("Version 2").waitFor();
    await page.getByText("Saved", exact).waitFor();
    await page.getByRole("tab", { name: "Test email" }).click();
    const reviewer = uniqueEmail();
    await page.getByLabel("Send it to").fill(reviewer);
    await page.getByRole("button", { name: "Send test email" }).click();
    await page.getByText("1 test email is on the way.").waitFor();
    const { html } = await waitForMail(reviewer, base);
    expect(html).toContain("&lt;b&gt;Dear&lt;/b&gt; Person0 person0@shop.example");
    expect(html).toContain(`src="${imageUrl}"`);
    expect(html).toMatch(/Buy the shoe/);
    const stored = await readTemplate(account, Number(page.url().split("/").at(-1)));
    expect(stored.html).toContain('&lt;b&gt;Dear&lt;/b&gt; {{ firstName | default: "friend" }}');
    expect(stored.designJson?.blocks.map(({ type }) => type)).toContain("columns");
    await page.reload();
    await page.getByRole("button", { name: /^Button: Buy the shoe$/ }).waitFor();
    expect(problems).toEqual([]);
  });

  it("blocks are moved, duplicated, deleted and brought back by keyboard alone", async () => {
    const { email, templateId } = await accountWithTemplate("announcement");
    const path = `/templates/${templateId}`;
    const { page, problems } = await openSignedIn(browser, { email, path });
    const names = () => blockNames(page);
    const heading = page.getByRole("textbox", { name: "Heading" });
    await pressTo(page, heading);
    expect((await names()).slice(0, 3)).toEqual(["Text", "Heading", "Text"]);
    await page.keyboard.press("Alt+ArrowUp");
    await expect.poll(async () => (await names()).slice(0, 3)).toEqual(["Heading", "Text", "Text"]);
    await page.getByText("Heading moved up.").waitFor();
    await page.keyboard.press("ControlOrMeta+d");
    await expect.poll(async () => (await names()).slice(0, 2)).toEqual(["Heading", "Heading"]);
    const button = page.getByRole("button", { name: /^Button: Have a look/ });
    await pressTo(page, button);
    await page.keyboard.press("Delete");
    await button.waitFor({ state: "detached" });
    await page.keyboard.press("ControlOrMeta+z");
    await button.waitFor();
    await page.keyboard.press("ControlOrMeta+Shift+z");
    await button.waitFor({ state: "detached" });
    await page.keyboard.press("ControlOrMeta+z");
    await button.waitFor();
    await pressTo(page, page.getByRole("button", { name: "Add a block at the end" }));
    await page.keyboard.press("Enter");
    await pressTo(page, page.getByRole("menuitem", { name: "Divider" }), "ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByText("Divider added.").waitFor();
    await expect.poll(async () => (await names()).at(-1)).toBe("Divider");
    await page.keyboard.press("ControlOrMeta+s");
    await page.getByText("Version 2").waitFor();
    expect(problems).toEqual([]);
  });

  it("words that are typed are undone one by one, and links are set", async () => {
    const { email, templateId } = await accountWithTemplate("empty");
    const path = `/templates/${templateId}`;
    const { page, problems } = await openSignedIn(browser, { email, path });
    const heading = page.getByRole("textbox", { name: "Heading" });
    await heading.click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("Spring is here");
    await page.keyboard.press("ControlOrMeta+z");
    await heading.getByText("Spring is", exact).waitFor();
    await page.getByRole("button", { name: "Redo" }).click();
    await heading.getByText("Spring is here", exact).waitFor();
    await heading.click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.getByRole("button", { name: "Link", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await page.keyboard.type("javascript:alert(1)");
    await dialog.getByText("Type a whole address").waitFor();
    expect(await dialog.getByRole("button", { name: "Set link" }).isDisabled()).toBe(true);
    await dialog.getByLabel("Leads to", exact).fill("shop.example/spring");
    await dialog.getByRole("button", { name: "Set link" }).click();
    await heading.locator('a[href="https://shop.example/spring"]').waitFor();
    const footer = page.getByRole("textbox", { name: "Footer" });
    await footer.click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.getByRole("button", { name: "Bullets" }).click();
    await footer.locator(".rich-item").first().waitFor();
    expect(problems).toEqual([]);
  });

  it("words are coloured, underlined and numbered, and keep it in the email", async () => {
    const account = await accountWithTemplate("empty");
    const { email, templateId } = account;
    const path = `/templates/${templateId}`;
    const { page, problems } = await openSignedIn(browser, { email, path });
    const text = page.getByRole("textbox", { name: "Text", exact: true }).first();
    await text.click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("Only today");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.press("ControlOrMeta+u");
    await page.getByRole("button", { name: "Text colour" }).click();
    await page.getByRole("menuitem", { name: "Red" }).click();
    await page.getByRole("button", { name: "Numbers" }).click();
    await text.locator(".is-numbered u").waitFor();
    // From the text to its toolbar and back.
    await page.keyboard.press("Alt+F10");
    const bold = page.getByRole("button", { name: "Bold" });
    await expect
      .poll(() => bold.evaluate((one) => one === one.ownerDocument.activeElement))
      .toBe(true);
    await page.keyboard.press("Escape");
    await expect
      .poll(() => text.evaluate((one) => one === one.ownerDocument.activeElement))
      .toBe(true);
    await page.getByRole("button", { name: "Save template" }).click();
    await page.getByText("Version 2").waitFor();
    const { html } = await readTemplate(account, templateId);
    expect(html).toMatch(/<ol[^>]*><li[^>]*><span class="ink-red" style="color:#[0-9a-f]{6}">/);
    expect(html).toContain('<span style="text-decoration:underline">Only today</span>');
    await page.reload();
    await text.locator(".is-numbered u").waitFor();
    expect(problems).toEqual([]);
  });

  it("a field in the subject is a chip whose fallback can be changed", async () => {
    const account = await accountWithTemplate("welcome");
    const { email, templateId } = account;
    const path = `/templates/${templateId}`;
    const { page, problems } = await openSignedIn(browser, { email, path });
    const subject = page.getByRole("textbox", { name: "Subject" });
    await subject.fill("For ");
    await page.getByRole("button", { name: "Insert a field: Subject" }).click();
    await page.getByRole("menuitem", { name: "First name" }).click();
    await subject.getByRole("img", { name: "Field First name, or else “there”" }).click();
    const dialog = page.getByRole("dialog", { name: "Field" });
    await dialog.getByLabel("If it is empty, write").fill('"you"');
    await dialog.getByRole("button", { name: "Set" }).click();
    await subject.getByRole("img", { name: "Field First name, or else “”you””" }).waitFor();
    await page.getByRole("button", { name: "Insert an emoji: Subject" }).click();
    await page.getByRole("button", { name: "🎁" }).click();
    await page.getByRole("button", { name: "Save template" }).click();
    await page.getByText("Version 2").waitFor();
    const stored = await readTemplate(account, templateId);
    expect(stored).toMatchObject({ subject: 'For {{ firstName | default: "”you”" }}🎁' });
    expect(problems).toEqual([]);
  });

  it("a photo of the photo search becomes an image with its description", async () => {
    const { email, templateId } = await accountWithTemplate("newsletter");
    const path = `/templates/${templateId}`;
    const { page, problems } = await openSignedIn(browser, { email, path });
    const photo = { id: "7", alt: "Two red shoes", photographer: "Ada", thumbUrl: imageUrl };
    const answerWith = (data: object) => (route: Route) => route.fulfill({ json: { data } });
    await page.route(imageUrl, (route) => route.fulfill({ body: pixel, contentType: "image/gif" }));
    const image = page.getByRole("button", { name: /^Image:/ });
    await image.click();
    await page.getByText("There is no photo search here.").waitFor();
    await page.route(/\/stock-photos\/status$/, answerWith({ configured: true }));
    await page.reload();
    await page.route(/\/stock-photos\?/, answerWith({ photos: [photo] }));
    await page.route(/\/stock-photos\/save$/, answerWith({ ...photo, url: imageUrl }));
    await image.click();
    await page.getByRole("button", { name: "Find a photo" }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /Two red shoes/ })
      .click();
    await page.getByRole("button", { name: /^Image: Two red shoes$/ }).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.getByLabel("Address of the image").inputValue()).toBe(imageUrl);
    expect(await page.getByLabel("Description").inputValue()).toBe("Two red shoes");
    expect(problems).toEqual([]);
  });

  it("a tap on an empty image opens its settings on a phone", async () => {
    const { email, templateId } = await accountWithTemplate("newsletter");
    const path = `/templates/${templateId}`;
    const { page, problems } = await openSignedIn(browser, { email, path, ...phone });
    const address = page.getByLabel("Address of the image");
    await page.getByRole("button", { name: /^Image:/ }).click();
    await address.waitFor();
    await page.getByRole("button", { name: "Close settings" }).click();
    await address.waitFor({ state: "hidden" });
    expect(problems).toEqual([]);
  });

  it("a block is dragged to its place, and a new one into a column", async () => {
    const { email, templateId } = await accountWithTemplate("newsletter");
    const path = `/templates/${templateId}`;
    const { page, problems } = await openSignedIn(browser, { email, path });
    const names = () => blockNames(page);
    const heading = page.getByRole("textbox", { name: "Heading" }).first();
    await heading.click();
    await page
      .locator(".drag-handle")
      .dragTo(page.locator("[data-block]").first(), { targetPosition: { x: 500, y: 12 } });
    await expect.poll(async () => (await names()).slice(0, 2)).toEqual(["Heading", "Text"]);
    const column = page.getByRole("list", { name: "Column 2" });
    const before = await column.getByRole("listitem").count();
    await page.getByRole("complementary", { name: "Settings" }).getByText("Add", exact).click();
    await page
      .getByRole("button", { name: "Divider", exact: true })
      .last()
      .dragTo(column.locator("[data-block]").first(), { targetPosition: { x: 100, y: 12 } });
    await expect.poll(() => column.getByRole("listitem").count()).toBe(before + 1);
    await column.getByRole("button", { name: /^Divider/ }).waitFor();
    expect(problems).toEqual([]);
  });

  it("what somebody else has saved meanwhile is not overwritten unasked", async () => {
    const account = await accountWithTemplate("receipt");
    const { email, call, templateId } = account;
    const path = `/templates/${templateId}`;
    const { page } = await openSignedIn(browser, { email, path });
    await page.getByRole("textbox", { name: "Heading" }).first().waitFor();
    await page.getByRole("textbox", { name: "Subject" }).fill("Mine");
    const put = (subject: string) => call("PUT", `/templates/${templateId}`, { subject });
    expectStatus(200, await put("Theirs"));
    await page.getByRole("button", { name: "Save template" }).click();
    await page.getByText("Somebody else has saved this since").waitFor();
    await page.getByRole("link", { name: "Templates" }).last().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("changes that are not saved").waitFor();
    await dialog.getByRole("button", { name: "Stay" }).click();
    await page.getByRole("button", { name: "Save mine over theirs" }).click();
    await page.getByText("Version 3").waitFor();
    await page.getByText("Saved", exact).waitFor();
    expectStatus(200, await put("Theirs again"));
    await page.getByRole("textbox", { name: "Subject" }).fill("Mine again");
    await page.getByRole("button", { name: "Save template" }).click();
    await page.getByRole("button", { name: "Show theirs and lose mine" }).click();
    const subject = page.getByRole("textbox", { name: "Subject" });
    await expect.poll(() => subject.textContent()).toBe("Theirs again");
  });

  it("the email of a draft campaign saves itself, and a template waits for its button", async () => {
    const account = await accountWithTemplate("welcome");
    const { email, call, siteId, templateId } = account;
    const draft = { siteId, name: "Spring", content: { copyOf: templateId } };
    const { id: campaignId, ownTemplateId } = expectStatus(
      201,
      await call<{ id: number; ownTemplateId: number }>("POST", "/campaigns", draft),
    ).body.data;
    const path = `/campaigns/${campaignId}/email`;
    const { page, problems } = await openSignedIn(browser, { email, path });
    const write = async (text: string) => {
      await page.getByRole("textbox", { name: "Heading" }).first().click();
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.insertText(text);
    };
    const readHtml = async (id: number) => (await readTemplate(account, id)).html;
    await write("Saved by itself");
    await page.getByText("Saved", exact).waitFor();
    expect(await readHtml(ownTemplateId)).toContain("Saved by itself");
    // It is saved on the way to another page, too.
    await write("Saved on the way");
    await page.getByRole("link", { name: "Back to the campaign" }).click();
    await expect.poll(() => readHtml(ownTemplateId)).toContain("Saved on the way");

    // Programs can send a template by its id.
    await page.goto(`${base}/app/templates/${templateId}`);
    await write("Half written");
    await page.waitForTimeout(4000);
    expect(await readHtml(templateId)).not.toContain("Half written");
    await page.getByRole("button", { name: "Save template" }).click();
    await page.getByText("Saved", exact).waitFor();
    expect(await readHtml(templateId)).toContain("Half written");
    expect(problems).toEqual([]);
  });

  it("a template names what uses it, and whether email is sent with what is saved", async () => {
    const account = await accountWithTemplate("welcome");
    const { email, call, siteId, templateId } = account;
    const config = await createSendingConfig(account, base, "postmark");
    expectStatus(200, await call("POST", `/sending-configs/${config}/verify`));
    const fields = { siteId, name: "Hello", sendingConfigId: config };
    const sequence = expectStatus(201, await call<{ id: number }>("POST", "/sequences", fields));
    const { id } = sequence.body.data;
    expectStatus(201, await call("POST", `/sequences/${id}/steps`, { type: "email", templateId }));
    const path = `/templates/${templateId}`;
    const { page, problems } = await openSignedIn(browser, { email, path });
    const warning = page.getByText("Emails are sent with what you save.");
    await page.getByRole("link", { name: "Hello", exact: true }).waitFor();
    expect(await warning.count()).toBe(0);
    expectStatus(200, await call("PUT", `/sequences/${id}`, { status: "active" }));
    await page.reload();
    await warning.waitFor();
    expect(problems).toEqual([]);
  });

  it("a design becomes code for good, and an earlier version is visual again", async () => {
    const account = await accountWithTemplate("welcome");
    const { email, templateId } = account;
    const path = `/templates/${templateId}`;
    const { page, problems } = await openSignedIn(browser, { email, path });
    await page.getByRole("button", { name: /^Button: Get started/ }).waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Turn into code" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("There is no way back").waitFor();
    await dialog.getByLabel(/to confirm/).fill(await page.getByLabel("Name", exact).inputValue());
    await dialog.getByRole("button", { name: "Turn into code" }).click();
    await page.getByRole("textbox", { name: "HTML" }).waitFor();
    await page.frameLocator("iframe").getByText("Get started").waitFor();
    const { designJson, html } = await readTemplate(account, templateId);
    expect(designJson).toBeNull();
    expect(html).toContain("Get started");
    await page.getByRole("tab", { name: "Versions" }).click();
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await dialog.getByRole("button", { name: "Restore version 1" }).click();
    await page.getByRole("button", { name: /^Button: Get started/ }).waitFor();
    expect(problems).toEqual([]);
  });

  it("a design of another editor opens as code", async () => {
    const { email, templateId } = await accountWithTemplate("welcome", { body: { rows: [] } });
    const path = `/templates/${templateId}`;
    const { page } = await openSignedIn(browser, { email, path });
    await page.getByRole("textbox", { name: "HTML" }).waitFor();
    await page.getByText("Another program has designed this email.").waitFor();
    await page.frameLocator("iframe").getByText("As it was saved").waitFor();
  });

  it("a hostile design runs nothing in the console", async () => {
    const attack = "<img src=x onerror=\"document.title='hacked'\"><script>alert(1)</script>";
    const design = startingDesigns[0]!.create();
    const span = { text: attack, href: "javascript:document.title='hacked'" };
    const blocks = [
      { id: '"><script>', type: "heading", fill: "none", level: 1, align: "left" },
      { id: "2", type: "text", fill: "none", size: "normal", align: "left" },
      { id: "3", type: "footer", fill: "none", align: "left" },
    ].map((block) => ({ ...block, text: [{ spans: [span] }], html: attack }));
    const links = [{ name: attack, href: span.href }];
    const social = { id: "4", type: "social", fill: "none", align: "left", links };
    const hostile = { ...design, previewText: attack, blocks: [...blocks, social] };
    const { email, templateId } = await accountWithTemplate("welcome", hostile);
    const path = `/templates/${templateId}`;
    const { page, problems } = await openSignedIn(browser, { email, path });
    const dialogs: string[] = [];
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    const heading = page.getByRole("textbox", { name: "Heading" });
    await heading.getByText("<script>alert(1)</script>").waitFor();
    expect(await page.locator(".canvas a, .canvas img, .canvas script").count()).toBe(0);
    await page.getByRole("tab", { name: "Preview" }).click();
    await page.frameLocator("iframe").getByRole("heading", { name: "<script>" }).waitFor();
    expect(await page.title()).toBe("Mine · Pennymail");
    expect(dialogs).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("the screens have no accessibility issue", async () => {
    const { email, templateId } = await accountWithTemplate("newsletter");
    const path = `/templates/${templateId}`;
    const screens = [
      {
        path: "/templates",
        ready: async (page: Page) => {
          await page.getByText("Mine", exact).waitFor();
          await page.getByRole("button", { name: "New template" }).click();
          await page.getByRole("dialog").getByText("Event invitation").waitFor();
        },
      },
      { path, ready: (page: Page) => page.getByRole("textbox", { name: "Footer" }).waitFor() },
      {
        path: `${path}?text`,
        ready: async (page: Page) => {
          await page.getByRole("textbox", { name: "Text", exact: true }).nth(1).click();
          await page.getByRole("button", { name: "Bold" }).waitFor();
        },
      },
      {
        path: `${path}?image`,
        ready: async (page: Page) => {
          await page.getByRole("button", { name: /^Image:/ }).click();
          await page.getByLabel("Address of the image").waitFor();
        },
      },
      {
        path: `${path}?preview`,
        ready: async (page: Page) => {
          await page.getByRole("tab", { name: "Preview" }).click();
          await page.frameLocator("iframe").getByText("Hello Person0").waitFor();
        },
      },
    ];
    expect(await judgeScreens(browser, { email, screens })).toEqual([]);
  });
});
