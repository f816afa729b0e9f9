// Cursors of every list. The tests walk the route table.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import { type Cursors, cursorsFor, hasCursor } from "../../shared/http/cursors.ts";
import { parsePathParams, validate } from "../../shared/http/validate.ts";
import { createAccount } from "../support/accounts.ts";
import { everything } from "../support/extent.ts";
import { invokeRoute, type LambdaRequest } from "../support/lambda-requests.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";
import {
  bearerHeader,
  createEachKind,
  type IdsByKind,
  type RouteEntry,
  routeTable,
} from "../support/one-of-each-record.ts";
import { sampleOf } from "../support/seeded-random.ts";

useDynamoDbEngine();

// The tests exceed the rate limit of the free plan.
beforeAll(() => {
  vi.stubEnv("DEFAULT_PLAN", "enterprise");
});
afterAll(() => {
  vi.unstubAllEnvs();
});

const lists = routeTable.filter(({ route }) => hasCursor(route));

/** Records for every list, two of most kinds, so that a page of one record has a next page. */
async function shop() {
  const { caller, token } = await createAccount();
  const session: LambdaRequest = { cookies: [`${sessionCookieName}=${token}`] };
  const made = await createEachKind(session);
  const more = await createEachKind(session, made.sites, {
    imports: made.imports!,
    domains: made.domains!,
    contacts: made.contacts!,
    lists: made.lists!,
    tags: made.tags!,
    topics: made.topics!,
    snippets: made.snippets!,
  });
  for (const delta of [1, 2]) {
    const path = { ...session, params: { id: String(made.contacts) }, body: { delta } };
    await invokeRoute(entry("POST /contacts/:id/score").group, "POST /contacts/:id/score", path);
  }
  return { caller, session, made, more };
}
const entry = (signature: string): RouteEntry =>
  routeTable.find((one) => one.signature === signature)!;

const requestFor = (
  { route }: RouteEntry,
  made: IdsByKind,
  query: Record<string, string>,
): LambdaRequest => {
  const kind = route.path.split("/")[3]!;
  const params = route.path.includes("{id}") ? { id: String(made[kind]) } : {};
  const needed = route.path.endsWith("/lists/{id}/contacts") ? { q: "ann" } : {};
  return { params, query: { ...needed, ...query } };
};

async function refusal(one: RouteEntry, request: LambdaRequest): Promise<string> {
  const { status, body } = await invokeRoute(one.group, one.signature, request);
  return `${one.signature} ${status} ${body.code} ${body.details?.map(({ path }) => path)}`;
}
const refused = (one: RouteEntry): string => `${one.signature} 400 validation_failed cursor`;

test("every route that returns a cursor accepts one, and needs a credential", () => {
  expect(lists.length).toBeGreaterThan(30);
  for (const { route, signature } of lists)
    expect([signature, route.auth]).not.toEqual([signature, "public"]);
});

test("lists refuse forged cursors, and those of another list, filter or tenant", async () => {
  const [{ session, made }, otherShop] = await Promise.all([shop(), shop()]);
  const { key } = await apiKeys.create(otherShop.caller, apiKeys.NewApiKey.parse({ name: "all" }));
  const given = new Map<RouteEntry, string>();
  for (const one of lists) {
    const { status, body } = await invokeRoute<{ pagination?: Page } & Page>(
      one.group,
      one.signature,
      {
        ...session,
        ...requestFor(one, made, one.signature === "GET /imports/:id/errors" ? {} : { limit: "1" }),
      },
    );
    expect([one.signature, status]).toEqual([one.signature, 200]);
    const cursor = (body.data.pagination ?? body.data).nextCursor;
    if (cursor) given.set(one, cursor);
  }
  expect(given.size).toBeGreaterThan(12);
  const all = [...given.values()];
  const crafted = hostile
    .slice(0, everything ? 4 : 1)
    .map((position) => Buffer.from(position).toString("base64url"));
  for (const one of lists) {
    const ownCursor = given.get(one);
    const some = ownCursor ?? all[0]!;
    const altered = sampleOf(
      2,
      [`${some}A`, some.slice(1), some.slice(0, -4), flipped(some)],
      one.signature,
    );
    for (const cursor of [
      ...all.filter((other) => other !== ownCursor).slice(0, everything ? 5 : 1),
      ...altered,
      ...crafted,
    ])
      expect(await refusal(one, { ...session, ...requestFor(one, made, { cursor }) })).toBe(
        refused(one),
      );
    if (!ownCursor) continue;
    const foreignRequest = {
      ...bearerHeader(key),
      ...requestFor(one, otherShop.made, { cursor: ownCursor }),
    };
    expect(await refusal(one, foreignRequest)).toBe(refused(one));
    const next = await invokeRoute(one.group, one.signature, {
      ...session,
      ...requestFor(one, made, { cursor: ownCursor }),
    });
    expect([one.signature, next.status]).toEqual([one.signature, 200]);
  }
});

test("a cursor is bound to its filters and its API key", async () => {
  const { caller, session, made, more } = await shop();
  const sends = entry("GET /sends");
  const siteId = String(made.sites);
  const get = (credential: LambdaRequest, query: Record<string, string>) =>
    invokeRoute<{ pagination: Page }>(sends.group, "GET /sends", { ...credential, query });
  const nextCursor = (await get(session, { siteId, limit: "1" })).body.data.pagination.nextCursor!;
  expect(more.sends).toBeDefined();
  expect((await get(session, { limit: "2", siteId, cursor: nextCursor })).status).toBe(200);
  expect((await get(session, { cursor: nextCursor })).status).toBe(400);
  expect((await get(session, { siteId, status: "queued", cursor: nextCursor })).status).toBe(400);
  const { key } = await apiKeys.create(
    caller,
    apiKeys.NewApiKey.parse({ name: "bound", siteId: made.sites }),
  );
  expect((await get(bearerHeader(key), { siteId, cursor: nextCursor })).status).toBe(400);
  expect(Buffer.from(nextCursor, "base64url").toString("latin1")).not.toMatch(
    /\d{4}-\d\d-\d\d|\d{16}/,
  );
});

test("every list refuses a position of another format, even in a valid cursor", async () => {
  const { caller, session, made } = await shop();
  for (const one of lists) {
    const request = requestFor(one, made, {});
    const input = {
      params: parsePathParams(request.params),
      query: validate(one.route.query, request.query),
    };
    const { seal } = (await cursorsFor(one.route, caller, input)) as Cursors;
    for (const position of sampleOf(2, hostile, one.signature)) {
      const sealed = {
        ...session,
        ...request,
        query: { ...request.query, cursor: seal(position) },
      };
      expect(await refusal(one, sealed)).toBe(refused(one));
    }
  }
});

interface Page {
  nextCursor: string | null;
}

const flipped = (cursor: string): string => {
  const bytes = Buffer.from(cursor, "base64url");
  bytes[bytes.length - 1]! ^= 1;
  return bytes.toString("base64url");
};

const time = "2026-11-22T10:00:00.000Z";
const hostile = [
  "run|1000000000000000",
  `${time}#0000000000000001|1e15`,
  `${time}#0000000000000001|-1000000000000000`,
  `${time}#0000000000000001|-Infinity`,
  `${time}#0000000000000001|99999999999999`,
  `${time}#abc#1#0|1000000000000000`,
  `${time}#abc#1#0|-1`,
  "-1",
  "1e15",
  "Infinity",
  "NaN",
  "99999999999999999999",
  "A",
  "F",
  "\u0000",
  "~",
  `SCORE|${time}`,
  "EVENT|",
  "9".repeat(300),
];
