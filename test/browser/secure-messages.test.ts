// The page of a secure message in a real browser, with hostile content in the message.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus } from "../support/api-client.ts";
import {
  axePageOptions,
  findAccessibilityIssues,
  launchBrowser,
  openPage,
  savePicture,
  screenVariantsOf,
} from "../support/browser-pages.ts";
import {
  createSendingClient,
  listInbox,
  runUntilIdle,
  type SendingClient,
  uniqueAddresses,
} from "../support/sending-client.ts";

describe.skipIf(!inject("chromium"))("the page of a secure message", () => {
  let browser: Browser;
  let from: SendingClient;
  let lair: Server;
  let origin: string;
  const requests: string[] = [];
  beforeAll(async () => {
    from = await createSendingClient();
    lair = createServer((request, answer) => {
      requests.push(`${request.url} ${request.headers.referer ?? "no referrer"}`);
      answer.setHeader("content-type", "text/html").end("<title>Outside</title>");
    });
    await new Promise<void>((listening) => lair.listen(0, "127.0.0.1", listening));
    origin = `http://127.0.0.1:${(lair.address() as AddressInfo).port}`;
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    lair?.close();
  });

  async function delivered(fields: object): Promise<{ id: number; link: string }> {
    const [to = ""] = uniqueAddresses(1);
    const { id } = expectStatus(
      202,
      await from.send({ to, subject: "Your papers", secure: true, ...fields }),
    ).body.data;
    await runUntilIdle();
    const [, link = ""] = /(http:\S+\/secure\/[\w-]+)/.exec((await listInbox(to))[0]!.text!) ?? [];
    return { id, link };
  }

  async function opened(
    fields: object,
    options: BrowserContextOptions = { javaScriptEnabled: true },
  ): Promise<{ page: Page; id: number; link: string }> {
    const { id, link } = await delivered(fields);
    const page = await openPage(browser, link, options);
    await page.getByRole("button", { name: "Show the message" }).click();
    return { page, id, link };
  }

  it("shows the message without running scripts, forms or requests of it", async () => {
    const html = `<p>The code is 4711</p>
      <script>parent.postMessage("ran"); document.title = "taken"; top.location = "${origin}/top"</script>
      <img src="${origin}/missing.png" onerror="top.document.title='taken'; fetch('${origin}/fetched')">
      <svg onload="top.document.title='taken'"></svg>
      <body onload="top.document.title='taken'">
      <meta http-equiv="refresh" content="0;url=${origin}/refreshed">
      <link rel="stylesheet" href="${origin}/style.css"><style>@import "${origin}/imported.css"; p { background: url(${origin}/background) }</style>
      <iframe src="${origin}/frame"></iframe><object data="${origin}/object"></object><embed src="${origin}/embed">
      <base href="${origin}/">
      <form action="${origin}/stolen" method="post"><input name="a"><button id="steal">Go on</button></form>
      <a id="js" href="javascript:top.document.title='taken'">one</a> <a id="up" target="_top" href="${origin}/up">two</a>`;
    const { page, link } = await opened({ html });
    const frame = page.frameLocator("iframe");
    await frame.getByText("The code is 4711").waitFor();
    for (const id of ["#steal", "#js", "#up"]) await frame.locator(id).click();
    await page.waitForTimeout(500);
    expect([await page.title(), page.url(), requests]).toEqual(["Your papers", link, []]);
    expect(
      await page.evaluate(
        "(() => { try { return document.querySelector('iframe').contentDocument } catch { return null } })()",
      ),
    ).toBeNull();
    await page.context().close();
  });

  it("opens links of the message in a new tab without a referrer", async () => {
    const { page } = await opened({ html: `<a href="${origin}/linked">out</a>` });
    const [outside] = await Promise.all([
      page.context().waitForEvent("page"),
      page.frameLocator("iframe").getByText("out").click(),
    ]);
    await outside.waitForLoadState();
    expect([
      await outside.title(),
      await outside.evaluate("[document.referrer, window.opener]"),
      requests.splice(0),
    ]).toEqual(["Outside", ["", null], expect.arrayContaining(["/linked no referrer"])]);
    await page.context().close();
  });

  it("works without script, and shows nothing of a revoked message", async () => {
    const { page, id, link } = await opened({ html: "<p>The code is 4711</p>" }, {});
    await page.frameLocator("iframe").getByText("The code is 4711").waitFor();
    expectStatus(200, await from.call("POST", `/secure-messages/${id}/revoke`));
    for (const go of [() => page.reload(), () => page.goto(link), () => page.goBack()]) {
      await go();
      expect((await page.content()) + (await page.locator("iframe").count())).not.toMatch(
        /4711|Your papers|1$/,
      );
    }
    await page.context().close();
  });

  it("downloads a file from the page", async () => {
    const content = Buffer.from("The code is 4711").toString("base64");
    const { page } = await opened({ attachments: [{ filename: "code.txt", content }] }, {});
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "code.txt" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("code.txt");
    const bytes: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) bytes.push(chunk as Buffer);
    expect(Buffer.concat(bytes).toString()).toBe("The code is 4711");
    await page.context().close();
  });

  it("asks for the passphrase and reports a wrong one", async () => {
    const { link } = await delivered({
      html: "<p>The code is 4711</p>",
      securePassphrase: "open sesame",
    });
    const page = await openPage(browser, link);
    await page.getByLabel("Passphrase").fill("open pepper");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await savePicture(page, "secure-wrong");
    await page.getByLabel("Passphrase").fill("open sesame");
    await page.keyboard.press("Enter");
    await page.frameLocator("iframe").getByText("The code is 4711").waitFor();
    await page.context().close();
  });

  it.each(screenVariantsOf("secure messages"))(
    "has no accessibility issue: %s, %s",
    async (place, colorScheme, size) => {
      const options = { ...size, ...axePageOptions, colorScheme };
      const letter =
        "<h2>Dear Ada</h2><p>Your contract is ready. The code of the safe is <b>4711</b>; please learn it by heart.</p>";
      const { link } = await delivered({
        html: `<html lang="en"><body style="font-family:sans-serif">${letter}</body></html>`,
        attachments: [
          { filename: "Contract of the safe, signed by both parties in 2026.pdf", content: "YWJj" },
          { filename: "notes.txt", content: Buffer.alloc(812_000).toString("base64") },
        ],
      });
      const cover = await openPage(browser, link, options);
      await savePicture(cover, `secure-cover-${place}-${colorScheme}`);
      expect(await findAccessibilityIssues(cover)).toEqual([]);
      await cover.goto(link);
      await cover.getByRole("button").click();
      await cover.frameLocator("iframe").getByText("Your contract is ready").waitFor();
      // The frame is as high as its content.
      expect((await cover.locator("iframe").boundingBox())!.height).toBeLessThan(300);
      await savePicture(cover, `secure-shown-${place}-${colorScheme}`);
      expect(await findAccessibilityIssues(cover)).toEqual([]);
      await cover.goto(`${inject("baseUrl")}/secure/made-up`);
      expect(await findAccessibilityIssues(cover)).toEqual([]);
      await cover.context().close();
    },
  );
});
