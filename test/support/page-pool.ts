// Pages of a browser that tests use one after the other. A new page needs a process of its own,
// which loads and compiles the whole console again.
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { inject, onTestFinished } from "vitest";
import { desk } from "./browser-pages.ts";

export type SessionCookie = Parameters<BrowserContext["addCookies"]>[0][number];

export interface PooledPageOptions extends Omit<BrowserContextOptions, "storageState"> {
  cookies?: SessionCookie[];
}

/** Pages that no test uses, with the options that only a new context can change. */
const idlePages: { browser: Browser; options: string; page: Page }[] = [];

function takeIdlePage(browser: Browser, options: string): Page | undefined {
  const index = idlePages.findIndex((one) => one.browser === browser && one.options === options);
  return index < 0 ? undefined : idlePages.splice(index, 1)[0]!.page;
}

/**
 * Returns a page without cookies, stored items, routes and listeners of earlier tests. The page
 * goes back at the end of the test.
 */
export async function takePage(
  browser: Browser,
  {
    cookies = [],
    viewport = desk.viewport,
    colorScheme = "light",
    reducedMotion = "reduce",
    ...fixed
  }: PooledPageOptions,
): Promise<Page> {
  const contextOptions = { javaScriptEnabled: true, ...fixed };
  const options = JSON.stringify(contextOptions);
  const page =
    takeIdlePage(browser, options) ?? (await (await browser.newContext(contextOptions)).newPage());
  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") return page.context().close();
    await clean(page);
    idlePages.push({ browser, options, page });
  });
  await page.setViewportSize(viewport!);
  await page.emulateMedia({ colorScheme, reducedMotion });
  await page.context().addCookies(cookies);
  return page;
}

async function clean(page: Page): Promise<void> {
  const context = page.context();
  for (const event of ["request", "response", "dialog", "filechooser", "pageerror", "console"])
    page.removeAllListeners(event);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  for (const other of context.pages()) if (other !== page) await other.close();
  // A small page of the same origin, which keeps the process of the page.
  await page.goto(`${inject("baseUrl")}/api/v1/health`);
  await page.evaluate("localStorage.clear(); sessionStorage.clear()");
  await context.clearCookies();
}
