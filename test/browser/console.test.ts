// The console in a real browser: what people do, without the API.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import {
  expectStatus,
  password,
  request,
  signedUp,
  uniqueEmail,
  waitForMail,
} from "../support/api-client.ts";
import { launchBrowser, phone } from "../support/browser-pages.ts";
import {
  accountWithContacts,
  beginWithTemplate,
  chooseOption,
  judgeScreens,
  openConsole,
  openSignedIn,
  readSandbox,
  signIn,
} from "../support/console-pages.ts";
import { runUntilIdle } from "../support/sending-client.ts";
import { waitFor } from "../support/wait-for.ts";

const base = inject("baseUrl");
const exact = { exact: true } as const;
const asSession = { as: "session" } as const;

describe.skipIf(!inject("chromium"))("the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it("contacts are searched, opened and left by keyboard only", async () => {
    const { email } = await accountWithContacts(250);
    const { page, problems } = await openConsole(browser, "/contacts");
    await signIn(page, email);
    await page.getByRole("heading", { name: "Contacts" }).waitFor();
    await page.getByText("250 contacts").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("person24");
    await page.getByText("11 match").waitFor();
    await page.locator("tr[data-index='0']").focus();
    for (const key of ["ArrowDown", "Enter"]) await page.keyboard.press(key);
    await page.getByRole("heading", { name: "Person241" }).waitFor();
    expect(page.url()).toMatch(/search=person24&contact=\d+$/);
    await page.keyboard.press("ArrowDown");
    await page.getByRole("heading", { name: "Person242" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Person242" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("complementary", { name: "Contact" }).waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });

  it("all contacts that match a search get a tag, in a job that shows its progress", async () => {
    const { email, call, siteId } = await accountWithContacts(12);
    expectStatus(201, await call("POST", "/tags", { siteId, name: "vip" }));
    expectStatus(201, await call("POST", "/topics", { siteId, name: "Offers" }));
    const { page, problems } = await openSignedIn(browser, {
      email,
      path: "/contacts?search=person1",
    });
    await page.getByText("3 match").waitFor();
    await page.getByRole("checkbox").first().check();
    await page.getByText("1 selected").waitFor();
    await page.getByRole("button", { name: "Select all that match" }).click();
    await page.getByRole("button", { name: "Unsubscribe from topic" }).click();
    await page.getByRole("menuitem", { name: "Offers" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/“Offers”/).waitFor();
    await dialog.getByRole("button", { name: "Not now" }).click();
    await page.getByRole("button", { name: "Add tag" }).click();
    await page.getByRole("menuitem", { name: "vip" }).click();
    await dialog.getByText("Adds the tag “vip” to 3 contacts").waitFor();
    await dialog.getByRole("button", { name: "Add tag" }).click();
    await page.getByText("Completed").waitFor();
    await page.getByRole("row").getByText("vip").nth(2).waitFor();
    expect(problems).toEqual([]);
  });

  it("a list is read to its end while it is scrolled", async () => {
    const { email } = await accountWithContacts(250);
    const { page } = await openSignedIn(browser, { email, path: "/contacts" });
    await page.locator("tr[data-index='0']").focus();
    await waitFor(async () => {
      await page.keyboard.press("End");
      expect(await page.locator("tr[data-index='249']").count()).toBe(1);
    });
    await page.getByText("Person0", exact).waitFor();
    expect(await page.locator("tr[data-index]").count()).toBeLessThan(60);
  });

  it("a campaign is written, sent, and its bounce explained, without the API", async () => {
    const { email, call, siteId } = await accountWithContacts(3);
    const { credentials, webhookSecret } = (await readSandbox()).postmark;
    const config = { provider: "postmark", credentials, webhookSecret };
    const sender = { ...config, fromEmail: "hello@shop.example" };
    expectStatus(201, await call("POST", "/sending-configs", sender));
    expectStatus(200, await call("PUT", "/compliance", { physicalAddress: "1 Main Street" }));
    const bounced = "bounced@simulator.pennymail.test";
    const contact = { siteId, email: bounced, firstName: "Bob" };
    const added = await call<{ id: number }>("POST", "/contacts", contact);
    const path = `/contacts/${expectStatus(201, added).body.data.id}/tags`;
    expectStatus(200, await call("POST", path, { name: "news" }));
    const { page, problems } = await openSignedIn(browser, { email, path: "/templates" });
    await page.getByRole("button", { name: "New template" }).click();
    await page.getByRole("dialog").getByRole("button", { name: /^Code/ }).click();
    await page.getByRole("textbox", { name: "Subject" }).fill("Hello {{ firstName }}");
    await page.getByRole("button", { name: "Save template" }).click();
    await page.getByRole("status").getByText("Saved").waitFor();
    await page
      .frameLocator("iframe")
      .getByText(/^Hello /)
      .waitFor();
    await page.getByRole("link", { name: "Campaigns" }).first().click();
    await page.getByRole("button", { name: "New campaign" }).first().click();
    await page.getByLabel("Name").fill("News for all");
    await page.getByRole("button", { name: "Create campaign" }).click();
    await chooseOption(page.getByRole("combobox", { name: "Send to" }), /^news/);
    await beginWithTemplate(page, "New template");
    // The only sender is chosen by itself.
    await page.locator("input[value*='hello@shop.example']").waitFor();
    await page.getByText("1 of 1 contacts get it.").waitFor();
    await page.frameLocator("iframe").getByText("Hello Bob").waitFor();
    await page.getByRole("button", { name: "Send to 1 contact" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Send to 1 contact" }).click();
    await page.getByRole("region", { name: "Result" }).waitFor();
    await runUntilIdle();
    await page.goto(`${base}/app/log`);
    await page.getByLabel("Email address of a recipient").fill(bounced);
    await page.getByText(`${bounced} is on the suppression list`).waitFor();
    await page.locator("tr[data-index='0']").click();
    await page.getByRole("complementary", { name: "Email" }).getByText("Bounced", exact).waitFor();
    await page.getByRole("link", { name: "Events" }).click();
    await page.getByRole("cell", { name: "Bounce", exact: true }).waitFor();
    await page.getByRole("link", { name: "Not matched" }).click();
    await page.getByText("All events are matched").waitFor();
    expect(problems).toEqual([]);
    await page.goto(`${base}/app/campaigns/999999999`);
    await page.getByText("This campaign does not exist").waitFor();
    await page.getByRole("link", { name: "Show all campaigns" }).click();
    await page.getByRole("heading", { name: "Campaigns" }).waitFor();
  });

  it("an owner creates an API key, invites a viewer and revokes the invitation", async () => {
    const { email } = await signedUp();
    const { page, problems } = await openSignedIn(browser, { email, path: "/settings" });
    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByLabel("Name", exact).fill("Shop");
    await page.getByRole("button", { name: "Create key" }).click();
    const shown = (await page.getByText(/pm_live_\w{40}/).textContent())!;
    const key = /pm_live_\w+/.exec(shown)![0];
    const answer = await fetch(`${base}/api/v1/sites`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(200);
    await page.getByLabel("Name", exact).fill("Mailer");
    await chooseOption(page.getByRole("combobox", { name: "What the key may do" }), /^Send email/);
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("cell", { name: "Send only" }).waitFor();
    const limited = (await page.getByText(/pm_live_\w{40}/).textContent())!;
    const refused = await fetch(`${base}/api/v1/sites`, {
      headers: { authorization: `Bearer ${/pm_live_\w+/.exec(limited)![0]}` },
    });
    expect(refused.status).toBe(403);
    await page.getByRole("link", { name: "Members" }).click();
    const invited = uniqueEmail();
    await page.getByLabel("Email").fill(invited);
    await chooseOption(page.getByRole("combobox", { name: "Role", exact: true }), "Viewer");
    await page.getByRole("button", { name: "Send invitation" }).click();
    await page.getByRole("cell", { name: invited }).waitFor();
    await page.getByRole("button", { name: "Resend" }).click();
    await page.getByText(`A new link is on its way to ${invited}`).waitFor();
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("cell", { name: invited }).waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });

  it("a session that ends is renewed on the page, and what was typed stays", async () => {
    const { email } = await signedUp();
    const { page } = await openSignedIn(browser, { email, path: "/settings/organization" });
    await page.getByLabel("Name", exact).fill("Shop of Ada");
    await page.context().clearCookies();
    await page.getByRole("button", { name: "Save organization" }).click();
    const dialog = page.getByRole("dialog", { name: "Sign in again" });
    await dialog.getByRole("textbox", { name: "Password" }).fill(password);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect(await page.getByLabel("Name", exact).inputValue()).toBe("Shop of Ada");
    await page.getByRole("button", { name: "Save organization" }).click();
    await page.getByRole("status").getByText("Saved").waitFor();
  });

  it("the sign-in leads to the single sign-on of the address's domain", async () => {
    const { page } = await openConsole(browser, "/contacts");
    await page.getByLabel("Email").fill("ada@company.example");
    const link = page.getByRole("link", { name: "Sign in with single sign-on" });
    const { pathname, searchParams } = new URL((await link.getAttribute("href"))!, base);
    expect(pathname).toBe("/api/v1/auth/sso/start");
    expect(Object.fromEntries(searchParams)).toEqual({
      email: "ada@company.example",
      returnTo: "/app/contacts",
    });
  });

  it("a member of two organizations goes from one to the other", async () => {
    const [own, other] = [await signedUp(), await signedUp()];
    const invited = { email: own.email, role: "viewer" };
    expectStatus(201, await other.call("POST", "/invitations", invited, asSession));
    const { text } = await waitForMail(own.email);
    const token = /\/accept-invitation\?token=(\w+)/.exec(text ?? "")?.[1] ?? "";
    expectStatus(200, await request("POST", "/invitations/accept", { token, password }));
    expectStatus(200, await other.call("PUT", "/settings/org", { name: "The other" }, asSession));
    const { page, problems } = await openSignedIn(browser, { email: own.email, path: "" });
    const menu = page.getByRole("navigation", { name: "Main" }).getByRole("button").first();
    const seen = await menu.innerText();
    await menu.click();
    const entry = page.getByRole("menuitem").last();
    const name = await entry.innerText();
    await entry.click();
    await page.getByText(name, exact).first().waitFor();
    expect(seen).not.toContain(name);
    expect(problems).toEqual([]);
  });

  it("where single sign-on is required, a password leads to it", async () => {
    const { page } = await openConsole(browser, "/sign-in");
    const ssoUrl = `${base}/api/v1/auth/sso/start?organizationId=7`;
    const body = {
      error: "The organization requires single sign-on",
      code: "sso_required",
      ssoUrl,
    };
    await page.route("**/auth/login", (route) => route.fulfill({ status: 403, json: body }));
    await page.getByLabel("Email").fill("ada@company.example");
    await page.getByLabel("Password", exact).fill(password);
    await page.keyboard.press("Enter");
    const link = page.getByRole("alert").getByRole("link", { name: "Sign in with single sign-on" });
    expect(await link.getAttribute("href")).toBe(ssoUrl);
  });

  it("the screens have no accessibility issue", async () => {
    const { email, call, siteId } = await accountWithContacts(30);
    const entry = [
      { path: "/sign-up", heading: "Create your account" },
      { path: "/sign-in", heading: "Sign in" },
    ].map(({ path, heading }) => ({
      path,
      ready: (page: Page) => page.getByRole("heading", { name: heading }).waitFor(),
    }));
    expect(await judgeScreens(browser, { screens: entry })).toEqual([]);
    const answer = await call<{ contacts: { id: number }[] }>("GET", `/contacts?siteId=${siteId}`);
    const contactId = expectStatus(200, answer).body.data.contacts[2]!.id;
    const screens = [
      { path: "", ready: (one: Page) => one.getByRole("combobox", { name: "Provider" }).waitFor() },
      {
        path: `/contacts?contact=${contactId}`,
        ready: (one: Page) => one.getByText("Gets campaigns and sequences.").waitFor(),
        open: async (one: Page) => {
          await one.getByRole("tab", { name: "Consent" }).click();
          await one.getByRole("button", { name: "Erase person" }).click();
          await one
            .getByRole("dialog")
            .getByLabel(/^Type /)
            .waitFor();
        },
      },
    ];
    expect(await judgeScreens(browser, { email, screens })).toEqual([]);
  });

  it("a visitor signs up and sends the first email on a phone, without the API", async () => {
    const { page, problems } = await openConsole(browser, "/sign-in", { ...phone, hasTouch: true });
    let calls = 0;
    page.on("request", (request) => {
      if (request.url().includes("/api/v1/")) calls++;
    });
    await page.getByRole("link", { name: "Create an account" }).click();
    // Until then, the fields are those of the sign-in.
    await page.getByRole("heading", { name: "Create your account" }).waitFor();
    await page.getByLabel("Email").fill(uniqueEmail());
    await page.getByLabel("Password", exact).fill(password);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByLabel("Name", exact).fill("My shop");
    await page.getByRole("button", { name: "Create site" }).click();
    await chooseOption(page.getByRole("combobox", { name: "Provider" }), "Postmark");
    const { credentials } = (await readSandbox()).postmark;
    await page.getByLabel("API key").fill("mistyped");
    await page.getByLabel("Sender address").fill("hello@shop.example");
    await page.getByRole("button", { name: "Connect provider" }).click();
    await page.getByText(/^Postmark does not know these credentials: “/).waitFor();
    await page.getByLabel("API key").fill(credentials.apiKey);
    await page.getByRole("button", { name: "Connect provider" }).click();
    const domain = page.getByLabel("Domain of the sender");
    await expect.poll(() => domain.inputValue()).toBe("shop.example");
    await page.getByRole("button", { name: "Show DNS records" }).click();
    await page.getByText("_pennymail.shop.example").waitFor();
    await page.getByRole("button", { name: /Send a test email/ }).click();
    await page.getByRole("button", { name: "Send test email" }).click();
    await page.getByRole("button", { name: /Done.*test email/ }).waitFor();
    await page.getByRole("button", { name: /report what happens/ }).click();
    await page.getByRole("button", { name: "Connect everything" }).click();
    await page.getByText("Postmark reports to this service from now on.").waitFor();
    await page.getByText("Add shop.example in your account at Postmark.").waitFor();
    await page.getByRole("button", { name: "Check again" }).waitFor();
    await page.getByRole("button", { name: /wait for its report/ }).click();
    await page.getByRole("button", { name: /Done.*report what happens/ }).waitFor();
    await page.getByRole("button", { name: /postal address/ }).click();
    await page.getByRole("textbox", { name: "Postal address" }).fill("1 Main Street, Springfield");
    await page.getByRole("button", { name: "Save address" }).click();
    await page.getByRole("button", { name: /Done.*postal address/ }).waitFor();
    await page.getByRole("button", { name: /first email/ }).click();
    await page.getByRole("button", { name: "Send email" }).click();
    await page.getByRole("heading", { name: "Emails by day" }).waitFor();
    await page.getByText("6 of 7 steps are done. Your first email has left.").waitFor();
    await page.getByRole("link", { name: "Import your contacts" }).waitFor();
    // The free plan has 100 requests a minute.
    expect(calls).toBeLessThan(70);
    expect(problems).toEqual([]);
  });
});
