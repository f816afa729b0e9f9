// The endpoints we owe (test/fixtures/endpoints.json) against those there are, so that "done" can
// be counted.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { groups } from "../../functions/route-groups.ts";
import { shortPath } from "../../shared/http/operation-names.ts";
import { providers } from "../../shared/providers/registry.ts";

/** Not built yet, by the issue that brings it. It only ever shrinks: what is built is taken off. */
const notYet: Record<string, string[]> = {};

/** There are these beside what we owe. */
const extras = [
  "GET /openapi.json",
  "GET /docs",
  "GET /docs/{script}",
  "GET /health",
  "GET /", // pages at the root
  "GET /reset-password",
  "POST /reset-password",
  "GET /secure/{token}",
  "POST /secure/{token}",
  "POST /attachments", // for what is too large to travel inside a request
  "POST /sends/{id}/cancel",
  "GET /sending-configs/{id}",
  "GET /webhooks/{id}/deliveries",
  "POST /webhooks/{id}/deliveries/{deliveryId}/redeliver",
  "POST /webhooks/{id}/rotate-secret",
  "POST /webhooks/{id}/test",
  "GET /contacts/{id}/export", // one person's data
  "GET /forms/{id}/embed", // the form in a page of the customer's
  "GET /forms/{id}/page", // and on one of ours
  "GET /forms/confirm/{token}", // double opt-in
  "POST /forms/confirm/{token}",
  "DELETE /events/custom/names/{eventName}", // frees a place of the 1,000
  "POST /exports", // what is too long for one answer
  "GET /exports/{id}",
  "GET /imports/{id}/errors", // all of them, as a file
  "POST /campaigns/{id}/cancel",
  "POST /campaigns/{id}/pause",
  "POST /campaigns/{id}/resume",
  "POST /campaigns/{id}/preview", // dry run
  "POST /campaigns/{id}/test", // proofs
  "GET /photos/{orgId}/{name}", // a saved stock photo, as mails show it
  "GET /segments/{id}/contacts/{contactId}", // which condition holds and which does not
  // named in the text of the interface, not in its tables
  ...providers.map(({ key }) => `POST /webhooks/${key}`),
];

const owed = (
  JSON.parse(readFileSync(join(import.meta.dirname, "../fixtures/endpoints.json"), "utf8")) as [
    string,
    string,
  ][]
).map(([method, path]) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
const built = groups.flatMap(({ routes }) =>
  routes.map(({ method, path }) => `${method} ${shortPath(path)}`),
);
const under = (prefix: string) => (endpoint: string) =>
  `${endpoint.split(" ")[1]}/`.startsWith(`${prefix}/`);
const missing = owed.filter((endpoint) => !built.includes(endpoint));

test("every route is owed, or a known extra, and stands once", () => {
  expect(
    built.filter((endpoint) => !owed.includes(endpoint) && !extras.includes(endpoint)),
  ).toEqual([]);
  expect(built.filter((endpoint, i) => built.indexOf(endpoint) !== i)).toEqual([]);
});

test("the send limit holds for the three endpoints that the interface names", () => {
  const limited = groups.flatMap(({ routes }) =>
    routes.filter(({ rateLimit }) => rateLimit === "send"),
  );
  expect(limited.map(({ method, path }) => `${method} ${shortPath(path)}`).toSorted()).toEqual([
    "POST /campaigns/{id}/schedule",
    "POST /campaigns/{id}/send",
    "POST /send",
  ]);
});

test("every extra is there", () => {
  expect(extras.filter((endpoint) => !built.includes(endpoint))).toEqual([]);
});

test("every endpoint we owe is there, but for those of issues to come", () => {
  const prefixes = Object.values(notYet).flat();
  expect(missing.filter((endpoint) => !prefixes.some((prefix) => under(prefix)(endpoint)))).toEqual(
    [],
  );
});

test("what is built is off the list of what is not", () => {
  expect(
    Object.values(notYet)
      .flat()
      .filter((prefix) => !missing.some(under(prefix))),
  ).toEqual([]);
});
