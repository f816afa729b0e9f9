// The API reference in a real browser, which gets nothing but the page itself.
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { groups } from "../../functions/http/index.ts";
import { desk, launched, looks, obstacles, phone, seeing, visited as visit } from "../support/visitors.ts";

const docs = `${inject("baseUrl")}/api/v1/docs`;

describe.skipIf(!inject("chromium"))("the API reference", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launched();
  });
  afterAll(() => browser?.close());

  const visited = (address: string, options: BrowserContextOptions = {}): Promise<Page> => visit(browser, address, options);

  it("shows every endpoint with script switched off, and asks for nothing but the page", async () => {
    const asked: string[] = [];
    const page = await (await browser.newContext({ ...desk, javaScriptEnabled: false })).newPage();
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(docs);
    expect(await page.locator("summary h3").count()).toBe(groups.flatMap(({ routes }) => routes).length);
    expect(asked.filter((url) => !url.startsWith("data:"))).toEqual([docs]);
    await page.context().close();
  });

  it.each(looks)("has nothing that stands in anyone's way: %s, %s", async (_, colorScheme, size) => {
    const page = await visited(docs, { ...size, ...seeing, colorScheme });
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
    // All are made alike: a few tell as much as all, in a tenth of the time. The first dozen has every method.
    const few = ["sendBatch", "createApiKey", "suppressionsImport"].map((id) => `#${id}`).join();
    await page.evaluate(`[...document.querySelectorAll('details')].forEach((one, i) => {
      one.open = one.querySelector("${few}") !== null;
      if (!one.open && i >= 12) one.remove();
    })`);
    expect(await obstacles(page)).toEqual([]);
    await page.context().close();
  });

  it("opens an endpoint by keyboard, and tells its fields and an example", async () => {
    const page = await visited(docs);
    await page.locator("summary", { hasText: "Send one mail" }).focus();
    await page.keyboard.press("Enter");
    const body = page.locator("#send");
    await body.getByText("email address", { exact: true }).first().waitFor();
    expect(await body.locator("dt", { hasText: /^to / }).innerText()).toContain("required");
    expect(await body.getByText("Authorization: Bearer $KEY").isVisible()).toBe(true);
    await page.context().close();
  });

  it("opens the endpoint that a link names", async () => {
    const page = await visited(`${docs}#createSite`);
    expect(await page.locator("details[open]").count()).toBe(1);
    expect(await page.locator("#createSite").isVisible()).toBe(true);
    expect(await page.evaluate("document.querySelector('#createSite').getBoundingClientRect().top < innerHeight")).toBe(true);
    await page.context().close();
  });

  it("finds endpoints by words, and shows them opened", async () => {
    const page = await visited(docs, phone);
    await page.getByRole("searchbox").fill("sends cancel");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "sends cancel" }).waitFor();
    expect(await page.locator("summary .path").allInnerTexts()).toEqual(["/sends/{id}/cancel"]);
    expect(await page.locator("#cancelSend").isVisible()).toBe(true);
    await page.getByRole("link", { name: "Show all" }).click();
    await page.getByRole("heading", { level: 1, name: "Pennymail API" }).waitFor();
    await page.context().close();
  });

  it.each(looks)("leads from a field that was searched for to where it is told: %s, %s", async (_, colorScheme, size) => {
    const page = await visited(`${docs}?q=double+opt-in`, { ...size, ...seeing, colorScheme });
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole("link", { name: "POST /forms", exact: true }).click();
    await page.locator("#createForm dt", { hasText: "doubleOptIn" }).first().waitFor();
    await page.context().close();
  });

  it("shows what is searched for as text, whatever it is", async () => {
    const page = await visited(`${docs}?q=${encodeURIComponent('"><script>document.title=1</script>')}`, {
      ...desk,
      javaScriptEnabled: true,
    });
    await page.getByText("No endpoint has these words.").waitFor();
    expect(await page.title()).toContain("<script>");
    await page.context().close();
  });

  it("takes whoever uses the keyboard past the contents first", async () => {
    const page = await visited(docs);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await page.locator("main :focus").count()).toBe(1);
    await page.context().close();
  });
});
