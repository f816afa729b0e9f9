// The tracking script in a real browser, in a page of another origin, like a customer's website.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";
import { launchBrowser } from "../support/browser-pages.ts";
import { waitFor } from "../support/wait-for.ts";

describe.skipIf(!inject("chromium"))("the tracking script", () => {
  let browser: Browser;
  let shop: Server;
  let client: TestClient;
  let origin: string;
  beforeAll(async () => {
    client = await signedUp();
    expectStatus(201, await client.call("POST", "/contacts", { email: "ann@example.com" }));
    const src = `${inject("baseUrl")}/api/v1/tracking/script?siteId=${client.siteId}`;
    shop = createServer(({ url = "" }, answer) => {
      const consent = url.includes("required") ? ' data-consent="required"' : "";
      answer
        .setHeader("content-type", "text/html")
        .end(`<title>Shop</title><script src="${src}"${consent}></script><a href="/bye">on</a>`);
    });
    await new Promise<void>((listening) => shop.listen(0, "127.0.0.1", listening));
    origin = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`;
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    shop?.close();
  });

  async function visited(path: string) {
    const context = await browser.newContext();
    const page = await context.newPage();
    const received: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") received.push(new URL(request.url()).pathname);
    });
    await page.goto(origin + path);
    const kept = async () => [
      await context.cookies(),
      await page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])"),
    ];
    return { page, received, kept, close: () => context.close() };
  }

  async function events(count: number): Promise<{ eventName: string; url: string }[]> {
    return waitFor(async () => {
      const { events: found } = expectStatus(
        200,
        await client.call<{ events: { eventName: string; url: string }[] }>(
          "GET",
          "/events/custom",
        ),
      ).body.data;
      expect(found.length).toBeGreaterThanOrEqual(count);
      return found;
    });
  }
  const run = (page: Page, code: string) => page.evaluate(code);

  it("tracks page views by default, and not after consent was withdrawn", async () => {
    const { page, received, kept, close } = await visited("/");
    await page.evaluate('history.pushState({}, "", "/next")');
    await page.waitForTimeout(200);
    expect(received).toEqual(["/api/v1/tracking/event", "/api/v1/tracking/event"]);
    expect(await kept()).toEqual([
      [],
      expect.stringMatching(/^\[\{"pennymail_visitor":"[0-9a-f]{32}"\},\{\}\]$/),
    ]);
    await run(page, "pennymail.consent(false)");
    await page.click("a");
    await page.waitForTimeout(200);
    expect([received.length, await kept()]).toEqual([2, [[], '[{"pennymail_visitor":"no"},{}]']]);
    await close();
  });

  it("stores and sends nothing before consent where consent is required, then sends what waited", async () => {
    const { page, received, kept, close } = await visited("/?required");
    await run(
      page,
      'pennymail.track("looked", { at: "shoes" }); history.pushState({}, "", "/next")',
    );
    await page.waitForTimeout(200);
    expect([received, await kept()]).toEqual([[], [[], "[{},{}]"]]);
    await run(page, 'pennymail.consent(); pennymail.identify({ email: "ann@example.com" })');
    expect(await events(1)).toMatchObject([{ eventName: "looked", url: `${origin}/?required` }]);
    expect(received).toEqual([
      ...Array(3).fill("/api/v1/tracking/event"),
      "/api/v1/tracking/identify",
    ]);
    expect(await kept()).toEqual([
      [],
      expect.stringMatching(/^\[\{"pennymail_visitor":"[0-9a-f]{32}"\},\{\}\]$/),
    ]);
    await close();
  });

  it("sends events of a page that is being left, and identifies the visitor on the next one", async () => {
    const { page, close } = await visited("/");
    await run(page, 'pennymail.identify({ email: "ann@example.com" })');
    await run(page, 'addEventListener("pagehide", () => pennymail.track("left"))');
    await page.click("a");
    await run(page, 'pennymail.track("came")');
    const names = (await events(3)).map(({ eventName }) => eventName);
    expect(names.sort()).toEqual(["came", "left", "looked"]);
    await close();
  });
});
