// Promises that hold for every route there is, whoever adds it: the tests walk the table itself.
import { expect, test } from "vitest";
import { groups } from "../../functions/http/index.ts";
import * as apiKeys from "../../shared/domain/api-keys.ts";
import * as sites from "../../shared/domain/sites.ts";
import { sessionCookie } from "../../shared/http/authenticate.ts";
import { shortPath } from "../../shared/http/openapi.ts";
import type { Route } from "../../shared/http/route.ts";
import type { Group } from "../../shared/http/serve.ts";
import { chunked } from "../../shared/parallel.ts";
import { account } from "../support/callers.ts";
import { type Asked, ask } from "../support/events.ts";

type Signature = `${string} /${string}`;
interface Entry {
  group: Group;
  route: Route;
  signature: Signature;
}

const table: Entry[] = groups.flatMap((group) =>
  group.routes.map((route) => {
    const path = shortPath(route.path).replace(/{(\w+)}/g, ":$1");
    return { group, route, signature: `${route.method} ${path}` as Signature };
  }),
);

/** `id` for every integer in the path, but for a contact, and a query and body that most would take. */
const asking = ({ route }: Entry, id: number, credential: Asked, { contacts: contact = id, variants: variant = id }: Made = {}): Asked => {
  const names = [...route.path.matchAll(/{(\w+)}/g)].map(([, name = ""]) => name);
  const idOf = (name: string): number => ({ contactId: contact, variantId: variant })[name] ?? id;
  const params = Object.fromEntries(names.map((name) => [name, /^id$|Id$/.test(name) ? String(idOf(name)) : "x"]));
  const given = { contactId: contact, name: "Mine", delta: 1, type: "delay" };
  Object.assign(given, { scheduledAt: "2027-01-01T00:00:00Z", emails: ["ada@example.net"] });
  return { ...credential, params, ...(route.query && { query: { q: "a" } }), ...(route.body && !route.raw && { body: given }) };
};
const withKey = (key: string): Asked => ({ headers: { authorization: `Bearer ${key}` } });
const withSession = (token: string): Asked => ({ cookies: [`${sessionCookie}=${token}`] });

test("there are routes", () => {
  expect(table.length).toBeGreaterThan(30);
});

test("no route that is not public answers without a credential", async () => {
  for (const entry of table.filter(({ route }) => route.auth !== "public")) {
    const answer = await ask(entry.group, entry.signature, asking(entry, 1, {}));
    expect([entry.signature, answer.status, answer.body.error]).toEqual([entry.signature, 401, "Unauthorized"]);
  }
});

test("no route of the whole organization answers a bound key", async () => {
  const { caller } = await account();
  const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Shop" }));
  const { key } = await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "bound", siteId }));
  for (const entry of table.filter(({ route }) => route.auth === "account" && route.level === "organization")) {
    const { status, body } = await ask(entry.group, entry.signature, asking(entry, 1, withKey(key)));
    expect([entry.signature, status, body.code]).toEqual([entry.signature, 403, "site_forbidden"]);
  }
});

test("no route that needs a session answers a key", async () => {
  const { caller } = await account();
  const { key } = await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "all" }));
  for (const entry of table.filter(({ route }) => route.auth === "session")) {
    const asked = asking(entry, 1, withKey(key));
    const { status, body } = await ask(entry.group, entry.signature, asked);
    expect([entry.signature, status, body.code]).toEqual([entry.signature, 403, "session_required"]);
  }
});

test("no route does anything for a key without its scope", async () => {
  // Each account may only ask so often in a minute.
  for (const some of chunked(
    table.filter(({ route }) => route.auth === "account"),
    40,
  )) {
    const { caller } = await account();
    const { key } = await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "none", scopes: ["nothing:read"] }));
    for (const entry of some) {
      const { status, body } = await ask(entry.group, entry.signature, asking(entry, 1, withKey(key)));
      expect([entry.signature, status, body.code]).toEqual([entry.signature, 403, "scope_missing"]);
    }
  }
});

type Made = Record<string, number>;
/** One record of each kind, by the first segment of its path; whoever adds a kind adds it here. */
const makers: Record<string, { signature: Signature; body(made: Made): object; of?: string }> = {
  sites: { signature: "POST /sites", body: () => ({ name: "Shop" }) },
  "api-keys": { signature: "POST /api-keys", body: () => ({ name: "CI" }) },
  "template-folders": { signature: "POST /template-folders", body: () => ({ name: "Folder" }) },
  contacts: { signature: "POST /contacts", body: () => ({ email: "ann@example.net" }) },
  lists: { signature: "POST /lists", body: () => ({ name: "News" }) },
  tags: { signature: "POST /tags", body: () => ({ name: "vip" }) },
  segments: { signature: "POST /segments", body: () => ({ name: "All", rules: { match: "all", conditions: [] } }) },
  imports: { signature: "POST /imports/upload", body: () => Buffer.from("email\nann@example.net") },
  exports: { signature: "POST /exports", body: () => ({ type: "contacts" }) },
  templates: { signature: "POST /templates", body: () => ({ name: "Hello", subject: "Hi", html: "<p>Hi</p>" }) },
  "sending-configs": {
    signature: "POST /sending-configs",
    body: () => ({ provider: "resend", fromEmail: "news@example.com", fromName: "News", credentials: { apiKey: "re_test" } }),
  },
  domains: { signature: "POST /domains", body: () => ({ name: "shop.example.com" }) },
  reports: { signature: "POST /reports/schedules", body: () => ({ frequency: "daily", recipient: "ada@example.net" }) },
  forms: { signature: "POST /forms", body: () => ({ name: "Newsletter" }) },
  campaigns: { signature: "POST /campaigns", body: () => ({ name: "Spring" }) },
  variants: { signature: "POST /campaigns/:id/variants", of: "campaigns", body: () => ({ subject: "Hi" }) },
  holidays: {
    signature: "POST /holidays",
    body: (made) => ({ name: "New year", date: "2099-01-01", templateId: made.templates }),
  },
  scoring: { signature: "POST /scoring/rules", body: () => ({ name: "Opened", trigger: "email_open", points: 1 }) },
  sequences: { signature: "POST /sequences", body: () => ({ name: "Welcome" }) },
  webhooks: { signature: "POST /webhooks", body: () => ({ url: "https://shop.example/hooks", events: ["bounce"] }) },
  sends: {
    signature: "POST /send",
    body: (made) => ({ to: "ada@example.net", subject: "Hi", html: "<p>Hi</p>", sendingConfigId: made["sending-configs"] }),
  },
  "secure-messages": {
    signature: "POST /send",
    body: (made) => ({ to: "bob@example.net", subject: "Hi", html: "<p>Hi</p>", secure: true, sendingConfigId: made["sending-configs"] }),
  },
};

const bodyOf = (given: object): Asked =>
  Buffer.isBuffer(given) ? { raw: given, headers: { "content-type": "text/csv" } } : { body: given };

test("what belongs to one organization does not exist for another", async () => {
  const [owner, stranger] = await Promise.all([account(), account()]);
  const made: Made = {};
  for (const [kind, { signature, body, of }] of Object.entries(makers)) {
    const { group } = table.find((entry) => entry.signature === signature)!;
    const answer = await ask<{ id: number }>(group, signature, {
      ...withSession(owner.token),
      ...(of && { params: { id: String(made[of]) } }),
      ...bodyOf(body(made)),
    });
    expect([signature, answer.status, answer.body.error]).toEqual([signature, expect.toBeOneOf([201, 202]), undefined]);
    made[kind] = answer.body.data.id;
  }
  const walked = table.filter(({ route }) => route.auth !== "public" && route.path.includes("{id}"));
  for (const entry of walked) {
    const kind = entry.signature.split("/")[1]!;
    expect(Object.keys(made)).toContain(kind);
    const { status, body } = await ask(entry.group, entry.signature, asking(entry, made[kind]!, withSession(stranger.token), made));
    expect([entry.signature, status, body.code]).toEqual([entry.signature, 404, "not_found"]);
  }
  for (const entry of walked.filter(({ route }) => route.method === "GET")) {
    const id = made[entry.signature.split("/")[1]!]!;
    const { status } = await ask(entry.group, entry.signature, asking(entry, id, withSession(owner.token), made));
    expect([entry.signature, status]).toEqual([entry.signature, 200]);
  }
});
