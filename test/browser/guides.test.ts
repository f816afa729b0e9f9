// The html of the guides in a real browser, in a page of another origin, like a customer's website.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";
import { launchBrowser } from "../support/browser-pages.ts";
import { readBlocks } from "../support/guides.ts";
import { waitFor } from "../support/wait-for.ts";

const newsletter = {
  name: "Newsletter",
  designJson: { fields: [{ name: "email", type: "email" }] },
};

describe.skipIf(!inject("chromium"))("the guide Website tracking and forms", () => {
  const service = inject("baseUrl").replace(/\/api\/v1$/, "");
  let browser: Browser;
  let website: Server;
  let client: TestClient;
  let snippets: string[];
  /** The html of the page. */
  let shown = "";
  /** The page is sent up to `shown`, and ends after that. */
  let ending = Promise.resolve("");
  beforeAll(async () => {
    const response = await fetch(`${service}/api/v1/openapi.json`);
    const { info } = (await response.json()) as { info: { description: string } };
    client = await signedUp();
    snippets = readBlocks(info.description, "Website tracking and forms")
      .filter(({ language }) => language === "html")
      .map(({ text }) => text.replace("siteId=1", `siteId=${client.siteId}`));
    website = createServer(async (_, response) => {
      response.setHeader("content-type", "text/html");
      response.write(`<!doctype html><title>Shop</title><link rel="icon" href="data:,">${shown}`);
      response.end(await ending);
    });
    await new Promise<void>((resolve) => website.listen(0, "127.0.0.1", resolve));
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    website?.close();
  });

  const websiteUrl = () => `http://127.0.0.1:${(website.address() as AddressInfo).port}`;

  async function visit(html: string) {
    shown = html;
    const page = await (await browser.newContext()).newPage();
    const sent: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") sent.push(request.postData() ?? "");
    });
    await page.goto(websiteUrl());
    return { page, sent, stored: () => page.evaluate("localStorage.length") };
  }

  it("has a line that tracks at once, and keeps calls from before the script", async () => {
    const [track, , , record] = snippets;
    const { page, sent } = await visit(record! + track!);
    await waitFor(() => expect(sent).toHaveLength(2));
    expect(sent.join("\n")).toContain('"type":"page_view"');
    expect(sent.join("\n")).toContain('"name":"viewed_product","properties":{"product":"shoes"}');
    await page.context().close();
  });

  it("has a line that stores and sends nothing until the visitor agrees", async () => {
    const [, trackAfterConsent, banner] = snippets;
    const { page, sent, stored } = await visit(trackAfterConsent! + banner!);
    await page.waitForFunction("window.pennymail?.track");
    expect([sent, await stored()]).toEqual([[], 0]);
    await page.getByRole("button", { name: "Agree" }).click();
    await waitFor(() => expect(sent).toHaveLength(1));
    expect(await stored()).toBe(1);
    await page.getByRole("button", { name: "Decline" }).click();
    expect(await stored()).toBe(0);
    await page.context().close();
  });

  it("has a line that shows a form, which stores nothing and sends what is submitted", async () => {
    const { id } = expectStatus(
      201,
      await client.call<{ id: number }>("POST", "/forms", newsletter),
    ).body.data;
    const { page, sent, stored } = await visit(snippets[4]!.replace("/forms/1/", `/forms/${id}/`));
    await page.getByRole("textbox").fill("ada@example.com");
    await page.getByRole("button").click();
    await page.getByRole("status").waitFor();
    expect(sent).toHaveLength(1);
    expect(await stored()).toBe(0);
    await page.context().close();
  });

  it("has a form that appears in its element, which the page has after the script", async () => {
    const { id } = expectStatus(
      201,
      await client.call<{ id: number }>("POST", "/forms", newsletter),
    ).body.data;
    shown = snippets[4]!.replace("/forms/1/", `/forms/${id}/`);
    const page = await (await browser.newContext()).newPage();
    const { promise, resolve } = Promise.withResolvers<string>();
    ending = promise;
    page.on("requestfinished", (request) => {
      // What the script does follows its answer.
      if (request.resourceType() === "script")
        page
          .evaluate("1")
          .then(() => resolve(`<main><div data-pennymail-form="${id}"></div></main>`));
    });
    await page.goto(websiteUrl());
    await page.locator("main").getByRole("textbox").waitFor();
    await page.context().close();
  });
});
