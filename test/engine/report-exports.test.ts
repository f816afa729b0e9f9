// CSV of contacts in reports: the right, and the entry in the audit log.
import { beforeAll, expect, test } from "vitest";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { createAccount, type TestAccount } from "../support/accounts.ts";
import { readAuditItems, withSession } from "../support/audit-log.ts";
import { invokeRoute, type LambdaRequest } from "../support/lambda-requests.ts";
import { addMember } from "../support/members.ts";
import { bearerHeader, type RouteEntry, routeTable } from "../support/one-of-each-record.ts";

const reports = routeTable.filter(({ route }) => route.exportRight !== undefined);
let owner: TestAccount;
beforeAll(async () => {
  owner = await createAccount();
  await sites.create(owner.caller, sites.NewSite.parse({ name: "Shop" }));
});

const callReport = (
  { group, signature }: RouteEntry,
  credential: LambdaRequest,
  format: "csv" | "json",
) => invokeRoute(group, signature, { ...credential, query: { format } });
const keyWith = async (scopes: string[]): Promise<LambdaRequest> =>
  bearerHeader(
    (await apiKeys.create(owner.caller, apiKeys.NewApiKey.parse({ name: "k", scopes }))).key,
  );
const exportEntries = async () =>
  (await readAuditItems(owner.caller.orgId)).filter(({ action }) =>
    reports.some(({ route }) => route.operationId === action),
  );

test("there are four reports of contacts", () => {
  expect(reports.map(({ signature }) => signature)).toEqual([
    "GET /reports/multi-sequence",
    "GET /reports/stalled-enrollments",
    "GET /reports/unengaged-contacts",
    "GET /reports/no-sequences",
  ]);
});

test("a key with rights to statistics only gets no contacts", async () => {
  const key = await keyWith(["statistics:read", "analytics:read", "dashboard:read"]);
  for (const report of reports)
    for (const format of ["json", "csv"] as const)
      expect(await callReport(report, key, format)).toMatchObject({
        status: 403,
        body: { code: "scope_missing" },
      });
});

test("CSV needs the right to export, JSON does not", async () => {
  const member = await addMember(owner.caller, { role: "developer" });
  const credentials = [
    withSession(member),
    await keyWith(["audience:read"]),
    await keyWith(["reports:read", "suppressions:read"]),
  ];
  for (const credential of credentials)
    for (const report of reports) {
      expect((await callReport(report, credential, "json")).status).toBe(200);
      const { status, body } = await callReport(report, credential, "csv");
      expect([status, body.code]).toEqual([403, "scope_missing"]);
      expect(body.error).toContain("audience:export");
    }
  expect(await exportEntries()).toEqual([]);
});

test("every CSV of a report has an entry in the audit log", async () => {
  const marketer = await addMember(owner.caller, { role: "marketer" });
  const allowed = [withSession(marketer), await keyWith(["audience:read", "audience:export"])];
  for (const credential of allowed)
    for (const report of reports)
      expect((await callReport(report, credential, "csv")).status).toBe(200);
  const entries = await exportEntries();
  expect(entries.map(({ action }) => action)).toEqual(
    allowed.flatMap(() => reports.map(({ route }) => route.operationId)),
  );
  expect(entries.every(({ outcome }) => outcome === "done")).toBe(true);
});
