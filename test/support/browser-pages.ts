// Pages as people meet them: on a phone and on a desk, by day and by night, in a real browser.
import { createRequire } from "node:module";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { inject } from "vitest";
import { sampleOf } from "./seeded-random.ts";

const chromiumFlags =
  "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync".split(
    " ",
  );
const axeSource = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: inject("chromium"), args: chromiumFlags });

export const phone = { viewport: { width: 390, height: 844 } };
export const desk = { viewport: { width: 1280, height: 900 } };
/**
 * Each place and each light once: what fits depends on the one, and what can be read on the other.
 * One of them in `npm test`.
 */
export const screenVariants = sampleOf(
  1,
  [
    ["desk", "light", desk],
    ["phone", "dark", phone],
  ] as const,
  "screens",
);

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
 * What stands in somebody's way on this page, by axe-core, or is wider than the screen. The page
 * needs `seeing` in its options; `choice` is axe-core's.
 */
export async function findAccessibilityIssues(page: Page, choice: object = {}): Promise<string[]> {
  const overflows = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
  await page.addScriptTag({ path: axeSource });
  const found = (await page.evaluate(`axe.run(document, ${JSON.stringify(choice)})`)) as {
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

/** Where PICTURES names a folder, a picture of the page lies there for people to look at. */
export async function savePicture(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
