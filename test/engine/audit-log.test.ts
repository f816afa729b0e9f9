import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { account } from "../../functions/http/account.ts";
import { auditLog } from "../../functions/http/audit-log.ts";
import { mfa } from "../../functions/http/mfa.ts";
import { organization } from "../../functions/http/organization.ts";
import { publicPages } from "../../functions/http/public-pages.ts";
import { sites } from "../../functions/http/sites.ts";
import { tags } from "../../functions/http/tags.ts";
import { team } from "../../functions/http/team.ts";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { put, query, remove, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import type { AuditEntry } from "../../shared/domain/audit/audit-list.ts";
import { type ChainLink, chainEntries } from "../../shared/domain/audit/chain.ts";
import {
  type AuditEvent,
  type AuditItem,
  beginEntry,
  completeEntry,
  countCall,
  recordEntry,
  storeCounts,
  withdrawEntry,
} from "../../shared/domain/audit/entries.ts";
import { type Verification, verify } from "../../shared/domain/audit/verify.ts";
import { grantPlan } from "../../shared/domain/billing/operator-grants.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import { createResetToken } from "../../shared/domain/identity/password-changes.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { indexes, keys, ranges } from "../../shared/keys.ts";
import { createAccount, password, type TestAccount, uniqueEmail } from "../support/accounts.ts";
import { readAuditItems, withSession } from "../support/audit-log.ts";
import { invokeRoute, type LambdaAnswer, type LambdaRequest } from "../support/lambda-requests.ts";
import { bearerHeader } from "../support/one-of-each-record.ts";

const day = 86_400;
const event: AuditEvent = {
  action: "deleteSite",
  actor: { type: "user", id: 1 },
  target: "sites/3",
  address: "192.0.2.7",
  userAgent: "test",
  requestId: "r",
};

/** An organization without an account, for the entries of one test. */
let lastOrgId = 900_000_000;
const newOrgId = () => ++lastOrgId;

async function record(orgId: number, n: number): Promise<AuditItem[]> {
  for (let i = 0; i < n; i++)
    await recordEntry(orgId, { ...event, target: `sites/${i}`, outcome: "done" });
  return readAuditItems(orgId);
}

async function verifyAll(orgId: number): Promise<Verification["problems"]> {
  const problems: Verification["problems"] = [];
  let cursor: string | undefined;
  do {
    const part = await verify({ orgId }, { cursor });
    expect(part.intact).toBe(part.problems.length === 0);
    problems.push(...part.problems);
    cursor = part.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return problems;
}

const readLinks = async (orgId: number): Promise<ChainLink[]> =>
  (await query<ChainLink>(ranges.auditLinks(orgId), { consistent: true })).items;

interface EntryPage {
  entries: AuditEntry[];
  pagination: { nextCursor: string | null };
}

async function listEntries(
  credential: LambdaRequest,
  filter: Record<string, string> = {},
): Promise<AuditEntry[]> {
  const { status, body } = await invokeRoute<{ entries: AuditEntry[] }>(
    auditLog,
    "GET /audit-log",
    { ...credential, query: filter },
  );
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data.entries;
}

describe("the chain", () => {
  test("covers every complete entry once, however many jobs run", async () => {
    const orgId = newOrgId();
    await record(orgId, 100);
    await Promise.all([1, 2, 3].map(() => chainEntries(orgId)));
    await chainEntries(orgId);
    const links = await readLinks(orgId);
    const chained = links.flatMap(({ entries }) => entries.map(({ id }) => id));
    expect(chained.toSorted()).toEqual((await readAuditItems(orgId)).map(({ sk }) => sk));
    expect(await verifyAll(orgId)).toEqual([]);
    expect((await verify({ orgId }, {})).unchainedEntries).toBe(0);
  });

  test("shows an entry that was changed or removed", async () => {
    const orgId = newOrgId();
    const [first, second] = await record(orgId, 3);
    await chainEntries(orgId);
    await write(update(keys.auditEntry(orgId, first!.sk), { set: { target: "sites/9" } }));
    await write(remove(keys.auditEntry(orgId, second!.sk)));
    expect(await verifyAll(orgId)).toMatchObject([
      { problem: "entry_changed", entryId: first!.sk, link: 1 },
      { problem: "entry_missing", entryId: second!.sk, link: 1 },
    ]);
  });

  async function createThreeLinks(): Promise<number> {
    const orgId = newOrgId();
    for (let i = 0; i < 3; i++) {
      await record(orgId, 1);
      await chainEntries(orgId);
    }
    expect(await readLinks(orgId)).toHaveLength(3);
    expect(await verifyAll(orgId)).toEqual([]);
    return orgId;
  }

  test.each([1, 2, 3])("shows that link %i was removed", async (n) => {
    const orgId = await createThreeLinks();
    await write(remove(keys.auditLink(orgId, n)));
    expect(await verifyAll(orgId)).toMatchObject([{ problem: "link_missing", link: n }]);
  });

  test("shows that all links were removed", async () => {
    const orgId = await createThreeLinks();
    for (const n of [1, 2, 3]) await write(remove(keys.auditLink(orgId, n)));
    expect(await verifyAll(orgId)).toMatchObject([{ problem: "link_missing" }]);
  });

  test("shows a link that was replaced together with its entry", async () => {
    const orgId = await createThreeLinks();
    const [, link] = await readLinks(orgId);
    await write(put(keys.auditLink(orgId, 2), { ...link!, entries: [] }));
    expect(await verifyAll(orgId)).toMatchObject([{ problem: "link_changed", link: 2 }]);
  });

  test("takes entries that may still change when their time is over", async () => {
    const orgId = newOrgId();
    const open = await beginEntry(orgId, event);
    await chainEntries(orgId);
    expect(await readLinks(orgId)).toEqual([]);
    expect((await verify({ orgId }, {})).unchainedEntries).toBe(1);
    clock.advanceClock(16 * 60);
    await chainEntries(orgId);
    expect(await readAuditItems(orgId)).toMatchObject([{ outcome: "unknown", link: 1 }]);
    // The request was paused for longer than a request can take.
    await completeEntry(open, { target: "sites/4" });
    await withdrawEntry(open);
    expect(await readAuditItems(orgId)).toMatchObject([{ outcome: "unknown", target: "sites/3" }]);
    expect(await verifyAll(orgId)).toEqual([]);
  });

  test("verifies 400 days of links after older ones have expired", async () => {
    const orgId = await createThreeLinks();
    clock.advanceClock(399 * day);
    await record(orgId, 1);
    await chainEntries(orgId);
    clock.advanceClock(2 * day);
    // Until TTL has deleted expired items, and afterwards.
    expect(await verifyAll(orgId)).toEqual([]);
    for (const n of [2, 1, 3]) {
      await write(remove(keys.auditLink(orgId, n)));
      expect(await verifyAll(orgId)).toEqual([]);
    }
    const [kept] = (await readAuditItems(orgId)).slice(-1);
    expect(kept!.expires! - clock.epochSeconds()).toBeGreaterThan(398 * day);
    await write(remove(keys.auditLink(orgId, 4)));
    expect(await verifyAll(orgId)).toMatchObject([{ problem: "link_missing", link: 4 }]);
  });

  test("is verified part by part", async () => {
    const orgId = newOrgId();
    for (let i = 0; i < 22; i++) {
      await record(orgId, 1);
      await chainEntries(orgId);
    }
    const first = await verify({ orgId }, {});
    expect(first).toMatchObject({ intact: true, checkedEntries: 20, end: { link: 22 } });
    const second = await verify({ orgId }, { cursor: first.nextCursor! });
    expect(second).toMatchObject({ intact: true, checkedEntries: 2, nextCursor: null });
  });

  test("is continued by the due index until nothing is left to chain", async () => {
    const orgId = newOrgId();
    await record(orgId, 1);
    const dueAt = async () => {
      const shards = await Promise.all(
        [0, 1, 2, 3].map((shard) =>
          query<{ pk: string; duesk: string }>(indexes.due("AUDIT", shard), { limit: 1000 }),
        ),
      );
      const { pk } = keys.auditChain(orgId);
      return shards.flatMap(({ items }) => items).find((item) => item.pk === pk)?.duesk;
    };
    expect(await dueAt()).toBeDefined();
    await chainEntries(orgId);
    expect(await dueAt()).toBeDefined();
    clock.advanceClock(5 * 60);
    await chainEntries(orgId);
    expect(await dueAt()).toBeUndefined();
    await record(orgId, 1);
    expect(await dueAt()).toBeDefined();
  });
});

test("an entry costs at most 4 write units before it is chained, and 6 to chain it", async () => {
  const orgId = newOrgId();
  await record(orgId, 1);
  const stored = await measureUnits(async () => {
    const open = await beginEntry(orgId, event);
    await completeEntry(open, { target: "sites/3" });
  });
  for (let i = 0; i < 89; i++) await recordEntry(orgId, { ...event, outcome: "done" });
  const chained = await measureUnits(() => chainEntries(orgId));
  const perEntry = chained.usage.writeUnits / 91;
  console.info(`audit entry: ${stored.usage.writeUnits} W, ${perEntry} W to chain it`);
  expect(stored.usage.writeUnits).toBeLessThanOrEqual(4);
  expect(perEntry).toBeLessThanOrEqual(6);
});

describe("frequent calls of an API key", () => {
  const call = { ...event, action: "createContact", actor: { type: "api_key" as const, id: 5 } };
  // The clock stands still, so that no minute ends during a test.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("have one entry per minute with all calls, and few writes", async () => {
    const orgId = newOrgId();
    await Promise.all(Array.from({ length: 100 }, () => countCall(orgId, call)));
    await storeCounts();
    const [entry, ...more] = await readAuditItems(orgId);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({ action: "createContact", count: 100, target: null });
    expect(entry!.v).toBeLessThan(10);
    clock.advanceClock(60);
    await countCall(orgId, call);
    expect(await readAuditItems(orgId)).toMatchObject([{ count: 100 }, { count: 1 }]);
  });

  test("keep at least half of the count if the process dies", async () => {
    const orgId = newOrgId();
    for (let calls = 1; calls <= 50; calls++) {
      await countCall(orgId, call);
      const [{ count } = { count: 0 }] = await readAuditItems(orgId);
      expect(count).toBeGreaterThan((calls - 1) / 2);
      expect(count).toBeLessThanOrEqual(calls);
    }
  });

  test("have a further entry if the first was chained meanwhile", async () => {
    const orgId = newOrgId();
    for (let i = 0; i < 3; i++) await countCall(orgId, call);
    clock.advanceClock(16 * 60);
    await chainEntries(orgId);
    await storeCounts();
    const counts = (await readAuditItems(orgId)).map(({ count }) => count);
    expect(counts).toEqual([2, 1]);
    expect(await verifyAll(orgId)).toEqual([]);
  });
});

describe("the edge", () => {
  let owner: TestAccount;
  let session: LambdaRequest;
  beforeAll(async () => {
    vi.stubEnv("DEFAULT_PLAN", "unlimited");
    owner = await createAccount();
    session = withSession(owner);
  });
  afterAll(() => {
    vi.unstubAllEnvs();
  });

  test("stores the entry before the change, and keeps it if the outcome is unknown", async () => {
    const { caller, ...other } = await createAccount();
    const route = tags.routes.find(({ key }) => key === "POST /api/v1/tags")!;
    let before: AuditItem[] = [];
    const failing = {
      ...route,
      handle: async () => {
        before = await readAuditItems(caller.orgId);
        throw new Error("The process has no memory left");
      },
    };
    vi.stubEnv("LOG_LEVEL", "SILENT");
    const { status } = await invokeRoute(routeGroup("failing", [failing]), "POST /tags", {
      ...withSession(other),
      body: { name: "vip" },
    });
    expect(status).toBe(500);
    expect(before).toMatchObject([{ action: "createTag", outcome: "unknown" }]);
    expect(await readAuditItems(caller.orgId)).toMatchObject([{ outcome: "unknown" }]);
  });

  test("records one entry for a request that is repeated with its Idempotency-Key", async () => {
    const other = await createAccount();
    const request = {
      ...withSession(other),
      headers: { "idempotency-key": "k1" },
      body: { name: "Shop" },
    };
    for (let i = 0; i < 3; i++) await invokeRoute(sites, "POST /sites", request);
    expect(await listEntries(withSession(other))).toMatchObject([
      { action: "createSite", target: expect.stringMatching(/^sites\/\d+$/) },
    ]);
  });

  test("shows the role of a member before and after a change", async () => {
    const { caller, opened } = owner;
    const { status } = await invokeRoute(team, "PUT /members/:id", {
      ...session,
      params: { id: String(caller.userId) },
      body: { role: "owner" },
    });
    expect(status).toBe(200);
    const [entry] = await listEntries(session, { action: "updateMember" });
    expect(entry).toMatchObject({
      actor: { type: "user", id: caller.userId, name: opened.user.email },
      target: `members/${caller.userId}`,
      changedFields: ["role"],
      changes: [{ field: "role", from: "owner", to: "owner" }],
      outcome: "done",
    });
  });

  const login = (body: object, address = "198.51.100.4") =>
    invokeRoute(account, "POST /auth/login", {
      body,
      address,
      headers: { "user-agent": "Firefox" },
    });

  test("records logins and failed logins with the address of the client", async () => {
    const other = await createAccount();
    const { email } = other;
    expect((await login({ email, password })).status).toBe(200);
    expect((await login({ email, password: "a wrong password" })).status).toBe(401);
    const { userId } = other.caller;
    expect(await listEntries(withSession(other), { target: "members" })).toMatchObject([
      {
        action: "logIn",
        outcome: "failed",
        actor: { type: "anonymous", id: null },
        target: `members/${userId}`,
        address: "198.51.100.4",
        userAgent: "Firefox",
      },
      { action: "logIn", outcome: "done", actor: { type: "user", id: userId } },
    ]);
  });

  test("stores as much for a login of nobody, so that its duration reveals nothing", async () => {
    const before = await readAuditItems(0);
    expect((await login({ email: uniqueEmail(), password })).status).toBe(401);
    const strangers = (await readAuditItems(0)).slice(before.length);
    expect(strangers).toMatchObject([{ outcome: "failed", target: null }]);
    expect(strangers[0]!.expires).toBeLessThan(clock.epochSeconds() + 4000);
  });

  test("records sign-up, password reset, second factor and logout", async () => {
    const email = uniqueEmail();
    const signedUp = await invokeRoute<{ organization: { id: number } }>(
      account,
      "POST /auth/signup",
      { body: { email, password } },
    );
    const cookie = (cookies: string[]) => cookies[0]!.split(";")[0]!;
    const asUser = { cookies: [cookie(signedUp.cookies)] };
    await invokeRoute(account, "POST /auth/forgot-password", { body: { email } });
    await invokeRoute(mfa, "POST /mfa/email-otp/enable", asUser);
    const pending = await login({ email, password });
    expect(pending.body.data).toMatchObject({ mfaRequired: true });
    const { mfaToken } = pending.body.data as { mfaToken: string };
    await invokeRoute(mfa, "POST /mfa/verify", { body: { mfaToken, code: "000000" } });
    await invokeRoute(mfa, "POST /mfa/challenge", { body: { mfaToken } });
    await invokeRoute(account, "POST /auth/logout", asUser);
    const { token } = (await createResetToken(email))!;
    const form = new URLSearchParams({ token, password: "another pass phrase" });
    const reset = await invokeRoute(publicPages, "POST /reset-password", {
      raw: Buffer.from(form.toString()),
    });
    expect(reset.status).toBe(200);
    const items = await readAuditItems(signedUp.body.data.organization.id);
    expect(items.map(({ action, actor, outcome }) => [action, actor.type, outcome])).toEqual([
      ["signUp", "user", "done"],
      ["requestPasswordReset", "anonymous", "done"],
      ["enableEmailOtp", "user", "done"],
      ["logIn", "user", "second_factor_required"],
      ["verifyMfaCode", "anonymous", "failed"],
      ["sendMfaCode", "user", "done"],
      ["logOut", "user", "done"],
      ["resetPassword", "user", "done"],
    ]);
    for (const secret of [token, mfaToken, password])
      expect(JSON.stringify(items)).not.toContain(secret);
  });

  test("records what the operator grants, and nothing if the grant is refused", async () => {
    const other = await createAccount();
    const { orgId } = other.caller;
    await grantPlan({ organizationId: orgId, plan: "growth", credits: 0 });
    await expect(
      grantPlan({ organizationId: newOrgId(), plan: "growth", credits: 0 }),
    ).rejects.toThrow();
    expect(await readAuditItems(lastOrgId)).toEqual([]);
    expect(await listEntries(withSession(other))).toMatchObject([
      {
        action: "grantPlan",
        actor: { type: "operator" },
        changes: [{ field: "plan", to: "growth" }, { field: "credits" }],
      },
    ]);
  });

  test("stores no address that a path has, and finds it by the address", async () => {
    const other = await createAccount();
    const { handler: _, routes } = (await import("../../functions/http/suppressions.ts"))
      .suppressions;
    const group = routeGroup("suppressions", routes);
    const credential = withSession(other);
    await invokeRoute(group, "POST /suppressions", {
      ...credential,
      body: { email: "ada@shop.example" },
    });
    await invokeRoute(group, "DELETE /suppressions/:email", {
      ...credential,
      params: { email: "ada@shop.example" },
    });
    const target = "suppressions/ada@shop.example";
    expect(await listEntries(credential, { target })).toMatchObject([
      { action: "deleteSuppression" },
    ]);
    expect(JSON.stringify(await readAuditItems(other.caller.orgId))).not.toContain("ada@shop");
  });

  test("filters by actor, action and time, and pages without gaps", async () => {
    const other = await createAccount();
    const credential = withSession(other);
    const { key, id } = await apiKeys.create(
      other.caller,
      apiKeys.NewApiKey.parse({ name: "Robot" }),
    );
    for (const enabled of [true, false, true])
      await invokeRoute(organization, "PUT /org/branding", { ...credential, body: { enabled } });
    clock.advanceClock(10);
    const from = clock.now().toISOString();
    for (const enabled of [true, false])
      await invokeRoute(organization, "PUT /org/branding", {
        ...bearerHeader(key),
        body: { enabled },
      });
    const actor = `api_key:${id}`;
    expect(await listEntries(credential, { actor })).toMatchObject([
      { actor: { type: "api_key", id, name: "Robot" }, changes: [{ from: true, to: false }] },
      { actor: { id } },
    ]);
    expect(await listEntries(credential, { from })).toHaveLength(2);
    expect(await listEntries(credential, { to: from })).toHaveLength(3);
    expect(await listEntries(credential, { action: "createSite" })).toEqual([]);
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const { body }: LambdaAnswer<EntryPage> = await invokeRoute(auditLog, "GET /audit-log", {
        ...credential,
        query: { limit: "2", ...(cursor === null ? {} : { cursor }) },
      });
      found.push(...body.data.entries.map((entry) => entry.id));
      cursor = body.data.pagination.nextCursor;
    } while (cursor);
    const all = await readAuditItems(other.caller.orgId);
    expect(found).toEqual(all.map(({ sk }) => sk).toReversed());
  });

  test("exports CSV and JSON lines", async () => {
    const other = await createAccount();
    const credential = withSession(other);
    await invokeRoute(sites, "POST /sites", { ...credential, body: { name: "Shop" } });
    const text = async (format: string) => {
      const query = { format, action: "createSite" };
      const { body } = await invokeRoute(auditLog, "GET /audit-log/export", {
        ...credential,
        query,
      });
      return body.data as unknown as string;
    };
    const [header, row] = (await text("csv")).split("\n");
    expect(header).toMatch(/^id,at,action,actorType/);
    expect(row).toContain(",createSite,user,");
    expect(JSON.parse(await text("jsonl"))).toMatchObject({ action: "createSite" });
    expect(await listEntries(credential, { action: "exportAuditLog" })).toHaveLength(2);
  });
});
