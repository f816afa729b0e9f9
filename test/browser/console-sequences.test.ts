// Sequences in the console: built, activated and watched without the API.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { expectStatus, type signedUp } from "../support/api-client.ts";
import { launchBrowser } from "../support/browser-pages.ts";
import {
  accountWithContacts,
  chooseOption,
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

/** A mail, a condition on a field, a wait for an event, and an exit. Returns its path. */
async function createWalkedSequence(call: Call, siteId: number): Promise<string> {
  const template = {
    siteId,
    name: "Greeting",
    subject: "Hello {{ firstName }}",
    html: "<p>Hi</p>",
  };
  const { id: templateId } = expectStatus(
    201,
    await call<{ id: number }>("POST", "/templates", template),
  ).body.data;
  const created = await call<{ id: number }>("POST", "/sequences", { siteId, name: "Walked" });
  const path = `/sequences/${expectStatus(201, created).body.data.id}`;
  const isPro = { field: "customFields.plan", operator: "equals", value: "pro" };
  const steps = [
    { type: "email", templateId },
    {
      type: "condition",
      conditionConfig: { match: "all", conditions: [isPro] },
      falseBranchStepOrder: null,
    },
    {
      type: "wait_until",
      waitConfig: { eventName: "order_placed", timeoutMinutes: 4320 },
      nextStepOrder: 4,
      timeoutStepOrder: 5,
    },
    { type: "exit" },
    { type: "delay", delayMinutes: 60 },
  ];
  expectStatus(200, await call("PUT", `${path}/steps`, { stepsVersion: 0, steps }));
  return path;
}

async function walkMadeUpPerson(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Walk a contact through" }).click();
  await page.getByText("A made-up person").click();
  await page.getByLabel("First name").fill("Eve");
  await page.getByLabel("plan", exact).fill("pro");
  await page.getByRole("button", { name: "Walk through", exact: true }).click();
  await page.getByText("Sends “Hello Eve”").waitFor();
}

const choose = (page: Page, box: string, option: string | RegExp): Promise<void> =>
  chooseOption(page.getByRole("combobox", { name: box, exact: true }), option);

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
    await choose(page, "Template", "Hello");
    await card(page, /1\. Email Hello/).waitFor();
    await addStep(page, "Add a step after step 1", /Wait Minutes/);
    await page.getByRole("heading", { name: "Wait", exact: true }).waitFor();
    await page.getByLabel("Wait for").fill("2");
    await card(page, /2\. Wait 2 days/).waitFor();
    await addStep(page, "Add a step after step 2", /Branch/);
    await page.getByRole("heading", { name: "Branch on a condition" }).waitFor();
    await page.getByRole("button", { name: "Add condition" }).click();
    await card(page, /3\. Branch Opened email 1/).waitFor();
    await addStep(page, "Add a step after step 3, branch No", /Email/);
    await page.getByRole("heading", { name: "Send an email" }).waitFor();
    await choose(page, "Template", "Reminder");
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
    await page.getByRole("cell", { name: "person1@shop.example", exact: true }).waitFor();
    await runUntilIdle();
    await page.reload();
    await page.getByRole("cell", { name: "2. Wait: 2 days" }).waitFor();
    await page.getByRole("link", { name: "Steps", exact: true }).click();
    await card(page, /1 sent/).click();
    const sent = page.getByRole("list", { name: "Sent" });
    await sent.getByRole("link", { name: "person1@shop.example" }).waitFor();
    await page.getByRole("button", { name: "Opened 0" }).click();
    await page.getByText("Nobody is in this list.").waitFor();
    await card(page, /^1 here/).click();
    const waiting = page.getByRole("list", { name: "Here now" });
    await waiting.getByRole("link", { name: "person1@shop.example" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Contacts", exact: true }).last().click();
    // A click on a person opens the person.
    await page.getByRole("cell", { name: "person1@shop.example", exact: true }).click();
    await page.getByRole("complementary", { name: "Contact" }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Actions for person1@shop.example" }).click();
    await page.getByRole("menuitem", { name: "Take out of the sequence" }).click();
    await dialog.getByRole("button", { name: "Take out of the sequence" }).click();
    await page.getByRole("row", { name: /person1@shop.example Cancelled/ }).waitFor();
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

  it("steps are dragged, copied, cut, pasted and deleted on the canvas", async () => {
    const { email, call, siteId } = await accountWithTemplates(0);
    const created = await call<{ id: number }>("POST", "/sequences", { siteId, name: "News" });
    const path = `/sequences/${expectStatus(201, created).body.data.id}`;
    const steps = [60, 120, 180].map((delayMinutes) => ({ type: "delay", delayMinutes }));
    const stored = await call("PUT", `${path}/steps`, { stepsVersion: 0, steps });
    expectStatus(200, stored);
    const { page, problems } = await openSignedIn(browser, { email, path });
    const waits = () =>
      page
        .locator("[data-step] .step-open b")
        .allTextContents()
        .then((texts) => texts.join());
    const expectWaits = (texts: string) => expect.poll(waits).toBe(texts);
    await card(page, /3\. Wait 3 hours/).waitFor();

    const middleOf = async (name: string) => {
      const box = (await page.getByRole("button", { name, exact: true }).boundingBox())!;
      return [box.x + box.width / 2, box.y + box.height / 2] as const;
    };
    const [fromX, fromY] = await middleOf("3. Wait 3 hours");
    const [toX, toY] = await middleOf("Add a step before step 1");
    await page.mouse.move(fromX, fromY);
    await page.mouse.down();
    await page.mouse.move(fromX, fromY - 40, { steps: 3 });
    await page.mouse.move(toX + 20, toY + 10, { steps: 5 });
    await page.getByText("Move here").waitFor();
    await page.mouse.up();
    await card(page, /1\. Wait 3 hours/).waitFor();
    await expectWaits("3 hours,1 hour,2 hours");
    expect(await page.getByRole("complementary", { name: "Step" }).count()).toBe(0);

    await card(page, /1\. Wait 3 hours/).focus();
    await page.keyboard.press("Control+c");
    await card(page, /3\. Wait 2 hours/).focus();
    await page.keyboard.press("Control+v");
    await expectWaits("3 hours,1 hour,2 hours,3 hours");
    const focused = () => page.evaluate("document.activeElement.textContent");
    await expect.poll(focused).toBe("4. Wait3 hours");
    await card(page, /2\. Wait 1 hour/).focus();
    await page.keyboard.press("Control+x");
    await expectWaits("3 hours,2 hours,3 hours");
    await page.getByRole("button", { name: "Add a step before step 1", exact: true }).click();
    await page.getByRole("menuitem", { name: "Paste 1 step" }).click();
    await expectWaits("1 hour,3 hours,2 hours,3 hours");
    await expect.poll(focused).toBe("1. Wait1 hour");
    await page.keyboard.press("Delete");
    await expectWaits("3 hours,2 hours,3 hours");
    for (let i = 0; i < 5; i++) await page.keyboard.press("Control+z");
    await expectWaits("1 hour,2 hours,3 hours");
    expect(problems).toEqual([]);
  });

  it("a wait for an event, a split and an exit are built and saved", async () => {
    const { email, call, siteId } = await accountWithTemplates(0);
    const created = await call<{ id: number }>("POST", "/sequences", { siteId, name: "News" });
    const path = `/sequences/${expectStatus(201, created).body.data.id}`;
    const { page, problems } = await openSignedIn(browser, { email, path });
    await addStep(page, "Add a step at the start", /Wait until/);
    await page.getByRole("combobox", { name: "Name of the event" }).fill("order_placed");
    await card(page, /1\. Wait until “order_placed” happens/).waitFor();
    await page.getByLabel("Only events that match conditions").check();
    await page.getByRole("status").getByText("Complete the condition.").waitFor();
    await page.getByPlaceholder("Name of the property").fill("total");
    await choose(page, "Comparison", "is more than");
    await page.getByLabel("Value of Event property").fill("50");
    await page
      .getByRole("status")
      .getByText("Complete the condition.")
      .waitFor({ state: "detached" });
    await addStep(page, "Add a step after step 1, branch It happened", /Exit/);
    await page.getByText("has completed the sequence").waitFor();
    await addStep(page, "Add a step after step 1, branch Not in 3 days", /Split/);
    await page.getByRole("button", { name: "Add way C" }).click();
    await page.getByLabel("Weight of way A").fill("2");
    await addStep(page, "Add a step after step 3, branch A · 50 %", /Wait until/);
    await choose(page, "Wait until", "A day and hour of the week");
    await card(page, /4\. Wait until Mon, Tue, Wed, Thu, Fri at 09:00/).waitFor();
    await page.getByRole("button", { name: "Save steps" }).click();
    await page.getByText("Saved", exact).waitFor();
    await page.reload();
    await card(page, /3\. Split 3 ways by chance/).waitFor();
    await card(page, /2\. Exit/).waitFor();
    const saved = await call<{ steps: Record<string, unknown>[] }>("GET", `${path}/steps`);
    expect(expectStatus(200, saved).body.data.steps).toMatchObject([
      {
        type: "wait_until",
        waitConfig: {
          eventName: "order_placed",
          timeoutMinutes: 4320,
          filter: {
            match: "all",
            conditions: [{ field: "properties.total", operator: "greaterThan", value: 50 }],
          },
        },
      },
      { type: "exit" },
      { type: "split", splitConfig: { branches: [{ weight: 2 }, { weight: 1 }, { weight: 1 }] } },
      { type: "wait_until", waitConfig: { weekdays: [1, 2, 3, 4, 5], hour: 9 } },
    ]);
    expect(problems).toEqual([]);
  });

  it("actions are built and saved", async () => {
    const { email, call, siteId } = await accountWithTemplates(0);
    const created = await call<{ id: number }>("POST", "/sequences", { siteId, name: "News" });
    const path = `/sequences/${expectStatus(201, created).body.data.id}`;
    const list = await call<{ id: number }>("POST", "/lists", { siteId, name: "Readers" });
    const { id: listId } = expectStatus(201, list).body.data;
    const { page, problems } = await openSignedIn(browser, { email, path });
    await addStep(page, "Add a step at the start", /Action/);
    await page.getByRole("status").getByText("Choose an action.").waitFor();
    await choose(page, "What happens", "Add a tag");
    await page.getByRole("combobox", { name: "Tag" }).fill("customer");
    await card(page, /1\. Action Add the tag customer/).waitFor();
    await addStep(page, "Add a step after step 1", /Action/);
    await choose(page, "What happens", "Add to a list");
    await choose(page, "List", "Readers");
    await card(page, /2\. Action Add to the list Readers/).waitFor();
    await addStep(page, "Add a step after step 2", /Action/);
    await choose(page, "What happens", "Set a field");
    await page.getByRole("combobox", { name: "Field" }).fill("plan");
    await page.getByLabel("Value", exact).fill("pro");
    await card(page, /3\. Action Set plan to pro/).waitFor();
    await addStep(page, "Add a step after step 3", /Action/);
    await choose(page, "What happens", "Change the lead score");
    await page.getByLabel("Points").fill("-5");
    await card(page, /4\. Action Take 5 points/).waitFor();
    await addStep(page, "Add a step after step 4", /Action/);
    await choose(page, "What happens", "Email your team");
    await page.getByLabel("Text", exact).fill("{{ email }} is a customer");
    await card(page, /5\. Action Email your team/).waitFor();
    await addStep(page, "Add a step after step 5", /Action/);
    await choose(page, "What happens", "Call a URL");
    await page.getByLabel("URL", exact).fill("https://example.com/customers");
    await page.getByRole("button", { name: "Store a value of the response" }).click();
    await page.getByText("Say what is stored where.").first().waitFor();
    await page.getByLabel("Place in the JSON of the response").fill("plan");
    await page.getByRole("combobox", { name: "Is stored in" }).fill("plan");
    await card(page, /6\. Action Call example.com/).waitFor();
    await page.getByRole("button", { name: "Save steps" }).click();
    await page.getByText("Saved", exact).waitFor();
    await card(page, /1\. Action Add the tag customer/).waitFor();
    const saved = await call<{ steps: Record<string, unknown>[] }>("GET", `${path}/steps`);
    expect(expectStatus(200, saved).body.data.steps).toMatchObject([
      { actionConfig: { action: "add_tag", tagId: expect.any(Number) } },
      { actionConfig: { action: "add_to_list", listId } },
      { actionConfig: { action: "set_field", field: "customFields.plan", value: "pro" } },
      { actionConfig: { action: "adjust_score", delta: -5 } },
      { actionConfig: { action: "notify", message: "{{ email }} is a customer" } },
      { actionConfig: { saveResponse: [{ path: "plan", field: "customFields.plan" }] } },
    ]);
    expect(problems).toEqual([]);
  });

  it("a made-up person is walked through, and the drawing shows the way", async () => {
    const { email, call, siteId } = await accountWithTemplates(1);
    const path = await createWalkedSequence(call, siteId);
    const { page, problems } = await openSignedIn(browser, { email, path });
    await walkMadeUpPerson(page);
    const walk = page.getByRole("list").filter({ hasText: "Start" });
    await walk.getByText("Sends “Hello Eve”").waitFor();
    await walk.getByText("It does not happen until").waitFor();
    await walk.getByText("Completed, at the end").waitFor();
    await page.getByLabel("“order_placed” happens").check();
    await walk.getByText("It happens").waitFor();
    await walk.getByText("Completed, at an exit").waitFor();
    expect(await page.locator(".step-walked").count()).toBe(4);
    await expect
      .poll(() => page.locator(".outlet[data-walked]").allTextContents())
      .toEqual(["Yes", "It happened"]);
    await page.getByText("A contact", exact).click();
    await page.getByRole("combobox", { name: "Contact" }).fill("person0");
    await page.getByRole("option", { name: "person0@shop.example" }).click();
    await page.getByRole("button", { name: "Walk through" }).click();
    await walk.getByText("Sends “Hello Person0”").waitFor();
    await walk.getByText("No", exact).waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    expect(await page.locator(".step-walked").count()).toBe(0);
    const mails = await call<{ sends: unknown[] }>("GET", `/sends?siteId=${siteId}`);
    expect(expectStatus(200, mails).body.data.sends).toEqual([]);
    expect(problems).toEqual([]);
  });

  it("a running sequence is edited as a draft, which is published", async () => {
    const { email, call, siteId } = await accountWithTemplates(1);
    const created = await call<{ id: number }>("POST", "/sequences", { siteId, name: "News" });
    const path = `/sequences/${expectStatus(201, created).body.data.id}`;
    const steps = [60, 120].map((delayMinutes) => ({ type: "delay", delayMinutes }));
    expectStatus(200, await call("PUT", `${path}/steps`, { stepsVersion: 0, steps }));
    expectStatus(200, await call("PUT", path, { status: "active" }));
    const people = await call<{ contacts: { id: number }[] }>("GET", `/contacts?siteId=${siteId}`);
    const contactIds = expectStatus(200, people).body.data.contacts.map(({ id }) => id);
    expectStatus(200, await call("POST", `${path}/enroll`, { contactIds }));
    await runUntilIdle();
    const { page, problems } = await openSignedIn(browser, { email, path });
    await card(page, /1\. Wait 1 hour/).click();
    await page.getByRole("button", { name: "Delete step" }).click();
    await addStep(page, "Add a step after step 1", /Exit/);
    await page.getByRole("button", { name: "Save as draft" }).click();
    await page.getByText("Draft saved").waitFor();
    await page.reload();
    await page.getByText("A draft of these steps was saved").waitFor();
    await card(page, /1\. Wait 1 hour/).waitFor();
    await page.getByRole("button", { name: "Open draft" }).click();
    await card(page, /2\. Exit/).waitFor();
    await page.getByRole("button", { name: "Publish" }).click();
    const dialog = page.getByRole("dialog");
    const effect = "1 contact is at step 1, which is deleted. It goes on with step 1 of the draft.";
    await dialog.getByText(effect).waitFor();
    await dialog.getByRole("button", { name: "Publish" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Save steps" }).waitFor();
    const saved = await call<{ steps: object[] }>("GET", `${path}/steps`);
    expect(expectStatus(200, saved).body.data.steps).toMatchObject([
      { type: "delay", delayMinutes: 120 },
      { type: "exit" },
    ]);
    expect((await call("GET", `${path}/draft`)).status).toBe(404);
    expect(problems).toEqual([]);
  });

  it("a long sequence is zoomed and shown whole", async () => {
    const { email, call, siteId } = await accountWithTemplates(0);
    const created = await call<{ id: number }>("POST", "/sequences", { siteId, name: "News" });
    const path = `/sequences/${expectStatus(201, created).body.data.id}`;
    const steps = Array.from({ length: 100 }, () => ({ type: "delay", delayMinutes: 60 }));
    expectStatus(200, await call("PUT", `${path}/steps`, { stepsVersion: 0, steps }));
    const { page, problems } = await openSignedIn(browser, { email, path });
    await card(page, /100\. Wait 1 hour/).waitFor({ state: "attached" });
    await page.locator(".minimap").waitFor();
    const zoom = (percent: number) => page.getByRole("button", { name: `Zoom: ${percent} %` });
    await page.getByRole("button", { name: "Zoom out" }).click();
    await zoom(80).waitFor();
    await page.keyboard.press("0");
    await zoom(10).waitFor();
    await zoom(10).click();
    await zoom(100).waitFor();
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
    await choose(page, "A contact starts when", "A contact reaches a lead score");
    await page.getByLabel("Score").fill("50");
    await page.getByRole("button", { name: "Save start" }).click();
    await page.getByText("Saved", exact).waitFor();
    await page.getByLabel("Send only on some days and hours").check();
    await page.getByLabel("Sat").check();
    await page.getByRole("button", { name: "Save sending times" }).click();
    await page.getByText("Saved", exact).nth(1).waitFor();
    await page.getByLabel("Sender name").fill("Ada of the shop");
    await page.getByLabel("Replies to").fill("help@shop.example");
    await page.getByRole("button", { name: "Save name and sender" }).click();
    await page.getByText("Saved", exact).nth(2).waitFor();
    await page.reload();
    await page.getByLabel("Sat").waitFor();
    expect(await page.getByLabel("Sat").isChecked()).toBe(true);
    expect(await page.getByLabel("Sun").isChecked()).toBe(false);
    expect(await page.getByLabel("Sender name").inputValue()).toBe("Ada of the shop");
    expect(await page.getByLabel("Replies to").inputValue()).toBe("help@shop.example");
    await page.getByRole("button", { name: "Add goal" }).click();
    expect(await page.getByRole("button", { name: "Save goals and exits" }).isDisabled()).toBe(
      true,
    );
    const goal = page.getByRole("group", { name: "goal 2" });
    await goal.getByRole("combobox", { name: "Name of the event" }).fill("paid");
    await goal.getByLabel("Property with the value").fill("total");
    await page.getByRole("button", { name: "Add exit" }).click();
    await page
      .getByRole("group", { name: "exit 1" })
      .getByRole("combobox", { name: "Name of the event" })
      .fill("gone");
    await page.getByRole("button", { name: "Save goals and exits" }).click();
    await page.getByText("Saved", exact).waitFor();
    await page.reload();
    await goal.waitFor();
    expect(await goal.getByRole("combobox", { name: "Name of the event" }).inputValue()).toBe(
      "paid",
    );
    await page.getByText("0 conversions").waitFor();
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
    const walked = await createWalkedSequence(call, siteId);
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
        ready: (page: Page) => page.getByRole("combobox", { name: "Field" }).first().waitFor(),
      },
      {
        path: walked,
        ready: (page: Page) => card(page, /1\. Email Greeting/).waitFor(),
        open: walkMadeUpPerson,
      },
      {
        path: `${path}/contacts`,
        ready: (page: Page) => page.getByText("person1@shop.example").waitFor(),
      },
      {
        path: `${path}/settings`,
        ready: (page: Page) =>
          page.getByRole("combobox", { name: "Name of the event" }).first().waitFor(),
      },
    ];
    expect(await judgeScreens(browser, { email, screens })).toEqual([]);
  });
});
