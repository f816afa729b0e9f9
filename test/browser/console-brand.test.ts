// The brand of a site in the console: setting it, and templates that follow it.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus } from "../support/api-client.ts";
import { launchBrowser } from "../support/browser-pages.ts";
import { accountWithContacts, judgeScreens, openSignedIn } from "../support/console-pages.ts";

interface Template {
  id: number;
  html: string;
  designJson: { language?: string; theme: { usesBrand?: boolean; accent: string } };
}
const brand = {
  colors: { accent: "#aa1155", background: "#fdf2f6", surface: "#fffdfe", text: "#2a1520" },
  font: "georgia",
  corners: "round",
  socialLinks: [{ name: "Mastodon", url: "https://social.example/@shop" }],
  footerText: "Shop Ltd, company 1234",
  language: "de",
};

async function accountWithBrand() {
  const account = await accountWithContacts(1);
  expectStatus(200, await account.call("PUT", `/sites/${account.siteId}`, { brand }));
  return account;
}

const emailFrame = (page: Page) => page.frameLocator("iframe");

describe.skipIf(!inject("chromium"))("the brand of a site in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it("is set with a preview of an email and a page, and can be removed", async () => {
    const { email, call, siteId } = await accountWithContacts(0);
    const { page, problems } = await openSignedIn(browser, { email, path: "/settings/brand" });
    await page.getByLabel("Accent: buttons and links").fill("#aa1155");
    await page.getByLabel("Footer text (optional)").fill("Shop Ltd");
    await page.getByRole("button", { name: "Add a link" }).click();
    await page.getByLabel("Name of link 1").fill("Mastodon");
    await page.getByLabel("Link 1 leads to").fill("https://social.example/@shop");
    await emailFrame(page).getByText("Shop Ltd").waitFor();
    await emailFrame(page).getByRole("link", { name: "Mastodon" }).waitFor();
    await page.getByRole("tab", { name: "Page" }).click();
    await emailFrame(page).getByText("Shop Ltd").waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("status").getByText("Saved").waitFor();
    const saved = await call<{ brand: object }>("GET", `/sites/${siteId}`);
    expect(saved.body.data.brand).toMatchObject({
      colors: { accent: "#aa1155" },
      footerText: "Shop Ltd",
      socialLinks: [{ name: "Mastodon", url: "https://social.example/@shop" }],
    });
    await page.getByRole("button", { name: "Remove the brand" }).click();
    await page.getByRole("button", { name: "Remove the brand" }).waitFor({ state: "detached" });
    expect((await call("GET", `/sites/${siteId}`)).body.data).toMatchObject({ brand: null });
    expect(problems).toEqual([]);
  });

  it("is what a new template looks like, and the template follows its changes", async () => {
    const { email, call, siteId } = await accountWithBrand();
    const { page, problems } = await openSignedIn(browser, { email, path: "/templates" });
    await page.getByRole("button", { name: "New template" }).first().click();
    await page.getByRole("button", { name: /^Welcome/ }).click();
    await page.getByRole("tab", { name: "Preview" }).waitFor();
    await page.locator(".canvas").waitFor();
    const listed = await call<{ templates: { id: number }[] }>("GET", "/templates");
    const { id } = listed.body.data.templates[0]!;
    const { designJson } = expectStatus(200, await call<Template>("GET", `/templates/${id}`)).body
      .data;
    expect(designJson).toMatchObject({ language: "de", theme: { usesBrand: true } });
    const font = "getComputedStyle(document.querySelector('.canvas')).fontFamily";
    expect(await page.evaluate(font)).toMatch(/Georgia/);
    const render = async () =>
      (await call<{ html: string }>("POST", `/templates/${id}/render`, { variables: {} })).body.data
        .html;
    expect(await render()).toContain("#aa1155");
    const changed = { ...brand, colors: { ...brand.colors, accent: "#114488" } };
    expectStatus(200, await call("PUT", `/sites/${siteId}`, { brand: changed }));
    expect(await render()).toContain("#114488");
    await page.locator(".visual-panel").getByText("Look", { exact: true }).click();
    await page.getByRole("switch", { name: "Use the brand of the site" }).click();
    await page.getByLabel("Accent: buttons and links").fill("#22aa44");
    await page.getByRole("button", { name: "Save template" }).click();
    await page.getByText("Saved", { exact: true }).waitFor();
    const own = expectStatus(200, await call<Template>("GET", `/templates/${id}`)).body.data;
    expect(own.designJson.theme).toMatchObject({ accent: "#22aa44", corners: "round" });
    expect(own.html).not.toContain("brandLook");
    expect(problems).toEqual([]);
  });

  it("has a screen without accessibility issues", async () => {
    const { email } = await accountWithBrand();
    const ready = (page: Page) => emailFrame(page).getByText("Shop Ltd, company 1234").waitFor();
    const open = async (page: Page) => {
      await page.getByRole("tab", { name: "Page" }).click();
      await emailFrame(page).getByRole("button").first().waitFor();
    };
    const screens = [{ path: "/settings/brand", ready, open }];
    expect(await judgeScreens(browser, { email, screens })).toEqual([]);
  });
});
