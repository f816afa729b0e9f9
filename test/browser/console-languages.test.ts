// The translations of a template: a language is added, its texts are written beside the default,
// and what is missing is marked.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { startingDesigns } from "../../shared/console/editors/visual/starting-designs.ts";
import { launchBrowser } from "../support/browser-pages.ts";
import {
  accountWithContacts,
  chooseOption,
  judgeScreens,
  openSignedIn,
} from "../support/console-pages.ts";

interface Template {
  id: number;
  locale: string | null;
  locales: string[];
  translations: Record<string, { subject: string | null; html: string | null }>;
}

const fields = { name: "Welcome", subject: "Welcome", html: "<p>Hello {{ firstName }}</p>" };

describe.skipIf(!inject("chromium"))("languages of a template in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it("code: a translation is added, written beside the default, saved and removed", async () => {
    const { email, call } = await accountWithContacts(1);
    const { id } = (await call<Template>("POST", "/templates", fields)).body.data;
    const stored = async () => (await call<Template>("GET", `/templates/${id}`)).body.data;
    const { page, problems } = await openSignedIn(browser, { email, path: `/templates/${id}` });
    const choice = (name: string) => page.getByRole("combobox", { name });
    const save = async (): Promise<void> => {
      await page.getByRole("button", { name: "Save template" }).click();
      await page.getByText("Saved", { exact: true }).waitFor();
    };
    // The editor and the preview move what is below them when they are loaded.
    await page.getByRole("textbox", { name: "HTML" }).waitFor();
    await page.getByTitle("Email preview").waitFor();
    await chooseOption(choice("Language of the default"), "English");
    // The list is long, so a person types.
    await choice("Add a language").fill("German");
    await page.getByRole("option", { name: "German", exact: true }).click();
    await page.getByRole("button", { name: "German Missing: subject, email" }).waitFor();
    const german = page.getByRole("region", { name: "German" });
    await german.getByRole("textbox", { name: "Subject (German)" }).fill("Willkommen");
    await page.getByRole("button", { name: "German Missing: email" }).waitFor();
    await german.locator(".cm-content").fill("<p>Guten Tag {{ firstName }}</p>");
    await page.getByRole("button", { name: "German Complete" }).waitFor();
    await save();
    expect(await stored()).toMatchObject({
      locale: "en",
      locales: ["de"],
      translations: { de: { subject: "Willkommen", html: "<p>Guten Tag {{ firstName }}</p>" } },
    });
    const ready = (shown: Page) => shown.getByRole("region", { name: "German" }).waitFor();
    const screens = [{ path: `/templates/${id}`, ready }];
    expect(await judgeScreens(browser, { email, screens })).toEqual([]);
    await german.getByRole("button", { name: "Remove German" }).click();
    await page.getByText("The email has one language").waitFor();
    await save();
    expect(await stored()).toMatchObject({ locales: [], translations: {} });
    expect(problems).toEqual([]);
  });

  it("visual: a translation begins with the design, and its html is made when it is saved", async () => {
    const { email, call } = await accountWithContacts(1);
    const designJson = startingDesigns[0]!.create();
    const visual = { ...fields, designJson };
    const { id } = (await call<Template>("POST", "/templates", visual)).body.data;
    const { page, problems } = await openSignedIn(browser, { email, path: `/templates/${id}` });
    await page.getByRole("tab", { name: "Languages" }).click();
    await chooseOption(page.getByRole("combobox", { name: "Add a language" }), "Arabic");
    const arabic = page.getByRole("region", { name: "Arabic" });
    await arabic.getByRole("textbox", { name: "Subject (Arabic)" }).fill("رسالة");
    await page
      .getByRole("button", { name: /^Arabic Missing: preview text, \d+ texts of the email$/ })
      .waitFor();
    await page.getByRole("button", { name: "Save template" }).click();
    await page.getByText("Saved", { exact: true }).waitFor();
    const { locales, translations } = (await call<Template>("GET", `/templates/${id}`)).body.data;
    expect(locales).toEqual(["ar"]);
    expect(translations.ar!.html).toMatch(/<html lang="ar" dir="rtl"/);
    const ready = async (shown: Page): Promise<void> => {
      await shown.getByRole("tab", { name: "Languages" }).click();
      await shown.getByRole("region", { name: "Arabic" }).waitFor();
    };
    const screens = [{ path: `/templates/${id}`, ready }];
    expect(await judgeScreens(browser, { email, screens })).toEqual([]);
    expect(problems).toEqual([]);
  });
});
