// Pictures in the console: one is added from a file, found, and deleted.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { launchBrowser } from "../support/browser-pages.ts";
import { accountWithContacts, judgeScreens, openSignedIn } from "../support/console-pages.ts";
import { tinyPicture } from "../support/tiny-picture.ts";

const file = { name: "harbour.png", mimeType: "image/png", buffer: Buffer.from(tinyPicture) };

const chooseFile = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: "Add picture" }).click();
  await page.getByRole("dialog").locator("input[type=file]").setInputFiles(file);
};

describe.skipIf(!inject("chromium"))("pictures in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it("a picture is added with a description, found and deleted", async () => {
    const { email, call } = await accountWithContacts(0);
    const { page, problems } = await openSignedIn(browser, { email, path: "/media" });
    await chooseFile(page);
    const dialog = page.getByRole("dialog");
    const add = dialog.getByRole("button", { name: "Add picture" });
    expect(await add.isDisabled()).toBe(true);
    await dialog.getByLabel("Description").fill("Boats in the harbour");
    await add.click();
    await dialog.waitFor({ state: "detached" });
    const { media } = (await call<{ media: object[] }>("GET", "/media?search=boats")).body.data;
    expect(media).toMatchObject([{ name: "harbour", alt: "Boats in the harbour" }]);
    await page.getByRole("img", { name: "Boats in the harbour" }).waitFor();
    expect(problems).toEqual([]);
    const ready = (shown: Page) => shown.getByText("harbour").first().waitFor();
    const screens = [{ path: "/media", ready, open: chooseFile }];
    expect(await judgeScreens(browser, { email, screens })).toEqual([]);
    await page.goto(page.url());
    await page.getByText("harbour").first().click();
    await page.getByRole("button", { name: "Delete picture" }).click();
    await page
      .getByRole("dialog", { name: "Delete “harbour”" })
      .getByRole("button", { name: "Delete picture" })
      .click();
    await page.getByText("No picture yet").waitFor();
  });
});
