// Every list that can be filtered by site has an exact total: the tests compare it with the records
// on all pages.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as sites from "../../shared/domain/identity/sites.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import { createAccount } from "../support/accounts.ts";
import { invokeRoute, type LambdaAnswer, type LambdaRequest } from "../support/lambda-requests.ts";
import {
  createEachKind,
  findRoute,
  type IdsByKind,
  type RouteEntry,
  type RouteSignature,
  routeTable,
} from "../support/one-of-each-record.ts";
import { useVirtualQueues } from "../support/virtual-queues.ts";

beforeAll(async () => {
  vi.stubEnv("DEFAULT_PLAN", "enterprise");
  await useVirtualQueues();
});
afterAll(() => {
  vi.unstubAllEnvs();
});

interface Listed {
  pagination?: { total: number | null; nextCursor: string | null };
}

/**
 * Lists without a total. Reports read all contacts of a site, custom events are counted per contact
 * only, actions on contacts and received mail are logs that expire, and jobs are read from an index
 * of all records that run.
 */
const uncounted = [
  ...["multi-sequence", "stalled-enrollments", "unengaged-contacts", "no-sequences"].map(
    (name) => `GET /reports/${name}`,
  ),
  "GET /events/custom",
  "GET /contact-actions",
  "GET /inbound-emails",
  "GET /jobs",
];

const takesSite = ({ route }: RouteEntry): boolean =>
  "siteId" in ((route.query as { shape?: object } | undefined)?.shape ?? {});
const lists = routeTable.filter(
  (entry) =>
    entry.route.method === "GET" &&
    !entry.signature.includes(":") &&
    takesSite(entry) &&
    !uncounted.includes(entry.signature),
);

/**
 * Returns the total of the list and the number of records on all its pages, or undefined if the
 * route is no list.
 */
async function totals(
  { group, signature }: RouteEntry,
  credential: LambdaRequest,
  query: Record<string, string>,
) {
  let found = 0;
  let total: number | null = null;
  let cursor: string | null = null;
  do {
    const request: LambdaRequest = {
      ...credential,
      query: { ...query, limit: "2", ...(cursor !== null && { cursor }) },
    };
    const { status, body }: LambdaAnswer<Listed & Record<string, unknown>> = await invokeRoute(
      group,
      signature,
      request,
    );
    if (status === 400 || !body.data.pagination) return undefined;
    found += Object.values(body.data).find((value) => Array.isArray(value))!.length;
    total ??= body.data.pagination.total;
    cursor = body.data.pagination.nextCursor;
  } while (cursor !== null);
  return { total, found };
}

async function expectExact(
  credential: LambdaRequest,
  siteIds: number[],
): Promise<RouteSignature[]> {
  const checked: RouteSignature[] = [];
  for (const entry of lists)
    for (const siteId of [undefined, ...siteIds]) {
      const listed = await totals(
        entry,
        credential,
        siteId === undefined ? {} : { siteId: String(siteId) },
      );
      if (!listed) continue;
      expect([entry.signature, siteId, listed.total]).toEqual([
        entry.signature,
        siteId,
        listed.found,
      ]);
      checked.push(entry.signature);
    }
  return checked;
}

const deletions: Record<string, RouteSignature> = {
  lists: "DELETE /lists/:id",
  tags: "DELETE /tags/:id",
  segments: "DELETE /segments/:id",
  campaigns: "DELETE /campaigns/:id",
  sequences: "DELETE /sequences/:id",
  holidays: "DELETE /holidays/:id",
  forms: "DELETE /forms/:id",
  scoring: "DELETE /scoring/rules/:id",
  reports: "DELETE /reports/schedules/:id",
  snippets: "DELETE /snippets/:id",
  templates: "DELETE /templates/:id",
  "template-folders": "DELETE /template-folders/:id",
  contacts: "DELETE /contacts/:id",
};

async function deleteAll(credential: LambdaRequest, made: IdsByKind) {
  for (const [kind, signature] of Object.entries(deletions)) {
    const { status, body } = await invokeRoute(findRoute(signature).group, signature, {
      ...credential,
      params: { id: String(made[kind]) },
    });
    expect([signature, status, body.error]).toEqual([signature, 200, undefined]);
  }
}

test("lists of a site have exact totals while records are created and deleted", async () => {
  const { caller, token } = await createAccount();
  const credential = { cookies: [`${sessionCookieName}=${token}`] };
  const first = await createEachKind(credential);
  const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Second" }));
  const ofOrganization = ["sending-configs", "domains", "webhooks", "api-keys"];
  const second = await createEachKind(
    credential,
    siteId,
    Object.fromEntries(ofOrganization.map((kind) => [kind, first[kind]!])),
  );
  const siteIds = [first.sites!, siteId];
  const checked = new Set(await expectExact(credential, siteIds));
  expect(checked.size).toBeGreaterThan(15);
  for (const signature of [
    "POST /lists",
    "POST /tags",
    "POST /segments",
    "POST /forms",
    "POST /campaigns",
  ] as const) {
    const body = {
      name: "Again",
      siteId,
      ...(signature === "POST /segments" && { rules: { match: "all", conditions: [] } }),
    };
    expect(
      (await invokeRoute(findRoute(signature).group, signature, { ...credential, body })).status,
    ).toBe(201);
  }
  await expectExact(credential, siteIds);
  await deleteAll(credential, first);
  await expectExact(credential, siteIds);
  await deleteAll(credential, second);
  await expectExact(credential, siteIds);
});
