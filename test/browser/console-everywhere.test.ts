// What works on every screen of the console: search, shortcuts, drafts that are not lost, and the
// progress of long work.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus, signedUp } from "../support/api-client.ts";
import {
  axePageOptions,
  findAccessibilityIssues,
  launchBrowser,
  screenVariantsOf,
} from "../support/browser-pages.ts";
import { accountWithContacts, openConsole, openSignedIn } from "../support/console-pages.ts";

const exact = { exact: true } as const;

describe.skipIf(!inject("chromium"))("everywhere in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  const search = async (page: Page, text: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Screen, setting, name or email address" }).fill(text);
  };

  it("the search leads to screens, settings, records and contacts, and starts acts", async () => {
    const { email, call, siteId } = await accountWithContacts(3);
    const campaign = { siteId, name: "Autumn sale" };
    expectStatus(201, await call("POST", "/campaigns", campaign));
    const { page, problems } = await openSignedIn(browser, { email, path: "/log" });
    await page.getByRole("heading", { name: "Log" }).waitFor();
    await search(page, "recovery codes");
    await page.getByRole("option", { name: "Your security" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Two-step sign-in" }).waitFor();
    await search(page, "autumn");
    await page.getByRole("option", { name: "Autumn sale" }).click();
    await page.getByRole("heading", { name: "Autumn sale" }).waitFor();
    await search(page, "person2@shop.example");
    await page.getByRole("option", { name: "Person2 · person2@shop.example", exact: true }).click();
    await page.getByRole("heading", { name: "Person2" }).waitFor();
    await search(page, "new campaign");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "New campaign" }).getByLabel("Name").fill("Winter");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Winter" }).waitFor();
    expect(problems).toEqual([]);
  });

  it("further letters of a search read the names of records no second time", async () => {
    const { email, call, siteId } = await accountWithContacts(1);
    expectStatus(201, await call("POST", "/lists", { siteId, name: "Customers" }));
    const { page } = await openSignedIn(browser, { email, path: "/log" });
    await page.getByRole("heading", { name: "Log" }).waitFor();
    const calls: string[] = [];
    page.on("request", (request) => {
      const [, path] = /\/api\/v1(\/[\w-]+)/.exec(request.url()) ?? [];
      if (path) calls.push(path);
    });
    await search(page, "cust");
    await page.getByRole("option", { name: "Customers" }).waitFor();
    await page.keyboard.type("ome");
    await page.getByText("1 result", exact).waitFor();
    expect(calls.filter((path) => path === "/lists")).toHaveLength(1);
    expect(calls.filter((path) => path !== "/contacts").length).toBeLessThan(9);
  });

  it("the help lists the shortcuts of the screen, and g with a letter goes to another", async () => {
    const { email } = await accountWithContacts(1);
    const { page, problems } = await openSignedIn(browser, { email, path: "/contacts" });
    await page.getByText("1 contact").waitFor();
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Help" });
    const own = help.getByRole("region", { name: "On this screen" });
    await own.getByText("Add a contact").waitFor();
    await own.getByText("Next row").waitFor();
    await help.getByText("Go to Campaigns").waitFor();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    await page.keyboard.press("g");
    await page.keyboard.press("q");
    await page.getByRole("heading", { name: "Sequences" }).waitFor();
    await page.keyboard.press("?");
    await own.getByText("New sequence").waitFor();
    expect(await own.getByText("Add a contact").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("changes that are not saved are left only after a question, saved ones at once", async () => {
    const { email, call, siteId } = await accountWithContacts(1);
    const rules = {
      match: "all",
      conditions: [{ field: "firstName", operator: "equals", value: "Ada" }],
    };
    const segment = await call<{ id: number }>("POST", "/segments", { siteId, name: "Ada", rules });
    const { id: segmentId } = expectStatus(201, segment).body.data;
    const form = await call<{ id: number }>("POST", "/forms", { siteId, name: "Sign up" });
    const { id: formId } = expectStatus(201, form).body.data;
    const screens = [
      { path: `/segments/${segmentId}`, action: "Save segment" },
      { path: `/forms/${formId}`, action: "Save form" },
      { path: "/settings/organization", action: "Save organization" },
    ];
    const { page, problems } = await openSignedIn(browser, { email, path: "" });
    const leave = () => page.getByRole("link", { name: "Suppressions" }).first().click();
    const left = () => page.getByRole("heading", { name: "Suppressions" }).waitFor();
    const question = page.getByRole("dialog", { name: "Leave without saving?" });
    for (const { path, action } of screens) {
      await page.goto(`${inject("baseUrl")}/app${path}`);
      await page.getByRole("textbox", { name: "Name", exact: true }).fill("Another name");
      await leave();
      await question.getByRole("button", { name: "Stay" }).click();
      await question.waitFor({ state: "detached" });
      await page.getByRole("button", { name: action }).click();
      await page.getByRole("status").getByText("Saved").waitFor();
      await leave();
      await left();
      await page.goBack();
      await page.getByRole("textbox", { name: "Name", exact: true }).fill("A third name");
      await leave();
      await question.getByRole("button", { name: "Leave and lose the changes" }).click();
      await left();
    }
    expect(problems).toEqual([]);
  });

  it.each(screenVariantsOf("search"))(
    "the search and the help are accessible: %s, %s",
    async (...variant) => {
      const [, colorScheme, size] = variant;
      const { email } = await accountWithContacts(1);
      const options = { ...axePageOptions, ...size, colorScheme };
      const { page } = await openSignedIn(browser, { email, path: "/log", ...options });
      await page.getByRole("heading", { name: "Log" }).waitFor();
      await search(page, "person0");
      await page.getByRole("option", { name: "person0@shop.example" }).waitFor();
      expect(await findAccessibilityIssues(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("?");
      await page.getByText("Go to Campaigns").waitFor();
      expect(await findAccessibilityIssues(page)).toEqual([]);
    },
  );

  it("long work shows its progress on every screen, also after a reload, and leads to its result", async () => {
    const { email } = await accountWithContacts(3);
    const options = { ...axePageOptions, path: "/contacts" };
    const { page, problems } = await openSignedIn(browser, { email, ...options });
    await page.getByText("3 contacts").waitFor();
    let requests = 0;
    // The export ends when this test lets it.
    let isHeld = true;
    await page.route("**/api/v1/jobs?*", async (route) => {
      requests++;
      const answer = await route.fetch();
      const { data } = (await answer.json()) as { data: { jobs: object[] } };
      const held = { status: "running", finishedAt: null, state: "1 row", progress: 40 };
      const jobs = data.jobs.map((job) => (isHeld ? { ...job, ...held } : job));
      await route.fulfill({ response: answer, json: { data: { ...data, jobs } } });
    });
    await page.reload();
    await page.getByText("3 contacts").waitFor();
    await page.getByRole("link", { name: "Templates" }).first().click();
    await page.getByRole("heading", { name: "Templates", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Contacts" }).first().click();
    await page.getByText("3 contacts").waitFor();
    expect(requests).toBe(1);
    await page.getByRole("button", { name: "Export", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Export contacts" });
    await dialog.getByRole("button", { name: "Export" }).click();
    await dialog.getByRole("link", { name: "Download file" }).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    const button = page.getByRole("button", { name: "Export of contacts" });
    await button.waitFor();
    await page.getByRole("link", { name: "Templates" }).first().click();
    await page.getByRole("heading", { name: "Templates", level: 1 }).waitFor();
    await page.reload();
    await button.focus();
    await page.keyboard.press("Enter");
    const panel = page.getByRole("complementary", { name: "Background work" });
    await panel.getByText("1 row").waitFor();
    expect(await panel.getByRole("progressbar").getAttribute("value")).toBe("40");
    expect(await findAccessibilityIssues(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    // The button has the focus again.
    await page.keyboard.press("Enter");
    await panel.getByRole("button", { name: "Close" }).click();
    await panel.waitFor({ state: "detached" });
    isHeld = false;
    const notification = page.getByRole("status").filter({ hasText: "Export of contacts" });
    await notification.getByText("Completed: 3 rows").waitFor();
    await page.getByRole("button", { name: "1 job finished" }).click();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await findAccessibilityIssues(page)).toEqual([]);
    const download = page.waitForEvent("download");
    await panel.getByRole("button", { name: "Download file" }).click();
    expect((await download).suggestedFilename()).toMatch(/\.csv$/);
    await panel.getByRole("button", { name: "Put away finished" }).click();
    await panel.waitFor({ state: "detached" });
    const read = page.waitForResponse("**/api/v1/jobs?*");
    await page.reload();
    await read;
    await page.waitForLoadState("networkidle");
    expect(await page.getByText("1 job finished").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("an error of the service is shown with the id of the request, and goes away", async () => {
    const { email } = await accountWithContacts(1);
    const { page } = await openSignedIn(browser, { email, path: "/log" });
    await page.getByText("No email yet").waitFor();
    await page.route("**/api/v1/segments?*", (route) =>
      route.fulfill({
        status: 500,
        headers: { "x-request-id": "req_4711" },
        json: { error: "Internal error", code: "internal" },
      }),
    );
    await page.getByRole("link", { name: "Segments" }).first().click();
    const error = page.getByRole("alert");
    await error.getByText("Request req_4711").waitFor();
    await error.getByText("Something went wrong here").waitFor();
    await error.getByRole("button", { name: "Copy the id of the request" }).waitFor();
    await page.unrouteAll();
    await page.getByRole("link", { name: "Log" }).first().click();
    await page.getByRole("link", { name: "Segments" }).first().click();
    await page.getByText("No segment yet").waitFor();
  });

  it("a wrong value is told at its field, in words of the form, until it is right", async () => {
    const { email } = await signedUp();
    const { page } = await openSignedIn(browser, { email, path: "/webhooks" });
    await page.getByRole("button", { name: "New webhook" }).click();
    const dialog = page.getByRole("dialog");
    const address = dialog.getByLabel("Address");
    await dialog.getByLabel("Contact created").check();
    await address.fill("http://shop.example/hook");
    await dialog.getByRole("button", { name: "Add webhook" }).click();
    await dialog.getByText("Enter an address that begins with https://.").waitFor();
    await dialog.getByText("Correct the marked fields.").waitFor();
    expect(await address.getAttribute("aria-invalid")).toBe("true");
    expect(await dialog.locator(":focus").inputValue()).toBe("http://shop.example/hook");
    expect(await dialog.getByText("Request ").count()).toBe(0);
    await address.fill("https://shop.example/hook");
    await dialog.getByRole("button", { name: "Add webhook" }).click();
    await dialog.getByText("Enter an address").waitFor({ state: "detached" });
  });

  it("a wrong password is told without codes", async () => {
    const { email } = await signedUp();
    const { page } = await openConsole(browser, "/");
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password", exact).fill("not the password");
    await page.keyboard.press("Enter");
    await page.getByText("The email address or the password is wrong.").waitFor();
    expect(await page.getByText("Request ").count()).toBe(0);
  });

  it("the window is titled by the page, whose heading gets the focus, and says when it is offline", async () => {
    const { email } = await accountWithContacts(1);
    const { page } = await openSignedIn(browser, { email, path: "/contacts" });
    const title = () => page.title();
    await expect.poll(title).toBe("Contacts · Pennymail");
    await page.getByRole("link", { name: "Segments" }).first().click();
    await expect.poll(title).toBe("Segments · Pennymail");
    await page.locator("h1:focus", { hasText: "Segments" }).waitFor();
    await page.context().setOffline(true);
    await page.getByText("You are offline").waitFor();
    await page.context().setOffline(false);
    await page.getByText("You are offline").waitFor({ state: "detached" });
  });

  it("the browser asks before a page with an unsaved draft is closed", async () => {
    const { email } = await accountWithContacts(1);
    const { page } = await openSignedIn(browser, { email, path: "/settings/organization" });
    const name = page.getByRole("textbox", { name: "Name", exact: true });
    const before = await name.inputValue();
    await name.fill("Another name");
    const questions: string[] = [];
    page.on("dialog", async (dialog) => {
      questions.push(dialog.type());
      await dialog.accept();
    });
    await page.reload();
    await name.waitFor();
    expect(questions).toEqual(["beforeunload"]);
    expect(await name.inputValue()).toBe(before);
    await page.reload();
    await name.waitFor();
    expect(questions).toHaveLength(1);
  });
});
