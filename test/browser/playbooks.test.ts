// The mails of playbooks as mail programs draw them: on a phone and on a desk.
import { createRequire } from "node:module";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { must, signedUp } from "../support/client.ts";

const executablePath = inject("chromium");
const axeSource = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const quiet = "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync".split(" ");
const sizes = { phone: { width: 390, height: 844 }, desk: { width: 1280, height: 900 } };
/** A folder for screenshots, to be looked at. */
const album = process.env.SCREENSHOTS;

describe.skipIf(!executablePath)("the mails of playbooks", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: quiet });
  });
  afterAll(() => browser?.close());

  it("fit a phone and a desk, and stand in nobody's way", async () => {
    const client = await signedUp();
    const { playbooks } = must(200, await client.call<{ playbooks: { id: number; key: string }[] }>("GET", "/sequences/playbooks")).body
      .data;
    const page = await browser.newPage();
    for (const { id, key } of playbooks) {
      const body = { companyName: "Holm & Daughters", url: "https://holm.example" };
      const made = must(201, await client.call<{ templates: { id: number }[] }>("POST", `/sequences/playbooks/${id}/create`, body)).body
        .data;
      for (const [n, template] of made.templates.entries()) {
        const variables = { firstName: "Ann" };
        const { html } = must(200, await client.call<{ html: string }>("POST", `/templates/${template.id}/render`, { variables })).body
          .data;
        for (const [name, size] of Object.entries(sizes)) {
          await page.setViewportSize(size);
          await page.setContent(html);
          expect([key, n, name, await page.evaluate("document.documentElement.scrollWidth > innerWidth")]).toEqual([key, n, name, false]);
          if (album) await page.screenshot({ path: `${album}/${key}-${n + 1}-${name}.png` });
        }
        await page.addScriptTag({ path: axeSource });
        const rules = { region: { enabled: false }, "landmark-one-main": { enabled: false }, "page-has-heading-one": { enabled: false } };
        const found = await page.evaluate(`axe.run(document, { rules: ${JSON.stringify(rules)} })`);
        expect([key, n, (found as { violations: { id: string }[] }).violations.map((one) => one.id)]).toEqual([key, n, []]);
      }
    }
    await page.close();
  }, 120_000);
});
