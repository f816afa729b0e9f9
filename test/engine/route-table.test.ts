// Promises that hold for every route there is, whoever adds it: the tests walk the table itself.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as apiKeys from "../../shared/domain/api-keys.ts";
import * as sites from "../../shared/domain/sites.ts";
import { sessionCookie } from "../../shared/http/authenticate.ts";
import { chunked } from "../../shared/parallel.ts";
import { account } from "../support/callers.ts";
import { type Asked, ask } from "../support/events.ts";
import { type Entry, type Made, madeBy, table, withKey } from "../support/makers.ts";

// The others may only ask so often in a minute.
beforeAll(() => {
  vi.stubEnv("DEFAULT_PLAN", "enterprise");
});
afterAll(() => {
  vi.unstubAllEnvs();
});

/** `id` for every integer in the path, but for a contact, and a query and body that most would take. */
const asking = ({ route }: Entry, id: number, credential: Asked, { contacts: contact = id, variants: variant = id }: Made = {}): Asked => {
  const names = [...route.path.matchAll(/{(\w+)}/g)].map(([, name = ""]) => name);
  const idOf = (name: string): number => ({ contactId: contact, variantId: variant })[name] ?? id;
  const params = Object.fromEntries(names.map((name) => [name, /^id$|Id$/.test(name) ? String(idOf(name)) : "x"]));
  const given = { contactId: contact, name: "Mine", delta: 1, type: "delay" };
  Object.assign(given, { scheduledAt: "2027-01-01T00:00:00Z", emails: ["ada@example.net"] });
  return { ...credential, params, ...(route.query && { query: { q: "a" } }), ...(route.body && !route.raw && { body: given }) };
};
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

const scopes = [...new Set(table.filter(({ route }) => route.auth === "account").map(({ route }) => route.scope))];

test("no route does anything for a key that has every scope but its own", async () => {
  // Each account may only ask so often in a minute.
  for (const some of chunked(
    table.filter(({ route }) => route.auth === "account"),
    40,
  )) {
    const { caller } = await account();
    const known = new Map<string, string>();
    for (const entry of some) {
      const { scope } = entry.route;
      const others = scopes.filter((one) => one !== scope);
      const key = known.get(scope) ?? (await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "others", scopes: others }))).key;
      known.set(scope, key);
      const { status, body } = await ask(entry.group, entry.signature, asking(entry, 1, withKey(key)));
      expect([entry.signature, status, body.code]).toEqual([entry.signature, 403, "scope_missing"]);
    }
  }
});

const kindOf = ({ signature }: Entry): string => signature.split("/")[1]!;
const walked = table.filter(({ route }) => route.auth !== "public" && route.path.includes("{id}"));

test("what belongs to one organization does not exist for another, nor for its key", async () => {
  const [owner, stranger] = await Promise.all([account(), account()]);
  const made = await madeBy(withSession(owner.token));
  const { key } = await apiKeys.create(stranger.caller, apiKeys.NewApiKey.parse({ name: "all" }));
  for (const entry of walked) {
    const kind = kindOf(entry);
    expect(Object.keys(made)).toContain(kind);
    const credentials = entry.route.auth === "session" ? [withSession(stranger.token)] : [withSession(stranger.token), withKey(key)];
    for (const credential of credentials) {
      const { status, body } = await ask(entry.group, entry.signature, asking(entry, made[kind]!, credential, made));
      expect([entry.signature, status, body.code]).toEqual([entry.signature, 404, "not_found"]);
    }
  }
  for (const entry of walked.filter(({ route }) => route.method === "GET")) {
    const { status } = await ask(entry.group, entry.signature, asking(entry, made[kindOf(entry)]!, withSession(owner.token), made));
    expect([entry.signature, status]).toEqual([entry.signature, 200]);
  }
});

test("what belongs to one site is refused to a key that is bound to another", async () => {
  const { caller, token } = await account();
  const made = await madeBy(withSession(token));
  const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Other shop" }));
  const { key } = await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "bound", siteId }));
  // Bound keys may read how mail is sent (interface-decisions, section 1).
  const shared = ["GET /sending-configs/:id"];
  for (const entry of walked.filter(({ route, signature }) => route.auth !== "session" && !shared.includes(signature))) {
    const { status, body } = await ask(entry.group, entry.signature, asking(entry, made[kindOf(entry)]!, withKey(key), made));
    expect([entry.signature, status, body.code]).toEqual([entry.signature, 403, "site_forbidden"]);
  }
});
