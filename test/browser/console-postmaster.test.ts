// Google Postmaster Tools in the console, with the stand-in of Google in the sandbox.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";
import { launchBrowser, savePicture } from "../support/browser-pages.ts";
import { createSandboxAccount, judgeScreens, openSignedIn } from "../support/console-pages.ts";
import { waitFor } from "../support/wait-for.ts";

/**
 * An organization with domains from which it has sent email with an account of the sandbox. Returns
 * the key of the account at Google, which shows these domains.
 */
async function sendFrom({ call, siteId }: TestClient, ...domains: string[]): Promise<string> {
  const { providers, postmasterTools } = await createSandboxAccount();
  const { credentials } = providers.postmark;
  for (const name of domains) {
    const fromEmail = `hello@${name}`;
    expectStatus(201, await call("POST", "/domains", { name }));
    const config = { provider: "postmark", credentials, fromEmail };
    expectStatus(201, await call("POST", "/sending-configs", config));
    const to = `ada@${name}`;
    const mail = { siteId, to, fromEmail, subject: "Hello", html: "<p>Hello</p>" };
    expectStatus(202, await call("POST", "/send", mail));
    await waitFor(async () => {
      const inbox = await fetch(`${inject("baseUrl")}/_local/inbox?to=${to}`);
      expect(await inbox.json()).toMatchObject({ data: { mails: [{ to: { email: to } }] } });
    });
  }
  return postmasterTools.serviceAccountKey;
}

const openDomain = async (page: Page, name: string) => {
  await page.getByRole("link", { name: "Domains", exact: true }).click();
  const row = page.getByRole("row", { name: new RegExp(`^${name}`) });
  const button = row.getByRole("button", { name: "DNS records" });
  if ((await button.getAttribute("aria-expanded")) === "false") await button.click();
  return page.getByRole("region", { name: "Gmail's figures of the last 30 days" });
};

describe.skipIf(!inject("chromium"))("Postmaster Tools in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it("a key is entered, refused, stored, used and removed", async () => {
    const account = await signedUp();
    const key = await sendFrom(account, "shop.example", "quiet.example");
    expectStatus(201, await account.call("POST", "/domains", { name: "new.example" }));
    const { email } = account;
    const { page, problems } = await openSignedIn(browser, { email, path: "/settings/domains" });
    const card = await openDomain(page, "shop.example");
    await card.getByRole("link", { name: "Connect Postmaster Tools" }).click();

    const field = page.getByLabel("Key of the service account (JSON)");
    const save = page.getByRole("button", { name: "Check and save" });
    await field.fill("{}");
    await save.click();
    await page.getByText("This is not the key of a service account.").waitFor();
    const clientEmail = JSON.parse(key).client_email as string;
    await field.fill(JSON.stringify({ ...JSON.parse(key), client_email: "eve@shop.example" }));
    await save.click();
    await page.getByText("Google says: invalid_grant: Invalid grant: account not found").waitFor();
    await savePicture(page, "postmaster-key-refused");
    const choosing = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Choose the file" }).click();
    const file = { name: "key.json", mimeType: "application/json", buffer: Buffer.from(key) };
    await (await choosing).setFiles(file);
    await page.getByText(`Address of the service account: ${clientEmail}`).waitFor();
    await save.click();

    await page.getByRole("definition").filter({ hasText: clientEmail }).waitFor();
    await page.getByText("Working", { exact: true }).waitFor();
    const shown = page.getByRole("table", { name: "Domains that Google shows" });
    const rowOf = (name: string) => shown.getByRole("row", { name: new RegExp(`^${name}`) });
    await rowOf("shop.example Figures are pulled").waitFor();
    await rowOf("new.example Google does not show it").waitFor();

    await openDomain(page, "shop.example");
    await card.getByText("Passed DMARC").waitFor();
    await card.getByText("Fine", { exact: true }).waitFor();
    await card.getByRole("img", { name: /^Line chart: reports of spam by day, at most/ }).waitFor();
    await card.getByText("Show as table").click();
    expect(await card.getByRole("table").getByRole("row").count()).toBe(1 + 28);
    await openDomain(page, "quiet.example");
    await card.getByText("Gmail has no figures.").waitFor();
    await openDomain(page, "new.example");
    await card.getByRole("link", { name: "Show the steps" }).click();

    await page.getByRole("button", { name: "Pull now" }).click();
    await page.getByText("Working", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove the key" }).click();
    await field.waitFor();
    await openDomain(page, "shop.example");
    await card.getByText("New figures do not come any more").waitFor();
    await card.getByText("Passed DMARC").waitFor();
    expect(problems.filter((problem) => !/status of 400/.test(problem))).toEqual([]);
  });

  it("says what is wrong at Google, and a key can be replaced", async () => {
    const account = await signedUp();
    const { email } = account;
    const key = await sendFrom(account, "complained.example");
    const body = { serviceAccountKey: key };
    expectStatus(200, await account.call("PUT", "/postmaster-tools", body));
    // What the service shows of a key that was deleted at Google.
    const { page } = await openSignedIn(browser, { email, path: "/settings/security" });
    await page.route(/\/api\/v1\/postmaster-tools$/, async (route) => {
      if (route.request().method() !== "GET") return route.continue();
      const response = await route.fetch();
      const { data } = await response.json();
      data.postmasterTools.state = "failing";
      data.postmasterTools.lastError = "Google refused: invalid_grant: Invalid JWT Signature.";
      data.postmasterTools.failingSince = new Date().toISOString();
      await route.fulfill({ response, json: { data } });
    });
    await page.getByRole("link", { name: "Domains", exact: true }).click();
    await page.getByRole("link", { name: "What Gmail counts about your domains" }).click();
    await page.getByText("Failing", { exact: true }).waitFor();
    await page.getByText("Google does not know this key any more.").waitFor();
    await savePicture(page, "postmaster-failing");
    await page.unroute(/\/api\/v1\/postmaster-tools$/);
    await page.getByRole("button", { name: "Replace the key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Key of the service account (JSON)").fill(key);
    await savePicture(page, "postmaster-replace");
    await dialog.getByRole("button", { name: "Check and save" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("Working", { exact: true }).waitFor();
    const card = await openDomain(page, "complained.example");
    await card.getByText("Over the limit").waitFor();
  });

  it("the record of a report address at another domain is shown with its state", async () => {
    const { email, call, siteId } = await signedUp();
    const address = "reports@in.other.example";
    expectStatus(200, await call("PUT", `/inbound-settings/${siteId}`, { address }));
    expectStatus(201, await call("POST", "/domains", { name: "shop.example" }));
    const { page, problems } = await openSignedIn(browser, { email, path: "/settings/domains" });
    const record = page.getByRole("listitem").filter({ hasText: "Consent to DMARC reports" });
    await record.getByText("shop.example._report._dmarc.in.other.example").waitFor();
    await record.getByText("Pending").waitFor();
    await record.getByRole("button", { name: "Copy the value" }).waitFor();
    expect(problems).toEqual([]);
  });

  it("the screens have no accessibility issue", async () => {
    const account = await signedUp();
    const { email, call } = account;
    const serviceAccountKey = await sendFrom(account, "shop.example");
    const steps = (page: Page) => page.getByText("Choose the file").waitFor();
    const empty = [{ path: "/settings/postmaster", ready: steps }];
    expect(await judgeScreens(browser, { email, screens: empty })).toEqual([]);
    expectStatus(200, await call("PUT", "/postmaster-tools", { serviceAccountKey }));
    await waitFor(async () => {
      const { body } = await call<{ postmasterTools: unknown }>("GET", "/postmaster-tools");
      expect(body.data.postmasterTools).toMatchObject({ state: "working" });
    });
    const working = (page: Page) => page.getByText("Figures are pulled").waitFor();
    const figures = (page: Page) => page.getByRole("img", { name: /^Line chart/ }).waitFor();
    const screens = [
      { path: "/settings/postmaster", ready: working },
      { path: "/settings/domains", ready: figures },
    ];
    expect(await judgeScreens(browser, { email, screens })).toEqual([]);
  });
});
