// Sequences in the console: built, activated and watched without the API.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus, type signedUp } from "../support/api-client.ts";
import { launchBrowser } from "../support/browser-pages.ts";
import {
  accountWithContacts,
  judgeScreens,
  openSignedIn,
  readSandbox,
} from "../support/console-pages.ts";
import { runUntilIdle } from "../support/sending-client.ts";

const exact = { exact: true } as const;

type Call = Awaited<ReturnType<typeof signedUp>>["call"];

/** An account that may send, with contacts and two templates. */
async function accountWithTemplates(contacts: number) {
  const account = await accountWithContacts(contacts);
  const { call, siteId } = account;
  const { credentials, webhookSecret } = (await readSandbox()).postmark;
  const config = { provider: "postmark", credentials, webhookSecret };
  const sender = { ...config, fromEmail: "hello@shop.example" };
  const added = await call<{ id: number }>("POST", "/sending-configs", sender);
  const { id } = expectStatus(201, added).body.data;
  expectStatus(200, await call("POST", `/sending-configs/${id}/verify`));
  expectStatus(200, await call("PUT", "/compliance", { physicalAddress: "1 Main Street" }));
  for (const name of ["Hello", "Reminder"])
    expectStatus(
      201,
      await call("POST", "/templates", { siteId, name, subject: name, html: "<p>News</p>" }),
    );
  return account;
}

/** A sequence from the playbook for abandoned carts, which branches. */
async function createFromPlaybook(call: Call, siteId: number) {
  const answer = await call<{ sequence: { id: number }; steps: { id: number; type: string }[] }>(
    "POST",
    "/sequences/playbooks/4/create",
    { siteId, url: "https://shop.example" },
  );
  return expectStatus(201, answer).body.data;
}

async function chooseOption(page: Page, box: string, option: string | RegExp): Promise<void> {
  await page.getByRole("combobox", { name: box, exact: true }).click();
  await page.getByRole("option", { name: option }).click();
}

/** Adds a step by the button with this name and waits for its panel. */
async function addStep(page: Page, button: string, kind: RegExp): Promise<void> {
  await page.getByRole("button", { name: button, exact: true }).click();
  await page.getByRole("menuitem", { name: kind }).click();
}

const card = (page: Page, name: RegExp) => page.getByRole("button", { name });

describe.skipIf(!inject("chromium"))("sequences in the console", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it("a sequence with a branch is built, and its contact is at the step", async () => {
    const { email } = await accountWithTemplates(3);
    const { page, problems } = await openSignedIn(browser, { email, path: "/sequences" });
    await page.getByRole("heading", { name: "No sequence yet" }).waitFor();
    await page.keyboard.press("c");
    await page.getByLabel("Name").fill("Welcome to all");
    await page.getByRole("button", { name: "Create sequence" }).click();
    await page.getByRole("heading", { name: "Welcome to all" }).waitFor();

    await addStep(page, "Add a step at the start", /Email/);
    await page.getByRole("heading", { name: "Send an email" }).waitFor();
    await chooseOption(page, "Template", "Hello");
    await card(page, /1\. Email Hello/).waitFor();
    await addStep(page, "Add a step after step 1", /Wait/);
    await page.getByRole("heading", { name: "Wait", exact: true }).waitFor();
    await page.getByLabel("Wait for").fill("2");
    await card(page, /2\. Wait 2 days/).waitFor();
    await addStep(page, "Add a step after step 2", /Branch/);
    await page.getByRole("heading", { name: "Branch on a condition" }).waitFor();
    await page.getByRole("button", { name: "Add condition" }).click();
    await card(page, /3\. Branch Opened email 1/).waitFor();
    await addStep(page, "Add a step after step 3, branch No", /Email/);
    await page.getByRole("heading", { name: "Send an email" }).waitFor();
    await chooseOption(page, "Template", "Reminder");
    await card(page, /4\. Email Reminder/).waitFor();
    expect(await page.getByRole("button", { name: "Activate sequence" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Save steps" }).click();
    await page.getByText("Saved", exact).waitFor();

    await page.getByRole("button", { name: "Activate sequence" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("a contact who is added by you gets these steps").waitFor();
    await dialog.getByRole("button", { name: "Activate sequence" }).click();
    await page.getByRole("button", { name: "Pause sequence" }).waitFor();

    await page.getByRole("link", { name: "Contacts", exact: true }).last().click();
    await page.getByRole("button", { name: "Add contacts" }).click();
    await dialog.getByLabel("Contacts", exact).fill("person1");
    await page.getByRole("option", { name: "person1@shop.example" }).click();
    await page.keyboard.press("Tab");
    await dialog.getByRole("button", { name: "Add 1 contact" }).click();
    await page.getByRole("cell", { name: "person1@shop.example" }).waitFor();
    await runUntilIdle();
    await page.reload();
    await page.getByRole("cell", { name: "2. Wait: 2 days" }).waitFor();
    await page.getByRole("link", { name: "Steps", exact: true }).click();
    await card(page, /1\. Email Hello 0 here · 1 sent/).waitFor();
    await card(page, /2\. Wait 2 days 1 here · 0 passed/).click();
    await page.getByRole("link", { name: "Show who is here" }).click();
    await page.getByRole("cell", { name: "person1@shop.example" }).click();
    await dialog.getByRole("button", { name: "Take out of the sequence" }).click();
    await page.getByRole("heading", { name: "Nobody here" }).waitFor();
    expect(problems).toEqual([]);
  });

  it("changes of the steps are undone, kept from loss, and saved by keyboard", async () => {
    const { email, call, siteId } = await accountWithTemplates(0);
    const { sequence } = await createFromPlaybook(call, siteId);
    const path = `/sequences/${sequence.id}?view=list`;
    const { page, problems } = await openSignedIn(browser, { email, path });
    await card(page, /1\. Wait 1 hour/).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Delete step" }).click();
    await page.getByText("Changes are not saved").waitFor();
    await card(page, /1\. Branch/).waitFor();
    await page.keyboard.press("Control+z");
    await card(page, /1\. Wait 1 hour/).waitFor();
    await page.getByText("Changes are not saved").waitFor({ state: "detached" });
    await page.keyboard.press("Control+Shift+z");
    await card(page, /1\. Branch/).waitFor();
    await page.getByRole("link", { name: "Home" }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Stay" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("Control+s");
    await page.getByText("Saved", exact).waitFor();
    await page.reload();
    await card(page, /1\. Branch/).waitFor();
    expect(problems).toEqual([]);
  });

  it("steps that somebody else has changed meanwhile are not overwritten", async () => {
    const { email, call, siteId } = await accountWithTemplates(0);
    const { sequence, steps } = await createFromPlaybook(call, siteId);
    const path = `/sequences/${sequence.id}?step=${steps[0]!.id}`;
    const { page } = await openSignedIn(browser, { email, path });
    await page.getByLabel("Wait for").fill("5");
    await card(page, /1\. Wait 5 hours/).waitFor();
    const changed = await call("PUT", `/sequences/${sequence.id}/steps/${steps[0]!.id}`, {
      delayMinutes: 120,
    });
    expectStatus(200, changed);
    await page.getByRole("button", { name: "Save steps" }).click();
    await page.getByRole("button", { name: "Discard my changes" }).click();
    await card(page, /1\. Wait 2 hours/).waitFor();
  });

  it("a playbook brings its steps, and its start and sending times are changed", async () => {
    const { email } = await accountWithTemplates(0);
    const { page, problems } = await openSignedIn(browser, { email, path: "/sequences" });
    await page.getByRole("button", { name: "New sequence" }).first().click();
    await page.getByText("Abandoned cart", exact).click();
    await page.getByRole("button", { name: "Create sequence" }).click();
    await page.getByRole("link", { name: /When a contact does “cart_abandoned”/ }).click();
    await chooseOption(page, "A contact starts when", "A contact reaches a lead score");
    await page.getByLabel("Score").fill("50");
    await page.getByRole("button", { name: "Save start" }).click();
    await page.getByText("Saved", exact).waitFor();
    await page.getByLabel("Send only on some days and hours").check();
    await page.getByLabel("Sat").check();
    await page.getByRole("button", { name: "Save sending times" }).click();
    await page.getByText("Saved", exact).nth(1).waitFor();
    await page.reload();
    await page.getByLabel("Sat").waitFor();
    expect(await page.getByLabel("Sat").isChecked()).toBe(true);
    expect(await page.getByLabel("Sun").isChecked()).toBe(false);
    await page.getByRole("link", { name: "Steps", exact: true }).click();
    await page.getByRole("link", { name: /When a contact reaches the score 50/ }).waitFor();
    expect(problems).toEqual([]);
  });

  it("the screens have no accessibility issue", async () => {
    const { email, call, siteId } = await accountWithTemplates(3);
    const { sequence, steps } = await createFromPlaybook(call, siteId);
    const path = `/sequences/${sequence.id}`;
    const people = await call<{ contacts: { id: number }[] }>("GET", `/contacts?siteId=${siteId}`);
    const contactIds = expectStatus(200, people).body.data.contacts.map(({ id }) => id);
    expectStatus(200, await call("POST", `${path}/enroll`, { contactIds }));
    const branch = steps.find(({ type }) => type === "condition")!;
    const firstStep = (page: Page) => card(page, /1\. Wait 1 hour/).waitFor();
    const screens = [
      {
        path: "/sequences",
        ready: (page: Page) => page.getByText("Abandoned cart").waitFor(),
      },
      { path: `${path}?view=drawing`, ready: firstStep },
      { path: `${path}?view=list`, ready: firstStep },
      {
        path: `${path}?step=${branch.id}`,
        ready: (page: Page) => page.getByRole("combobox", { name: "What is tested" }).waitFor(),
      },
      {
        path: `${path}/contacts`,
        ready: (page: Page) => page.getByText("person1@shop.example").waitFor(),
      },
      {
        path: `${path}/settings`,
        ready: (page: Page) => page.getByLabel("Name of the event").waitFor(),
      },
    ];
    expect(await judgeScreens(browser, { email, screens })).toEqual([]);
  });
});
