// Access rules that hold for every route. The tests walk the route table.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import { campaigns } from "../../functions/http/campaigns.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import { splitIntoBatches } from "../../shared/kernel/parallel.ts";
import { createAccount } from "../support/accounts.ts";
import { invokeRoute, type LambdaRequest } from "../support/lambda-requests.ts";
import {
  bearerHeader,
  createEachKind,
  type IdsByKind,
  type RouteEntry,
  routeTable,
} from "../support/one-of-each-record.ts";

// The tests exceed the rate limit of other plans.
beforeAll(() => {
  vi.stubEnv("DEFAULT_PLAN", "enterprise");
});
afterAll(() => {
  vi.unstubAllEnvs();
});

/**
 * A request with `id` for every id in the path, except contacts, variants and versions, and with a
 * query and body that most routes accept.
 */
const requestFor = (
  { route }: RouteEntry,
  id: number,
  credential: LambdaRequest,
  { contacts: contact = id, variants: variant = id, attachments: attachment = id }: IdsByKind = {},
): LambdaRequest => {
  const names = [...route.path.matchAll(/{(\w+)}/g)].map(([, name = ""]) => name);
  const idOf = (name: string): number =>
    ({ contactId: contact, variantId: variant, attachmentId: attachment, versionId: 1 })[name] ??
    id;
  const params = Object.fromEntries(
    names.map((name) => [name, /^id$|Id$/.test(name) ? String(idOf(name)) : "x"]),
  );
  const given = { contactId: contact, into: 999_999_999, name: "Mine", delta: 1, type: "delay" };
  Object.assign(given, { topics: [{ id, subscribed: false }] });
  Object.assign(given, {
    scheduledAt: "2027-01-01T00:00:00Z",
    emails: ["ada@example.net"],
    version: 1,
  });
  if (route.path.endsWith("/sends/{id}/resolve")) Object.assign(given, { outcome: "sent" });
  if (route.path.endsWith("/campaigns/{id}/archive")) Object.assign(given, { archive: true });
  if (route.path.endsWith("/campaigns/{id}/resend")) Object.assign(given, { to: "failed" });
  if (route.path.endsWith("/bounce-mailbox"))
    Object.assign(given, { siteId: id, host: "imap.shop.example", user: "ada", password: "a" });
  if (route.path.endsWith("/postmaster-tools")) Object.assign(given, { serviceAccountKey: "{}" });
  if (route.key.startsWith("PUT") && route.path.endsWith("/steps"))
    Object.assign(given, { stepsVersion: 0, steps: [] });
  if (route.key.startsWith("PUT") && route.path.endsWith("/draft"))
    Object.assign(given, { draftVersion: 0, stepsVersion: 0, steps: [] });
  return {
    ...credential,
    params,
    ...(takesWord(route) && { query: { q: "a" } }),
    ...(route.body && !route.rawBodyTypes && { body: given }),
  };
};
const takesWord = ({ query }: RouteEntry["route"]): boolean =>
  query instanceof z.ZodObject && "q" in query.shape;
const withSession = (token: string): LambdaRequest => ({
  cookies: [`${sessionCookieName}=${token}`],
});

test("the route table is not empty", () => {
  expect(routeTable.length).toBeGreaterThan(30);
});

/** Routes whose errors are ours. Those of other APIs are in test/http/compat.test.ts. */
const ownErrors = routeTable.filter(({ route }) => !route.wireFormat);

test("every route that is not public refuses requests without a credential", async () => {
  for (const entry of ownErrors.filter(({ route }) => route.auth !== "public")) {
    const answer = await invokeRoute(entry.group, entry.signature, requestFor(entry, 1, {}));
    expect([entry.signature, answer.status, answer.body.error]).toEqual([
      entry.signature,
      401,
      "Unauthorized",
    ]);
  }
});

/** Clients compare these words. */
const siteRefusal = [403, "site_forbidden", "API key has no access to this site"];
const organizationRefusal = [
  403,
  "site_forbidden",
  "This API key or member is limited to sites and cannot access data of the whole organization",
];

test("every organization route refuses site-bound API keys", async () => {
  const { caller } = await createAccount();
  const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Shop" }));
  const { key } = await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "bound", siteId }));
  for (const entry of routeTable.filter(
    ({ route }) => route.auth === "account" && route.level !== "site",
  )) {
    const { status, body } = await invokeRoute(
      entry.group,
      entry.signature,
      requestFor(entry, 1, bearerHeader(key)),
    );
    expect([entry.signature, status, body.code, body.error]).toEqual([
      entry.signature,
      ...organizationRefusal,
    ]);
  }
});

test("every session route refuses API keys", async () => {
  const { caller } = await createAccount();
  const { key } = await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "all" }));
  for (const entry of routeTable.filter(({ route }) => route.auth === "session")) {
    const request = requestFor(entry, 1, bearerHeader(key));
    const { status, body } = await invokeRoute(entry.group, entry.signature, request);
    expect([entry.signature, status, body.code]).toEqual([
      entry.signature,
      403,
      "session_required",
    ]);
  }
});

const scopes = [
  ...new Set(
    routeTable.filter(({ route }) => route.auth === "account").map(({ route }) => route.scope),
  ),
];

test("every route refuses an API key without its scope", async () => {
  // One account would exceed its rate limit.
  for (const some of splitIntoBatches(
    ownErrors.filter(({ route }) => route.auth === "account"),
    40,
  )) {
    const { caller } = await createAccount();
    const known = new Map<string, string>();
    for (const entry of some) {
      const { scope } = entry.route;
      const otherScopes = scopes.filter((one) => one !== scope);
      const key =
        known.get(scope) ??
        (
          await apiKeys.create(
            caller,
            apiKeys.NewApiKey.parse({ name: "others", scopes: otherScopes }),
          )
        ).key;
      known.set(scope, key);
      const { status, body } = await invokeRoute(
        entry.group,
        entry.signature,
        requestFor(entry, 1, bearerHeader(key)),
      );
      expect([entry.signature, status, body.code]).toEqual([entry.signature, 403, "scope_missing"]);
    }
  }
});

const kindOf = ({ signature }: RouteEntry): string => signature.split("/")[1]!;
const walked = ownErrors.filter(
  ({ route }) => route.auth !== "public" && route.path.includes("{id}"),
);

/** Adds a file to a campaign, and returns its id. */
async function attachFile(campaignId: number, credential: LambdaRequest): Promise<number> {
  const file = { filename: "prices.txt", type: "text/plain", content: "eA==" };
  const { body } = await invokeRoute<{ attachments: { id: number }[] }>(
    campaigns,
    "PUT /campaigns/:id",
    { ...credential, params: { id: String(campaignId) }, body: { attachments: [file] } },
  );
  return body.data.attachments[0]!.id;
}

test("records of one organization do not exist for another organization or its keys", async () => {
  const [owner, stranger] = await Promise.all([createAccount(), createAccount()]);
  const made = await createEachKind(withSession(owner.token));
  made.attachments = await attachFile(made.campaigns!, withSession(owner.token));
  const { key } = await apiKeys.create(stranger.caller, apiKeys.NewApiKey.parse({ name: "all" }));
  for (const entry of walked) {
    const kind = kindOf(entry);
    expect(Object.keys(made)).toContain(kind);
    const credentials =
      entry.route.auth === "session"
        ? [withSession(stranger.token)]
        : [withSession(stranger.token), bearerHeader(key)];
    for (const credential of credentials) {
      const { status, body } = await invokeRoute(
        entry.group,
        entry.signature,
        requestFor(entry, made[kind]!, credential, made),
      );
      expect([entry.signature, status, body.code]).toEqual([entry.signature, 404, "not_found"]);
    }
  }
  // The sequence has a draft only after this.
  const saving = walked.filter(({ signature }) => signature === "PUT /sequences/:id/draft");
  const reading = walked.filter(({ route }) => route.method === "GET");
  for (const entry of [...saving, ...reading]) {
    const { status } = await invokeRoute(
      entry.group,
      entry.signature,
      requestFor(entry, made[kindOf(entry)]!, withSession(owner.token), made),
    );
    expect([entry.signature, status]).toEqual([entry.signature, 200]);
  }
});

test("records of one site are refused to a key of another site", async () => {
  const { caller, token } = await createAccount();
  const made = await createEachKind(withSession(token));
  const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Other shop" }));
  const { key } = await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "bound", siteId }));
  // Bound keys may read how mail is sent (interface-decisions, section 1).
  const shared = ["GET /sending-configs/:id"];
  // The folder is of no site.
  const ofOrganization = ["template-folders"];
  for (const entry of walked.filter(
    ({ route, signature }) => route.auth !== "session" && !shared.includes(signature),
  )) {
    const { status, body } = await invokeRoute(
      entry.group,
      entry.signature,
      requestFor(entry, made[kindOf(entry)]!, bearerHeader(key), made),
    );
    const isOfSite = entry.route.level === "site" && !ofOrganization.includes(kindOf(entry));
    expect([entry.signature, status, body.code, body.error]).toEqual([
      entry.signature,
      ...(isOfSite ? siteRefusal : organizationRefusal),
    ]);
  }
});
