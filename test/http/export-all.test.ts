// `npm run export-all` and `npm run import-all` move an organization to another installation.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";
import { createSendingConfig } from "../support/newsletters.ts";
import { type RunningTestService, startServiceProcess } from "../support/service-process.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "export-all-"));
let old: RunningTestService;
let fresh: RunningTestService;
beforeAll(async () => {
  [old, fresh] = await Promise.all([
    startServiceProcess({ DEFAULT_PLAN: "enterprise" }),
    startServiceProcess({ DEFAULT_PLAN: "enterprise" }),
  ]);
});
afterAll(async () => {
  await Promise.all([old?.stop(), fresh?.stop()]);
  rmSync(folder, { recursive: true });
});

interface ScriptResult {
  code: number;
  output: string;
  errorOutput: string;
}

const runScript = (script: string, args: string[], key = ""): Promise<ScriptResult> =>
  new Promise((resolve) => {
    const env = { ...process.env, PENNYMAIL_API_KEY: key };
    execFile(
      process.execPath,
      [`bin/${script}.ts`, ...args],
      { cwd: root, env },
      (error, output, errorOutput) =>
        resolve({ code: Number(error?.code ?? 0), output, errorOutput }),
    );
  });

async function runSuccessfully(script: string, args: string[], key: string): Promise<string> {
  const { code, output, errorOutput } = await runScript(script, args, key);
  expect({ code, errorOutput }).toEqual({ code: 0, errorOutput: "" });
  return output;
}

type Fields = Record<string, unknown>;
const rowsIn = (place: string, kind: string): Fields[] =>
  readFileSync(join(place, `${kind}.jsonl`), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

const files = [
  "sites",
  "topics",
  "tags",
  "lists",
  "template-folders",
  "snippets",
  "templates",
  "forms",
  "segments",
  "sequences",
  "campaigns",
  "suppressions",
  "contacts",
];
const counted = new Set([
  "id",
  "createdAt",
  "updatedAt",
  "version",
  "versions",
  "contactCount",
  "score",
  "source",
  "campaignId",
]);

/** Reads an export and replaces every id by the name of its record. */
function comparable(place: string): Record<string, unknown[]> {
  const names = new Map<string, string>();
  for (const kind of files)
    for (const row of rowsIn(place, kind))
      if (row.id) names.set(`${kind} ${row.id}`, String(row.name ?? row.email));
  const kindOf: Record<string, string> = {
    siteId: "sites",
    folderId: "template-folders",
    templateId: "templates",
    listId: "lists",
    tagId: "tags",
    segmentId: "segments",
    topicId: "topics",
    sequenceId: "sequences",
    formId: "forms",
  };
  const plain = (value: unknown, name = ""): unknown => {
    if (name === "topicIds") return (value as number[]).map((id) => names.get(`topics ${id}`));
    if (Array.isArray(value)) return value.map((one) => plain(one));
    if (typeof value === "number" && kindOf[name]) return names.get(`${kindOf[name]} ${value}`);
    if (typeof value === "string" && name === "field")
      return value
        .replace(/^form\.(\d+)/, (_, id) => `form.${names.get(`forms ${id}`)}`)
        .replace(/^topic\.(\d+)/, (_, id) => `topic.${names.get(`topics ${id}`)}`);
    // The address of a picture is another one in each installation.
    if (typeof value === "string") return value.replace(/http:\/\/127[\w.:/-]+/g, "picture");
    if (typeof value !== "object" || value === null) return value;
    const { field, value: ruleValue } = value as Fields;
    if (field === "tag" || field === "list")
      return { ...value, value: names.get(`${field}s ${ruleValue}`) };
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !counted.has(key))
        .map(([key, one]) => [key, plain(one, key)]),
    );
  };
  const sorted = (rows: unknown[]) =>
    rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return Object.fromEntries(
    files.map((kind) => [kind, sorted(rowsIn(place, kind).map((row) => plain(row)))]),
  );
}

const create = async (client: TestClient, path: string, body: unknown): Promise<number> =>
  expectStatus(201, await client.call<{ id: number }>("POST", path, body)).body.data.id;

const dot = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

async function createPicture(client: TestClient, siteId: number): Promise<{ url: string }> {
  const response = await fetch(`${old.url}/api/v1/media?siteId=${siteId}&name=Dot&alt=A%20dot`, {
    method: "POST",
    headers: { authorization: `Bearer ${client.apiKey}`, "content-type": "image/png" },
    body: dot,
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { data: { url: string } }).data;
}

/** A form with topics needs it. */
async function createVerifiedConfig(client: TestClient, { url }: RunningTestService) {
  const id = await createSendingConfig(client, url, "postmark");
  const to = "owner@pennymail.test";
  expectStatus(200, await client.call("POST", `/sending-configs/${id}/verify`, { to }));
}

/** The choices of every fourth contact; the others choose nothing. */
const topicChoices: ((ids: Record<"newsId" | "offersId", number>) => Fields[])[] = [
  ({ newsId }) => [{ id: newsId, subscribed: false }],
  ({ offersId }) => [{ id: offersId, subscribed: true }],
  ({ offersId }) => [{ id: offersId, subscribed: false }],
];

/** Creates an opt-out topic and an opt-in topic, and one of the same name in the other site. */
async function createTopics(client: TestClient, otherSiteId: number) {
  const { siteId } = client;
  const offers = { name: "Offers", defaultSubscription: "unsubscribed", visibility: "private" };
  await create(client, "/topics", { siteId: otherSiteId, name: "News" });
  return {
    newsId: await create(client, "/topics", { siteId, name: "News", description: "Monthly" }),
    offersId: await create(client, "/topics", { siteId, ...offers }),
  };
}

const hasTag = (tag: number): Fields => ({
  match: "all",
  conditions: [{ field: "tag", operator: "equals", value: tag }],
});

/** Creates records of every kind, with every reference between kinds. */
async function createRecords(client: TestClient): Promise<void> {
  const { siteId } = client;
  const other = await create(client, "/sites", {
    name: "Other",
    companyName: "Other Ltd",
    physicalAddress: "1 Road",
  });
  const list = await create(client, "/lists", { siteId, name: "News", description: "Weekly" });
  const tag = await create(client, "/tags", { siteId, name: "vip" });
  await create(client, "/tags", { siteId: other, name: "vip" });
  // Imported in the order of their use, not in that of their ids.
  const footer = await create(client, "/snippets", { siteId, name: "footer", html: "<p>Bye</p>" });
  await create(client, "/snippets", { siteId, name: "legal", html: "<p>{{ postalAddress }}</p>" });
  expectStatus(
    200,
    await client.call("PUT", `/snippets/${footer}`, { html: "<p>Bye</p>{% render 'legal' %}" }),
  );
  const folderId = await create(client, "/template-folders", { name: "Mails", siteId });
  const template = {
    siteId,
    folderId,
    name: "Hello",
    subject: "Hello {{ firstName }}",
    html: "<p>Hi</p>{% render 'footer' %}",
    text: "Hi",
  };
  const templateId = await create(client, "/templates", {
    ...template,
    designJson: { blocks: [1] },
  });
  await create(client, "/templates", { ...template, subject: "The second of one name" });
  const { newsId, offersId } = await createTopics(client, other);
  const formId = await create(client, "/forms", {
    siteId,
    name: "Join",
    doubleOptIn: true,
    topicIds: [newsId, offersId],
    listId: list,
    tags: ["vip"],
  });
  await create(client, "/forms", { siteId: other, name: "Never used" });
  const segmentId = await create(client, "/segments", {
    siteId,
    name: "Fans",
    rules: {
      match: "any",
      conditions: [
        { field: "tag", operator: "equals", value: tag },
        {
          match: "all",
          conditions: [
            { field: "list", operator: "equals", value: list },
            { field: `form.${formId}`, operator: "equals", value: true },
            { field: `topic.${newsId}`, operator: "equals", value: false },
          ],
        },
      ],
    },
  });
  const sequenceId = await create(client, "/sequences", {
    siteId,
    name: "Welcome",
    triggerType: "form_submit",
    triggerConfig: { formId },
    topicId: offersId,
    utm: { source: "onboarding" },
    goals: [{ eventName: "bought", filter: hasTag(tag), valueProperty: "total" }],
    exits: [{ rules: hasTag(tag) }],
  });
  const steps = [
    { type: "email", templateId, previewText: "How it begins" },
    { type: "delay", delayMinutes: 60 },
    {
      type: "condition",
      conditionConfig: hasTag(tag),
      trueBranchStepOrder: null,
      falseBranchStepOrder: 4,
    },
    { type: "email", templateId },
    {
      type: "wait_until",
      waitConfig: { eventName: "bought", filter: hasTag(tag), timeoutMinutes: 60 },
    },
    { type: "action", actionConfig: { action: "add_tag", tagId: tag } },
    { type: "action", actionConfig: { action: "join_topic", topicId: offersId } },
  ];
  expectStatus(201, await client.call("POST", `/sequences/${sequenceId}/steps`, { steps }));
  expectStatus(200, await client.call("PUT", `/forms/${formId}`, { sequenceId }));
  const campaign = {
    siteId,
    name: "Spring",
    subject: "Spring",
    previewText: "Sun",
    utm: {},
    templateId,
  };
  const attachments = [
    { filename: "prices.txt", type: "text/plain", content: Buffer.from("49 €").toString("base64") },
    { filename: "dot.png", type: "image/png", content: dot.toString("base64"), contentId: "dot" },
  ];
  const draft = { ...campaign, segmentId, attachments };
  const campaignId = await create(client, "/campaigns", draft);
  expectStatus(
    201,
    await client.call("POST", `/campaigns/${campaignId}/variants`, {
      name: "B",
      html: "<p>B</p>",
      weight: 3,
    }),
  );
  await create(client, "/campaigns", {
    ...campaign,
    listId: list,
    name: "By list",
    topicId: newsId,
  });
  const contacts = Array.from({ length: 150 }, (_, i) => ({
    email: `p${i}@example.com`,
    firstName: `P${i}`,
    customFields: { plan: i % 2 ? "pro" : "free", visits: i },
    status: ["unsubscribed", "pending"][i % 10] ?? "subscribed",
    ...(i % 3 === 0 && { tags: ["vip"], lists: [list] }),
    topics: topicChoices[i % 4]?.({ newsId, offersId }),
  }));
  for (const some of [contacts.slice(0, 100), contacts.slice(100)])
    expectStatus(200, await client.call("POST", "/contacts/bulk", { siteId, contacts: some }));
  await create(client, "/contacts", {
    siteId: other,
    email: "p1@example.com",
    timezone: "Europe/Berlin",
  });
  for (const [email, reason] of [
    ["p7@example.com", "bounce"],
    ["stranger@example.com", "spam_report"],
  ])
    expectStatus(
      201,
      await client.call("POST", "/suppressions", { email, reason, detail: "as reported" }),
    );
}

describe("export-all and import-all", () => {
  test("an imported organization exports the same data, and a second import creates nothing", async () => {
    const [oldClient, newClient] = await Promise.all([
      signedUp({ service: old.url }),
      signedUp({ service: fresh.url }),
    ]);
    await Promise.all([
      createVerifiedConfig(oldClient, old),
      createVerifiedConfig(newClient, fresh),
    ]);
    await createRecords(oldClient);
    const { sites } = (await oldClient.call<{ sites: { id: number }[] }>("GET", "/sites")).body
      .data;
    const siteId = sites[0]!.id;
    const picture = await createPicture(oldClient, siteId);
    const html = `<img src="${picture.url}" alt="A dot">`;
    await create(oldClient, "/templates", { siteId, name: "Dot", subject: "Dot", html });
    const [first, second, third] = ["first", "second", "third"].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    const output = await runSuccessfully(
      "export-all",
      ["--out", first, "--url", old.url],
      oldClient.apiKey,
    );
    expect(output).toContain("contacts: 151");
    expect(JSON.parse(readFileSync(join(first, "manifest.json"), "utf8"))).toMatchObject({
      format: "pennymail",
      version: 1,
      rows: { contacts: 151, suppressions: 2, templates: 3, media: 1, campaigns: 2, topics: 3 },
    });
    await runSuccessfully("import-all", ["--in", first, "--url", fresh.url], newClient.apiKey);
    await runSuccessfully("export-all", ["--out", second, "--url", fresh.url], newClient.apiKey);
    const expected = comparable(first);
    expect(expected.segments).toHaveLength(1);
    expect(comparable(second)).toEqual(expected);

    const again = await runSuccessfully(
      "import-all",
      ["--in", first, "--url", fresh.url],
      newClient.apiKey,
    );
    expect(again).toContain("0 created, ");
    await runSuccessfully("export-all", ["--out", third, "--url", fresh.url], newClient.apiKey);
    expect(comparable(third)).toEqual(expected);
    const [moved] = rowsIn(second, "templates").filter(({ name }) => name === "Dot");
    const url = /src="([^"]*)"/.exec(moved!.html as string)![1]!;
    expect(url.startsWith(fresh.url)).toBe(true);
    const file = await fetch(url);
    expect(Buffer.from(await file.arrayBuffer())).toEqual(dot);
  });

  test("a contact who left a topic is not subscribed to it after the move", async () => {
    const [oldClient, newClient] = await Promise.all([
      signedUp({ service: old.url }),
      signedUp({ service: fresh.url }),
    ]);
    const topic = await create(oldClient, "/topics", { name: "News" });
    const optIn = { name: "Offers", defaultSubscription: "unsubscribed" };
    const offers = await create(oldClient, "/topics", optIn);
    const leaver = await create(oldClient, "/contacts", { email: "leaver@example.com" });
    await create(oldClient, "/contacts", { email: "stayer@example.com" });
    const choose = (topics: Fields[]) =>
      oldClient.call("PUT", `/contacts/${leaver}/topics`, { topics });
    expectStatus(200, await choose([{ id: offers, subscribed: true }]));
    const leaves = [topic, offers].map((id) => ({ id, subscribed: false }));
    expectStatus(200, await choose(leaves));
    // The new installation has this topic with another default.
    await create(newClient, "/topics", { name: "Offers" });
    const place = join(folder, "leaving");
    await runSuccessfully("export-all", ["--out", place, "--url", old.url], oldClient.apiKey);
    for (let run = 0; run < 2; run++)
      await runSuccessfully("import-all", ["--in", place, "--url", fresh.url], newClient.apiKey);
    const { contacts } = (await newClient.call<{ contacts: Fields[] }>("GET", "/contacts")).body
      .data;
    const states = Object.fromEntries(
      contacts.map(({ email, topics }) => [
        email,
        (topics as Fields[]).map(({ name, subscribed, left }) => ({ name, subscribed, left })),
      ]),
    );
    const left = { subscribed: false, left: true };
    expect(states).toEqual({
      "leaver@example.com": [
        { name: "Offers", ...left },
        { name: "News", ...left },
      ],
      // No contact joined the offers there, so no contact gets them here.
      "stayer@example.com": [
        { name: "Offers", ...left },
        { name: "News", subscribed: true, left: false },
      ],
    });
  });

  test("an import updates a changed template, and an active sequence arrives paused", async () => {
    const [oldClient, newClient] = await Promise.all([
      signedUp({ service: old.url }),
      signedUp({ service: fresh.url }),
    ]);
    const templateId = await create(oldClient, "/templates", {
      name: "Hello",
      subject: "One",
      text: "1",
    });
    const sequenceId = await create(oldClient, "/sequences", { name: "Drip" });
    const steps = [{ type: "delay", delayMinutes: 5 }];
    expectStatus(201, await oldClient.call("POST", `/sequences/${sequenceId}/steps`, { steps }));
    expectStatus(
      200,
      await oldClient.call("PUT", `/sequences/${sequenceId}`, { status: "active" }),
    );
    const place = join(folder, "changing");
    await runSuccessfully("export-all", ["--out", place, "--url", old.url], oldClient.apiKey);
    await runSuccessfully("import-all", ["--in", place, "--url", fresh.url], newClient.apiKey);
    const sequences = await newClient.call<{ sequences: Fields[] }>("GET", "/sequences");
    expect(sequences.body.data.sequences).toMatchObject([{ name: "Drip", status: "paused" }]);
    expectStatus(200, await oldClient.call("PUT", `/templates/${templateId}`, { subject: "Two" }));
    await runSuccessfully("export-all", ["--out", place, "--url", old.url], oldClient.apiKey);
    expect(
      await runSuccessfully("import-all", ["--in", place, "--url", fresh.url], newClient.apiKey),
    ).toContain("0 created, 1 updated");
    const templates = await newClient.call<{ templates: Fields[] }>("GET", "/templates");
    expect(templates.body.data.templates).toMatchObject([{ name: "Hello", subject: "Two" }]);
  });

  test("import-all imports CSV files of Mailchimp and listmonk", async () => {
    const newClient = await signedUp({ service: fresh.url });
    for (const name of ["mailchimp-subscribed", "mailchimp-unsubscribed", "listmonk"]) {
      const file = fileURLToPath(new URL(`../fixtures/imports/${name}.csv`, import.meta.url));
      await runSuccessfully("import-all", ["--in", file, "--url", fresh.url], newClient.apiKey);
    }
    const { contacts } = (
      await newClient.call<{ contacts: Fields[] }>("GET", "/contacts?limit=100")
    ).body.data;
    const statuses = Object.fromEntries(contacts.map(({ email, status }) => [email, status]));
    expect(statuses).toMatchObject({
      "ada@example.com": "subscribed",
      "left@example.com": "unsubscribed",
      "john@example.com": "subscribed",
      "off@example.com": "unsubscribed",
    });
  });

  test("an incomplete export, a missing key and an unknown option are errors without a stack trace", async () => {
    const empty = mkdtempSync(join(folder, "empty-"));
    writeFileSync(join(empty, "contacts.jsonl"), "");
    for (const [script, args, key, why] of [
      ["import-all", ["--in", empty], "pm_live_x", "no complete export"],
      ["import-all", ["--in", join(folder, "nowhere")], "pm_live_x", "does not exist"],
      ["export-all", ["--out", empty], "", "PENNYMAIL_API_KEY"],
      ["export-all", ["--quickly"], "pm_live_x", "Unknown option '--quickly'"],
      ["export-all", ["--out", empty, "--url", old.url], "pm_live_wrong", "401"],
    ] as const) {
      const { code, errorOutput } = await runScript(script, [...args], key);
      expect(code, errorOutput).toBe(1);
      expect(errorOutput).toContain(why);
      expect(errorOutput).not.toContain("    at ");
    }
    expect(await runScript("import-all", ["--help"])).toMatchObject({
      code: 0,
      output: expect.stringContaining("Usage:"),
    });
  });
});
