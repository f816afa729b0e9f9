// The console's screens about the audience, in a real browser, as people use them.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus } from "../support/api-client.ts";
import { launchBrowser, screenVariants } from "../support/browser-pages.ts";
import { accountWithContacts, judgeScreens, openSignedIn } from "../support/console-pages.ts";

const exact = { exact: true } as const;

type Account = Awaited<ReturnType<typeof accountWithContacts>>;

/** Creates a record with the API and returns its id. */
async function create({ call }: Account, path: string, fields: object): Promise<number> {
  return expectStatus(201, await call<{ id: number }>("POST", path, fields)).body.data.id;
}

/** Opens the menu of a row and chooses an action. */
async function chooseAction(page: Page, name: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${name}`, exact: true }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

describe.skipIf(!inject("chromium"))("the console's screens about the audience", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it("a list is created, renamed, opened and deleted", async () => {
    const { email } = await accountWithContacts(2);
    const { page, problems } = await openSignedIn(browser, { email, path: "/groups" });
    await page.getByRole("heading", { name: "No list yet" }).waitFor();
    await page.keyboard.press("c");
    await page.getByRole("textbox", { name: "Name" }).fill("News");
    await page.getByRole("button", { name: "Create list" }).click();
    await page.getByRole("cell", { name: "News", exact: true }).waitFor();
    await chooseAction(page, "News", "Rename");
    await page.getByRole("textbox", { name: "Name" }).fill("Newsletter");
    await page.getByRole("button", { name: "Save list" }).click();
    await page.getByRole("cell", { name: "Newsletter", exact: true }).click();
    await page.getByRole("heading", { name: "No contact matches" }).waitFor();
    await page.goBack();
    await chooseAction(page, "Newsletter", "Delete");
    await page.getByRole("button", { name: "Delete list" }).click();
    await page.getByRole("heading", { name: "No list yet" }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it("deleting a tag names the form that uses it and asks again", async () => {
    const account = await accountWithContacts(1);
    const { email, siteId } = account;
    await create(account, "/tags", { siteId, name: "vip" });
    await create(account, "/forms", { siteId, name: "Sign-up", tags: ["vip"] });
    const { page } = await openSignedIn(browser, { email, path: "/groups/tags" });
    await chooseAction(page, "vip", "Delete");
    await page.getByRole("button", { name: "Delete tag" }).click();
    await page.getByRole("listitem").filter({ hasText: "Sign-up" }).waitFor();
    await page.getByRole("button", { name: "Delete anyway" }).click();
    await page.getByRole("heading", { name: "No tag yet" }).waitFor();
    await page.context().close();
  });

  it("topics are created and put in order", async () => {
    const { email } = await accountWithContacts(1);
    const { page, problems } = await openSignedIn(browser, { email, path: "/groups/topics" });
    for (const name of ["News", "Offers"]) {
      await page.getByRole("button", { name: "New topic" }).click();
      await page.getByRole("textbox", { name: "Name" }).fill(name);
      await page.getByRole("button", { name: "Create topic" }).click();
      await page.getByRole("cell", { name, exact: true }).waitFor();
    }
    await chooseAction(page, "Offers", "Move up");
    await page.locator("tr[data-index='0']").getByText("Offers", exact).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it.each(screenVariants)("the screens have no accessibility issue: %s, %s", async (...variant) => {
    const account = await accountWithContacts(30);
    const { email, siteId } = account;
    await create(account, "/lists", { siteId, name: "Newsletter", description: "Every Tuesday" });
    await create(account, "/tags", { siteId, name: "customer" });
    await create(account, "/topics", { siteId, name: "Offers" });
    const screens = [
      { path: "/groups", ready: (one: Page) => one.getByText("Newsletter").waitFor() },
      { path: "/groups/tags", ready: (one: Page) => one.getByText("customer").waitFor() },
      { path: "/groups/topics", ready: (one: Page) => one.getByText("Offers").waitFor() },
    ];
    expect(await judgeScreens(browser, { email, variant, screens })).toEqual([]);
  });
});
