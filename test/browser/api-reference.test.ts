// The API reference in a real browser: search, examples, requests with an API key, phones.
import type { Browser, BrowserContextOptions, Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { signedUp } from "../support/api-client.ts";
import {
  axePageOptions,
  desk,
  findAccessibilityIssues,
  launchBrowser,
  phone,
  savePicture,
  screenVariantsOf,
  openPage as visit,
} from "../support/browser-pages.ts";
import { waitFor } from "../support/wait-for.ts";

type Methods = Record<string, { tags?: string[] }>;

const origin = inject("baseUrl");
const docs = `${origin}/api/v1/docs`;

describe.skipIf(!inject("chromium"))("the API reference", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  /**
   * The page takes seconds to show all guides and operations, so most tests show operations of
   * `tags` only, and some only one guide.
   */
  interface Shown {
    tags: string[];
    guide?: string;
  }
  const visited = async (
    hash: string,
    heading: string,
    { tags, guide, ...options }: BrowserContextOptions & Partial<Shown> = {},
  ) => {
    const context = await browser.newContext({ javaScriptEnabled: true, ...desk, ...options });
    if (tags)
      await context.route("**/openapi.json", (route) =>
        showOnly({ tags, ...(guide && { guide }) }, route),
      );
    const page = await context.newPage();
    await page.goto(docs + hash);
    await page.getByRole("heading", { name: heading, exact: true }).first().waitFor();
    return page;
  };
  const showOnly = async ({ tags, guide }: Shown, route: Route) => {
    const response = await fetch(route.request().url());
    const { info, ...document } = (await response.json()) as {
      info: { description: string };
      paths: Record<string, Methods>;
    };
    const paths = Object.entries(document.paths).filter(([, methods]) =>
      Object.values(methods).some((operation) => tags.includes(operation.tags?.[0] ?? "")),
    );
    const guides = info.description.split(/^(?=# )/m);
    const description = guide
      ? guides.find((text) => text.startsWith(`# ${guide}\n`))!
      : info.description;
    const shown = { ...document, info: { ...info, description }, paths: Object.fromEntries(paths) };
    await route.fulfill({ json: shown });
  };
  const sectionOf = (page: Page, heading: string) =>
    page.locator("section", { has: page.getByRole("heading", { name: heading }) }).last();

  it("search finds operations and guides without errors or requests to other hosts", async () => {
    const page = await (await browser.newContext(desk)).newPage();
    const requests: string[] = [];
    const problems: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    page.on("pageerror", ({ message }) => problems.push(message));
    page.on("console", (message) => {
      if (/error|warning/.test(message.type())) problems.push(message.text());
    });
    await page.goto(docs);
    await page.getByRole("heading", { name: "First send" }).waitFor();
    await page
      .getByRole("button", { name: /search/i })
      .first()
      .click();
    await page.getByRole("dialog").getByRole("combobox").fill("cancel a scheduled send");
    await page
      .getByRole("option", { name: /Cancel a scheduled send/ })
      .first()
      .click();
    await page.getByRole("heading", { name: "Cancel a scheduled send" }).waitFor();
    await page.waitForURL(`${docs}#tag/sends/cancelSend`);
    const titles = {
      newsletter: "Newsletter with an A/B test",
      "send email": "Send an email",
      attachment: "Attachments",
      gdpr: "GDPR and consent",
      automation: "Welcome series (automation)",
      "merge tags": "Variables (merge tags)",
    };
    await page.keyboard.press("Control+k");
    for (const [words, title] of Object.entries(titles)) {
      await page.getByRole("dialog").getByRole("combobox").fill(words);
      await waitFor(async () => {
        const found = await page.getByRole("option").allInnerTexts();
        expect(found.slice(0, 5).join("\n"), words).toContain(title);
      });
    }
    // Every link between guides has its target.
    const broken = await page.evaluate(
      `[...document.querySelectorAll('a[href^="#description/"]')]
        .map((link) => link.getAttribute("href").slice(1))
        .filter((id) => !document.querySelector('[id$="/' + id + '"]'))`,
    );
    expect(broken).toEqual([]);
    expect(await page.locator('a[href^="#description/"]').count()).toBeGreaterThan(20);
    const otherHosts = requests.filter(
      (url) => !/^(data|blob):/.test(url) && !url.startsWith(origin),
    );
    expect(requests.length).toBeGreaterThan(2);
    expect(otherHosts).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it("shows examples in curl, JavaScript and Python, and sends a request with an API key", async () => {
    const { apiKey, siteId } = await signedUp({ service: origin });
    const page = await visited("#tag/sites/listSites", "List sites", {
      tags: ["sites"],
      guide: "Rate limits",
    });
    const section = sectionOf(page, "List sites");
    await section.getByRole("button", { name: /curl/i }).first().click();
    const names = await page.getByRole("option").allInnerTexts();
    expect(names.toSorted()).toEqual(["Curl", "Fetch", "Requests"]);
    await page.keyboard.press("Escape");
    await section.getByRole("button", { name: /Test Request/ }).click();
    const client = page.getByRole("dialog").last();
    await client.getByText("Bearer Token").waitFor();
    await client.getByLabel("Bearer Token").fill(apiKey);
    const answered = page.waitForResponse(`${origin}/api/v1/sites**`);
    await client.getByRole("button", { name: /Send get request/ }).click();
    const answer = await answered;
    expect(answer.status()).toBe(200);
    expect(await answer.json()).toMatchObject({ data: { sites: [{ id: siteId }] } });
    await page.context().close();
  });

  it.each(screenVariantsOf("api reference"))(
    "has no accessibility issue, is as wide as a phone and opens its contents: %s, %s",
    async (_, colorScheme, size) => {
      const options = { ...size, ...axePageOptions, colorScheme, tags: ["emails", "sends"] };
      const page = await visited("#tag/emails/sendEmail", "Send an email", options);
      expect(await findAccessibilityIssues(page)).toEqual([]);
      await savePicture(page, `api-reference-${colorScheme}`);
      await page.setViewportSize(phone.viewport);
      expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
      await page.getByRole("button", { name: "Open Menu" }).first().click();
      await page.getByRole("link", { name: "Sends" }).first().waitFor();
      await savePicture(page, "api-reference-phone");
      await page.context().close();
    },
  );

  it("links to the OpenAPI document without JavaScript", async () => {
    const page = await visit(browser, docs);
    expect(await page.locator("body").innerText()).toBe(
      "This page needs JavaScript; the OpenAPI document has the same content.",
    );
    await page.getByRole("link", { name: "OpenAPI document" }).click();
    await page.waitForURL(`${origin}/api/v1/openapi.json`);
    await page.context().close();
  });
});
