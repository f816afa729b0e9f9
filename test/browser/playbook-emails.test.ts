// The mails of playbooks at the widths of a phone and a desktop.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus, signedUp } from "../support/api-client.ts";
import { desk, findAccessibilityIssues, launchBrowser, phone } from "../support/browser-pages.ts";
import { sampleOf } from "../support/seeded-random.ts";

const sizes = { phone, desk };
/** The folder for screenshots, if there is one. */
const album = process.env.SCREENSHOTS;

describe.skipIf(!inject("chromium"))("the mails of playbooks", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it("fit the width of a phone and a desktop, and have no accessibility issue", async () => {
    const client = await signedUp();
    const { playbooks } = expectStatus(
      200,
      await client.call<{ playbooks: { id: number; key: string }[] }>(
        "GET",
        "/sequences/playbooks",
      ),
    ).body.data;
    const page = await browser.newPage();
    for (const { id, key } of sampleOf(4, playbooks, "playbooks")) {
      const body = { companyName: "Holm & Daughters", url: "https://holm.example" };
      const made = expectStatus(
        201,
        await client.call<{ templates: { id: number }[] }>(
          "POST",
          `/sequences/playbooks/${id}/create`,
          body,
        ),
      ).body.data;
      for (const [n, template] of made.templates.entries()) {
        const variables = { firstName: "Ann" };
        const { html } = expectStatus(
          200,
          await client.call<{ html: string }>("POST", `/templates/${template.id}/render`, {
            variables,
          }),
        ).body.data;
        for (const [name, size] of Object.entries(sizes)) {
          await page.setViewportSize(size.viewport);
          await page.setContent(html);
          expect([
            key,
            n,
            name,
            await page.evaluate("document.documentElement.scrollWidth > innerWidth"),
          ]).toEqual([key, n, name, false]);
          if (album) await page.screenshot({ path: `${album}/${key}-${n + 1}-${name}.png` });
        }
        const rules = {
          region: { enabled: false },
          "landmark-one-main": { enabled: false },
          "page-has-heading-one": { enabled: false },
        };
        expect([key, n, await findAccessibilityIssues(page, { rules })]).toEqual([key, n, []]);
      }
    }
    await page.close();
  });
});
