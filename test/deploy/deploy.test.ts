// Deploys a fresh clone to an emulator of AWS, uses the stage, deploys again and destroys it. The
// tests run in order.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";
import { type CustomerEndpoint, startCustomerEndpoint } from "../support/customer-endpoint.ts";
import {
  createAccount,
  type InboxEntry,
  listMailTo,
  type ProviderKeys,
} from "../support/provider-sandbox.ts";
import { specificationFiles } from "./specification.ts";
import { errorLines, functionsOf, openStage, type Stage } from "./stage.ts";

let stage: Stage;
let outputs: Record<string, string>;
let service: string;
let client: TestClient;
let receiver: CustomerEndpoint;
/** Sending config ids of the client, by provider. */
const configs: Record<string, number> = {};

beforeAll(async () => {
  receiver = await startCustomerEndpoint();
  stage = await openStage();
  await stage.run("bootstrap", ["npx", "cdk", "bootstrap"]);
  outputs = await stage.deploy("deploy");
  service = new URL(outputs.BaseUrl!).origin;
}, 600_000);

afterAll(async () => {
  receiver?.close();
  await stage?.stop();
}, 30_000);

/** Repeats `ask` until `check` does not throw. After the time limit, its last error is thrown. */
async function eventually<T>(
  ask: () => Promise<T>,
  check: (answer: T) => void,
  seconds = 60,
): Promise<T> {
  for (let left = seconds * 4; ; left--) {
    const answer = await ask();
    try {
      check(answer);
      return answer;
    } catch (error) {
      if (left === 0) throw error;
      await sleep(250);
    }
  }
}

const create = async (path: string, body: object, status = 201): Promise<number> =>
  expectStatus(status, await client.call<{ id: number }>("POST", path, body)).body.data.id;
const read = async <T>(path: string) =>
  expectStatus(200, await client.call<T>("GET", path)).body.data;
const arrived = (email: string, seconds = 60): Promise<InboxEntry[]> =>
  eventually(
    () => listMailTo(stage.sandbox, email),
    (mails) => expect(mails, email).toHaveLength(1),
    seconds,
  );

describe("the deployed stage", () => {
  test("gives every function the origins of all providers", async () => {
    const functions = await functionsOf(stage);
    const ownFunctions = functions.filter(({ Description }) =>
      /: (http|queue|schedule)\//.test(Description),
    );
    expect(ownFunctions.length).toBeGreaterThan(30);
    const expectedOrigins = Object.entries(stage.sandbox.originByProvider).map(([key, url]) => [
      `PROVIDER_URL_${key.toUpperCase()}`,
      url,
    ]);
    // Those of bounce mailboxes and Postmaster Tools come on top of the eleven providers.
    expect(expectedOrigins).toHaveLength(13);
    for (const { Environment } of ownFunctions)
      expect(Environment.Variables).toMatchObject(Object.fromEntries(expectedOrigins));
  });

  test("serves pages, HEAD requests, 404 and 405 through the gateway", async () => {
    const statusOf = async (method: string, path: string) =>
      (await fetch(`${service}${path}`, { method, redirect: "manual" })).status;
    expect(await statusOf("GET", "/")).toBe(200);
    expect(await statusOf("GET", "/api/v1/docs")).toBe(200);
    const console = await (await fetch(`${service}/app/contacts`)).text();
    const [script = ""] = /\/app\/assets\/console-\w+\.js/.exec(console) ?? [];
    expect(await statusOf("GET", script)).toBe(200);
    expect(await statusOf("HEAD", "/api/v1/openapi.json")).toBe(200);
    expect(await statusOf("HEAD", "/api/v1/sites")).toBe(401);
    expect(await statusOf("GET", "/api/v1/no-such-thing")).toBe(404);
    expect(await statusOf("GET", "/no/such/page")).toBe(404);
    expect(await statusOf("GET", "/api/v1/campaigns/1/no-such-thing")).toBe(404);
    const refused = await fetch(`${service}/api/v1/send`, { method: "DELETE" });
    expect([refused.status, refused.headers.get("allow")]).toEqual([
      405,
      expect.stringContaining("POST"),
    ]);
    // Preflights (OPTIONS) are not tested, because the emulator responds to them itself.
  });

  test("a user signs up, gets a key, a site and a sending config at each of the ten providers", async () => {
    client = await signedUp({ service });
    const keys: Record<string, ProviderKeys> = await createAccount(stage.sandbox);
    for (const [provider, { credentials, webhookSecret }] of Object.entries(keys)) {
      const body = { provider, credentials, webhookSecret, fromEmail: `${provider}@shop.example` };
      const answer = expectStatus(
        201,
        await client.call<{ id: number }>("POST", "/sending-configs", body),
      );
      configs[provider] = answer.body.data.id;
      const path = "/api/v1/sending-configs";
      stage.sandbox.observeApiCall({
        method: "POST",
        path,
        requestBody: body,
        responseBody: answer.text,
      });
    }
    expect(Object.keys(configs)).toHaveLength(11);
    const events = ["delivered", "open", "click"];
    await create("/webhooks", { url: receiver.url, events });
  });
});

interface Send {
  status: string;
  error: string | null;
  events: { type: string }[];
}

describe("mail", () => {
  const scheduled = "scheduled@example.com";
  const waiting = "waiting@example.com";

  test("scheduled mail and a step after a delay are accepted", async () => {
    const content = { sendingConfigId: configs.resend, subject: "Later", html: "<p>Later</p>" };
    const at = new Date(Date.now() + 20_000).toISOString();
    const answer = expectStatus(
      202,
      await client.call<Send>("POST", "/send", { ...content, to: scheduled, scheduledAt: at }),
    );
    expect(answer.body.data.status).toBe("scheduled");
    const sequence = await create("/sequences", {
      name: "Welcome",
      sendingConfigId: configs.postmark,
      triggerType: "manual",
    });
    const templateId = await create("/templates", {
      name: "W",
      subject: "Welcome",
      html: "<p>Hi</p>",
    });
    for (const step of [
      { type: "delay", delayMinutes: 1 },
      { type: "email", templateId },
    ])
      expectStatus(201, await client.call("POST", `/sequences/${sequence}/steps`, step));
    expectStatus(200, await client.call("PUT", `/sequences/${sequence}`, { status: "active" }));
    const contactId = await create("/contacts", { email: waiting });
    const enrolled = await client.call<{ enrolled: number }>(
      "POST",
      `/sequences/${sequence}/enroll`,
      { contactIds: [contactId] },
    );
    expect(enrolled.body.data.enrolled, enrolled.text).toBe(1);
  });

  test("goes out through each provider, and the webhooks of ten reach the stage", async () => {
    const link = '<p><a href="https://shop.example/x">shop</a></p>';
    const ids: number[] = [];
    // One provider after the other, because each concurrent webhook starts a process in the
    // emulator.
    const { smtp, ...withWebhooks } = configs;
    const overSmtp = { to: "smtp@example.com", subject: "By SMTP", html: link };
    await create("/send", { ...overSmtp, sendingConfigId: smtp }, 202);
    await arrived("smtp@example.com");
    for (const [provider, sendingConfigId] of Object.entries(withWebhooks)) {
      const to = `clicked+${provider}@simulator.pennymail.test`;
      const body = {
        to,
        sendingConfigId,
        subject: `By ${provider}`,
        html: link,
        trackOpens: true,
        trackClicks: true,
      };
      const id = await create("/send", body, 202);
      ids.push(id);
      const finishedSend = await eventually(
        async () => {
          await stage.sandbox.flushWebhooks();
          return read<Send>(`/sends/${id}`);
        },
        ({ events }) =>
          expect([provider, ...events.map(({ type }) => type)]).toContain("delivered"),
      );
      expect([provider, finishedSend.status, finishedSend.error]).toEqual([
        provider,
        "delivered",
        null,
      ]);
    }
    await eventually(
      async () => new Set(receiver.deliveries.map(({ event }) => event.sendId)),
      (received) => expect(ids.filter((id) => !received.has(id))).toEqual([]),
    );
  }, 180_000);

  test("of a batch reaches each recipient", async () => {
    const recipients = Array.from({ length: 50 }, (_, n) => ({ to: `batch-${n}@example.com` }));
    const body = {
      sendingConfigId: configs.sendgrid,
      subject: "Batch",
      html: "<p>Hi</p>",
      recipients,
    };
    expectStatus(202, await client.call("POST", "/send/batch", body));
    for (const { to } of recipients) await arrived(to);
  });

  test("of a campaign reaches each contact of the list, and the campaign ends", async () => {
    const listId = await create("/lists", { name: "News" });
    const emails = Array.from({ length: 60 }, (_, n) => `campaign-${n}@example.com`);
    const contacts = emails.map((email) => ({ email, lists: [listId] }));
    expectStatus(200, await client.call("POST", "/contacts/bulk", { contacts }));
    const templateId = await create("/templates", {
      name: "N",
      subject: "News",
      html: "<p>News</p>",
    });
    const given = { name: "Spring", templateId, listId, sendingConfigId: configs.sendgrid };
    const id = await create("/campaigns", given);
    const started = await client.call("POST", `/campaigns/${id}/send`, {});
    expect(started.status, started.text).toBeLessThan(300);
    for (const email of emails) await arrived(email);
    await eventually(
      () => read<{ status: string; stats: { recipients: number } }>(`/campaigns/${id}`),
      (campaign) => expect(campaign).toMatchObject({ status: "sent", stats: { recipients: 60 } }),
    );
  });

  test("of a secure message links to a page whose button shows the message", async () => {
    const to = "secret@example.com";
    const secret = "the code is 4711";
    const body = {
      to,
      sendingConfigId: configs.postmark,
      subject: "Papers",
      html: `<p>${secret}</p>`,
      secure: true,
    };
    await create("/send", body, 202);
    const [mail] = await arrived(to);
    const [, path] = /(\/secure\/[\w-]+)/.exec(mail!.text!) ?? [];
    expect(await (await fetch(`${service}${path}`)).text()).not.toContain(secret);
    const shown = await fetch(`${service}${path}`, { method: "POST", body: new URLSearchParams() });
    expect(await shown.text()).toContain(secret);
  });

  test("contacts are imported from an uploaded file, and exported to one", async () => {
    interface Work {
      id: number;
      status: string;
      created: number;
      rows: number;
      downloadUrl: string;
    }
    const csv = "email,firstName\nann@import.example,Ann\nbob@import.example,Bob\n";
    const uploadRequest = {
      filename: "p.csv",
      type: "text/csv",
      size: csv.length,
      purpose: "import",
    };
    const answer = await client.call<{ uploadId: string; uploadUrl: string }>(
      "POST",
      "/attachments",
      uploadRequest,
    );
    const { uploadId, uploadUrl } = expectStatus(201, answer).body.data;
    const upload = (body: string) =>
      fetch(uploadUrl, { method: "PUT", body, headers: { "content-type": "text/csv" } });
    expect((await upload(csv)).status).toBe(200);
    const importId = await create("/imports/upload", { uploadId }, 202);
    const isOver = ({ status }: Work) => expect(status).toBe("completed");
    expect(await eventually(() => read<Work>(`/imports/${importId}`), isOver)).toMatchObject({
      created: 2,
    });
    const exportId = await create(
      "/exports",
      { type: "contacts", format: "json", search: "import.example" },
      202,
    );
    const done = await eventually(() => read<Work>(`/exports/${exportId}`), isOver);
    expect(done.rows).toBe(2);
    expect(await (await fetch(done.downloadUrl)).text()).toContain("ann@import.example");
  });

  test("a second deploy replaces the one function that changed, and keeps all data", async () => {
    const codeOf = async () =>
      new Map(
        (await functionsOf(stage)).map(({ Description, CodeSha256 }) => [Description, CodeSha256]),
      );
    const before = await codeOf();
    appendFileSync(join(stage.tree, "functions/http/sites.ts"), "export const changed = true;\n");
    await stage.deploy("second-deploy");
    const changed = [...(await codeOf())].filter(([name, code]) => before.get(name) !== code);
    expect(changed.map(([name]) => name).filter((name) => name.startsWith("Pennymail"))).toEqual([
      "Pennymail dev: http/sites",
    ]);
    await read(`/sites/${client.siteId}`);
    expect(await read<{ id: number }>(`/sending-configs/${configs.ses}`)).toMatchObject({
      id: configs.ses,
    });
  }, 300_000);

  test("EventBridge schedules send the scheduled mail and the step after its delay", async () => {
    await arrived(scheduled, 130);
    await arrived(waiting, 130);
  }, 280_000);
});

// Runs with `DEPLOY_SPECIFICATION=1 npm run test:deploy`, because it takes several minutes.
test.runIf(process.env.DEPLOY_SPECIFICATION)(
  "the stage passes the tests of test/http",
  async () => {
    const preload = join(import.meta.dirname, "route-local-pages.ts");
    const env = {
      BASE_URL: service,
      LOCAL_PAGES: stage.localPages,
      NODE_OPTIONS: `--import=${preload}`,
    };
    const command = ["vitest", "run", "--project", "http", ...specificationFiles()];
    const output = await stage.run("specification", command, env);
    expect(output).toMatch(/^\d+ passed, 0 failed/m);
  },
  200_000,
);

describe("in the end", () => {
  test("every queue and dead-letter queue is empty", async () => {
    await eventually(
      async () => {
        await stage.sandbox.flushWebhooks();
        return Object.entries(await stage.queued()).filter(([, messages]) => messages > 0);
      },
      (left) => expect(left).toEqual([]),
    );
  });

  test("no function has logged an error", async () => {
    expect(await errorLines(stage)).toEqual([]);
  });

  test("npm run destroy keeps only the table, the bucket and the key of a protected stage", async () => {
    const output = await stage.run("destroy", ["npm", "run", "destroy", "--", "--yes"]);
    for (const name of [outputs.TableName, outputs.BucketName, outputs.KeyArn])
      expect(output).toContain(name);
    expect(await functionsOf(stage)).toEqual([]);
    expect(await stage.queued()).toEqual({});
    const names = { TableName: outputs.TableName, KeyId: outputs.KeyArn };
    const table = await stage.aws<{ Table: { ItemCount: number } }>({
      service: "dynamodb",
      target: "DynamoDB_20120810.DescribeTable",
      body: { TableName: names.TableName },
    });
    expect(table.Table.ItemCount).toBeGreaterThan(0);
    const key = await stage.aws<{ KeyMetadata: { Enabled: boolean } }>({
      service: "kms",
      target: "TrentService.DescribeKey",
      body: { KeyId: names.KeyId },
    });
    expect(key.KeyMetadata.Enabled).toBe(true);
    await stage.aws({ service: "s3", method: "HEAD", path: `/${outputs.BucketName}` });
  });
});
