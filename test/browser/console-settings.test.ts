// Settings and logs of the console in a real browser.
import { Secret, TOTP } from "otpauth";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import {
  expectStatus,
  operatorEmail,
  password,
  signedUp,
  type TestClient,
} from "../support/api-client.ts";
import { launchBrowser, savePicture } from "../support/browser-pages.ts";
import { chooseOption, judgeScreens, openSignedIn, readSandbox } from "../support/console-pages.ts";
import { writeDmarcXml, writeReportMail, writeTlsJson, zipOf } from "../support/mailbox-reports.ts";
import { readClockLead } from "../support/service-clock.ts";
import { waitFor } from "../support/wait-for.ts";

/** The domain shop.example with a DMARC and a TLS report about it. */
async function addReports({ call, siteId }: TestClient) {
  expectStatus(201, await call("POST", "/domains", { name: "shop.example" }));
  const settings = await call<{ urls: { mime: string } }>("GET", `/inbound-settings/${siteId}`);
  const { urls } = expectStatus(200, settings).body.data;
  const from = new Date(Date.now() + (await readClockLead()) - 2 * 86_400_000);
  const domain = "shop.example";
  const rows = [
    { ip: "192.0.2.1", count: 8 },
    { ip: "198.51.100.7", count: 2, dkim: "fail", spf: "fail", signer: "bulk.example" },
  ];
  const reports = [
    ["application/zip", "report.zip", zipOf("r.xml", writeDmarcXml({ domain, from, rows }))],
    ["application/tlsrpt+json", "report.json", Buffer.from(writeTlsJson({ domain, from }))],
  ] as const;
  for (const [type, filename, content] of reports)
    await fetch(urls.mime, {
      method: "POST",
      headers: { "content-type": "message/rfc822" },
      body: new Uint8Array(writeReportMail({ type, filename, content })),
    });
  await waitFor(async () => {
    const { body } = await call<{ inboundEmails: unknown[] }>("GET", "/inbound-emails");
    expect(body.data.inboundEmails).toHaveLength(reports.length);
  });
}

describe.skipIf(!inject("chromium"))("the console's settings", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
    await signedUp({ email: operatorEmail });
  });
  afterAll(() => browser?.close());

  it("a sender is added, tested, changed and deleted", async () => {
    const { email } = await signedUp();
    const { apiKey } = (await readSandbox()).postmark.credentials;
    const { page, problems } = await openSignedIn(browser, { email, path: "/settings/senders" });
    await chooseOption(page.getByRole("combobox", { name: "Provider" }), "Postmark");
    await page.getByLabel("API key").fill(apiKey);
    await page.getByLabel("Sender address").fill("hello@shop.example");
    await page.getByRole("button", { name: "Add sender" }).click();
    const dialog = page.getByRole("dialog", { name: "hello@shop.example by Postmark" });
    await dialog.getByRole("button", { name: "Connect everything" }).click();
    await dialog.getByText("Postmark reports to this service from now on.").waitFor();
    await dialog.getByText("The list of Postmark is read within a few minutes").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("cell", { name: "No report yet" }).waitFor();
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await dialog.getByRole("button", { name: "Connect everything" }).click();
    await dialog.getByText("Postmark reports to this service.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("cell", { name: "hello@shop.example", exact: true }).waitFor();
    const choose = async (action: string) => {
      await page.getByRole("button", { name: "Actions for hello@shop.example" }).click();
      await page.getByRole("menuitem", { name: action }).click();
    };
    await choose("Test");
    await page.getByRole("button", { name: "Send test email" }).click();
    await page.getByRole("cell", { name: "Tested" }).waitFor();
    await choose("Edit");
    const edit = page.getByRole("dialog");
    await edit.getByLabel("Sender name (optional)").fill("The shop");
    await edit.getByLabel("Replies to (optional)").fill("help@shop.example");
    await chooseOption(
      edit.getByRole("combobox", { name: "Opens and clicks" }),
      "Pennymail records them",
    );
    await edit.getByRole("switch", { name: "Warm up the address" }).click();
    await edit.getByLabel("Days").fill("14");
    await edit.getByRole("button", { name: "Save sender" }).click();
    await page.getByRole("cell", { name: "The shop" }).waitFor();
    await page.getByText("Warm-up over 14 days").waitFor();
    await choose("Edit");
    const replies = edit.getByLabel("Replies to (optional)");
    expect(await replies.inputValue()).toBe("help@shop.example");
    const tracking = edit.getByRole("combobox", { name: "Opens and clicks" });
    expect(await tracking.inputValue()).toBe("Pennymail records them");
    await page.keyboard.press("Escape");
    await choose("Delete");
    await page.getByLabel(/to confirm/).fill("hello@shop.example");
    await page.getByRole("button", { name: "Delete hello@shop.example" }).click();
    await page.getByText("A sender is an address").waitFor();
    expect(problems).toEqual([]);
  });

  it("received email is set up, and a bounce mailbox is entered, read and removed", async () => {
    const { email, call } = await signedUp();
    const sandbox = await readSandbox();
    const { credentials } = sandbox.smtp;
    const config = { provider: "smtp", fromEmail: "hello@shop.example", credentials };
    expectStatus(201, await call("POST", "/sending-configs", config));
    const { page, problems } = await openSignedIn(browser, { email, path: "/settings/inbound" });
    await page.getByText("Nothing received yet").waitFor();
    await chooseOption(page.getByRole("combobox", { name: "Who receives it" }), "Mailjet");
    await page.getByText("Point the MX record of the domain to parse.mailjet.com.").waitFor();
    const url = page.getByText(/\/api\/v1\/inbound\/mailjet\?token=/);
    const before = await url.innerText();
    await page.getByRole("button", { name: "Replace the URLs" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Replace the URLs" }).click();
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => url.innerText()).not.toBe(before);
    await page.getByLabel("Address that receives email").fill("replies@in.shop.example");
    await page.getByLabel("Forward email of people to").fill("team@shop.example");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("status").filter({ hasText: "Saved" }).waitFor();

    const row = page.getByRole("row", { name: "hello@shop.example" });
    await row.getByText("Not set up").waitFor();
    await row.getByRole("button", { name: "Set up" }).click();
    await dialog.getByLabel("IMAP server").fill("imap.pennymail.test");
    await dialog.getByLabel("User").fill(credentials.user);
    await dialog.getByRole("textbox", { name: "Password" }).fill("wrong");
    await dialog.getByRole("button", { name: "Check and save" }).click();
    await dialog.getByText("The server refused the login: Wrong user or password").waitFor();
    await savePicture(page, "bounce-mailbox-refused");
    await dialog.getByRole("textbox", { name: "Password" }).fill(credentials.password);
    await dialog.getByRole("button", { name: "Check and save" }).click();
    await dialog.waitFor({ state: "detached" });
    await expect
      .poll(async () => {
        await page.reload();
        return row.innerText();
      })
      .toContain("Working");
    await row.getByRole("button", { name: "Remove" }).click();
    await dialog.getByRole("button", { name: "Stop reading" }).click();
    await row.getByText("Not set up").waitFor();
    expect(problems.filter((problem) => !/status of 400/.test(problem))).toEqual([]);
  });

  it("an authenticator app is turned on with a code, and off with the password", async () => {
    const { email } = await signedUp();
    const { page, problems } = await openSignedIn(browser, { email, path: "/settings/security" });
    const row = page.getByRole("row", { name: "Authenticator app" });
    await row.getByRole("button", { name: "Turn on" }).click();
    await page.getByRole("img", { name: "QR code of the key" }).waitFor();
    const secret = await page.locator("dialog .mono, [role=dialog] .mono").innerText();
    const timestamp = Date.now() + (await readClockLead());
    const app = new TOTP({ secret: Secret.fromBase32(secret.trim()) });
    await page.getByLabel("Code").fill(app.generate({ timestamp }));
    await page.getByRole("dialog").getByRole("button", { name: "Turn on" }).click();
    const codes = page.getByRole("status").filter({ hasText: "Keep these recovery codes" });
    const first = await codes.getByRole("listitem").first().innerText();
    await page.reload();
    await page.getByText("10 recovery codes are left.").waitFor();
    await page.getByRole("button", { name: "Create new codes" }).click();
    await page.getByRole("textbox", { name: "Password", exact: true }).fill(password);
    await page.getByRole("dialog").getByRole("button", { name: "Create new codes" }).click();
    await codes.waitFor();
    expect(await codes.innerText()).not.toContain(first);
    await row.getByRole("button", { name: "Turn off" }).click();
    await page.getByRole("textbox", { name: "Password", exact: true }).fill(password);
    await page.getByRole("dialog").getByRole("button", { name: "Turn off" }).click();
    await row.getByRole("button", { name: "Turn on" }).waitFor();
    expect(problems).toEqual([]);
  });

  it("a sender that was never tested needs attention at home", async () => {
    const { email, call, siteId } = await signedUp();
    const { credentials } = (await readSandbox()).postmark;
    const config = { provider: "postmark", credentials, fromEmail: "hello@shop.example" };
    const tested = await call<{ id: number }>("POST", "/sending-configs", config);
    const { id } = expectStatus(201, tested).body.data;
    expectStatus(200, await call("POST", `/sending-configs/${id}/verify`, { to: email }));
    const mail = { siteId, sendingConfigId: id, to: email, subject: "Hello", html: "<p>Hello</p>" };
    expectStatus(202, await call("POST", "/send", mail));
    const other = { ...config, fromEmail: "news@shop.example" };
    expectStatus(201, await call("POST", "/sending-configs", other));
    const { page, problems } = await openSignedIn(browser, { email, path: "" });
    await page.getByText(/The sender news@shop.example is not verified/).waitFor();
    // It does not report events yet either.
    await page.getByRole("link", { name: "Show" }).first().click();
    await page.getByRole("cell", { name: "news@shop.example", exact: true }).waitFor();
    expect(problems).toEqual([]);
  });

  it("a webhook shows its secret once, and what was not delivered is delivered again", async () => {
    const { email, call, siteId } = await signedUp();
    const { page, problems } = await openSignedIn(browser, { email, path: "/webhooks" });
    await page.getByRole("button", { name: "New webhook" }).click();
    await page.getByLabel("Address").fill("https://hooks.shop.example/mail");
    await page.getByLabel("Contact created").check();
    await page.getByRole("button", { name: "Add webhook" }).click();
    await page.getByText("It is not shown again").waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    const contact = { siteId, email: "ada@shop.example" };
    expectStatus(201, await call("POST", "/contacts", contact));
    const { webhooks } = (await call<{ webhooks: { id: number }[] }>("GET", "/webhooks")).body.data;
    const path = `/webhooks/${webhooks[0]!.id}/deliveries`;
    const read = () => call<{ deliveries: unknown[] }>("GET", path);
    await expect.poll(async () => (await read()).body.data.deliveries.length).toBe(1);
    await page.locator("tr[data-index='0']").click();
    await page.getByText("Delivered", { exact: true }).first().click();
    await page.getByText("No delivery has this status.").waitFor();
    await page.getByText("All", { exact: true }).click();
    const repeated = page.waitForResponse(/redeliver/);
    await page.getByRole("button", { name: "Deliver again" }).click();
    expect((await repeated).status()).toBe(202);
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText(/^Not delivered: /).waitFor();
    await page.getByRole("button", { name: "Turn off" }).click();
    await page.getByRole("button", { name: "Turn on" }).waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("No webhook yet").waitFor();
    expect(problems).toEqual([]);
  });

  it("a site gets an address for replies", async () => {
    const { email, call, siteId } = await signedUp();
    const { page, problems } = await openSignedIn(browser, { email, path: "/settings/sites" });
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Replies to (optional)").fill("help@shop.example");
    await page.getByRole("button", { name: "Save site" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const { body } = await call("GET", `/sites/${siteId}`);
    expect(body.data).toMatchObject({ replyTo: "help@shop.example" });
    expect(problems).toEqual([]);
  });

  it("a site says which domain its tracked links need, and shows its record and state", async () => {
    const { email, call, siteId } = await signedUp();
    const { page } = await openSignedIn(browser, { email, path: "/settings/sites" });
    await page.getByRole("button", { name: "Edit" }).click();
    const field = page.getByLabel("Domain of tracked links (optional)");
    await field.fill("click.shop.example");
    await page.getByRole("button", { name: "Save site" }).click();
    await page.getByText("Verify this domain under Domains first.").waitFor();
    expect((await call("GET", `/sites/${siteId}`)).body.data).toMatchObject({
      trackingDomain: null,
    });
    // What the service shows of a domain whose record is not published yet.
    await page.route(/\/api\/v1\/sites\?/, async (route) => {
      const response = await route.fetch();
      const { data } = await response.json();
      const [site] = data.sites;
      site.trackingDomain = "click.shop.example";
      site.trackingDomainState = {
        status: "pending",
        reason: "DNS has no address for click.shop.example: publish the record",
        record: { type: "CNAME", name: "click.shop.example", value: "mail.shop.example" },
        lastCheckedAt: null,
      };
      await route.fulfill({ response, json: { data } });
    });
    await page.reload();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByText("Links with your domain").waitFor();
    await page.getByText("mail.shop.example").waitFor();
    await page.getByText("DNS has no address for click.shop.example").waitFor();
  });

  it("the audit log shows who changed the organization, and that no entry is missing", async () => {
    const { email } = await signedUp();
    const { page, problems } = await openSignedIn(browser, {
      email,
      path: "/settings/organization",
    });
    await page.getByLabel("Name", { exact: true }).fill("Shop of Ada");
    await page.getByRole("button", { name: "Save organization" }).click();
    await page.getByRole("status").getByText("Saved").waitFor();
    await page.getByRole("link", { name: "Log", exact: true }).first().click();
    await page.getByRole("link", { name: "Changes" }).click();
    await page.getByText("Update organization").first().click();
    await page.getByRole("cell", { name: "Shop of Ada" }).waitFor();
    await page.getByRole("button", { name: "Check that no entry was changed" }).click();
    await page.getByText(/entries are unchanged/).waitFor();
    expect(problems).toEqual([]);
  });

  it("the request log shows a refused call of a program", async () => {
    const { email, call } = await signedUp();
    expectStatus(404, await call("GET", "/contacts/99"));
    const { page, problems } = await openSignedIn(browser, { email, path: "/log/requests" });
    // The service stores requests together, every ten seconds.
    await page.getByText("GET /api/v1/contacts/99").click();
    await page.getByRole("link", { name: "not_found" }).waitFor();
    expect(problems).toEqual([]);
  });

  it("an operator sees the system, others do not", async () => {
    const ready = (page: Page) => page.getByRole("table", { name: "Queues" }).waitFor();
    const screens = [{ path: "/settings/system", ready }];
    expect(await judgeScreens(browser, { email: operatorEmail, screens })).toEqual([]);
    const { email } = await signedUp();
    const { page } = await openSignedIn(browser, { email, path: "/settings/security" });
    await page.getByRole("heading", { name: "Two-step sign-in" }).waitFor();
    expect(await page.getByRole("link", { name: "System" }).count()).toBe(0);
  });

  it("a domain shows what mailbox providers ask and report", async () => {
    const account = await signedUp();
    const { email } = account;
    await addReports(account);
    const { page, problems } = await openSignedIn(browser, { email, path: "/settings/domains" });
    const asked = page.getByRole("table", { name: "What mailbox providers ask" });
    await asked.getByRole("row", { name: /Policy \(DMARC\) Failed/ }).waitFor();
    await page
      .getByRole("table", { name: "Sources" })
      .getByRole("row", { name: /198\.51\.100\.7 .* Failed/ })
      .waitFor();
    await page.getByText("80.0 %").first().waitFor();
    const tls = page.getByRole("table", { name: "TLS reports" });
    await tls.getByRole("row", { name: /certificate-expired/ }).waitFor();
    expect(problems).toEqual([]);
    const ready = (one: Page) => one.getByText("certificate-expired").waitFor();
    const screens = [{ path: "/settings/domains", ready }];
    expect(await judgeScreens(browser, { email, screens })).toEqual([]);
  });

  it("the screens have no accessibility issue", async () => {
    const { email, call } = await signedUp();
    expectStatus(201, await call("POST", "/domains", { name: "shop.example" }));
    const hook = { url: "https://hooks.shop.example/mail", events: ["bounce"] };
    expectStatus(201, await call("POST", "/webhooks", hook));
    const { credentials } = (await readSandbox()).smtp;
    const smtp = { provider: "smtp", fromEmail: "hello@shop.example", credentials };
    expectStatus(201, await call("POST", "/sending-configs", smtp));
    const setUpMailbox = async (page: Page) => {
      await page.getByRole("button", { name: "Set up" }).click();
      await page.getByRole("dialog").getByLabel("IMAP server").waitFor();
    };
    const openRow = (label: string) => async (page: Page) => {
      await page.locator("tr[data-index='0']").click();
      await page.getByRole("complementary", { name: label }).waitFor();
    };
    const setUpApp = async (page: Page) => {
      await page.getByRole("button", { name: "Turn on" }).first().click();
      await page.getByRole("img", { name: "QR code of the key" }).waitFor();
    };
    const screens = [
      ["settings/members", "Invite somebody"],
      ["settings/keys", "New API key"],
      ["settings/senders", "New sender"],
      ["settings/domains", "Ownership"],
      ["settings/inbound", "Bounce mailboxes", setUpMailbox],
      ["settings/sites", "A site is a brand"],
      ["settings/compliance", "Footer of the service"],
      ["settings/organization", "Time zone"],
      ["settings/billing", "Starter"],
      ["settings/single-sign-on", "Issuer"],
      ["settings/security", "This one", setUpApp],
      ["webhooks", "hooks.shop.example", openRow("Webhook")],
      ["log/changes", "Create webhook", openRow("Entry")],
      ["log/requests", "POST /api/v1/webhooks", openRow("Request")],
    ] as const;
    const judged = screens.map(([path, text, open]) => ({
      path: `/${path}`,
      ready: (page: Page) => page.getByText(text).first().waitFor(),
      ...(open && { open }),
    }));
    expect(await judgeScreens(browser, { email, screens: judged })).toEqual([]);
  });
});
