// The whole way of a company that sets up single sign-on: its own service, DNS and provider.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  expectStatus,
  password,
  request,
  sessionCookie,
  uniqueEmail,
} from "../support/api-client.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { type OidcProvider, startOidcProvider } from "../support/oidc-provider.ts";
import { type RunningTestService, startServiceProcess } from "../support/service-process.ts";

let dns: DnsServer;
let provider: OidcProvider;
let service: RunningTestService;
beforeAll(async () => {
  dns = await startDnsServer({ records: {} });
  provider = await startOidcProvider();
  service = await startServiceProcess({ DNS_SERVERS: dns.address });
});
afterAll(async () => {
  await service.stop();
  await Promise.all([provider.close(), dns.close()]);
});

interface Domain {
  id: number;
  status: string;
  dnsRecords: { purpose: string; name: string; value: string }[];
}

async function signUp() {
  const account = { email: uniqueEmail(), password };
  const answer = await request("POST", "/auth/signup", account, { service: service.url });
  return { cookie: sessionCookie(expectStatus(201, answer)) };
}

async function call<T>(headers: { cookie: string }, method: string, path: string, body?: unknown) {
  const answer = await request<T>(method, path, body, { headers, service: service.url });
  return answer;
}

/** Adds the domain and publishes its ownership record. */
async function verifyDomain(owner: { cookie: string }, name: string): Promise<void> {
  const add = () => call<Domain>(owner, "POST", "/domains", { name });
  const { id, dnsRecords } = expectStatus(201, await add()).body.data;
  const ownership = dnsRecords.find(({ purpose }) => purpose === "ownership")!;
  dns.zone.records[`TXT ${ownership.name}`] = [ownership.value];
  await expect
    .poll(async () => {
      await add();
      return (await call<Domain>(owner, "GET", `/domains/${id}`)).body.data.status;
    })
    .toBe("verified");
}

/** Opens a URL like a browser that follows no redirect. */
async function open(url: string, cookie = "") {
  const answer = await fetch(url, { redirect: "manual", headers: { cookie } });
  const [set = ""] = answer.headers.getSetCookie();
  return {
    status: answer.status,
    location: answer.headers.get("location") ?? "",
    cookie: set.split(";")[0]!,
    setCookie: set,
  };
}

test("a company proves its domain, connects its provider, and its people log in", async () => {
  const owner = await signUp();
  const domain = `d-${randomUUID()}.example`;
  const client = { issuer: provider.issuer, clientId: "pennymail", clientSecret: "s3:cret" };
  const settings = { ...client, domains: [domain], defaultRole: "viewer" };
  expect(await call(owner, "PUT", "/sso", settings)).toMatchObject({
    status: 409,
    body: { code: "domain_not_verified" },
  });
  await verifyDomain(owner, domain);
  const made = await call<{ redirectUri: string; loginUrl: string }>(
    owner,
    "PUT",
    "/sso",
    settings,
  );
  const { redirectUri, loginUrl } = expectStatus(200, made).body.data;
  expect(made.text).not.toContain("s3:cret");
  provider.register({ ...client, redirectUri });
  expect((await call(owner, "POST", "/sso/test")).body.data).toMatchObject({ ready: true });

  provider.user = { sub: "1", email: `ann@${domain}`, email_verified: true, name: "Ann" };
  const started = await open(`${loginUrl}&returnTo=/welcome`);
  expect(started).toMatchObject({ status: 302, setCookie: expect.stringContaining("HttpOnly") });
  const visited = await open(started.location);
  const entered = await open(visited.location, started.cookie);
  expect(entered).toMatchObject({ status: 302, location: `${service.url}/welcome` });
  expect(entered.setCookie).toMatch(/^__Host-session=\w+; HttpOnly; Secure; SameSite=Lax; Path=\//);
  const me = await call(entered, "GET", "/auth/me");
  expect(expectStatus(200, me).body.data).toMatchObject({
    user: { email: `ann@${domain}`, name: "Ann" },
    auth: { role: "viewer", viaSso: true },
  });
  const { sessions } = (await call<{ sessions: object[] }>(entered, "GET", "/auth/sessions")).body
    .data;
  expect(sessions).toMatchObject([{ origin: "sso", current: true }]);

  expectStatus(200, await call(owner, "PUT", "/sso", { enforced: true }));
  expectStatus(200, await call(owner, "DELETE", "/sso"));
  expect((await call(entered, "GET", "/auth/me")).status).toBe(401);
});
