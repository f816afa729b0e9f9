// The code of the guides works, as the API reference of a service with the sandbox shows it.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { build as bundle } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pythonOfSchemathesis } from "../fuzz/schemathesis.ts";
import { expectStatus, signedUp, type TestClient, waitForMail } from "../support/api-client.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { type GuideBlock, readBlocks, runCommands, saveFiles } from "../support/guides.ts";
import { createSdkProject, type SdkProject } from "../support/sdk-project.ts";
import { type RunningTestService, startServiceProcess } from "../support/service-process.ts";
import { type ReceivedWebhook, startWebhookReceiver } from "../support/webhook-receiver.ts";

/** A Python that has the package requests. */
const python = ["python3", pythonOfSchemathesis()].find(
  (command) => spawnSync(command, ["-c", "import requests"]).status === 0,
);
const hasShell = spawnSync("bash", ["-c", "curl --version"]).status === 0;

let [service, project, guides] = [] as unknown as [RunningTestService, SdkProject, string];
let dns: DnsServer;
beforeAll(async () => {
  dns = await startDnsServer({ records: {} });
  [service, project] = await Promise.all([
    startServiceProcess({ DEFAULT_PLAN: "enterprise", DNS_SERVERS: dns.address }),
    createSdkProject(),
  ]);
  const response = await fetch(`${service.url}/api/v1/openapi.json`);
  guides = ((await response.json()) as { info: { description: string } }).info.description;
});
afterAll(async () => {
  await service?.stop();
  await dns?.close();
  project?.remove();
});

interface Reader {
  client: TestClient;
  env: Record<"PATH" | "PENNYMAIL_URL" | "PENNYMAIL_API_KEY", string>;
}

/** A reader with what the guides ask for: an API key, a site, and a sending config. */
async function createReader(): Promise<Reader> {
  const client = await signedUp({ service: service.url });
  const { data } = (await (await fetch(`${service.url}/_local/sandbox`)).json()) as {
    data: { providers: { sendgrid: object } };
  };
  const config = { fromEmail: "hello@shop.example", ...data.providers.sendgrid };
  expectStatus(201, await client.call("POST", "/sending-configs", config));
  const PATH = `${join(project.folder, "node_modules/.bin")}:${process.env.PATH}`;
  return { client, env: { PATH, PENNYMAIL_URL: service.url, PENNYMAIL_API_KEY: client.apiKey } };
}

/** Saves the files of the guide in a folder of their own. `change` replaces texts of the guide. */
function openGuide(title: string, change: Record<string, string> = {}) {
  const blocks: GuideBlock[] = readBlocks(guides, title).map((block) => ({
    ...block,
    text: Object.entries(change).reduce(
      (text, [from, to]) => text.replaceAll(from, to),
      block.text,
    ),
  }));
  const folder = join(project.folder, title.toLowerCase().replace(/\W+/g, "-"));
  saveFiles(blocks, folder);
  const inLanguage = (name: string) => blocks.filter(({ language }) => language === name);
  return { blocks, commands: inLanguage("sh"), results: inLanguage("json"), folder };
}

const runFile = ([command, file]: [string, string], folder: string, env: Record<string, string>) =>
  execFileSync(command, [file], {
    cwd: folder,
    env,
    encoding: "utf8",
  });

/** Posts to /_local/ of the service. */
const callLocal = (path: string, body: object = {}) =>
  fetch(`${service.url}/_local/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
const settle = () => callLocal("settle");

describe.skipIf(!hasShell)("the guide", () => {
  test("First send creates what it needs and sends with curl and with the SDK", async () => {
    const { blocks, folder } = openGuide("First send");
    expect(guides.includes("SG....")).toBe(false);
    const { PATH } = (await createReader()).env;
    const [created] = await runCommands(blocks, { folder, env: { PATH } });
    expect(created).toContain('"webhookSecretSet":true');
    expect(await waitForMail("ada@example.com", service.url)).toMatchObject({
      subject: "Hello Ada",
      html: "<p>Hello Ada</p>",
    });
    const { env } = await createReader();
    expect(runFile([process.execPath, "first-send.mjs"], folder, env)).toMatch(/^\d+\n$/);
  });

  test("First send sends with Python", async ({ skip }) => {
    if (python === undefined) return skip("no Python here has the package requests");
    const { folder } = openGuide("First send", { "ada@example.com": "grace@example.com" });
    const { env } = await createReader();
    expect(runFile([python, "first_send.py"], folder, env)).toMatch(/^\d+\n$/);
    expect(await waitForMail("grace@example.com", service.url)).toMatchObject({
      subject: "Hello Ada",
    });
  });

  test("Opens and clicks lets the service track", async () => {
    const { client, env } = await createReader();
    const { sendingConfigs } = expectStatus(
      200,
      await client.call<{ sendingConfigs: { id: number }[] }>("GET", "/sending-configs"),
    ).body.data;
    const { commands, results, folder } = openGuide("Opens and clicks", {
      "sending-configs/4": `sending-configs/${sendingConfigs[0]!.id}`,
    });
    const [changed] = await runCommands([commands[0]!, results[0]!], { folder, env });
    expect(JSON.parse(changed!).data.tracking).toBe("own");
  });

  test("Zapier, Make, n8n and Activepieces subscribes a flow and reports an event once", async () => {
    const { client, env } = await createReader();
    const title = "Zapier, Make, n8n and Activepieces";
    const { commands, results, folder } = openGuide(title, {
      "https://hooks.tool.example/catch/1/abc": "http://127.0.0.1:9/hook",
    });
    const [subscribe, report] = commands;
    await runCommands([subscribe!, results[0]!], { folder, env });
    await runCommands([report!], { folder, env });
    await runCommands([report!], { folder, env });
    const { contacts } = expectStatus(
      200,
      await client.call<{ contacts: { id: number; email: string }[] }>("GET", "/contacts"),
    ).body.data;
    expect(contacts).toMatchObject([{ email: "ada@example.com" }]);
    const events = await client.call<{ events: object[] }>("GET", "/events/custom");
    expect(events.body.data.events).toMatchObject([{ eventName: "deal_won" }]);
  });

  // Before the guides that move the clock: signatures are refused if their time is far from now.
  test("Webhook receiver has receivers that take a signed delivery and no other", async () => {
    const { env } = await createReader();
    const receiver = await startWebhookReceiver();
    receiver.answers = [204];
    const { commands, results, folder } = openGuide("Webhook receiver", {
      "https://shop.example": receiver.origin,
    });
    const [create, test] = commands;
    const [createShape, testShape] = results;
    const [created] = await runCommands([create!, createShape!], { folder, env });
    const { id, secret } = JSON.parse(created!).data as { id: number; secret: string };
    const call = { ...test!, text: test!.text.replace("/webhooks/7/", `/webhooks/${id}/`) };
    await runCommands([call, testShape!], { folder, env });
    await receiver.close();
    const [{ body, headers }] = receiver.received as [ReceivedWebhook];
    await project.compile();

    installPackages(["express"]);
    writeFileSync(join(folder, "deliver.mjs"), deliverToReceivers);
    const delivery = JSON.stringify({ body, headers });
    const output = execFileSync(process.execPath, ["deliver.mjs", delivery], {
      cwd: folder,
      env: { ...env, PENNYMAIL_WEBHOOK_SECRET: secret, PORT: "0" },
      encoding: "utf8",
    });
    const { event, email } = JSON.parse(body);
    expect(output.trimEnd().split("\n")).toEqual(
      ["express", "next", "lambda"].flatMap((name) => [
        `${event} ${email}`,
        `${name} 204`,
        `${name} forged 400`,
      ]),
    );
  });

  test("React Email and other editors saves what a component renders as a template", async () => {
    const { client, env } = await createReader();
    const { folder } = openGuide("React Email and other editors");
    installPackages(["@react-email/components", "@types/react", "react", "react-dom"]);
    // The declarations of React Email name packages that have none.
    await project.compile(["--skipLibCheck"]);
    await bundle({
      entryPoints: [join(folder, "save-template.tsx")],
      outfile: join(folder, "save-template.mjs"),
      ...{ bundle: true, packages: "external", platform: "node", format: "esm", jsx: "automatic" },
    });
    const save = () => Number(runFile([process.execPath, "save-template.mjs"], folder, env));
    const templateId = save();
    expect(save()).toBe(templateId);
    rmSync(folder, { recursive: true });
    const variables = { firstName: "Ada", count: 2, trackingUrl: "https://shop.example/t?a=1&b=2" };
    const to = "react@example.com";
    const email = { to, templateId, variables, fromEmail: "hello@shop.example" };
    expectStatus(202, await client.call("POST", "/send", email));
    const { html, text } = await waitForMail(to, service.url);
    expect(html).toMatch(/<h1>Hello (<!-- -->)?Ada<\/h1>/);
    expect(html).toMatch(/>Your 2 parcels are(<!-- -->)? on the way\.</);
    expect(html).toContain('href="https://shop.example/t?a=1&amp;b=2"');
    expect(text).toContain("Your 2 parcels are on the way.");
  });

  test("Why did an email not arrive? says why", async () => {
    const { client, env } = await createReader();
    const email = { fromEmail: "hello@shop.example", subject: "Hello", html: "<p>Hello</p>" };
    const to = "bounced@simulator.pennymail.test";
    expectStatus(202, await client.call("POST", "/send", { ...email, to }));
    await settle();
    const { blocks, folder } = openGuide("Why did an email not arrive?");
    const [answered, asked] = await runCommands(blocks, { folder, env });
    expect(answered).toContain(`${to} is on the suppression list since`);
    expect(answered).toContain("remove the address");
    expect(JSON.parse(asked!).data).toMatchObject({
      reason: "suppressed",
      suppression: { reason: "bounce" },
      sends: [{ status: "failed", toEmail: to }],
    });
  });

  test("GDPR and consent exports and erases a contact", async () => {
    const { client, env } = await createReader();
    const contact = { email: "ada@example.com", firstName: "Ada" };
    const created = expectStatus(
      201,
      await client.call<{ id: number }>("POST", "/contacts", contact),
    );
    const { id } = created.body.data;
    const { blocks, folder } = openGuide("GDPR and consent");
    const [output] = await runCommands(blocks, { folder, env });
    expect(output!.split("\n")).toEqual([
      "exported 1 contacts",
      "erased 1 contacts, 0 sends are left",
      "",
    ]);
    expect(readFileSync(join(folder, "person.json"), "utf8")).toContain('"firstName": "Ada"');
    expect((await client.call("GET", `/contacts/${id}`)).status).toBe(404);
    const again = await client.call("POST", "/contacts", contact);
    expect(again.body.data).toMatchObject({ status: "suppressed" });
  });

  test("Moving from Mailchimp imports the export and converts templates", async () => {
    const { client, env } = await createReader();
    const { blocks, folder } = openGuide("Moving from Mailchimp");
    const subscribed = blocks.find(({ language }) => language === "csv")!.text;
    const exported = {
      subscribed,
      unsubscribed: `Email Address,First Name,TIMEZONE,UNSUB_TIME,UNSUB_REASON,LEID
bob@example.com,Bob,,2026-01-02 10:00:00,N/A (Unsubscribed by admin),7\n`,
      cleaned: `Email Address,First Name,TIMEZONE,CLEAN_TIME,CLEAN_CAMPAIGN_TITLE,LEID
eve@example.com,Eve,,2026-01-02 10:00:00,Spring,8\n`,
    };
    for (const [status, text] of Object.entries(exported))
      writeFileSync(join(folder, `${status}_email_audience_export_1.csv`), text);
    const greeting = "<p>Hello *|IF:FNAME|**|FNAME|**|ELSE:|*you*|END:IF|*, *|COLOR|*</p>";
    writeFileSync(join(folder, "spring.html"), `${greeting}*|REWARDS|* *|IF:PLAN=pro|*`);
    const [, converted] = await runCommands(blocks, { folder, env });
    const { contacts } = (await client.call<{ contacts: object[] }>("GET", "/contacts")).body.data;
    expect(contacts).toHaveLength(3);
    expect(contacts).toContainEqual(
      expect.objectContaining({
        email: "ada@example.com",
        firstName: "Ada",
        lastName: "Lovelace",
        phone: "+44 20 7946 0000",
        timezone: "Europe/London",
        status: "subscribed",
        // They are sorted by id, and their ids have no order.
        tags: expect.arrayContaining([
          expect.objectContaining({ name: "VIP" }),
          expect.objectContaining({ name: "Blog" }),
        ]),
        customFields: {
          "Favorite color": "green",
          OPTIN_TIME: "2025-03-01 09:12:44",
          OPTIN_IP: "203.0.113.7",
          CONFIRM_TIME: "2025-03-01 09:13:20",
          CONFIRM_IP: "203.0.113.7",
          CC: "GB",
          REGION: "ENG",
          LAST_CHANGED: "2026-02-03 10:00:00",
        },
      }),
    );
    expect(contacts).toContainEqual(
      expect.objectContaining({ email: "bob@example.com", status: "unsubscribed" }),
    );
    expect(contacts).toContainEqual(
      expect.objectContaining({ email: "eve@example.com", status: "suppressed" }),
    );
    const check = await client.call("GET", "/suppressions/check/eve@example.com");
    expect(check.body.data).toMatchObject({ suppressed: true, reason: "import" });
    expect(converted).toContain("To replace by hand: *|REWARDS|* *|IF:PLAN=pro|*\n");
    const { templates } = (await client.call<{ templates: { id: number }[] }>("GET", "/templates"))
      .body.data;
    const variables = { customFields: { "Favorite color": "green" } };
    const path = `/templates/${templates[0]!.id}/render`;
    expect((await client.call("POST", path, { variables })).body.data).toMatchObject({
      subject: "Spring is here",
      html: "<p>Hello you, green</p>*|REWARDS|* *|IF:PLAN=pro|*",
    });
  });

  test("Moving from listmonk imports what its API returns", async () => {
    const { client, ...reader } = await createReader();
    const { commands, results: shapes, folder } = openGuide("Moving from listmonk");
    const [shown, counts] = shapes;
    const [ada] = JSON.parse(shown!.text).data.results as [{ attribs: object; lists: object[] }];
    const subscriber = (email: string, status: string, lists: object[]) => ({
      ...ada,
      email,
      status,
      lists: lists.map((list) => ({ ...ada.lists[0], ...list })),
    });
    const left = { subscription_status: "unsubscribed" };
    const unconfirmed = { subscription_status: "unconfirmed" };
    const results = [
      { ...ada, attribs: { ...ada.attribs, phone: null } },
      subscriber("left@example.com", "enabled", [left]),
      subscriber("waits@example.com", "enabled", [unconfirmed]),
      subscriber("single@example.com", "enabled", [{ ...unconfirmed, optin: "single" }]),
      subscriber("blocked@example.com", "blocklisted", [left]),
      subscriber("one@example.com", "enabled", [left, { id: 2, name: "News" }]),
    ];
    const listmonk = createServer((request, response) => {
      const { authorization } = request.headers;
      const known = authorization === `Basic ${Buffer.from("me:token").toString("base64")}`;
      response.writeHead(known ? 200 : 403).end(JSON.stringify({ data: { results } }));
    });
    await new Promise<void>((resolve) => listmonk.listen(0, "127.0.0.1", resolve));
    const { port } = listmonk.address() as AddressInfo;
    const access = {
      LISTMONK_URL: `http://127.0.0.1:${port}`,
      LISTMONK_USER: "me",
      LISTMONK_TOKEN: "token",
    };
    const env = { ...reader.env, ...access };
    const [, output] = await runCommands([...commands, counts!], { folder, env });
    listmonk.close();
    expect(JSON.parse(output!)).toEqual({ created: 6, updated: 0, failed: 0, suppressed: 1 });
    interface Imported {
      email: string;
      status: string;
      lists: { name: string }[];
    }
    const { contacts } = (await client.call<{ contacts: Imported[] }>("GET", "/contacts")).body
      .data;
    expect(
      Object.fromEntries(
        contacts.map(({ email, status, lists }) => [email, [status, ...lists.map((l) => l.name)]]),
      ),
    ).toEqual({
      "ada@example.com": ["subscribed", "Newsletter"],
      "left@example.com": ["unsubscribed"],
      "waits@example.com": ["pending"],
      "single@example.com": ["subscribed", "Newsletter"],
      "blocked@example.com": ["suppressed"],
      "one@example.com": ["subscribed", "News"],
    });
    expect(contacts.find(({ email }) => email === "ada@example.com")).toMatchObject({
      firstName: "Ada",
      lastName: "Lovelace",
      source: "listmonk",
      customFields: { city: "London", projects: 3, stack: '{"languages":["go"]}', phone: null },
    });
  });

  test("Custom domain and DNS leads to a verified domain", async () => {
    const { client, env } = await createReader();
    const { sendingConfigs } = (
      await client.call<{ sendingConfigs: { id: number }[] }>("GET", "/sending-configs")
    ).body.data;
    const { commands, results, folder } = openGuide("Custom domain and DNS", {
      "sending-configs/4": `sending-configs/${sendingConfigs[0]!.id}`,
    });
    const [add, show] = commands;
    const startWarmUp = commands.find(({ text }) => text.includes("warmUp"));
    const reader = { folder, env };
    const [added] = await runCommands([add!, results[0]!], reader);
    const { id, dnsRecords } = JSON.parse(added!).data as {
      id: number;
      dnsRecords: { type: string; name: string | null; value: string | null }[];
    };
    for (const { type, name, value } of dnsRecords)
      if (name !== null && value !== null) dns.zone.records[`${type} ${name}`] = [value];
    const showIt = { ...show!, text: show!.text.replace("/domains/2", `/domains/${id}`) };
    await runCommands([add!], reader);
    await settle();
    const [shown, started] = await runCommands([showIt, startWarmUp!], reader);
    const { data } = JSON.parse(shown!);
    expect(data.status).toBe("verified");
    expect(data.dnsRecords[0]).toMatchObject({ purpose: "ownership", state: "found" });
    expect(JSON.parse(started!).data.warmUp).toMatchObject({ firstDayMails: 100, days: 21 });
  });

  test("Testing with the sandbox has tests that pass", async () => {
    const { env } = await createReader();
    const { blocks, folder } = openGuide("Testing with the sandbox");
    const [, tests] = await runCommands(blocks, { folder, env });
    expect(tests).toMatch(/pass 2\n/);
  });

  test("Welcome series goes from the form to the second email", async () => {
    const { client, env } = await createReader();
    const email = "new-reader@example.com";
    const { commands, results, folder } = openGuide("Welcome series (automation)");
    const [create, ask, submit] = commands;
    const [created, pending] = results;
    const reader = { folder, env };
    const [output] = await runCommands([create!, created!], reader);
    const { form, sequence } = JSON.parse(output!) as { form: number; sequence: number };
    await runCommands([ask!], reader);
    await settle();
    expect((await waitForMail("grace@example.com", service.url)).html).toContain("/forms/confirm/");
    const text = submit!.text
      .replace("/forms/3/", `/forms/${form}/`)
      .replace("ada@example.com", email);
    await runCommands([{ ...submit!, text }, pending!], reader);
    await settle();
    const contact = async () =>
      (await client.call<{ contacts: object[] }>("GET", `/contacts?search=${email}`)).body.data
        .contacts[0];
    expect(await contact()).toMatchObject({ status: "pending", lists: [] });
    const confirmation = await waitForMail(email, service.url);
    const [link] = /http:[^"]*\/forms\/confirm\/[^"]+/.exec(confirmation.html!)!;
    expect((await fetch(link, { method: "POST", body: new URLSearchParams() })).status).toBe(200);
    await settle();
    expect(await contact()).toMatchObject({ status: "subscribed", firstName: "Ada" });
    expect((await waitForMail(email, service.url)).subject).toBe("Welcome, Ada");
    await callLocal("clock", { advanceSeconds: 3 * 24 * 3600 + 60 });
    await settle();
    const last = await waitForMail(email, service.url);
    expect(last).toMatchObject({ subject: "Three tips to start with" });
    expect(last.html).toContain("Hello Ada");
    const enrolled = await client.call<{ enrollments: object[] }>(
      "GET",
      `/sequences/${sequence}/enrollments`,
    );
    expect(enrolled.body.data.enrollments).toMatchObject([{ status: "completed" }]);
  });

  test("Abandoned cart mails what is in the cart, and not who orders", async () => {
    const { client, env } = await createReader();
    const { commands, results, folder } = openGuide("Abandoned cart (automation)");
    const [create, report] = commands;
    const reader = { folder, env };
    const [output] = await runCommands([create!, results[0]!], reader);
    const { sequence } = JSON.parse(output!) as { sequence: number };
    for (const email of ["cart-left@example.com", "cart-bought@example.com"]) {
      const text = report!.text.replace("ada@example.com", email);
      await runCommands([{ ...report!, text }], reader);
    }
    await settle();
    const order = { eventName: "order_placed", email: "cart-bought@example.com" };
    const bought = { ...order, properties: { total: 49.9 } };
    expectStatus(201, await client.call("POST", "/events/custom", bought));
    await callLocal("clock", { advanceSeconds: 3600 + 60 });
    await settle();
    const mail = await waitForMail("cart-left@example.com", service.url);
    expect(mail.subject).toBe("Your cart: 2 things are waiting");
    expect(mail.html).toContain("Teapot: 39.9 €");
    await callLocal("clock", { advanceSeconds: 3 * 24 * 3600 + 60 });
    await settle();
    const detail = await client.call<{ stats: object }>("GET", `/sequences/${sequence}/detail`);
    expect(detail.body.data.stats).toMatchObject({ completed: 2, converted: 1, value: 49.9 });
    const tagged = await client.call<{ contacts: object[] }>("GET", "/contacts?search=cart-");
    const tags = (email: string) =>
      tagged.body.data.contacts.find((one) => (one as { email: string }).email === email);
    expect(tags("cart-left@example.com")).toMatchObject({ tags: [{ name: "cart abandoned" }] });
    expect(tags("cart-bought@example.com")).toMatchObject({ tags: [] });
  });

  test("Newsletter with an A/B test sends the winner to the rest", async () => {
    const { env } = await createReader();
    // With two readers, chance decides whether a variant is sent at all.
    const { commands, results, folder } = openGuide("Newsletter with an A/B test", {
      '{ email: "grace@example.com", firstName: "Grace", lists: [list.id] },': manyReaders,
      "testPercent: 20": "testPercent: 50",
    });
    const [prepare, send, read] = commands;
    const [prepared, sending, result] = results;
    const [output] = await runCommands([prepare!, prepared!], { folder, env });
    const { campaign } = JSON.parse(output!) as { campaign: number };
    const ofCampaign = (block: GuideBlock) => ({
      ...block,
      text: block.text.replace("/campaigns/9", `/campaigns/${campaign}`),
    });
    await runCommands([ofCampaign(send!), sending!], { folder, env });
    await settle();
    await callLocal("clock", { advanceSeconds: 4 * 3600 + 60 });
    await settle();
    const [sent] = await runCommands([ofCampaign(read!), result!], { folder, env });
    const { data } = JSON.parse(sent!);
    expect(data).toMatchObject({ status: "sent", accounting: { candidates: 99, accepted: 99 } });
    expect(data.winner.results).toHaveLength(2);
  });

  test("Topics and preferences joins the topic that the contact asked for", async () => {
    const { env } = await createReader();
    const { folder } = openGuide("Topics and preferences");
    const output = runFile([process.execPath, "topics.mjs"], folder, env);
    expect(output).toContain("'Product news: true', 'Offers: true'");
  });

  test("Importing contacts declares fields, previews a file and imports it", async () => {
    const { client, env } = await createReader();
    const { blocks, folder } = openGuide("Importing contacts");
    const outputs = await runCommands(blocks, { folder, env });
    expect(outputs[1]).toContain('"email: must be one valid email address"');
    expect(outputs[2]).toMatch(/^completed: 2 new, 0 changed, 1 refused\nRow 4, not an address: /);
    const { contacts } = expectStatus(
      200,
      await client.call<{ contacts: object[] }>("GET", "/contacts?search=ada"),
    ).body.data;
    expect(contacts).toMatchObject([
      {
        firstName: "Ada",
        customFields: { plan: "gold", postcode: "04109" },
        tags: [{ name: "autumn" }],
      },
    ]);
  });
});

const manyReaders =
  "...Array.from({ length: 98 }, (_, i) => (" +
  '{ email: "opened+" + i + "@simulator.pennymail.test", lists: [list.id] })),';

/** Lets the guides import the Express of this repository. */
/** Links packages of this repository into the project. */
function installPackages(names: string[]): void {
  for (const name of names) {
    const link = join(project.folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(import.meta.dirname, "../../node_modules", name), link);
  }
}

/** Gives the delivery to each receiver, and one with another body but the same signature. */
const deliverToReceivers = `
import { Server } from "node:net";
import { handler } from "./lambda.mjs";
import { POST } from "./route.ts";
let server;
const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  server = this;
  return listen.apply(this, args);
};
await import("./express.mjs");
const { body, headers } = JSON.parse(process.argv[2]);
const init = (text) => ({ method: "POST", body: text, headers });
const url = () => "http://127.0.0.1:" + server.address().port + "/hook";
const receivers = {
  express: async (text) => (await fetch(url(), init(text))).status,
  next: async (text) => (await POST(new Request("https://shop.example/hook", init(text)))).status,
  lambda: async (text) => {
    const encoded = Buffer.from(text).toString("base64");
    return (await handler({ body: encoded, headers, isBase64Encoded: true })).statusCode;
  },
};
delete headers["content-length"];
delete headers.host;
delete headers.connection;
for (const [name, deliver] of Object.entries(receivers)) {
  console.log(name, await deliver(body));
  console.log(name, "forged", await deliver(body.replace(/"email":"/, '"email":"x')));
}
server.close();
`;
