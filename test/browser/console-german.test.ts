// The console in German: each screen of a German browser, without English sentences.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus } from "../support/api-client.ts";
import { launchBrowser } from "../support/browser-pages.ts";
import {
  accountWithContacts,
  openConsole,
  openSignedIn,
  watchRequests,
} from "../support/console-pages.ts";

const screens = [
  "/",
  "/contacts",
  "/contacts/import",
  "/groups",
  "/segments",
  "/segments/new",
  "/forms",
  "/campaigns",
  "/sequences",
  "/templates",
  "/media",
  "/scoring",
  "/suppressions",
  "/sequences/holidays",
  "/log",
  "/log/events",
  "/reports",
  "/webhooks",
  "/log/changes",
  "/settings/members",
  "/settings/senders",
  "/settings/domains",
  "/settings/postmaster",
  "/settings/sites",
  "/settings/security",
  "/settings/api-keys",
];

/** Words that English sentences have and German ones do not. */
const englishWords = /\b(the|your|and|with|from|of|not|this|has|are|your|they|yet|who)\b/i;

/** The texts of the page that are English. */
const readEnglish = async (page: Page): Promise<string[]> => {
  const text = await page.evaluate<string>("document.querySelector('main').innerText");
  return text.split("\n").filter((line) => englishWords.test(line));
};

describe.skipIf(!inject("chromium"))("the console in German", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it("shows every screen in German, with German numbers and dates", async () => {
    const { email, call, siteId } = await accountWithContacts(3);
    expectStatus(201, await call("POST", "/tags", { siteId, name: "Stammkunden" }));
    const { page, problems } = await openSignedIn(browser, {
      email,
      path: "/",
      locale: "de-DE",
    });
    expect(await page.getAttribute("html", "lang")).toBe("de");
    await page.getByRole("link", { name: "Kontakte" }).first().waitFor();
    const settled = watchRequests(page);
    const english: Record<string, string[]> = {};
    for (const path of screens) {
      await page.goto(`${inject("baseUrl")}/app${path}`);
      await page.getByRole("heading").first().waitFor();
      await settled();
      const found = await readEnglish(page);
      if (found.length) english[path] = found;
    }
    expect(english).toEqual({});
    // So many screens in a row meet the rate limit. The console tries again.
    expect(problems.filter((problem) => !problem.includes("status of 429"))).toEqual([]);
  });

  it("changes its language before and after the sign-in", async () => {
    const { email } = await accountWithContacts(0);
    const { page } = await openConsole(browser, "/sign-in", { locale: "de-DE" });
    await page.getByRole("button", { name: "English" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await page.evaluate("localStorage.clear()");
    const signedIn = await openSignedIn(browser, { email, path: "/contacts" });
    await signedIn.page.getByRole("button", { name: "Language" }).click();
    await signedIn.page.getByRole("menuitem", { name: "Deutsch" }).click();
    await signedIn.page.getByRole("heading", { name: "Kontakte" }).waitFor();
  });
});
