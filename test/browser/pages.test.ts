// Pages of our own users in a real browser, without script: there is none in them.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { ask, mailTo, must, signedUp } from "../support/client.ts";
import { launched, looks, obstacles, phone, pictured, seeing, visited } from "../support/visitors.ts";

const base = inject("baseUrl");

describe.skipIf(!inject("chromium"))("pages of our own users", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launched();
  });
  afterAll(() => browser?.close());

  async function resetLink(): Promise<{ email: string; link: string }> {
    const { email } = await signedUp();
    must(200, await ask("POST", "/auth/forgot-password", { email }));
    const [link = ""] = /http:\S+\/reset-password\?token=\w+/.exec((await mailTo(email)).text ?? "") ?? [];
    return { email, link };
  }

  it("the mailed link leads to a new password, by keyboard alone", async () => {
    const { email, link } = await resetLink();
    const page = await visited(browser, link);
    await page.getByLabel("New password").fill("password");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await page.getByLabel("New password").fill("a much newer horse");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Your new password is set" }).waitFor();
    expect((await ask("POST", "/auth/login", { email, password: "a much newer horse" })).status).toBe(200);
    await page.goto(link);
    await page.getByLabel("Email").fill(email);
    await page.getByRole("button").click();
    await page.getByRole("heading", { name: "Please look into your inbox" }).waitFor();
    await page.context().close();
  });

  it.each(looks)("nothing on them stands in anyone's way: %s, %s", async (place, colorScheme, size) => {
    const { link } = await resetLink();
    for (const [name, address] of [
      ["home", base],
      ["reset", link],
      ["reset-invalid", `${base}/reset-password?token=made-up`],
    ] as const) {
      const page = await visited(browser, address, { ...size, ...seeing, colorScheme });
      await pictured(page, `${name}-${place}-${colorScheme}`);
      expect([name, await obstacles(page)]).toEqual([name, []]);
      await page.context().close();
    }
  });

  it("the mail with the link is as easy to read", async () => {
    const { email } = await resetLink();
    const page = await visited(browser, "about:blank", { ...phone, ...seeing });
    await page.setContent((await mailTo(email)).html!);
    await pictured(page, "reset-mail");
    // A mail is no page of a site: it needs no landmarks.
    expect((await obstacles(page)).filter((one) => !/^(region|landmark|page-has-heading)/.test(one))).toEqual([]);
    await page.context().close();
  });
});
