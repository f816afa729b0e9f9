// The SDK against a service, as a customer installs it.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client } from "../../shared/clients/sdk/client.ts";
import { epochSeconds, now } from "../../shared/clock.ts";
import { signatureHeaders } from "../../shared/domain/webhooks/signature-headers.ts";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";
import { everything } from "../support/extent.ts";
import { startLossyProxy } from "../support/lossy-proxy.ts";
import { createSdkProject, type SdkProject } from "../support/sdk-project.ts";
import { randomOfTest } from "../support/seeded-random.ts";
import { type RunningTestService, startServiceProcess } from "../support/service-process.ts";

const run = promisify(execFile);
let [service, project, client] = [] as unknown as [RunningTestService, SdkProject, TestClient];
beforeAll(async () => {
  [service, project] = await Promise.all([
    startServiceProcess({ DEFAULT_PLAN: "enterprise" }),
    createSdkProject(),
  ]);
  client = await signedUp({ service: service.url });
  const sandbox = await fetch(`${service.url}/_local/sandbox`);
  const { data } = (await sandbox.json()) as {
    data: { providers: Record<string, { credentials: object; webhookSecret: string }> };
  };
  const config = { fromEmail: "hello@shop.example", ...data.providers.sendgrid };
  expectStatus(201, await client.call("POST", "/sending-configs", config));
});
afterAll(async () => {
  await service?.stop();
  project?.remove();
});

const guide = readFileSync(new URL("../../shared/http/guides/sdk.md", import.meta.url), "utf8");
const program = [...guide.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code).join("\n");

describe("the guide of the SDK", () => {
  test("has a program that compiles strictly and runs", async () => {
    writeFileSync(join(project.folder, "guide.ts"), program);
    await project.compile();
    const secret = "f00d".repeat(16);
    const body = JSON.stringify({
      event: "bounce",
      sendId: 7,
      contactId: null,
      email: "bob@example.com",
      timestamp: now().toISOString(),
    });
    const signed = { id: "msg_1", timestamp: epochSeconds(), body };
    const headers = JSON.stringify(signatureHeaders([secret], signed));
    writeFileSync(
      join(project.folder, "main.ts"),
      `import { handleWebhook, traced } from "./guide.ts";
const [body, headers] = [${JSON.stringify(body)}, ${headers}];
const request = new Request("https://shop.example/hook", { method: "POST", body, headers });
console.log((await handleWebhook(request)).status);
await traced.sites.list();`,
    );
    const env = {
      PATH: process.env.PATH,
      PENNYMAIL_URL: service.url,
      PENNYMAIL_API_KEY: client.apiKey,
      PENNYMAIL_WEBHOOK_SECRET: secret,
    };
    const { stdout } = await run(process.execPath, ["main.ts"], { cwd: project.folder, env });
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^Hello Ada (queued|sending|sent|delivered)$/);
    expect(lines[1]).toMatch(/^409 [\w-]+ \[\]$/);
    expect(lines[2]).toBe("bob@example.com 7");
    expect(lines[3]).toBe("200");
    expect(lines[4]).toMatch(/^sites\.list 1 200 \d+$/);
  });
});

const sendCount = everything ? 1000 : 250;
test(`${sendCount} sends over a line that loses a third of the calls are made once each`, async () => {
  const proxy = await startLossyProxy(service.url, randomOfTest("lossy proxy"));
  const operations = {
    emails: { send: "POST /send bks" },
    sends: { list: "GET /sends qsc sends" },
  };
  const { emails, sends } = new Client(operations, {
    baseUrl: proxy.url,
    apiKey: client.apiKey,
    // A rate limit asks for up to a minute, which is no part of this test.
    maxRetries: 30,
  }) as unknown as {
    emails: { send(input: object): Promise<{ id: number }> };
    sends: { list(query: object): AsyncIterable<{ id: number; toEmail: string }> };
  };
  const recipients = Array.from({ length: sendCount }, (_, n) => `person-${n}@example.net`);
  const waiting = [...recipients];
  const ids = new Map<number, string>();
  const sender = async () => {
    for (let to = waiting.pop(); to; to = waiting.pop()) {
      const email = { to, fromEmail: "hello@shop.example", subject: "Hi", html: "<p>Hi</p>" };
      ids.set((await emails.send(email)).id, to);
    }
  };
  await Promise.all(Array.from({ length: 64 }, sender));
  const found = new Map<number, string>();
  for await (const { id, toEmail } of sends.list({ limit: 100 }))
    if (toEmail.startsWith("person-")) found.set(id, toEmail);
  proxy.close();

  expect(proxy.lost.requests).toBeGreaterThan(sendCount / 20);
  expect(proxy.lost.responses).toBeGreaterThan(sendCount / 10);
  expect([...ids.values()].toSorted()).toEqual(recipients.toSorted());
  expect([...found].toSorted()).toEqual([...ids].toSorted());
});
