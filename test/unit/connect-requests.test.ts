// The requests with which each connector sets up a new account at its provider. The stand-ins check
// the same requests; this file shows them, and keeps them from changing by accident.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import * as clock from "../../shared/clock.ts";
import {
  type ConnectAccount,
  ConnectFailure,
  createProviderApi,
  fullRecordName,
  isOurs,
} from "../../shared/providers/connect/connector.ts";
import { getConnector } from "../../shared/providers/connect/lookup.ts";
import { webhookProviderKeys } from "../../shared/providers/provider-keys.ts";
import { getProvider } from "../../shared/providers/registry.ts";
import { connectRequests } from "../fixtures/connect-requests.ts";
import { startLimitedProvider } from "../support/limited-provider.ts";
import * as sandboxes from "../support/provider-sandbox.ts";
import { recordRequests } from "../support/recorded-requests.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await sandboxes.startSandbox();
  sandboxes.useSandbox(sandbox);
});
afterAll(() => sandbox.stop());

const serviceUrl = "https://mail.example.com/api/v1/webhooks";

async function openAccount(provider: string, changes: object = {}): Promise<ConnectAccount> {
  const accountKeys = await sandboxes.createAccount(sandbox);
  const { configurationSet: _, ...known } = accountKeys[provider]!.credentials;
  const credentials = { ...known, ...changes } as Record<string, string>;
  const connector = getConnector(provider)!;
  const headers = connector.headers(credentials);
  const secret = connector.hasOwnSecret ? "our-secret-of-a-test" : undefined;
  const api = createProviderApi(
    getProvider(provider)!,
    { credentials, headers },
    clock.addSeconds(20),
  );
  const inUrl = provider !== "sparkpost" && secret ? `&secret=${secret}` : "";
  const webhook = {
    url: `${serviceUrl}/${provider}?config_id=7${inUrl}`,
    secret,
    name: "pennymail-0123abcd-7",
    snsTopic: undefined,
  };
  return { credentials, api, webhook };
}

/** Without what differs by run: origins, ids, keys. */
const withoutIds = (text: string): string =>
  decodeURIComponent(text)
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, "")
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<id>")
    .replace(/"key":"md-[^"]*"/g, '"key":"<key>"')
    .replace(/(apikey\/)[0-9a-f]{32}/g, "$1<key>")
    .replace(/:\d{12}:/g, ":<aws account>:")
    .replace(/"\d{12}"/g, '"<aws account>"');

test.each(webhookProviderKeys)("%s gets the requests that its API documents", async (provider) => {
  const account = await openAccount(provider);
  const connector = getConnector(provider)!;
  const recorded = recordRequests();
  await connector.readAccount(account);
  await connector.connectWebhook(account);
  await connector.connectDomain(account, "shop.example.com");
  await connector.connectDomain(account, "shop.example.com");
  recorded.stop();
  const requests = recorded.requests
    .filter(({ url }) => !url.startsWith(serviceUrl))
    .map(({ method, url, body }) => withoutIds(`${method} ${url} ${body}`).trim());
  expect(requests).toEqual(connectRequests[provider]);
});

test("sparkpost gets a changed secret, which it does not show", async () => {
  const account = await openAccount("sparkpost");
  await getConnector("sparkpost")!.connectWebhook(account);
  const webhook = { ...account.webhook, secret: "another-secret" };
  const recorded = recordRequests();
  const { code } = await getConnector("sparkpost")!.connectWebhook({ ...account, webhook });
  recorded.stop();
  expect(code).toBe("webhook_exists");
  expect(recorded.requests.map(({ method }) => method)).toEqual(["GET", "PUT"]);
  expect(recorded.requests[1]!.body).toContain('"password":"another-secret"');
});

test.each(webhookProviderKeys)(
  "%s: a wrong key is refused without being shown",
  async (provider) => {
    const name = provider === "ses" ? "secretAccessKey" : "apiKey";
    const account = await openAccount(provider, { [name]: "wrong-key-of-a-test" });
    const failure = await getConnector(provider)!
      .connectWebhook(account)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConnectFailure);
    const { outcome } = failure as ConnectFailure;
    expect(["not_permitted", "provider_failed"]).toContain(outcome.code);
    expect(outcome.detail).not.toContain("wrong-key-of-a-test");
  },
);

test("no request starts after the end of the run", async () => {
  const api = createProviderApi(
    getProvider("resend")!,
    { credentials: {}, headers: {} },
    clock.addSeconds(-1),
  );
  await expect(api({ url: "https://api.resend.com/webhooks" })).rejects.toMatchObject({
    outcome: { code: "no_answer" },
  });
});

const openApi = (seconds: number) =>
  createProviderApi(
    getProvider("resend")!,
    { credentials: {}, headers: {} },
    clock.addSeconds(seconds),
  );
const limited = (pause: string) => ({
  status: 429,
  headers: { "retry-after": pause },
  json: { message: "Too many requests" },
});

test("a request beyond the rate limit is repeated after the pause", async () => {
  const provider = await startLimitedProvider("resend", [
    limited("1"),
    { status: 429, json: {} },
    { status: 200, json: { data: [] } },
  ]);
  const startedAt = performance.now();
  const response = await openApi(20)({ url: "https://api.resend.com/domains" });
  expect(response.json).toEqual({ data: [] });
  expect(performance.now() - startedAt).toBeGreaterThan(1900);
  expect(provider.urls).toEqual(["/domains", "/domains", "/domains"]);
  provider.stop();
});

test.each([
  ["is longer than a run waits", "3600", 20],
  ["ends after the run", "2", 1],
])("a pause that %s ends the step", async (_, pause, seconds) => {
  const provider = await startLimitedProvider("resend", [limited(pause)]);
  await expect(openApi(seconds)({ url: "https://api.resend.com/domains" })).rejects.toMatchObject({
    outcome: { code: "rate_limited", detail: "Too many requests" },
  });
  provider.stop();
});

const ours = {
  url: "https://mail.example.com/api/v1/webhooks/brevo?config_id=7&secret=new",
  ...{ secret: "new", name: "n", snsTopic: undefined },
};
test.each([
  ["https://mail.example.com/api/v1/webhooks/brevo?config_id=7&secret=old", true],
  ["https://mail.example.com/api/v1/webhooks/brevo?secret=old&config_id=7", true],
  ["https://mail.example.com/api/v1/webhooks/brevo?config_id=7", true],
  ["https://mail.example.com/api/v1/webhooks/brevo?config_id=77&secret=new", false],
  ["https://other.example.com/api/v1/webhooks/brevo?config_id=7&secret=new", false],
])("the webhook %s is ours: %s", (url, expected) => {
  expect(isOurs(url, ours)).toBe(expected);
});

test.each([
  ["@", "shop.example.com", "shop.example.com"],
  ["mail._domainkey.", "example.com", "mail._domainkey.example.com"],
  ["send", "example.com", "send.example.com"],
  ["send.shop", "shop.example.com", "send.shop.example.com"],
  ["resend._domainkey.shop", "shop.example.com", "resend._domainkey.shop.example.com"],
  ["mailjet._12.example.com.", "example.com", "mailjet._12.example.com"],
])("the record %s of %s is %s", (name, domain, full) => {
  expect(fullRecordName(name, domain)).toBe(full);
});

test("an error of the provider is shown without the secret of the webhook", async () => {
  const accountKeys = await sandboxes.createAccount(sandbox);
  const { credentials } = accountKeys.postmark!;
  const headers = getConnector("postmark")!.headers(credentials);
  const webhookSecret = "secret-that-stays";
  const api = createProviderApi(
    getProvider("postmark")!,
    { credentials, headers, webhookSecret },
    clock.addSeconds(20),
  );
  // The stand-in names the unknown path.
  const url = `https://api.postmarkapp.com/webhooks-of-${webhookSecret}`;
  const error = await api({ url }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConnectFailure);
  const { detail } = (error as ConnectFailure).outcome;
  expect(detail).toContain("/webhooks-of-***");
});
