// The console in a real browser, as a signed-in user sees it.
import type { Browser, Locator, Page, Request } from "playwright-core";
import { inject } from "vitest";
import { expectStatus, password, request, sessionCookie, signedUp } from "./api-client.ts";
import {
  axePageOptions,
  findAccessibilityIssues,
  type ScreenVariant,
  savePicture,
  screenVariantsOf,
} from "./browser-pages.ts";
import { type PooledPageOptions, type SessionCookie, takePage } from "./page-pool.ts";

const base = inject("baseUrl");

export interface ConsolePage {
  page: Page;
  /** Errors of scripts and violations of the policy. */
  problems: string[];
}

export async function openConsole(
  browser: Browser,
  path: string,
  options: PooledPageOptions = {},
): Promise<ConsolePage> {
  const page = await takePage(browser, options);
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  page.on("console", (message) => {
    // The first request of a visitor without a session has the status 401.
    if (message.type() === "error" && !/status of 401/.test(message.text()))
      problems.push(message.text());
  });
  await page.goto(`${base}/app${path}`);
  return { page, problems };
}

const waitForShell = (page: Page): Promise<void> => page.getByRole("navigation").first().waitFor();

/** Signs in on the page that asks for it, and waits for the screen behind it. */
export async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
  await waitForShell(page);
}

/** Opens a screen with a session of this user. Only `signIn` shows the sign-in page. */
export async function openSignedIn(
  browser: Browser,
  { email, path, ...options }: PooledPageOptions & { email: string; path: string },
): Promise<ConsolePage> {
  const cookies = [await createSession(email)];
  const opened = await openConsole(browser, path, { ...options, cookies });
  await waitForShell(opened.page);
  return opened;
}

export async function createSession(email: string): Promise<SessionCookie> {
  const login = expectStatus(200, await request("POST", "/auth/login", { email, password }));
  const [name, value] = sessionCookie(login).split("=") as [string, string];
  const place = { domain: new URL(base).hostname, path: "/" };
  return { name, value, ...place, secure: true, httpOnly: true, sameSite: "Lax" };
}

/**
 * Leads the open console to a screen like a link, without loading the page again. A screen that
 * does not exist comes before it, so that nothing of the previous screen is left.
 */
export async function showScreen(page: Page, path: string): Promise<void> {
  const notFound = page.getByRole("heading", { name: "There is no such screen" });
  await pushAddress(page, "/nowhere");
  await notFound.waitFor();
  await pushAddress(page, path);
  await notFound.waitFor({ state: "detached" });
}

const pushAddress = (page: Page, path: string): Promise<void> =>
  page.evaluate(`history.pushState({}, "", ${JSON.stringify(`/app${path}`)})`);

/** Returns a function that waits until the page has the answers to all its requests. */
export function watchRequests(page: Page): () => Promise<void> {
  const pending = new Set<Request>();
  page.on("request", (started) => pending.add(started));
  page.on("requestfinished", (finished) => pending.delete(finished));
  page.on("requestfailed", (failed) => pending.delete(failed));
  const isQuiet = async () => {
    // Time in which a screen with an answer makes the next request.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))");
    return pending.size === 0;
  };
  return async () => {
    while (!(await isQuiet()));
  };
}

/** Presses Tab until the element has the focus, as somebody without a mouse does. */
export async function tabTo(page: Page, element: Locator): Promise<void> {
  const isFocused = () => element.evaluate((one) => one.matches(":focus"));
  for (let presses = 0; presses < 160; presses++) {
    if (await isFocused()) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not reach ${element}`);
}

/** An account with a site and contacts. */
export async function accountWithContacts(count: number) {
  const account = await signedUp();
  const { call, siteId } = account;
  for (let from = 0; from < count; from += 100) {
    const contacts = Array.from({ length: Math.min(100, count - from) }, (_, i) => ({
      email: `person${from + i}@shop.example`,
      firstName: `Person${from + i}`,
    }));
    expectStatus(200, await call("POST", "/contacts/bulk", { siteId, contacts }));
  }
  return account;
}

interface SandboxAccount {
  providers: {
    postmark: { credentials: { apiKey: string }; webhookSecret: string };
    smtp: { credentials: Record<"host" | "user" | "password", string> };
  };
  postmasterTools: { serviceAccountKey: string };
}

/** A new test account at the stand-ins. */
export async function createSandboxAccount(): Promise<SandboxAccount> {
  const answer = await fetch(`${base}/_local/sandbox`);
  return ((await answer.json()) as { data: SandboxAccount }).data;
}

/** A new test account at the stand-ins of the providers. */
export const readSandbox = async () => (await createSandboxAccount()).providers;

interface JudgedScreen {
  path: string;
  /** Resolves when the screen has its content. */
  ready(page: Page): Promise<unknown>;
  /** Opens a panel or dialog, which is judged after the screen. */
  open?(page: Page): Promise<unknown>;
}

interface Judgement {
  /** Without it, nobody signs in. */
  email?: string;
  screens: JudgedScreen[];
}

/**
 * Returns what is wrong with screens, each with its path, size and color scheme: accessibility
 * issues, errors of scripts, violations of the policy, and content that is wider than the screen.
 * Saves their pictures if the environment variable PICTURES names a folder.
 */
export async function judgeScreens(
  browser: Browser,
  { email, screens }: Judgement,
): Promise<string[]> {
  // Ids are left out, because they depend on the tests that ran before.
  const views = screens.flatMap((screen, number) =>
    screenVariantsOf(`${number} ${screen.path.replaceAll(/\d+/g, "")}`).map((variant) => ({
      ...screen,
      variant,
    })),
  );
  const opened = email
    ? await openSignedIn(browser, { ...axePageOptions, email, path: "/settings" })
    : await openConsole(browser, "/sign-in", axePageOptions);
  const { page } = opened;
  const issues: string[] = [];
  for (const { path, ready, open, variant } of views) {
    await showAs(page, variant);
    await showScreen(page, path);
    await ready(page);
    issues.push(...(await judge(opened, `${path}, ${variant.slice(0, 2).join(", ")}`)));
    if (!open) continue;
    await open(page);
    issues.push(...(await judge(opened, `${path}, opened, ${variant.slice(0, 2).join(", ")}`)));
  }
  return issues;
}

/** Gives the page the size and color scheme of a variant. */
async function showAs(page: Page, [, colorScheme, { viewport }]: ScreenVariant): Promise<void> {
  await page.setViewportSize(viewport!);
  await page.emulateMedia({ colorScheme });
}

async function judge({ page, problems }: ConsolePage, view: string): Promise<string[]> {
  await savePicture(page, `console-${view.replaceAll(/\W+/g, "-")}`);
  const issues = [
    ...(await findAccessibilityIssues(page)),
    ...problems.splice(0).filter((problem) => !isRateLimit(problem)),
    ...((await isTooWide(page)) ? ["is wider than the screen"] : []),
  ];
  return issues.map((issue) => `${view}: ${issue}`);
}

/** Many screens in one minute exceed the limit of the free plan; the console repeats the request. */
const isRateLimit = (problem: string): boolean => /status of 429/.test(problem);

/** Whether the page or its main part can be scrolled sideways. */
export const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate(`[document.documentElement, document.querySelector("main")].some(
    (element) => element !== null && element.scrollWidth > element.clientWidth,
  )`);

/** Opens the choices by keyboard, because the page can move under the pointer while it saves. */
export async function chooseOption(box: Locator, option: string | RegExp): Promise<void> {
  await box.press("ArrowDown");
  await box.page().getByRole("option", { name: option, exact: true }).click();
}

/** Gives the campaign on the page a copy of a template, and comes back from the editor. */
export async function beginWithTemplate(page: Page, template: string | RegExp): Promise<void> {
  await page.getByRole("button", { name: /^A template/ }).click();
  const dialog = page.getByRole("dialog");
  await chooseOption(dialog.getByRole("combobox", { name: "Template" }), template);
  await dialog.getByRole("button", { name: "Copy and edit" }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Edit email" }).waitFor();
}
