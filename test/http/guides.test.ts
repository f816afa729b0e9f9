// The code of the guides works, as the API reference of a service with the sandbox shows it.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectStatus, signedUp, type TestClient, waitForMail } from "../support/api-client.ts";
import { type GuideBlock, readBlocks, runCommands, saveFiles } from "../support/guides.ts";
import { createSdkProject, type SdkProject } from "../support/sdk-project.ts";
import { type RunningTestService, startServiceProcess } from "../support/service-process.ts";
import { type ReceivedWebhook, startWebhookReceiver } from "../support/webhook-receiver.ts";

const hasPython = spawnSync("python3", ["-c", "import requests"]).status === 0;
const hasShell = spawnSync("bash", ["-c", "curl --version"]).status === 0;

let [service, project, guides] = [] as unknown as [RunningTestService, SdkProject, string];
beforeAll(async () => {
  [service, project] = await Promise.all([
    startServiceProcess({ DEFAULT_PLAN: "enterprise", SIGNUP: "open" }),
    createSdkProject(),
  ]);
  const response = await fetch(`${service.url}/api/v1/openapi.json`);
  guides = ((await response.json()) as { info: { description: string } }).info.description;
});
afterAll(async () => {
  await service?.stop();
  project?.remove();
});

interface Reader {
  client: TestClient;
  env: Record<string, string>;
}

/** A reader with what the guides ask for: an API key, a site, and a sending config. */
async function createReader(): Promise<Reader> {
  const client = await signedUp({ service: service.url });
  const { data } = (await (await fetch(`${service.url}/_local/sandbox`)).json()) as {
    data: { providers: { sendgrid: object } };
  };
  const config = { fromEmail: "hello@shop.example", ...data.providers.sendgrid };
  expectStatus(201, await client.call("POST", "/sending-configs", config));
  return { client, env: { PENNYMAIL_URL: service.url, PENNYMAIL_API_KEY: client.apiKey } };
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
  return { blocks, folder };
}

const runFile = ([command, file]: [string, string], folder: string, env: Record<string, string>) =>
  execFileSync(command, [file], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
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
    const [created] = await runCommands(blocks, { folder, env: {} });
    expect(created).toContain('"webhookSecretSet":true');
    expect(await waitForMail("ada@example.com", service.url)).toMatchObject({
      subject: "Hello Ada",
      html: "<p>Hello Ada</p>",
    });
    const { env } = await createReader();
    expect(runFile([process.execPath, "first-send.mjs"], folder, env)).toMatch(/^\d+\n$/);
  });

  test.skipIf(!hasPython)("First send sends with Python", async () => {
    const { folder } = openGuide("First send", { "ada@example.com": "grace@example.com" });
    const { env } = await createReader();
    expect(runFile(["python3", "first_send.py"], folder, env)).toMatch(/^\d+\n$/);
    expect(await waitForMail("grace@example.com", service.url)).toMatchObject({
      subject: "Hello Ada",
    });
  });

  // Before the guides that move the clock: signatures are refused if their time is far from now.
  test("Webhook receiver has receivers that take a signed delivery and no other", async () => {
    const { env } = await createReader();
    const receiver = await startWebhookReceiver();
    receiver.answers = [204];
    const { blocks, folder } = openGuide("Webhook receiver", {
      "https://shop.example": receiver.origin,
    });
    const [create, test] = blocks.filter(({ language }) => language === "sh");
    const [createShape, testShape] = blocks.filter(({ language }) => language === "json");
    const [created] = await runCommands([create!, createShape!], { folder, env });
    const { id, secret } = JSON.parse(created!).data as { id: number; secret: string };
    const call = { ...test!, text: test!.text.replace("/webhooks/7/", `/webhooks/${id}/`) };
    await runCommands([call, testShape!], { folder, env });
    await receiver.close();
    const [{ body, headers }] = receiver.received as [ReceivedWebhook];
    await project.compile();

    installExpress(project.folder);
    const secretOf = { ...env, PENNYMAIL_WEBHOOK_SECRET: secret };
    writeFileSync(join(folder, "deliver.mjs"), deliverToReceivers);
    const delivery = JSON.stringify({ body, headers });
    const output = execFileSync(process.execPath, ["deliver.mjs", delivery], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...secretOf, PORT: "0" },
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

  test("Finding a missing email finds it and says why", async () => {
    const { client, env } = await createReader();
    const email = { fromEmail: "hello@shop.example", subject: "Hello", html: "<p>Hello</p>" };
    const to = "bounced@simulator.pennymail.test";
    expectStatus(202, await client.call("POST", "/send", { ...email, to }));
    await settle();
    const { blocks, folder } = openGuide("Finding a missing email");
    const [found, suppressed] = await runCommands(blocks, { folder, env });
    expect(JSON.parse(found!)).toMatchObject({ status: "failed", toEmail: to });
    expect(JSON.parse(suppressed!).data).toMatchObject({ suppressed: true, reason: "bounce" });
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
    expect(output!.split("\n")).toEqual([`export ${id}`, `erase ${id}`, ""]);
    expect(readFileSync(join(folder, `${id}.json`), "utf8")).toContain('"firstName": "Ada"');
    expect((await client.call("GET", `/contacts/${id}`)).status).toBe(404);
    const again = await client.call("POST", "/contacts", contact);
    expect(again.body.data).toMatchObject({ status: "suppressed" });
  });

  test("Testing with the sandbox has tests that pass", async () => {
    const { env } = await createReader();
    const { blocks, folder } = openGuide("Testing with the sandbox");
    const [, tests] = await runCommands(blocks, { folder, env });
    expect(tests).toMatch(/pass 2\n/);
  });
});

/**
 * What the receiver of the guide needs of Express 5, and calls it as Express does: `request.body`
 * is a Buffer after `express.raw`, and `response` has `status`, `send` and `end`.
 */
const express = `
import { createServer } from "node:http";
const express = () => {
  const routes = new Map();
  return {
    post: (path, ...handlers) => routes.set(path, handlers),
    listen: (port) => {
      const server = createServer(async (request, response) => {
        response.status = (code) => Object.assign(response, { statusCode: code });
        response.send = (text) => response.end(text);
        for (const handle of routes.get(request.url))
          await new Promise((next, fail) => handle(request, response, next)?.then(next, fail));
      }).listen(port);
      globalThis.listening = server;
    },
  };
};
express.raw = () => (request, _, next) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => next((request.body = Buffer.concat(chunks))));
};
export default express;
`;

function installExpress(folder: string): void {
  const target = join(folder, "node_modules/express");
  mkdirSync(target, { recursive: true });
  writeFileSync(
    join(target, "package.json"),
    '{"name":"express","type":"module","main":"index.js"}',
  );
  writeFileSync(join(target, "index.js"), express);
}

/** Gives the delivery to each receiver, and one with another body but the same signature. */
const deliverToReceivers = `
import "./express.mjs";
import { handler } from "./lambda.mjs";
import { POST } from "./route.ts";
const { body, headers } = JSON.parse(process.argv[2]);
const init = (text) => ({ method: "POST", body: text, headers });
const url = () => "http://127.0.0.1:" + globalThis.listening.address().port + "/hook";
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
globalThis.listening.close();
`;
