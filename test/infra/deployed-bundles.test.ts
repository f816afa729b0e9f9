// The bundles that are deployed do the same as their source, with only the settings and permissions
// of the stack.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";
import { type DeployedBundles, startDeployedBundles } from "../support/deployed-bundles.ts";
import { createAccount, listMailTo } from "../support/provider-sandbox.ts";
import type {} from "../support/setup/bundles.ts";
import {
  logicalIdOf,
  referenceText,
  type SynthesizedStack,
  synthesizeStack,
} from "../support/synthesized-stack.ts";

const dist = inject("dist");
let service: SynthesizedStack;
let stage: DeployedBundles;
let client: TestClient;
beforeAll(async () => {
  service = synthesizeStack(dist);
  stage = await startDeployedBundles(dist, service);
  client = await signedUp({ service: stage.url });
});
afterAll(() => stage?.stop());

const from = "me@shop.example";

test("sign up, store credentials, and send single and bulk mail", async () => {
  const { call } = client;
  const { credentials } = (await createAccount(stage.sandbox)).postmark!;
  expectStatus(
    201,
    await call("POST", "/sending-configs", {
      provider: "postmark",
      credentials,
      fromEmail: from,
      fromName: "Me",
    }),
  );
  const html = `<p>Hello {{ name }}</p>${"<p>news</p>".repeat(10)}`;
  const template = expectStatus(
    201,
    await call<{ id: number }>("POST", "/templates", { name: "T", subject: "Hi {{ name }}", html }),
  ).body.data;
  const single = expectStatus(
    202,
    await call<{ id: number }>("POST", "/send", {
      to: "ann@example.com",
      fromEmail: from,
      subject: "One",
      html,
    }),
  ).body.data;
  const recipients = ["bob", "cid"].map((name) => ({
    to: `${name}@example.com`,
    variables: { name },
  }));
  expectStatus(
    202,
    await call("POST", "/send/batch", { fromEmail: from, templateId: template.id, recipients }),
  );
  await stage.work();
  await stage.runSchedule("drain-due-work");
  await stage.work();
  expect(await listMailTo(stage.sandbox, "ann@example.com")).toMatchObject([
    { subject: "One", text: expect.stringContaining("Hello") },
  ]);
  expect(await listMailTo(stage.sandbox, "bob@example.com")).toMatchObject([
    { subject: "Hi bob", text: expect.stringContaining("Hello bob") },
  ]);
  expect(expectStatus(200, await call("GET", `/sends/${single.id}`)).body.data).toMatchObject({
    status: "sent",
  });
});

test("receive provider events and forward them to the customer's endpoint", async () => {
  const { call } = client;
  const received: string[] = [];
  const endpoint = createServer((request, response) => {
    request.on("data", (part) => received.push(String(part))).on("end", () => response.end());
  });
  await new Promise<void>((listening) => endpoint.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/hook`;
  expectStatus(201, await call("POST", "/webhooks", { url, events: ["delivered"] }));
  const { credentials, webhookSecret } = (await createAccount(stage.sandbox)).postmark!;
  const config = {
    provider: "postmark",
    credentials,
    webhookSecret,
    fromEmail: "you@shop.example",
  };
  const { text } = expectStatus(201, await call("POST", "/sending-configs", config));
  const requestBody = Buffer.from(JSON.stringify(config));
  stage.sandbox.observeApiCall({
    method: "POST",
    path: "/api/v1/sending-configs",
    requestBody,
    responseBody: text,
  });
  const mail = {
    to: "delivered@simulator.pennymail.test",
    fromEmail: config.fromEmail,
    subject: "D",
    html: "<p>d</p>",
  };
  const { id } = expectStatus(202, await call<{ id: number }>("POST", "/send", mail)).body.data;
  await stage.work();
  await stage.sandbox.flushWebhooks();
  await stage.work();
  endpoint.close();
  expect(expectStatus(200, await call("GET", `/sends/${id}`)).body.data).toMatchObject({
    status: "delivered",
    events: [{ type: "delivered" }],
  });
  expect(received.map((body) => JSON.parse(body))).toMatchObject([{ event: "delivered" }]);
});

test("store large bodies and uploads in the bucket", async () => {
  const { call } = client;
  const large = Array.from(
    { length: 30_000 },
    (_, i) => `<p>${(i * 2654435761).toString(36)}</p>`,
  ).join("");
  const template = expectStatus(
    201,
    await call<{ id: number }>("POST", "/templates", { name: "Large", subject: "L", html: large }),
  ).body.data;
  expect(
    expectStatus(200, await call<{ html: string }>("GET", `/templates/${template.id}`)).body.data
      .html,
  ).toBe(large);
  expect(stage.calls).toContainEqual({
    bundle: "http/templates",
    action: "s3:PutObject",
    resource: "",
  });
});

test("serve agents: the MCP server calls the API and seals approvals", async () => {
  const callTool = async (operation: string, args: object, approvalToken?: string) => {
    const params = { name: "change", arguments: { operation, arguments: args, approvalToken } };
    const response = await fetch(`${stage.url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${client.apiKey}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    });
    const { result } = (await response.json()) as { result: { content: { text: string }[] } };
    return JSON.parse(result.content[0]!.text);
  };
  const recipients = Array.from({ length: 11 }, (_, i) => ({ to: `agent-${i}@example.com` }));
  const batch = { body: { fromEmail: from, subject: "S", html: "<p>Hello</p>", recipients } };
  const { preview, approvalToken } = await callTool("sendEmailBatch", batch);
  expect(preview).toMatchObject({ recipients: 11, wouldReceive: 11 });
  const sent = await callTool("sendEmailBatch", batch, approvalToken);
  expect(sent.data).toMatchObject({ accepted: 11 });
});

test("recognize failed conditions, although SDK error classes are left out of the bundles", async () => {
  const again = await client.call(
    "POST",
    "/auth/signup",
    { email: client.email, password: client.password },
    { as: "anonymous" },
  );
  expect(again).toMatchObject({ status: 409, body: { code: "email_taken" } });
});

test("no function makes a call that its role forbids", () => {
  const functions = service.functions();
  const queueOf = (bundle: string, name: string) =>
    logicalIdOf(
      functions.get(bundle)!.Properties.Environment.Variables[
        `QUEUE_URL_${name.toUpperCase().replaceAll("-", "_")}`
      ],
    );
  const distinct = new Map(stage.calls.map((call) => [JSON.stringify(call), call]));
  expect(distinct.size).toBeGreaterThan(20);
  for (const call of distinct.values()) {
    const { bundle, action, resource: on } = call;
    expect(functions.has(bundle), JSON.stringify(call)).toBe(true);
    const resources = service
      .permissionsOf(bundle)
      .flatMap(({ actions, resources }) => (actions.includes(action) ? resources : []));
    const needed = action.startsWith("sqs:") ? `${queueOf(bundle, on)}.Arn` : on;
    expect(
      resources.some(
        (resource) =>
          referenceText(resource).endsWith(needed) && (on !== "" || !resource.includes("/index/")),
      ),
      JSON.stringify(call),
    ).toBe(true);
  }
});
