// Forms in a real browser: on our page with and without script, embedded in a page of another
// origin, and the page that asks to confirm.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus } from "../support/api-client.ts";
import {
  findAccessibilityIssues,
  launchBrowser,
  savePicture,
  screenVariantsOf,
  openPage as visit,
} from "../support/browser-pages.ts";
import {
  createSendingClient,
  listInbox,
  runUntilIdle,
  type SendingClient,
} from "../support/sending-client.ts";

const fields = [
  { name: "email", type: "email", label: "Email" },
  { name: "firstName", placeholder: "Ada" },
  { name: "plan", type: "select", label: "Plan", options: ["Pro", "Team"], required: true },
  { name: "seats", type: "number" },
  { name: "start", type: "date" },
  { name: "note", type: "textarea", label: "Anything else" },
  { name: "terms", type: "checkbox", label: "I agree to the terms", required: true },
  { name: "ref", type: "hidden", value: "x" },
];
const designJson = {
  title: "Join us",
  description: "News, once a month.\nNo more.",
  fields,
  submitLabel: "Join",
  theme: { accent: "#ffd400" },
};

interface Submission {
  email: string;
  status: string;
  fields: Record<string, unknown>;
}

describe.skipIf(!inject("chromium"))("a form", () => {
  let browser: Browser;
  let client: SendingClient;
  let site: Server;
  let origin: string;
  let head: Record<string, string>;
  let body: string;
  beforeAll(async () => {
    client = await createSendingClient();
    expectStatus(200, await client.call("POST", `/sending-configs/${client.configId}/verify`));
    site = createServer((_, answer) => {
      for (const [name, value] of Object.entries({
        "content-type": "text/html; charset=utf-8",
        ...head,
      }))
        answer.setHeader(name, value);
      answer.end(
        `<!doctype html><html lang="en"><title>Shop</title><main><h1>Shop</h1>${body}</main>`,
      );
    });
    await new Promise<void>((listening) => site.listen(0, "127.0.0.1", listening));
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
  });

  const make = async (more: object = {}) =>
    expectStatus(
      201,
      await client.call<{ id: number; pageUrl: string }>("POST", "/forms", {
        name: "News",
        designJson,
        ...more,
      }),
    ).body.data;
  const submissionsOf = async (id: number) =>
    expectStatus(
      200,
      await client.call<{ submissions: Submission[] }>("GET", `/forms/${id}/submissions`),
    ).body.data.submissions;
  const embedOf = (id: number) => `${inject("baseUrl")}/api/v1/forms/${id}/embed`;

  const visited = (address: string, options: BrowserContextOptions = {}): Promise<Page> =>
    visit(browser, address, options);
  async function fit(page: Page, name: string): Promise<void> {
    expect([name, await findAccessibilityIssues(page)]).toEqual([name, []]);
  }
  async function fill(page: Page, email: string) {
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("First name").fill("Ann");
    await page.getByLabel("Plan").selectOption("Team");
    await page.getByLabel("Seats").fill("3");
    await page.getByLabel("Start").fill("2028-02-29");
    await page.getByLabel("Anything else").fill("two\nlines");
    await page.getByLabel("I agree").check();
  }
  const entered = {
    firstName: "Ann",
    plan: "Team",
    seats: 3,
    start: "2028-02-29",
    note: "two\nlines",
    terms: true,
    ref: "x",
  };

  it.each([
    ["de-DE", 409, "form_inactive", "Zurzeit sind keine Eingaben möglich."],
    [
      "fr-FR",
      429,
      "rate_limited",
      "Trop d’envois arrivent en ce moment. Veuillez réessayer dans une minute.",
    ],
    ["es-ES", 500, "internal", "Se ha producido un error. Inténtelo de nuevo."],
    ["de-DE", 400, "validation_failed", "Bitte prüfen Sie Ihre Angaben"],
  ])(
    "shows errors in the visitor's language (%s): %i %s",
    async (locale, status, code, sentence) => {
      const { id } = await make({ designJson: { fields: [{ name: "email", type: "email" }] } });
      [head, body] = [{}, `<script src="${embedOf(id)}"></script>`];
      const page = await visited(origin, { locale, javaScriptEnabled: true });
      const headers = { "access-control-allow-origin": "*" };
      await page.route("**/submit", (route) =>
        route.fulfill({
          status,
          headers,
          json: { error: "An English sentence", code, requestId: "r" },
        }),
      );
      await page.getByRole("textbox").fill("ann@example.com");
      await page.getByRole("button").click();
      expect(await page.getByRole("alert").textContent()).toBe(sentence);
      await page.context().close();
    },
  );

  it.each(screenVariantsOf("forms"))(
    "has no accessibility issue in any state: %s, %s",
    async (size, colorScheme, options) => {
      const { id, pageUrl } = await make();
      const looking = { ...options, colorScheme, javaScriptEnabled: true, bypassCSP: true };
      const page = await visited(pageUrl, looking);
      await fit(page, `${size}-form`);
      // Turns off the validation of the browser, so that the script's own runs.
      await page.evaluate("document.querySelector('form').noValidate = true");
      await page.getByLabel("Email").fill("ann@");
      await page.getByRole("button", { name: "Join" }).click();
      await page.getByRole("alert").waitFor();
      for (const text of ["Please tick this", "Please choose one of the options"])
        expect(await page.getByText(text).count()).toBe(1);
      await savePicture(page, `form-wrong-${size}`);
      await fit(page, `${size}-wrong`);
      await page.goto(pageUrl);
      await fill(page, `${size}@example.com`);
      await page.getByRole("button", { name: "Join" }).click();
      await page.getByRole("heading", { name: "Thank you" }).waitFor();
      await fit(page, `${size}-thanks`);
      expectStatus(200, await client.call("PUT", `/forms/${id}`, { status: "inactive" }));
      await page.goto(pageUrl);
      await fit(page, `${size}-closed`);
      await page.context().close();
    },
  );

  it("works without script: shows errors at the fields and keeps the entered values", async () => {
    const { id, pageUrl } = await make();
    const page = await visited(`${pageUrl}?firstName=Ada`);
    expect(await page.getByLabel("First name").inputValue()).toBe("Ada");
    await fill(page, "ann@example");
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByRole("alert").getByRole("link", { name: "Email", exact: true }).waitFor();
    const email = page.getByLabel("Email");
    expect(await email.getAttribute("aria-invalid")).toBe("true");
    const faultOf = async (field: Locator) =>
      page.locator(`#${await field.getAttribute("aria-describedby")}`).innerText();
    expect(await faultOf(email)).toBe("This is not an email address");
    expect(await page.getByText("this is not an email address").count()).toBe(1);
    expect([
      await page.getByLabel("Anything else").inputValue(),
      await page.getByLabel("I agree").isChecked(),
    ]).toEqual(["two\nlines", true]);
    expect(await page.getByLabel("Plan").inputValue()).toBe("Team");
    await email.fill("ann@example.com");
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByRole("heading", { name: "Thank you" }).waitFor();
    expect(await submissionsOf(id)).toMatchObject([{ email: "ann@example.com", fields: entered }]);
    await page.context().close();
  });

  it("hides the honeypot field from eyes and keyboard", async () => {
    const { pageUrl } = await make();
    const page = await visited(pageUrl, { javaScriptEnabled: true });
    const names: string[] = [];
    for (let n = 0; n < 12; n++) {
      await page.keyboard.press("Tab");
      names.push(String(await page.evaluate("document.activeElement.name ?? ''")));
    }
    expect(names).toEqual(expect.arrayContaining(["email", "terms"]));
    expect(names).not.toContain("_website");
    expect(await page.locator("[name=_website]").boundingBox()).toMatchObject({
      y: expect.closeTo(-9900, -3),
    });
    expect(await page.getByRole("textbox", { name: "Leave this field empty" }).count()).toBe(0);
    await page.context().close();
  });

  it("is embedded in place of its script in a page of another origin, and submitted from there", async () => {
    const { id } = await make();
    [head, body] = [
      {},
      `<p id="before">Before</p><script src="${embedOf(id)}" async></script><p>After</p>`,
    ];
    const page = await visited(origin, { javaScriptEnabled: true });
    await page.getByLabel("Email").waitFor();
    expect(
      await page.evaluate("document.querySelector('#before').nextElementSibling.className"),
    ).toContain("pennymail");
    // Heading, text and button are those of the preview and of the form's own page.
    await page.getByRole("heading", { name: designJson.title, level: 2 }).waitFor();
    await page.getByText("News, once a month.", { exact: true }).waitFor();
    await fit(page, "embedded");
    await page.evaluate("document.querySelector('form').noValidate = true");
    await fill(page, "nobody");
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByText("Email: this is not an email address").waitFor();
    expect(await page.evaluate("document.activeElement.name")).toBe("email");
    await fit(page, "embedded-wrong");
    await page.getByLabel("Email").fill("embedded@example.com");
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByRole("status").getByText("Your details have been received").waitFor();
    expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe("status");
    await fit(page, "embedded-thanks");
    expect(await submissionsOf(id)).toMatchObject([
      { email: "embedded@example.com", fields: entered },
    ]);
    await page.context().close();
  });

  it("can have fields with the names of form properties", async () => {
    const names = ["action", "elements", "hidden"];
    const { id } = await make({
      designJson: { fields: names.map((name) => ({ name })), submitLabel: "Join" },
      doubleOptIn: false,
    });
    [head, body] = [{}, `<script src="${embedOf(id)}" async></script>`];
    const page = await visited(origin, { javaScriptEnabled: true });
    await page.getByLabel("Email").fill("clobbered@example.com");
    for (const name of names) await page.locator(`[name=${name}]`).fill(name);
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByRole("status").waitFor();
    expect(await page.locator("form").isVisible()).toBe(false);
    const fields = { action: "action", elements: "elements", hidden: "hidden" };
    expect(await submissionsOf(id)).toMatchObject([{ email: "clobbered@example.com", fields }]);
    await page.context().close();
  });

  it("is embedded in the marked element under a strict CSP, and redirects", async () => {
    const { id } = await make({ redirectUrl: `${origin}thanks` });
    const api = new URL(inject("baseUrl")).origin;
    head = {
      "content-security-policy": `default-src 'none'; script-src ${api}; connect-src ${api}; style-src 'none'`,
    };
    body = `<div data-pennymail-form="${id}"></div><script src="${embedOf(id)}"></script>`;
    const page = await visited(origin, { javaScriptEnabled: true });
    expect(await page.locator("[data-pennymail-form] form").count()).toBe(1);
    expect((await page.locator("[name=_website]").boundingBox())!.y).toBeLessThan(-1000);
    await fill(page, "strict@example.com");
    await page.getByRole("button", { name: "Join" }).click();
    await page.waitForURL(`${origin}thanks`);
    await page.context().close();
  });

  it("works as pasted HTML without script, and in a frame", async () => {
    const { id, pageUrl } = await make();
    const html = await (await fetch(`${embedOf(id)}?format=html`)).text();
    [head, body] = [{}, html];
    const page = await visited(origin);
    await fill(page, "pasted@example.com");
    await page.getByRole("button", { name: "Join" }).click();
    await page.getByRole("heading", { name: "Thank you" }).waitFor();
    body = `<iframe src="${pageUrl}" title="Join"></iframe>`;
    await page.goto(origin);
    const frame = page.frameLocator("iframe");
    await frame.getByLabel("Email").fill("framed@example.com");
    await frame.getByLabel("Plan").selectOption("Pro");
    await frame.getByLabel("I agree").check();
    await frame.getByRole("button", { name: "Join" }).click();
    await frame.getByRole("heading", { name: "Thank you" }).waitFor();
    expect((await submissionsOf(id)).map(({ email }) => email)).toEqual([
      "framed@example.com",
      "pasted@example.com",
    ]);
    await page.context().close();
  });

  it.each(screenVariantsOf("form confirmation"))(
    "asks to confirm on a page with one button, and only the button confirms: %s, %s",
    async (size, colorScheme, options) => {
      const { id, pageUrl } = await make({ doubleOptIn: true, designJson: null });
      const email = `${size}-${crypto.randomUUID().slice(0, 8)}@example.com`;
      const page = await visited(pageUrl, {
        ...options,
        colorScheme,
        javaScriptEnabled: true,
        bypassCSP: true,
      });
      await page.getByLabel("Email").fill(email);
      await page.getByRole("button").click();
      await page.getByRole("heading", { name: "Please check your inbox" }).waitFor();
      await fit(page, `${size}-pending`);
      await runUntilIdle();
      const [mail] = await listInbox(email);
      const [link = ""] = /http:\S+\/forms\/confirm\/[\w-]+/.exec(mail!.text ?? "") ?? [];
      await page.goto(link);
      await fit(page, `${size}-confirm`);
      expect(await submissionsOf(id)).toMatchObject([{ status: "pending" }]);
      await page.getByRole("button").click();
      await page.getByRole("heading", { name: "Thank you for confirming" }).waitFor();
      await fit(page, `${size}-confirmed`);
      await page.goto(link);
      await page.getByRole("heading", { name: "Thank you for confirming" }).waitFor();
      expect(await submissionsOf(id)).toMatchObject([{ status: "accepted" }]);
      await page.goto(`${link}x`);
      await page.getByRole("heading", { name: "This link does not work" }).waitFor();
      await page.context().close();
    },
  );
});
