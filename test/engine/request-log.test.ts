import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { auditLog } from "../../functions/http/audit-log.ts";
import { contacts } from "../../functions/http/contacts.ts";
import { sites } from "../../functions/http/sites.ts";
import { suppressions } from "../../functions/http/suppressions.ts";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { query } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { list, type RequestEntry } from "../../shared/domain/audit/request-list.ts";
import {
  dayOf,
  type LoggedRequest,
  logRequest,
  type RequestBlock,
  readBlock,
  writeRequests,
} from "../../shared/domain/audit/request-log.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import { ranges } from "../../shared/keys.ts";
import { createAccount, type TestAccount } from "../support/accounts.ts";
import { withSession } from "../support/audit-log.ts";
import { invokeRoute, type LambdaRequest } from "../support/lambda-requests.ts";
import { bearerHeader } from "../support/one-of-each-record.ts";

let owner: TestAccount;
let keyId: number;
let credential: LambdaRequest;
beforeAll(async () => {
  vi.stubEnv("DEFAULT_PLAN", "unlimited");
  // Only the tests move the clock.
  vi.useFakeTimers({ toFake: ["Date"] });
  owner = await createAccount();
  const created = await apiKeys.create(owner.caller, apiKeys.NewApiKey.parse({ name: "Shop" }));
  keyId = created.id;
  credential = bearerHeader(created.key);
});
afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

async function listLogged(filter: Record<string, string> = {}): Promise<RequestEntry[]> {
  await writeRequests();
  const { status, body } = await invokeRoute<{ requests: RequestEntry[] }>(
    auditLog,
    "GET /request-log",
    { ...withSession(owner), query: filter },
  );
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data.requests;
}

/** An organization without an account, for the requests of one test. */
let lastOrgId = 910_000_000;
const newOrgId = () => ++lastOrgId;

const logged = (n: number, changes: Partial<LoggedRequest> = {}): LoggedRequest => ({
  at: clock.now().toISOString(),
  requestId: crypto.randomUUID(),
  keyId: 7,
  method: "POST",
  route: "/api/v1/contacts",
  path: "/api/v1/contacts",
  status: 201,
  code: null,
  milliseconds: 3 + (n % 20),
  address: "203.0.113.7",
  ...changes,
});

const readBlocks = async (orgId: number): Promise<RequestBlock[]> => {
  const range = ranges.requestBlocks(orgId, dayOf(clock.now().toISOString()));
  return (await query<RequestBlock>(range, { consistent: true, limit: 1000 })).items;
};
const readStored = async (orgId: number): Promise<LoggedRequest[]> =>
  (await Promise.all((await readBlocks(orgId)).map(readBlock))).flat();

describe("the request log", () => {
  test("has the requests of API keys with path, status and code", async () => {
    await invokeRoute(sites, "POST /sites", { ...credential, body: { name: "Shop" } });
    await invokeRoute(sites, "GET /sites", withSession(owner));
    clock.advanceClock(2);
    const missing = { ...credential, params: { id: "77" } };
    await invokeRoute(contacts, "GET /contacts/:id", missing);
    const [second, first, ...others] = await listLogged();
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      key: { id: keyId, name: "Shop" },
      method: "POST",
      route: "/api/v1/sites",
      path: "/api/v1/sites",
      status: 201,
      code: null,
      address: "192.0.2.1",
      requestId: expect.any(String),
    });
    expect(second).toMatchObject({
      route: "/api/v1/contacts/{id}",
      path: "/api/v1/contacts/77",
      status: 404,
      code: "not_found",
    });
  });

  test("has neither queries nor addresses of paths", async () => {
    await invokeRoute(suppressions, "DELETE /suppressions/:email", {
      ...credential,
      params: { email: "ada@shop.example" },
    });
    await invokeRoute(contacts, "GET /contacts", {
      ...credential,
      query: { search: "ada@shop.example" },
    });
    const text = JSON.stringify(await listLogged());
    expect(text).toContain("/api/v1/suppressions/{email}");
    expect(text).not.toContain("ada@shop");
  });

  test("filters by key, status, method, path and time", async () => {
    const other = await createAccount();
    const { id: otherKeyId } = await apiKeys.create(
      other.caller,
      apiKeys.NewApiKey.parse({ name: "Other" }),
    );
    expect(await listLogged({ keyId: String(otherKeyId) })).toEqual([]);
    expect(await listLogged({ keyId: String(keyId) })).not.toEqual([]);
    expect(await listLogged({ status: "2xx", method: "POST" })).toMatchObject([{ status: 201 }]);
    expect((await listLogged({ status: "4xx" })).length).toBeGreaterThan(1);
    expect(await listLogged({ path: "/api/v1/sites" })).toHaveLength(1);
    expect(await listLogged({ path: "/api/v1/contacts/{id}" })).toHaveLength(1);
    expect(await listLogged({ from: clock.addSeconds(60).toISOString() })).toEqual([]);
    expect(await listLogged({ to: clock.addSeconds(-3600).toISOString() })).toEqual([]);
    expect(
      await listLogged({ to: "9999-12-31T00:00:00Z", from: "0001-01-01T00:00:00Z" }),
    ).not.toEqual([]);
  });

  test("writes a refused request at once, with those that waited", async () => {
    const orgId = newOrgId();
    await logRequest(orgId, logged(1));
    expect(await readStored(orgId)).toEqual([]);
    const refused = logged(2, { status: 409, code: "conflict" });
    await logRequest(orgId, refused);
    expect(await readStored(orgId)).toHaveLength(2);
    // Another one within a second waits for the next request.
    await logRequest(orgId, refused);
    expect(await readStored(orgId)).toHaveLength(2);
    clock.advanceClock(1);
    await logRequest(orgId, refused);
    expect(await readStored(orgId)).toHaveLength(4);
  });

  test("writes what waited for 20 seconds with the next request", async () => {
    const orgId = newOrgId();
    await logRequest(orgId, logged(1));
    clock.advanceClock(21);
    await logRequest(orgId, logged(2));
    expect(await readStored(orgId)).toHaveLength(2);
  });

  test("costs at most 0.05 write units per request under load", async () => {
    const orgId = newOrgId();
    const { usage } = await measureUnits(async () => {
      for (let n = 0; n < 2000; n++) await logRequest(orgId, logged(n));
      await writeRequests();
    });
    expect(await readStored(orgId)).toHaveLength(2000);
    console.log(`${usage.writeUnits / 2000} write units per request`);
    expect(usage.writeUnits / 2000).toBeLessThanOrEqual(0.05);
  });

  test("is read page by page, across minutes, days and processes", async () => {
    const orgId = newOrgId();
    const all: string[] = [];
    for (const seconds of [1, 30, 40, 3600, 90_000]) {
      clock.advanceClock(seconds);
      for (let n = 0; n < 4; n++) {
        const request = logged(n, {
          at: clock.addSeconds(n / 1000).toISOString(),
          // Ids are the second part of the order.
          requestId: `r${String(all.length).padStart(3, "0")}`,
        });
        all.push(request.requestId);
        await logRequest(orgId, request);
        if (n % 2) await writeRequests();
      }
    }
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const { items, pagination } = await list({ orgId }, { limit: 3, cursor });
      found.push(...items.map(({ requestId }) => requestId));
      cursor = pagination.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(found).toEqual(all.toReversed());
  });

  test("expires after 30 days", async () => {
    const orgId = newOrgId();
    await logRequest(orgId, logged(1));
    await writeRequests();
    const [block] = await readBlocks(orgId);
    const { expires } = block as RequestBlock & { expires: number };
    expect(expires - clock.epochSeconds()).toBeGreaterThan(29.9 * 86_400);
    clock.advanceClock(31 * 86_400);
    expect((await list({ orgId }, { limit: 10 })).items).toEqual([]);
  });
});
