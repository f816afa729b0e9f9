// The home page and the pages of password resets in a real browser. They contain no script.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import {
  expectStatus,
  request,
  signedUp,
  uniqueEmail,
  waitForMail,
} from "../support/api-client.ts";
import {
  axePageOptions,
  findAccessibilityIssues,
  launchBrowser,
  openPage,
  phone,
  savePicture,
  screenVariantsOf,
} from "../support/browser-pages.ts";

const base = inject("baseUrl");

describe.skipIf(!inject("chromium"))("the home page and password resets", () => {
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

  async function invitationLink(): Promise<string> {
    const { call } = await signedUp();
    const email = uniqueEmail();
    const body = { email, role: "viewer" };
    expectStatus(201, await call("POST", "/invitations", body, { as: "session" }));
    const { text } = await waitForMail(email);
    return /http:\S+\/accept-invitation\?token=\w+/.exec(text ?? "")?.[0] ?? "";
  }

  it("an invitation is accepted by keyboard only", async () => {
    const page = await openPage(browser, await invitationLink());
    await page.getByLabel("Choose a password").fill("password1234");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Choose a password").fill("a much newer horse");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "You are now a member" }).waitFor();
    await page.context().close();
  });

  it("a new password is set from the mailed link by keyboard only", async () => {
    const { email, link } = await resetLink();
    const page = await openPage(browser, link);
    await page.getByLabel("New password").fill("password1234");
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

  it.each(screenVariantsOf("account pages"))(
    "the pages have no accessibility issue: %s, %s",
    async (place, colorScheme, size) => {
      const { link } = await resetLink();
      const options = { ...size, ...axePageOptions, colorScheme };
      const page = await openPage(browser, "about:blank", options);
      for (const [name, address] of [
        ["home", base],
        ["error-codes", `${base}/api/v1/docs/errors#campaign_status`],
        ["reset", link],
        ["reset-invalid", `${base}/reset-password?token=made-up`],
        ["invitation", await invitationLink()],
        ["invitation-invalid", `${base}/accept-invitation?token=made-up`],
        ["verification-invalid", `${base}/verify-email?token=made-up`],
      ] as const) {
        await page.goto(address);
        await savePicture(page, `${name}-${place}-${colorScheme}`);
        expect([name, await findAccessibilityIssues(page)]).toEqual([name, []]);
      }
      await page.context().close();
    },
  );

  it("the mail with the link has no accessibility issue", async () => {
    const { email } = await resetLink();
    const page = await openPage(browser, "about:blank", { ...phone, ...axePageOptions });
    await page.setContent((await waitForMail(email)).html!);
    await savePicture(page, "reset-mail");
    // A mail needs no landmarks and no main heading.
    expect(
      (await findAccessibilityIssues(page)).filter(
        (one) => !/^(region|landmark|page-has-heading)/.test(one),
      ),
    ).toEqual([]);
    await page.context().close();
  });
});
