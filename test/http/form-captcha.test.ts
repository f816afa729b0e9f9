// The CAPTCHA of a form, against a stand-in of its providers.
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type LocalService, startLocalService } from "../../infra/local/service.ts";
import { get } from "../../shared/adapters/dynamodb/table.ts";
import type { FormItem } from "../../shared/domain/forms/form-schema.ts";
import { keys } from "../../shared/keys.ts";
import { expectStatus, request, signedUp } from "../support/api-client.ts";

let standIn: Server;
let service: LocalService;
let asked: { url: string | undefined; fields: Record<string, string> }[] = [];
/** What the provider does next. */
let mode: "works" | "is down" | "hangs up" | "talks nonsense" = "works";

const verdict = ({ secret, response }: Record<string, string>): object => {
  if (secret !== "good-secret") return { success: false, "error-codes": ["invalid-input-secret"] };
  return response === "token"
    ? { success: true }
    : { success: false, "error-codes": ["invalid-input-response"] };
};

const answers = {
  works: (fields: Record<string, string>) => [200, JSON.stringify(verdict(fields))] as const,
  "is down": () => [502, "Bad gateway"] as const,
  "hangs up": () => undefined,
  "talks nonsense": () => [200, "x".repeat(50_000)] as const,
};

beforeAll(async () => {
  standIn = createServer(async (incoming: IncomingMessage, outgoing) => {
    const fields = Object.fromEntries(new URLSearchParams(await text(incoming)));
    asked.push({ url: incoming.url, fields });
    const answer = answers[mode](fields);
    if (!answer) return void incoming.socket.destroy();
    outgoing.writeHead(answer[0], { "content-type": "application/json" }).end(answer[1]);
  });
  await new Promise<void>((resolve) => standIn.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(standIn.address() as AddressInfo).port}`;
  service = await startLocalService({
    ...{ PORT: "0", DATA_DIR: ":memory:", LOG_LEVEL: "ERROR", CAPTCHA_URL: origin },
  });
});
afterAll(async () => {
  await service.stop();
  standIn.close();
});
beforeEach(() => {
  asked = [];
  mode = "works";
});

const turnstile = { provider: "turnstile", siteKey: "site-key", secret: "good-secret" };
interface Form {
  id: number;
  captcha: object | null;
  submissionCount: number;
}

async function createForm(captcha: object) {
  const client = await signedUp({ service: service.url });
  const { call } = client;
  const { id } = expectStatus(201, await call<Form>("POST", "/forms", { name: "News", captcha }))
    .body.data;
  const count = async () =>
    expectStatus(200, await call<Form>("GET", `/forms/${id}`)).body.data.submissionCount;
  const submit = (fields: object) =>
    request(
      "POST",
      `/forms/${id}/submit`,
      { email: "ada@example.com", ...fields },
      {
        service: service.url,
      },
    );
  return { client, call, id, count, submit };
}

test("a secret is stored encrypted, never returned, and needed with another key", async () => {
  const { client, call, id } = await createForm(turnstile);
  const shown = { provider: "turnstile", siteKey: "site-key" };
  const read = expectStatus(200, await call<Form>("GET", `/forms/${id}`)).body.data;
  expect(read.captcha).toEqual(shown);
  const item = await get<FormItem>(keys.record(client.orgId, "FORM", id));
  expect(JSON.stringify(item)).not.toContain("good-secret");
  const change = (captcha: unknown) => call<Form>("PUT", `/forms/${id}`, { captcha });
  expect(expectStatus(200, await change(shown)).body.data.captcha).toEqual(shown);
  for (const [path, captcha] of [
    ["captcha.secret", { ...shown, siteKey: "other" }],
    ["captcha.secret", { ...shown, provider: "hcaptcha" }],
    ["captcha.siteKey", { ...turnstile, siteKey: "a b" }],
    ["captcha.provider", { ...turnstile, provider: "recaptcha" }],
    ["captcha.secret", { ...turnstile, secret: "x".repeat(201) }],
  ] as const)
    expect(expectStatus(400, await change(captcha)).body).toMatchObject({ details: [{ path }] });
  expect(expectStatus(200, await change(null)).body.data.captcha).toBeNull();
});

test.each([
  ["turnstile", "cf-turnstile-response", "/turnstile/turnstile/v0/siteverify"],
  ["hcaptcha", "h-captcha-response", "/hcaptcha/siteverify"],
])("a submission needs a token that %s accepts", async (provider, field, url) => {
  const { submit, count, call, id } = await createForm({ ...turnstile, provider });
  for (const fields of [{}, { [field]: "forged" }, { [field]: "x".repeat(5000) }])
    expect(await submit(fields)).toMatchObject({ status: 400, body: { code: "captcha_failed" } });
  expect(await submit({ email: "nobody", [field]: "token" })).toMatchObject({ status: 400 });
  expect(asked.map(({ fields }) => fields.response)).toEqual(["forged"]);
  expect(await count()).toBe(0);
  expectStatus(200, await submit({ [field]: "token", more: "1" }));
  expect(asked.at(-1)).toMatchObject({
    url,
    fields: { secret: "good-secret", response: "token", sitekey: "site-key" },
  });
  const { body } = await call<{ submissions: { fields: object }[] }>(
    "GET",
    `/forms/${id}/submissions`,
  );
  expect(JSON.stringify(body.data.submissions)).not.toContain("token");
});

test("nobody passes while the provider is down, or with a wrong secret", async () => {
  const { submit, count, call, id } = await createForm(turnstile);
  const fields = { "cf-turnstile-response": "token" };
  const unavailable = { status: 503, body: { code: "captcha_unavailable" } };
  for (const fault of ["is down", "hangs up", "talks nonsense"] as const) {
    mode = fault;
    expect(await submit(fields)).toMatchObject(unavailable);
  }
  mode = "works";
  const captcha = { ...turnstile, secret: "bad-secret" };
  expectStatus(200, await call("PUT", `/forms/${id}`, { captcha }));
  expect(await submit(fields)).toMatchObject(unavailable);
  expect(await count()).toBe(0);
});

test("the page, the embed script and the policy load the widget only of such a form", async () => {
  const { id, call } = await createForm(turnstile);
  const read = (path: string) => fetch(`${service.url}/api/v1/forms/${id}/${path}`);
  const page = await read("page");
  const html = await page.text();
  for (const part of ['class="cf-turnstile" data-sitekey="site-key"', "/turnstile/v0/api.js"])
    expect(html).toContain(part);
  const policy = page.headers.get("content-security-policy")!;
  for (const name of ["script-src", "frame-src", "connect-src"])
    expect(policy).toContain(`${name} https://challenges.cloudflare.com`);
  expect(await (await read("embed")).text()).toContain("/turnstile/v0/api.js");
  expect(await (await read("embed?format=html")).text()).toContain("/turnstile/v0/api.js");
  const refused = await fetch(`${service.url}/api/v1/forms/${id}/submit`, {
    method: "POST",
    headers: { accept: "text/html" },
    body: new URLSearchParams({ email: "ada@example.com" }),
  });
  expect(refused.status).toBe(400);
  const again = await refused.text();
  for (const part of ["Please confirm that you are human", 'value="ada@example.com"'])
    expect(again).toContain(part);
  expectStatus(200, await call("PUT", `/forms/${id}`, { captcha: null }));
  const plain = await read("page");
  expect(plain.headers.get("content-security-policy")).not.toContain("cloudflare");
  expect(await plain.text()).not.toContain("<script");
});
