// Pages in a real browser: on a phone and a desktop, in light and dark mode.
import { createRequire } from "node:module";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { inject } from "vitest";
import { sampleOf } from "./seeded-random.ts";
import { maxWaitMs } from "./wait-for.ts";

/**
 * Features of Chromium that are off. Its last two are pages of the address bar, which it would load
 * for each context, at the price of half a second of CPU time. The others are those of Playwright
 * that matter on a loopback address: Chromium obeys only the last list that it is given.
 */
const disabledFeatures = [
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "PaintHolding"],
  ...["HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "ThirdPartyStoragePartitioning"],
  ...["AvoidCorsURLLoaderRestartOnRedirect", "LensOverlay", "MediaRouter", "OptimizationHints"],
  ...["NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"],
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"],
];
const chromiumFlags = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync"],
  `--disable-features=${disabledFeatures}`,
];
const axeSource = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

export async function launchBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: inject("chromium"),
    args: chromiumFlags,
    timeout: maxWaitMs,
  });
  return browser.on("context", (context) => context.setDefaultTimeout(maxWaitMs));
}

export const phone = { viewport: { width: 390, height: 844 } };
export const desk = { viewport: { width: 1280, height: 900 } };
export type ScreenVariant = [
  place: "desk" | "phone",
  colorScheme: "light" | "dark",
  size: Pick<Required<BrowserContextOptions>, "viewport">,
];
const screenVariants: ScreenVariant[] = [
  ["desk", "light", desk],
  ["desk", "dark", desk],
  ["phone", "light", phone],
  ["phone", "dark", phone],
];
/**
 * The screen sizes and color schemes in which a screen is judged. `npm test` uses one of the four,
 * by its seed and the name of the screen, so each run sees every screen.
 */
export const screenVariantsOf = (screen: string): ScreenVariant[] =>
  sampleOf(1, screenVariants, `screen ${screen}`);

export async function openPage(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await (
    await browser.newContext({ javaScriptEnabled: false, ...desk, ...options })
  ).newPage();
  await page.goto(address);
  return page;
}

/**
 * Returns the accessibility issues that axe-core finds on the page, and whether the page is wider
 * than the screen. The page must be opened with `axePageOptions`. `choice` are options of axe-core.
 */
export async function findAccessibilityIssues(page: Page, choice: object = {}): Promise<string[]> {
  if (await page.evaluate("!window.axe")) await page.addScriptTag({ path: axeSource });
  const issues = await findIssuesNow(page, choice);
  // A screen can have an issue for a moment, while it fades from one state to another.
  return issues.length > 0 ? findIssuesNow(page, choice) : issues;
}

async function findIssuesNow(page: Page, choice: object): Promise<string[]> {
  // In the middle of a transition to the dark mode, colors have too little contrast.
  await page.waitForFunction("document.getAnimations().length === 0");
  const overflows = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
  // Axe prepares no results that nobody reads.
  const options = { resultTypes: ["violations"], ...choice };
  const found = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as {
    violations: { id: string; help: string }[];
  };
  return [
    ...(overflows ? ["wider than the screen"] : []),
    ...found.violations.map(({ id, help }) => `${id}: ${help}`),
  ];
}
export const axePageOptions = {
  javaScriptEnabled: true,
  bypassCSP: true,
  reducedMotion: "reduce",
} as const;

/** Saves a screenshot of the page if the environment variable PICTURES names a folder. */
export async function savePicture(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
