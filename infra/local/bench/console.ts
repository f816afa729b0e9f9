// The console in Chromium: how soon a screen that was seen before shows again, and how smoothly a
// long table scrolls.
import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import * as clock from "../../../shared/clock.ts";
import { type MeasuredService, startMeasuredService } from "./measured-service.ts";
import { benchPassword } from "./organizations.ts";
import {
  atMost,
  type BenchRow,
  formatMs,
  formatNumber,
  median,
  percentile,
  showProgress,
} from "./report.ts";
import { seedSite } from "./seeded-site.ts";

const chromiumPath = "/usr/bin/chromium";
const chromiumFlags = ["--headless", "--no-sandbox", "--disable-gpu"];
const viewport = { width: 1280, height: 900 };

/** `sizes` are numbers of contacts in the table. */
export async function run(sizes: number[]): Promise<BenchRow[]> {
  if (!existsSync(chromiumPath))
    return [{ what: "not measured", value: "", note: `there is no Chromium at ${chromiumPath}` }];
  const browser = await chromium.launch({ executablePath: chromiumPath, args: chromiumFlags });
  try {
    const rows: BenchRow[] = [];
    for (const size of sizes) rows.push(...(await measureSize(browser, size)));
    return rows;
  } finally {
    await browser.close();
  }
}

async function measureSize(browser: Browser, size: number): Promise<BenchRow[]> {
  const service = await startMeasuredService();
  try {
    const { caller } = await seedSite(service, size);
    showProgress("signing in to the console");
    const page = await openConsole(browser, service, caller.email);
    const screens = await measureScreens(page);
    const frames = await measureScrolling(page, size);
    await page.context().close();
    return [...screens, ...frames];
  } finally {
    await service.stop();
  }
}

async function openConsole(
  browser: Browser,
  { url }: MeasuredService,
  email: string,
): Promise<Page> {
  const page = await (await browser.newContext({ viewport })).newPage();
  // The first request builds the console.
  await page.goto(`${url}/app/contacts`, { timeout: 120_000 });
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(benchPassword);
  await page.keyboard.press("Enter");
  await page.getByRole("navigation", { name: "Main" }).first().waitFor();
  return page;
}

/** The entries of the navigation. */
const screens = [
  ...["Home", "Contacts", "Lists and tags", "Segments", "Forms", "Lead scoring", "Suppressions"],
  ...["Campaigns", "Sequences", "Holiday emails", "Templates", "Log", "Reports", "Webhooks"],
  ...["Request log", "Audit log", "Settings"],
];
const rounds = 5;
const maxScreenMs = 300;

/** From the click on an entry of the navigation to the frame that shows the screen. */
async function measureScreens(page: Page): Promise<BenchRow[]> {
  showProgress("opening each screen for the first time");
  for (const label of screens) {
    await openScreen(page, label);
    await page.waitForLoadState("networkidle");
  }
  const taken: { label: string; milliseconds: number }[] = [];
  for (let round = 0; round < rounds; round++)
    for (const label of screens) {
      showProgress("navigation", taken.length, rounds * screens.length);
      taken.push({ label, milliseconds: await openScreen(page, label) });
      // What the screen reads again in the background does not slow the next one.
      await page.waitForLoadState("networkidle");
      await clock.sleep(50);
    }
  const times = taken.map(({ milliseconds }) => milliseconds);
  const worst = taken.toSorted((a, b) => b.milliseconds - a.milliseconds)[0]!;
  return [
    {
      what: "a screen from cache, median",
      value: formatMs(median(times)),
      aim: atMost(maxScreenMs, median(times), "ms"),
      note: `${formatNumber(times.length)} navigations between ${screens.length} screens`,
    },
    {
      what: "a screen from cache, worst",
      value: formatMs(worst.milliseconds),
      aim: atMost(maxScreenMs, worst.milliseconds, "ms"),
      note: `${worst.label}; 95 % within ${formatMs(percentile(times, 0.95))}`,
    },
  ];
}

/** Clicks the link in the page, so that no message between processes counts. */
const openScreen = (page: Page, label: string): Promise<number> =>
  page.evaluate(`new Promise((resolve, reject) => {
    const label = ${JSON.stringify(label)};
    const links = [...document.querySelectorAll("nav[aria-label=Main] a")];
    const link = links.find((one) => one.innerText.trim().split("\\n")[0] === label);
    if (!link) return reject(new Error("The navigation has no entry " + label));
    const startedAt = performance.now();
    const path = new URL(link.href).pathname;
    const isShown = () =>
      location.pathname.startsWith(path) &&
      link.getAttribute("aria-current") === "page" &&
      document.querySelector("main h1") !== null &&
      document.querySelector("main .mantine-Skeleton-root, main tr.ghost") === null;
    const look = () => {
      if (performance.now() - startedAt > 20000) reject(new Error(label + " does not show"));
      else if (!isShown()) requestAnimationFrame(look);
      // The frame is drawn before the next one begins.
      else requestAnimationFrame(() => resolve(performance.now() - startedAt));
    };
    link.click();
    requestAnimationFrame(look);
  })`);

const frameCount = 150;
const pixelsPerFrame = 1700;
const maxMedianFrameMs = 34;
const maxSlowFrameMs = 67;

/** Jumps by more than a screen in each frame, so that each frame draws new rows. */
async function measureScrolling(page: Page, size: number): Promise<BenchRow[]> {
  await openScreen(page, "Contacts");
  await readAllRows(page, size);
  const times = (await page.evaluate(`new Promise((resolve) => {
    const box = document.querySelector(".main-table");
    const times = [];
    let last = performance.now();
    let step = ${pixelsPerFrame};
    box.scrollTop = 0;
    const next = () => {
      const now = performance.now();
      times.push(now - last);
      last = now;
      if (times.length > ${frameCount}) return resolve(times.slice(1));
      const end = box.scrollHeight - box.clientHeight;
      if (box.scrollTop + step > end || box.scrollTop + step < 0) step = -step;
      box.scrollTop += step;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  })`)) as number[];
  const drawn = await page.locator("table.rows tr[data-index]").count();
  const slow = percentile(times, 0.95);
  const label = `${formatNumber(size)} contacts, a frame while scrolling`;
  return [
    {
      what: `${label}, median`,
      value: formatMs(median(times)),
      aim: atMost(maxMedianFrameMs, median(times), "ms"),
      note: `${frameCount} frames of ${formatNumber(pixelsPerFrame)} pixels, ${drawn} rows drawn`,
    },
    {
      what: `${label}, 95 %`,
      value: formatMs(slow),
      aim: atMost(maxSlowFrameMs, slow, "ms"),
      note: `worst ${formatMs(Math.max(...times))}`,
    },
  ];
}

/** Goes to the end of the table again and again, because each time brings 100 rows. */
async function readAllRows(page: Page, size: number): Promise<void> {
  const box = page.locator(".main-table");
  for (let last = 0; last < size - 1; ) {
    await box.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await clock.sleep(50);
    const indexes = await page
      .locator("table.rows tr[data-index]")
      .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute("data-index"))));
    last = Math.max(last, ...indexes);
    showProgress("reading the rows of the table", last + 1, size);
  }
}
