// The inbox and accounts pages in a real browser.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import * as clock from "../../shared/clock.ts";
import { getProvider } from "../../shared/providers/registry.ts";
import { findAccessibilityIssues, launchBrowser, savePicture } from "../support/browser-pages.ts";
import {
  callLocalPage,
  createAccount,
  handOver,
  mailing,
  recipient,
  serveLocalPages,
  startSandbox,
  textAttachment,
} from "../support/provider-sandbox.ts";

describe.skipIf(!inject("chromium"))("the inbox", () => {
  let browser: Browser;
  let sandbox: Sandbox;
  let pages: Awaited<ReturnType<typeof serveLocalPages>>;

  beforeAll(async () => {
    browser = await launchBrowser();
    sandbox = await startSandbox();
    process.env.PROVIDER_URL_POSTMARK = sandbox.originByProvider.postmark;
    pages = await serveLocalPages(sandbox);
    await deliver(
      { subject: ["Reset your password"], text: ["Your code is 4711"] },
      { subject: ["Order 17"] },
    );
  });
  afterAll(async () => {
    await browser?.close();
    pages?.close();
    await sandbox?.stop();
  });

  async function deliver(...changes: Parameters<typeof mailing>[1][]): Promise<void> {
    const { credentials } = (await createAccount(sandbox)).postmark!;
    const attachments = [textAttachment("note.txt", "hello")];
    for (const change of changes) {
      await handOver(
        getProvider("postmark")!,
        credentials,
        mailing([recipient("ann@example.net")], { attachments, ...change }),
      );
    }
  }

  /** Opens a page. The test fails if a script of the page throws. */
  async function visited(path: string, width = 1200): Promise<Page> {
    const page = await browser.newPage({ viewport: { width, height: 760 } });
    page.on("pageerror", (error) => {
      throw error;
    });
    await page.goto(pages.origin + path);
    return page;
  }

  const subjects = (page: Page) => page.locator("#mails .subject").allTextContents();

  const violations = (page: Page): Promise<string[]> =>
    findAccessibilityIssues(page, { iframes: false });

  it.each([
    ["/_local/inbox", 1200],
    ["/_local/inbox", 390],
    ["/_local/inbox/1", 1200],
    ["/_local/inbox/1", 390],
    ["/_local/sandbox", 390],
  ])("%s has no accessibility issue at a width of %i pixels", async (path, width) => {
    const page = await browser.newPage({ viewport: { width, height: 760 }, bypassCSP: true });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(pages.origin + path);
      if (path.includes("inbox"))
        await page.locator("#mails li").first().waitFor({ state: "attached" });
      if (path.endsWith("1")) await page.getByRole("tab", { name: "HTML" }).waitFor();
      await savePicture(page, `${path.replace(/\W+/g, "-")}-${width}-${colorScheme}`);
      expect(await violations(page)).toEqual([]);
      const overflow = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      expect(overflow).toBe(false);
    }
    await page.close();
  });

  it("searches mails by content, and shows all when the search is cleared", async () => {
    const page = await visited("/_local/inbox");
    await expect.poll(() => subjects(page)).toEqual(["Order 17", "Reset your password"]);
    await page.keyboard.press("/");
    await page.keyboard.type("4711");
    await expect.poll(() => subjects(page)).toEqual(["Reset your password"]);
    await page.getByRole("searchbox").fill("nothing like this");
    await page.getByText("No mail matches your search.").waitFor();
    await page.getByRole("searchbox").fill("");
    await expect.poll(async () => (await subjects(page)).length).toBe(2);
    await page.close();
  });

  it("opens a mail and its parts by keyboard, and goes back", async () => {
    const page = await visited("/_local/inbox");
    await page.getByRole("link", { name: /Order 17/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Order 17" }).waitFor();
    expect(page.url()).toMatch(/\/_local\/inbox\/2$/);
    const html = page.frameLocator("iframe").getByRole("link", { name: "shop" });
    expect(await html.getAttribute("href")).toBe("https://shop.example/?a=1&b=2");
    await page.getByRole("tab", { name: "HTML" }).focus();
    await page.keyboard.press("ArrowRight");
    await page
      .getByRole("tabpanel", { name: "Text" })
      .getByText("https://shop.example/?a=1&b=2")
      .waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("cell", { name: "X-Campaign" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("link", { name: "note.txt" }).waitFor();
    await page.goBack();
    await page.getByText("Choose a mail to read it.").waitFor();
    await page.close();
  });

  it("shows the date of mails of other days", async () => {
    const page = await browser.newPage({
      viewport: { width: 390, height: 760 },
      locale: "en-US",
      timezoneId: "UTC",
    });
    const timeOfFirst = () => page.locator("#mails time").first().innerText();
    await page.goto(`${pages.origin}/_local/inbox`);
    await expect.poll(timeOfFirst).toMatch(/^\d\d:\d\d [AP]M$/);
    const day = clock
      .now()
      .toLocaleDateString("en-US", { month: "short", day: "numeric", timeZone: "UTC" });
    await page.clock.setFixedTime(clock.addSeconds(8 * 86_400));
    await page.reload();
    await expect.poll(timeOfFirst).toContain(`${day}, `);
    await page.close();
  });

  it("shows only the list on a phone until a mail is selected", async () => {
    const page = await visited("/_local/inbox", 390);
    await page.locator("#mails li").first().waitFor();
    expect(await page.getByText("Choose a mail to read it.").isVisible()).toBe(false);
    await page.getByRole("link", { name: /Order 17/ }).click();
    await page.getByRole("heading", { name: "Order 17" }).waitFor();
    expect(await page.locator("#mails").isVisible()).toBe(false);
    await page.getByRole("button", { name: "← All mails" }).click();
    await page.locator("#mails").waitFor();
    await page.close();
  });

  it("shows new mail without a reload", async () => {
    const page = await visited("/_local/inbox");
    await page.getByText("2 mails", { exact: true }).waitFor();
    await deliver({ subject: ["Just arrived"] });
    await page.getByRole("link", { name: /Just arrived/ }).waitFor();
    await page.getByText("3 mails", { exact: true }).waitFor();
    await page.close();
  });

  it("runs no script of a mail and escapes its text", async () => {
    await deliver({
      subject: ["<img src=x onerror=document.title='broken'>"],
      html: ["<script>document.body.textContent='ran'</script><p>still</p>"],
    });
    const page = await visited("/_local/inbox");
    await page.locator("#mails li a").first().click();
    await page.frameLocator("iframe").getByText("still").waitFor();
    expect(await page.title()).toContain("<img");
    await page.close();
  });

  it("is emptied after a confirmation", async () => {
    const page = await visited("/_local/inbox");
    await page.locator("#mails li").first().waitFor();
    page.on("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Empty" }).click();
    await page.getByText("No mail yet.").waitFor();
    expect((await callLocalPage(sandbox, "/_local/inbox")).json().data.mails).toEqual([]);
    await page.close();
  });
});
