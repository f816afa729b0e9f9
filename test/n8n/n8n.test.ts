// The nodes in the engine of n8n, against a service.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildNodePackage } from "../../infra/n8n/build.ts";
import type { WebhookAnswer } from "../../shared/clients/n8n/n8n-types.ts";
import {
  expectStatus,
  signedUp,
  type TestClient,
  uniqueEmail,
  waitForMail,
} from "../support/api-client.ts";
import { type RunningTestService, startServiceProcess } from "../support/service-process.ts";
import { waitFor } from "../support/wait-for.ts";
import { type Credentials, type Engine, startEngine } from "./engine.ts";

const folder = mkdtempSync(join(tmpdir(), "n8n-"));
let [service, engine, client] = [] as unknown as [RunningTestService, Engine, TestClient];
let credentials: Credentials;
beforeAll(async () => {
  [service] = await Promise.all([
    startServiceProcess({ DEFAULT_PLAN: "enterprise" }),
    buildNodePackage(folder),
  ]);
  engine = await startEngine(folder);
  client = await signedUp({ service: service.url });
  credentials = { baseUrl: `${service.url}/`, apiKey: client.apiKey };
  const sandbox = await fetch(`${service.url}/_local/sandbox`);
  const { data } = (await sandbox.json()) as { data: { providers: { sendgrid: object } } };
  const config = { fromEmail: "hello@shop.example", ...data.providers.sendgrid };
  expectStatus(201, await client.call("POST", "/sending-configs", config));
});
afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true });
});

const run = (resource: string, operation: string, fields: object = {}, items?: object[]) =>
  engine.run(credentials, { resource, operation, ...fields }, items);

describe("the package", () => {
  test("has two nodes with icons, and one of them is a tool for agents", () => {
    expect(engine.classNames).toEqual({
      pennymail: "Pennymail",
      pennymailTrigger: "PennymailTrigger",
      pennymailApi: "PennymailApi",
    });
    const action = engine.typeOf("pennymail").description;
    const trigger = engine.typeOf("pennymailTrigger").description;
    expect(action.usableAsTool).toBe(true);
    for (const { iconUrl, codex } of [action, trigger]) {
      expect(codex).toMatchObject({ categories: ["Communication", "Marketing"] });
      expect(iconUrl).toEqual({
        light: "icons/n8n-nodes-pennymail/nodes/Pennymail/pennymail.svg",
        dark: "icons/n8n-nodes-pennymail/nodes/Pennymail/pennymail.dark.svg",
      });
    }
    const events = trigger.properties.find(({ name }) => name === "events")!.options!;
    expect(events.map(({ value }) => value)).toContain("contact.created");
  });

  test("tests credentials with a request that a key with any scopes may make", async () => {
    const call = async (apiKey: string) => {
      const { authentication, ...request } = engine.testRequest({ ...credentials, apiKey });
      const { baseURL, url, method, headers, body } = request as Record<string, string>;
      return fetch(`${baseURL}${url}`, {
        method: method!,
        headers: {
          ...(headers as unknown as object),
          ...authentication,
          "content-type": "application/json",
        },
        body: JSON.stringify(body),
      });
    };
    const key = await createKey(["tags:read"]);
    expect((await call(key)).status).toBe(200);
    expect((await call(`${key}x`)).status).toBe(401);
  });
});

async function createKey(scopes: string[]): Promise<string> {
  const created = await client.call<{ key: string }>(
    "POST",
    "/api-keys",
    { name: "limited", scopes },
    { as: "session" },
  );
  return expectStatus(201, created).body.data.key;
}

describe("the action node", () => {
  test("sends an email for each item, once for a key", async () => {
    const fields = {
      to: "={{ $json.email }}",
      additionalFields: {
        fromEmail: "hello@shop.example",
        subject: "Hello {{ name }}",
        html: "<p>From a workflow</p>",
        tags: "workflow, second",
        variables: '{"name": "Ada"}',
        trackOpens: false,
        idempotencyKey: "={{ $json.email }}",
      },
    };
    const items = [{ email: uniqueEmail() }, { email: uniqueEmail() }];
    const sent = await run("emails", "send", fields, items);
    expect(sent).toHaveLength(2);
    expect(await run("emails", "send", fields, items)).toEqual(sent);
    for (const { email } of items)
      expect(await waitForMail(email, service.url)).toMatchObject({
        subject: "Hello Ada",
      });
    const { body } = await client.call<{ sends: { tags: string[] }[] }>("GET", "/sends");
    expect(body.data.sends.map(({ tags }) => tags)).toEqual([
      ["workflow", "second"],
      ["workflow", "second"],
    ]);
  });

  test("creates, updates and deletes a contact, also with null and paths that need encoding", async () => {
    const email = `a+b/${uniqueEmail()}`;
    const created = await run("contacts", "create", {
      email,
      additionalFields: { firstName: "Ada", lastName: "L", customFields: { plan: "pro" } },
    });
    expect(created).toMatchObject([{ email, firstName: "Ada", customFields: { plan: "pro" } }]);
    const updated = await run("contacts", "update", {
      id: created[0]!.id,
      additionalFields: { firstName: "Bob", json: '{"lastName": null}' },
    });
    expect(updated).toMatchObject([{ email, firstName: "Bob", lastName: null }]);
    expect(await run("contacts", "deletePerson", { email })).toHaveLength(1);
    await expect(run("contacts", "get", { id: created[0]!.id })).rejects.toMatchObject({
      httpCode: "404",
    });
  });

  test("lists up to a limit that is larger than a page, or everything", async () => {
    for (const part of [0, 1, 2])
      await run("contacts", "upsert", {
        contacts: Array.from({ length: 80 }, (_, i) => ({
          email: `${part}-${i}@example.com`,
          tags: ["paged"],
        })),
      });
    const [{ id: tagId } = { id: 0 }] = await run("tags", "list", { returnAll: true });
    const list = async (fields: object) => {
      const contacts = await run("contacts", "list", { additionalFields: { tagId }, ...fields });
      return new Set(contacts.map(({ email }) => email)).size;
    };
    expect(await list({ limit: 3 })).toBe(3);
    expect(await list({ limit: 120 })).toBe(120);
    expect(await list({ returnAll: true })).toBe(240);
    expect(await run("segments", "list", { limit: 50 })).toEqual([]);
  });

  test("names what is wrong", async () => {
    await expect(run("contacts", "create", { email: "nobody" })).rejects.toMatchObject({
      httpCode: "400",
      message: "email: must be one valid email address",
    });
    const variables = { to: "ada@example.com", additionalFields: { variables: "{" } };
    await expect(run("emails", "send", variables)).rejects.toThrow("variables must be JSON");
    for (const id of ["", "..", undefined])
      await expect(run("contacts", "get", { id })).rejects.toThrow(/id/);
    expect(await client.call("GET", "/contacts")).toMatchObject({ status: 200 });
  });
});

describe("the trigger node", () => {
  let server: Server;
  let trigger: ReturnType<Engine["openTrigger"]>;
  const answers: WebhookAnswer[] = [];
  const requests: { url: string; headers: Record<string, string>; body: Buffer }[] = [];
  beforeAll(async () => {
    // The server of n8n reads the body when a node asks for it.
    server = createServer(async (request, response) => {
      const body = await buffer(request);
      const headers = request.headers as Record<string, string>;
      requests.push({ url: request.url!, headers, body });
      const readRawBody = async () => Object.assign(withBody, { rawBody: body });
      const withBody = { headers, readRawBody };
      const answer = await trigger.receive(withBody, {
        status: (code: number) => ({ send: (text: string) => response.writeHead(code).end(text) }),
      });
      answers.push(answer);
      if (!answer.noWebhookResponse) response.writeHead(200).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => server?.close());
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
  const endpoints = async () =>
    (
      await client.call<{ webhooks: { id: number; url: string; events: string[] }[] }>(
        "GET",
        "/webhooks",
      )
    ).body.data.webhooks;
  const openTrigger = () =>
    engine.openTrigger(credentials, { events: ["contact.created"] }, origin());

  test("creates an endpoint, starts workflows with its signed events only, and deletes it", async () => {
    trigger = openTrigger();
    expect(await trigger.checkExists()).toBe(false);
    expect(await trigger.create()).toBe(true);
    expect(await trigger.checkExists()).toBe(true);
    expect(await endpoints()).toMatchObject([{ events: ["contact.created"] }]);

    const email = uniqueEmail();
    await run("contacts", "create", { email });
    await waitFor(() => expect(answers).not.toEqual([]));
    const [{ url, headers, body }] = requests as [(typeof requests)[0]];
    const started = { event: "contact.created", email, webhookId: headers["webhook-id"] };
    expect(answers[0]).toMatchObject({ workflowData: [[{ json: started }]] });

    const send = async (changes: Record<string, string>, text: string | Buffer = body) => {
      const signed = Object.entries({ ...headers, ...changes }).filter(([name]) =>
        /^(x-)?webhook-|^content-type/.test(name),
      );
      const response = await fetch(new URL(url, origin()), {
        method: "POST",
        headers: Object.fromEntries(signed),
        body: new Uint8Array(Buffer.from(text)),
      });
      return response.status;
    };
    expect(await send({})).toBe(200);
    expect(await send({}, `${body} `)).toBe(401);
    expect(await send({ "webhook-id": "other" })).toBe(401);
    const old = String(Number(headers["webhook-timestamp"]) - 301);
    expect(await send({ "webhook-timestamp": old })).toBe(401);
    expect(answers.filter(({ workflowData }) => workflowData)).toHaveLength(2);

    expect(await trigger.remove()).toBe(true);
    expect(await endpoints()).toEqual([]);
    expect(await send({})).toBe(401);
    expect(await trigger.remove()).toBe(true);
  });

  test("takes over its endpoint if n8n stopped before it stored the secret", async () => {
    expect(await openTrigger().create()).toBe(true);
    trigger = openTrigger();
    expect(await trigger.create()).toBe(true);
    expect(await endpoints()).toHaveLength(1);
    const before = answers.length;
    await run("contacts", "create", { email: uniqueEmail() });
    await waitFor(() => expect(answers.length).toBeGreaterThan(before));
    expect(answers.at(-1)).toHaveProperty("workflowData");
    await trigger.remove();
    expect(await trigger.checkExists()).toBe(false);
  });
});
