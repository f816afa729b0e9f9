// The main job on the bundles themselves: what is deployed does what its source does, with no more settings and rights than it is given.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type {} from "../support/built.ts";
import { type Client, must, signedUp } from "../support/client.ts";
import { type Deployed, deployed } from "../support/deployed.ts";
import { account, mailTo } from "../support/sandbox.ts";
import { asText, idIn, type Service, synthesized } from "../support/template.ts";

const dist = inject("dist");
let service: Service;
let stage: Deployed;
let client: Client;
beforeAll(async () => {
  service = synthesized(dist);
  stage = await deployed(dist, service);
  client = await signedUp({ service: stage.url });
});
afterAll(() => stage?.stop());

const from = "me@shop.example";

test("the bundles sign up, take credentials, and send singly and in bulk", async () => {
  const { call } = client;
  const { credentials } = (await account(stage.sandbox)).postmark!;
  must(201, await call("POST", "/sending-configs", { provider: "postmark", credentials, fromEmail: from, fromName: "Me" }));
  const html = `<p>Hello {{ name }}</p>${"<p>news</p>".repeat(10)}`;
  const template = must(201, await call<{ id: number }>("POST", "/templates", { name: "T", subject: "Hi {{ name }}", html })).body.data;
  const single = must(202, await call<{ id: number }>("POST", "/send", { to: "ann@example.com", fromEmail: from, subject: "One", html }))
    .body.data;
  const recipients = ["bob", "cid"].map((name) => ({ to: `${name}@example.com`, variables: { name } }));
  must(202, await call("POST", "/send/batch", { fromEmail: from, templateId: template.id, recipients }));
  await stage.work();
  await stage.tick("drain-due-work");
  await stage.work();
  expect(await mailTo(stage.sandbox, "ann@example.com")).toMatchObject([{ subject: "One", text: expect.stringContaining("Hello") }]);
  expect(await mailTo(stage.sandbox, "bob@example.com")).toMatchObject([{ subject: "Hi bob", text: expect.stringContaining("Hello bob") }]);
  expect(must(200, await call("GET", `/sends/${single.id}`)).body.data).toMatchObject({ status: "sent" });
});

test("the bundles take what the provider tells of a mail, and pass it on to the customer's endpoint", async () => {
  const { call } = client;
  const told: string[] = [];
  const endpoint = createServer((request, response) => {
    request.on("data", (part) => told.push(String(part))).on("end", () => response.end());
  });
  await new Promise<void>((listening) => endpoint.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/hook`;
  must(201, await call("POST", "/webhooks", { url, events: ["delivered"] }));
  const { credentials, webhookSecret } = (await account(stage.sandbox)).postmark!;
  const config = { provider: "postmark", credentials, webhookSecret, fromEmail: "you@shop.example" };
  const { text } = must(201, await call("POST", "/sending-configs", config));
  const requestBody = Buffer.from(JSON.stringify(config));
  stage.sandbox.observe({ method: "POST", path: "/api/v1/sending-configs", requestBody, responseBody: text });
  const mail = { to: "delivered@simulator.pennymail.test", fromEmail: config.fromEmail, subject: "D", html: "<p>d</p>" };
  const { id } = must(202, await call<{ id: number }>("POST", "/send", mail)).body.data;
  await stage.work();
  await stage.sandbox.settle();
  await stage.work();
  endpoint.close();
  expect(must(200, await call("GET", `/sends/${id}`)).body.data).toMatchObject({ status: "delivered", events: [{ type: "delivered" }] });
  expect(told.map((body) => JSON.parse(body))).toMatchObject([{ event: "delivered" }]);
});

test("the bundles keep large bodies and uploads in the bucket", async () => {
  const { call } = client;
  const large = Array.from({ length: 30_000 }, (_, i) => `<p>${(i * 2654435761).toString(36)}</p>`).join("");
  const template = must(201, await call<{ id: number }>("POST", "/templates", { name: "Large", subject: "L", html: large })).body.data;
  expect(must(200, await call<{ html: string }>("GET", `/templates/${template.id}`)).body.data.html).toBe(large);
  expect(stage.calls).toContainEqual({ bundle: "http/templates", action: "s3:PutObject", on: "" });
});

test("a wrong condition is told as itself, though errors of the SDK were left out of the bundles", async () => {
  const again = await client.call("POST", "/auth/signup", { email: client.email, password: client.password }, { as: "nobody" });
  expect(again).toMatchObject({ status: 409, body: { code: "email_taken" } });
});

test("no function made a call that its role forbids", () => {
  const functions = service.functions();
  const queueOf = (bundle: string, name: string) =>
    idIn(functions.get(bundle)!.Properties.Environment.Variables[`QUEUE_URL_${name.toUpperCase().replaceAll("-", "_")}`]);
  const distinct = new Map(stage.calls.map((call) => [JSON.stringify(call), call]));
  expect(distinct.size).toBeGreaterThan(20);
  for (const call of distinct.values()) {
    const { bundle, action, on } = call;
    expect(functions.has(bundle), JSON.stringify(call)).toBe(true);
    const resources = service.rightsOf(bundle).flatMap(({ actions, resources }) => (actions.includes(action) ? resources : []));
    const needed = action.startsWith("sqs:") ? `${queueOf(bundle, on)}.Arn` : on;
    expect(
      resources.some((resource) => asText(resource).endsWith(needed) && (on !== "" || !resource.includes("/index/"))),
      JSON.stringify(call),
    ).toBe(true);
  }
});
