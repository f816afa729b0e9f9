// Validation, domains and stock photos over HTTP.
import { expect, test } from "vitest";
import { expectStatus, signedUp } from "../support/api-client.ts";

interface Domain {
  id: number;
  name: string;
  status: string;
  dnsRecords?: { purpose: string; name: string; value: string; state: string }[];
}

test("addresses are validated one by one or in bulk; the response has the free checks left", async () => {
  const { call } = await signedUp();
  const one = expectStatus(
    200,
    await call<{ verdict: string; checks: object; usage: object }>("POST", "/validate", {
      email: "ada@@example",
    }),
  );
  expect(one.body.data).toMatchObject({
    verdict: "invalid",
    normalized: null,
    usage: { free: 1, paid: 0, costCents: 0, freeLeft: 99 },
  });
  const many = expectStatus(200, await call("POST", "/sender-check", { emails: ["nobody", "@"] }));
  expect(many.body.data).toMatchObject({
    results: [{ email: "nobody", verdict: "dangerous" }, { email: "@" }],
    usage: { free: 2, freeLeft: 97 },
  });
});

test("a repeated request gets the same response and counts once", async () => {
  const { call } = await signedUp();
  const headers = { "idempotency-key": "once" };
  const [first, second] = [
    await call("POST", "/validate", { emails: ["a", "b"] }, { headers }),
    await call("POST", "/validate", { emails: ["a", "b"] }, { headers }),
  ];
  expect(second.body).toEqual(first.body);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect(
    (await call<{ usage: object }>("POST", "/validate", { email: "c" })).body.data.usage,
  ).toMatchObject({ freeLeft: 97 });
});

test("a domain is added, returned with its DNS records, changed, listed and removed", async () => {
  const { call } = await signedUp();
  const made = expectStatus(
    201,
    await call<Domain>("POST", "/domains", { name: "Shop-of-mine.example" }),
  ).body.data;
  expect(made).toMatchObject({
    name: "shop-of-mine.example",
    status: "pending",
    openTrackingEnabled: null,
  });
  expect(made.dnsRecords!.map(({ purpose, state }) => [purpose, state])).toEqual([
    ["ownership", "pending"],
    ["dmarc", "pending"],
  ]);
  expect(
    expectStatus(201, await call<Domain>("POST", "/domains", { name: "shop-of-mine.example" })).body
      .data.id,
  ).toBe(made.id);
  const changes = { clickTrackingEnabled: false, dkimSelectors: ["k1"] };
  const changed = expectStatus(200, await call<Domain>("PATCH", `/domains/${made.id}`, changes))
    .body.data;
  expect(changed).toMatchObject(changes);
  expect(changed.dnsRecords!.map(({ name }) => name)).toContain(
    "k1._domainkey.shop-of-mine.example",
  );
  const { domains } = expectStatus(200, await call<{ domains: Domain[] }>("GET", "/domains")).body
    .data;
  expect(domains).toEqual([expect.objectContaining({ id: made.id, clickTrackingEnabled: false })]);
  for (const secret of ["token", "seen", "orgId", "dnsRecords"])
    expect(domains[0]).not.toHaveProperty(secret);
  expect((await call("DELETE", `/domains/${made.id}`)).body.data).toEqual({
    id: made.id,
    deleted: true,
  });
  for (const method of ["GET", "DELETE"])
    expect((await call(method, `/domains/${made.id}`)).status).toBe(404);
});

test.each([
  { dkimSelectors: ["a b"] },
  { dkimSelectors: Array(11).fill("x") },
  { clickTrackingEnabled: "yes" },
])("%j is refused", async (changes) => {
  const { call } = await signedUp();
  const { id } = expectStatus(
    201,
    await call<Domain>("POST", "/domains", { name: "other.example" }),
  ).body.data;
  expect((await call("PATCH", `/domains/${id}`, changes)).status).toBe(400);
});

test("an API key of one site has no access", async () => {
  const { call, newKey, siteId } = await signedUp();
  const as = { key: await newKey({ siteId }) };
  for (const [method, path, body] of [
    ["POST", "/validate", { email: "a@b.co" }],
    ["POST", "/sender-check", { email: "a@b.co" }],
    ["GET", "/domains", undefined],
    ["GET", "/stock-photos", undefined],
  ] as const)
    expect(await call(method, path, body, { as })).toMatchObject({
      status: 403,
      body: { code: "site_forbidden" },
    });
});

test("stock photos that are not configured get an error, and an unsaved photo gets 404", async () => {
  const { call } = await signedUp();
  expect(await call("GET", "/stock-photos?q=office")).toMatchObject({
    status: 503,
    body: { error: expect.stringContaining("PEXELS_API_KEY") },
  });
  expect(
    await call("GET", `/photos/1/1-${"0".repeat(40)}.jpg`, undefined, { as: "anonymous" }),
  ).toMatchObject({ status: 404 });
});
