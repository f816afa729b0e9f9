// The inbox and accounts pages in a real browser.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { Sandbox } from "../../infra/local/sandbox/index.ts";
import * as clock from "../../shared/clock.ts";
import { provider } from "../../shared/providers/index.ts";
import { account, file, handOver, local, mailing, recipient, served, started } from "../support/sandbox.ts";
import { launched, obstacles, pictured } from "../support/visitors.ts";

describe.skipIf(!inject("chromium"))("the inbox", () => {
  let browser: Browser;
  let sandbox: Sandbox;
  let pages: Awaited<ReturnType<typeof served>>;

  beforeAll(async () => {
    browser = await launched();
    sandbox = await started();
    process.env.PROVIDER_URL_POSTMARK = sandbox.urls.postmark;
    pages = await served(sandbox);
    await arrives({ subject: ["Reset your password"], text: ["Your code is 4711"] }, { subject: ["Order 17"] });
  });
  afterAll(async () => {
    await browser?.close();
    pages?.close();
    await sandbox?.stop();
  });

  async function arrives(...changes: Parameters<typeof mailing>[1][]): Promise<void> {
    const { credentials } = (await account(sandbox)).postmark!;
    const attachments = [file("note.txt", "hello")];
    for (const change of changes) {
      await handOver(provider("postmark")!, credentials, mailing([recipient("ann@example.net")], { attachments, ...change }));
    }
  }

  /** A page that fails its test when a script of it fails. */
  async function visited(path: string, width = 1200): Promise<Page> {
    const page = await browser.newPage({ viewport: { width, height: 760 } });
    page.on("pageerror", (error) => {
      throw error;
    });
    await page.goto(pages.origin + path);
    return page;
  }

  const subjects = (page: Page) => page.locator("#mails .subject").allTextContents();

  const violations = (page: Page): Promise<string[]> => obstacles(page, { iframes: false });

  it.each([
    ["/_local/inbox", 1200],
    ["/_local/inbox", 390],
    ["/_local/inbox/1", 1200],
    ["/_local/inbox/1", 390],
    ["/_local/sandbox", 390],
  ])("%s at %i pixels has nothing that stands in anyone's way", async (path, width) => {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.newPage({ viewport: { width, height: 760 }, colorScheme, bypassCSP: true });
      await page.goto(pages.origin + path);
      if (path.includes("inbox")) await page.locator("#mails li").first().waitFor({ state: "attached" });
      if (path.endsWith("1")) await page.getByRole("tab", { name: "HTML" }).waitFor();
      await pictured(page, `${path.replace(/\W+/g, "-")}-${width}-${colorScheme}`);
      expect(await violations(page)).toEqual([]);
      const overflow = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      expect(overflow).toBe(false);
      await page.close();
    }
  });

  it("finds a mail by what stands in it, and all again when the search is cleared", async () => {
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

  it("opens a mail by keyboard, part by part, and goes back", async () => {
    const page = await visited("/_local/inbox");
    await page.getByRole("link", { name: /Order 17/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Order 17" }).waitFor();
    expect(page.url()).toMatch(/\/_local\/inbox\/2$/);
    const html = page.frameLocator("iframe").getByRole("link", { name: "shop" });
    expect(await html.getAttribute("href")).toBe("https://shop.example/?a=1&b=2");
    await page.getByRole("tab", { name: "HTML" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("tabpanel", { name: "Text" }).getByText("https://shop.example/?a=1&b=2").waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("cell", { name: "X-Campaign" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("link", { name: "note.txt" }).waitFor();
    await page.goBack();
    await page.getByText("Choose a mail to read it.").waitFor();
    await page.close();
  });

  it("tells the day of a mail that is not of today, as the clock may have been moved", async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 760 }, locale: "en-US", timezoneId: "UTC" });
    const timeOfFirst = () => page.locator("#mails time").first().innerText();
    await page.goto(`${pages.origin}/_local/inbox`);
    await expect.poll(timeOfFirst).toMatch(/^\d\d:\d\d [AP]M$/);
    const day = clock.now().toLocaleDateString("en-US", { month: "short", day: "numeric", timeZone: "UTC" });
    await page.clock.setFixedTime(clock.after(8 * 86_400));
    await page.reload();
    await expect.poll(timeOfFirst).toContain(`${day}, `);
    await page.close();
  });

  it("on a phone shows the list alone until a mail is chosen", async () => {
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

  it("shows new mail by itself", async () => {
    const page = await visited("/_local/inbox");
    await page.getByText("2 mails", { exact: true }).waitFor();
    await arrives({ subject: ["Just arrived"] });
    await page.getByRole("link", { name: /Just arrived/ }).waitFor();
    await page.getByText("3 mails", { exact: true }).waitFor();
    await page.close();
  });

  it("runs no script of a mail, and never shows its markup as its own", async () => {
    await arrives({
      subject: ["<img src=x onerror=document.title='broken'>"],
      html: ["<script>document.body.textContent='ran'</script><p>still</p>"],
    });
    const page = await visited("/_local/inbox");
    await page.locator("#mails li a").first().click();
    await page.frameLocator("iframe").getByText("still").waitFor();
    expect(await page.title()).toContain("<img");
    await page.close();
  });

  it("is emptied after asking", async () => {
    const page = await visited("/_local/inbox");
    await page.locator("#mails li").first().waitFor();
    page.on("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Empty" }).click();
    await page.getByText("No mail yet.").waitFor();
    expect((await local(sandbox, "/_local/inbox")).json().data.mails).toEqual([]);
    await page.close();
  });
});
