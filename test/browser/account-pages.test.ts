// Pages of our own users in a real browser, without script: there is none in them.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus, request, signedUp, waitForMail } from "../support/api-client.ts";
import {
  axePageOptions,
  findAccessibilityIssues,
  launchBrowser,
  openPage,
  phone,
  savePicture,
  screenVariants,
} from "../support/browser-pages.ts";

const base = inject("baseUrl");

describe.skipIf(!inject("chromium"))("pages of our own users", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  async function resetLink(): Promise<{ email: string; link: string }> {
    const { email } = await signedUp();
    expectStatus(200, await request("POST", "/auth/forgot-password", { email }));
    const [link = ""] =
      /http:\S+\/reset-password\?token=\w+/.exec((await waitForMail(email)).text ?? "") ?? [];
    return { email, link };
  }

  it("the mailed link leads to a new password, by keyboard alone", async () => {
    const { email, link } = await resetLink();
    const page = await openPage(browser, link);
    await page.getByLabel("New password").fill("password");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await page.getByLabel("New password").fill("a much newer horse");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Your new password is set" }).waitFor();
    expect(
      (await request("POST", "/auth/login", { email, password: "a much newer horse" })).status,
    ).toBe(200);
    await page.goto(link);
    await page.getByLabel("Email").fill(email);
    await page.getByRole("button").click();
    await page.getByRole("heading", { name: "Please check your inbox" }).waitFor();
    await page.context().close();
  });

  it.each(screenVariants)(
    "nothing on them stands in anyone's way: %s, %s",
    async (place, colorScheme, size) => {
      const { link } = await resetLink();
      for (const [name, address] of [
        ["home", base],
        ["reset", link],
        ["reset-invalid", `${base}/reset-password?token=made-up`],
      ] as const) {
        const page = await openPage(browser, address, { ...size, ...axePageOptions, colorScheme });
        await savePicture(page, `${name}-${place}-${colorScheme}`);
        expect([name, await findAccessibilityIssues(page)]).toEqual([name, []]);
        await page.context().close();
      }
    },
  );

  it("the mail with the link is as easy to read", async () => {
    const { email } = await resetLink();
    const page = await openPage(browser, "about:blank", { ...phone, ...axePageOptions });
    await page.setContent((await waitForMail(email)).html!);
    await savePicture(page, "reset-mail");
    // A mail is no page of a site: it needs no landmarks.
    expect(
      (await findAccessibilityIssues(page)).filter(
        (one) => !/^(region|landmark|page-has-heading)/.test(one),
      ),
    ).toEqual([]);
    await page.context().close();
  });
});
