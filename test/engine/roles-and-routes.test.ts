// Walks all roles and routes. test/fixtures/roles-and-routes.csv has the expected result of each
// cell: `yes`, or `no` for 403 `scope_missing`. test/unit/house-rules.test.ts finds missing rows.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { write } from "../../shared/adapters/dynamodb/table.ts";
import { userKeyOf } from "../../shared/domain/identity/members.ts";
import * as sessions from "../../shared/domain/identity/sessions.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import { groupRights, rightsOfScope, roleNames } from "../../shared/rights.ts";
import { createAccount } from "../support/accounts.ts";
import { invokeRoute } from "../support/lambda-requests.ts";
import { addMember, type TestMember } from "../support/members.ts";
import { type RouteEntry, routeTable } from "../support/one-of-each-record.ts";

// The test exceeds the rate limit of other plans.
beforeAll(() => {
  vi.stubEnv("DEFAULT_PLAN", "enterprise");
});
afterAll(() => {
  vi.unstubAllEnvs();
});

const file = new URL("../fixtures/roles-and-routes.csv", import.meta.url);
const [header = "", ...lines] = readFileSync(file, "utf8").trim().split("\n");
const columns = header.split(",").slice(1);
const rows = lines.map((line) => line.split(","));
/** Routes that take sessions. Those for API keys only need no right of their own. */
const routes = routeTable.filter(({ route }) => /^(account|session)$/.test(route.auth));

test("every route needs a right that the scopes of its first path segment include", () => {
  for (const { route, signature } of routes)
    expect(rightsOfScope(route.scope), signature).toContain(route.right);
  const needed = new Set(routes.map(({ route }) => `${route.scope} ${route.right}`));
  const declared = Object.entries(groupRights).flatMap(([group, { read, write: writes }]) => [
    ...read.map((right) => `${group}:read ${right}`),
    ...writes.map((right) => `${group}:write ${right}`),
  ]);
  const defaults = Object.entries(groupRights).flatMap(([group, { read, write: writes }]) => [
    `${group}:read ${read[0]}`,
    `${group}:write ${writes[0]}`,
  ]);
  expect(declared.filter((one) => !needed.has(one) && !defaults.includes(one))).toEqual([]);
});

test.each(roleNames)("the role %s may call exactly the routes of the matrix", async (role) => {
  const owner = await createAccount();
  const member = await addMember(owner.caller, { role });
  const column = 1 + columns.indexOf(role);
  const expected = new Map(rows.map((row) => [row[0], row[column]]));
  // The last route ends the membership.
  const ordered = routes.toSorted((a, b) => Number(isLeaving(a)) - Number(isLeaving(b)));
  const actual: [string, string][] = [];
  for (const entry of ordered) actual.push([entry.signature, await callAs(member, entry)]);
  expect(actual).toEqual(ordered.map(({ signature }) => [signature, expected.get(signature)]));
});

const isLeaving = ({ signature }: RouteEntry): boolean => signature === "POST /auth/leave";

/** A new session for each call, because some end it. Ids in paths name nothing. */
async function callAs({ caller }: TestMember, { group, route, signature }: RouteEntry) {
  const { token, writes } = sessions.prepareSession(userKeyOf(caller));
  await write(...writes);
  const names = [...route.path.matchAll(/{(\w+)}/g)].map(([, name = ""]) => name);
  const params = Object.fromEntries(names.map((name) => [name, "987654321"]));
  const { status, body } = await invokeRoute(group, signature, {
    cookies: [`${sessionCookieName}=${token}`],
    params,
    ...(route.body && !route.rawBodyTypes && { body: {} }),
  });
  const isRefused = route.wireFormat ? status === 403 : body.code === "scope_missing";
  return isRefused ? "no" : "yes";
}
