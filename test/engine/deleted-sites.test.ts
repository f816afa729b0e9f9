// A deleted site: all its records are a 404 at once, and a background job erases them. The tests
// walk the route table, so a new route is tested here or listed as an exception.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { put, write } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import { ContactRow } from "../../shared/domain/audience/contacts/contact-schema.ts";
import { upsert } from "../../shared/domain/audience/contacts/upserts.ts";
import * as customEventListing from "../../shared/domain/audience/tracking/custom-event-listing.ts";
import { drain } from "../../shared/domain/due-work.ts";
import { removeSite } from "../../shared/domain/identity/remove-site.ts";
import { getErasureProgress } from "../../shared/domain/identity/site-erasure-job.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import * as siteErasure from "../../shared/domain/privacy/site-erasure.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import { dueShardOf, keys, zeroPad } from "../../shared/keys.ts";
import { createAccount } from "../support/accounts.ts";
import { interruptedAtSomeSteps, interruptions } from "../support/crash-injection.ts";
import { invokeRoute, type LambdaRequest } from "../support/lambda-requests.ts";
import { listAllKeys } from "../support/memory-dynamodb.ts";
import {
  createEachKind,
  findRoute,
  type IdsByKind,
  type RouteEntry,
  type RouteSignature,
  routeTable,
} from "../support/one-of-each-record.ts";
import { pendingMessages, useVirtualQueues } from "../support/virtual-queues.ts";

beforeAll(async () => {
  vi.stubEnv("DEFAULT_PLAN", "enterprise");
  await useVirtualQueues();
});
afterAll(() => {
  vi.unstubAllEnvs();
});

/** Records that belong to a site, by the first segment of their path. */
const owned = [
  ..."contacts lists tags topics segments templates media snippets template-folders sequences".split(
    " ",
  ),
  ..."holidays campaigns forms scoring reports imports exports contact-actions".split(" "),
  ...["inbound-emails", "inbound-settings"],
  "campaign-series",
];
/** Routes whose records belong to no site, or cannot exist in a site that can be deleted. */
const exceptions = [
  ..."accept-invitation analytics api-keys app archive attachments attention audit-log auth".split(
    " ",
  ),
  ..."billing compat compliance contact-fields request-log".split(" "),
  ..."dashboard docs domains events health inbound invitations jobs mcp members mfa openapi.json".split(
    " ",
  ),
  ..."org photos plans postmaster-tools providers rate-limit reset-password roles secure".split(
    " ",
  ),
  ..."secure-messages send sender-check sending-configs sends settings sites".split(" "),
  ..."segment sso stock-photos suppressions system t tracking unsubscribe validate".split(" "),
  ..."verify-email view webhooks wh why".split(" "),
];
const segmentOf = ({ signature }: RouteEntry): string => signature.split("/")[1]!;

test("every route is tested here or listed as an exception", () => {
  const unknown = routeTable
    .filter((entry) => ![...owned, ...exceptions, ""].includes(segmentOf(entry)))
    .map(({ signature }) => signature);
  expect(unknown).toEqual([]);
});

/** A valid body for each route. */
const bodies: Record<string, (made: IdsByKind) => object> = {
  "POST /contacts/:id/merge": (made) => ({ into: made.contacts! + 1 }),
  "POST /contacts/:id/tags": () => ({ name: "gold" }),
  "POST /contacts/:id/score": () => ({ delta: 1 }),
  "PUT /contacts/:id/topics": (made) => ({ topics: [{ id: made.topics, subscribed: false }] }),
  "POST /lists/:id/contacts": (made) => ({ contactId: made.contacts }),
  "DELETE /lists/:id/contacts": (made) => ({ contactId: made.contacts }),
  "POST /segments/:id/count": () => ({ rules: { match: "all", conditions: [] } }),
  "PUT /template-folders/:id": () => ({ name: "Other" }),
  "POST /sequences/:id/walk": (made) => ({ contactId: made.contacts }),
  "POST /sequences/:id/enroll": (made) => ({ contactIds: [made.contacts] }),
  "POST /sequences/:id/enrollments": (made) => ({ contactIds: [made.contacts] }),
  "DELETE /sequences/:id/enrollments": (made) => ({ contactId: made.contacts }),
  "POST /sequences/:id/steps": () => ({ type: "delay", delayMinutes: 5 }),
  "PUT /sequences/:id/steps": () => ({ stepsVersion: 0, steps: [] }),
  "PUT /sequences/:id/draft": () => ({ draftVersion: 0, stepsVersion: 0, steps: [] }),
  "PUT /campaigns/:id/archive": () => ({ archive: true }),
  "POST /campaigns/:id/schedule": () => ({ scheduledAt: clock.addSeconds(3600).toISOString() }),
  "POST /campaigns/:id/resend": () => ({ to: "failed" }),
  "POST /templates/:id/restore": () => ({ version: 1 }),
  "POST /snippets/:id/restore": () => ({ version: 1 }),
  "POST /templates/:id/test": () => ({ emails: ["ada@example.net"] }),
  "POST /campaigns/:id/test": () => ({ emails: ["ada@example.net"] }),
  "POST /forms/:id/submit": () => ({ email: "eve@example.net" }),
};
const queries: Record<string, Record<string, string>> = {
  "GET /lists/:id/contacts": { q: "ann" },
  "GET /why": { email: "ann@example.net" },
};

interface World {
  caller: Caller;
  credential: LambdaRequest;
  kept: IdsByKind;
  deletedIds: IdsByKind;
  hook: string;
}

/** An organization with two sites with records of every kind, one of which will be deleted. */
async function world(): Promise<World> {
  const { caller, token } = await createAccount();
  const credential = { cookies: [`${sessionCookieName}=${token}`] };
  const kept = await createEachKind(credential);
  const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Short-lived" }));
  const shared = ["sending-configs", "domains", "webhooks", "api-keys", "sends", "secure-messages"];
  const deletedIds = await createEachKind(
    credential,
    siteId,
    Object.fromEntries(shared.map((kind) => [kind, kept[kind]!])),
  );
  const callRoute = async (
    signature: RouteSignature,
    body: object,
    kind = signature.split("/")[1]!,
  ) => {
    const answer = await invokeRoute<Record<string, unknown>>(
      findRoute(signature).group,
      signature,
      {
        ...credential,
        params: signature.includes(":id") ? { id: String(deletedIds[kind]) } : {},
        body,
      },
    );
    expect([signature, answer.status, answer.body.error]).toEqual([
      signature,
      expect.toBeOneOf([200, 201, 202]),
      undefined,
    ]);
    return answer.body.data;
  };
  await callRoute("POST /sequences/:id/steps", {
    steps: [
      { type: "delay", delayMinutes: 60 },
      { type: "delay", delayMinutes: 60 },
    ],
  });
  const { webhookUrl } = await callRoute("PUT /sequences/:id", {
    status: "active",
    triggerType: "manual",
  });
  const steps = await invokeRoute<{ steps: { id: number }[] }>(
    findRoute("GET /sequences/:id/steps").group,
    "GET /sequences/:id/steps",
    {
      ...credential,
      params: { id: String(deletedIds.sequences) },
    },
  );
  deletedIds.steps = steps.body.data.steps[0]!.id;
  for (const made of [kept, deletedIds])
    await callOf(findRoute("PUT /sequences/:id/draft"), made, credential);
  await callRoute("POST /sequences/:id/enroll", { contactIds: [deletedIds.contacts] });
  await callRoute("POST /contacts/:id/tags", { tagId: deletedIds.tags });
  await callRoute("POST /contacts/:id/score", { delta: 5 });
  await callRoute("POST /lists/:id/contacts", { contactId: deletedIds.contacts });
  await callRoute("PUT /forms/:id", { status: "active" });
  await callRoute("POST /forms/:id/submit", { email: "bea@example.net" });
  await callRoute(
    "POST /events/custom",
    { siteId, contactId: deletedIds.contacts, eventName: "bought" },
    "contacts",
  );
  await callRoute("POST /tracking/event", {
    siteId,
    visitorId: "v-1-visitor-of-it",
    type: "page_view",
    url: "https://shop.example/",
  });
  // The archive of a campaign without recipients, and an answer on the preference page.
  await write(
    put(keys.archivedMail(caller.orgId, siteId, `2026-11-24T09:00:00.000Z#${zeroPad(1)}`), {
      id: 1,
    }),
    put(keys.leaveReasonCount(caller.orgId, siteId, 0), { l261124_other: 1 }),
  );
  return { caller, credential, kept, deletedIds, hook: String(webhookUrl).split("/").at(-1)! };
}

const idOf = (made: IdsByKind, name: string, segment: string): number | undefined =>
  ({
    id: made[segment],
    variantId: made.variants,
    attachmentId: 1,
    stepId: made.steps,
    tagId: made.tags,
    contactId: made.contacts,
  })[name];

/** The call of a route with the ids of `made`. */
function callOf(
  { group, route, signature }: RouteEntry,
  made: IdsByKind,
  credential: LambdaRequest,
  query: Record<string, string> = {},
) {
  const segment = signature.split("/")[1]!;
  const names = [...route.path.matchAll(/{(\w+)}/g)].map(([, name = ""]) => name);
  const params = Object.fromEntries(names.map((name) => [name, String(idOf(made, name, segment))]));
  const body = bodies[signature]?.(made) ?? (route.body ? {} : undefined);
  return invokeRoute<Record<string, unknown>>(group, signature, {
    ...credential,
    params,
    ...(body && { body }),
    query: { ...queries[signature], ...query },
  });
}

const isOwned = (entry: RouteEntry) => owned.includes(segmentOf(entry));
const byId = routeTable.filter((entry) => isOwned(entry) && entry.signature.includes("/:id"));
const bySite = routeTable.filter(
  ({ route, signature }) =>
    route.method === "GET" && !signature.includes(":") && takesSite(route.query),
);

function takesSite(schema: unknown): boolean {
  const { shape } = (schema ?? {}) as { shape?: object };
  return shape !== undefined && "siteId" in shape;
}

describe("a deleted site", () => {
  test("has no record that a route returns or changes", async () => {
    const { caller, credential, kept, deletedIds, hook } = await world();
    await removeSite(caller, deletedIds.sites!);
    const unexpected: unknown[] = [];
    const check = async (
      name: string,
      expected: number,
      call: Promise<{ status: number; body: unknown }>,
    ) => {
      const { status, body } = await call;
      if (status !== expected) unexpected.push([name, status, JSON.stringify(body).slice(0, 200)]);
    };
    for (const entry of byId)
      await check(entry.signature, 404, callOf(entry, deletedIds, credential));
    const siteId = String(deletedIds.sites);
    for (const entry of bySite)
      await check(
        `${entry.signature}?siteId`,
        404,
        callOf(entry, deletedIds, credential, { siteId }),
      );
    for (const kind of owned) {
      const { [kind]: _, variants: __, ...rest } = deletedIds;
      const refusal = await createEachKind(credential, deletedIds.sites, rest).then(
        () => "made",
        (error: Error) => error.message,
      );
      if (!/answers 404/.test(refusal)) unexpected.push([`made: ${kind}`, refusal]);
    }
    for (const signature of ["PUT /sites/:id", "DELETE /sites/:id"] as const)
      await check(signature, 404, callOf(findRoute(signature), deletedIds, credential));
    const callPublic = (signature: RouteSignature, request: LambdaRequest) =>
      invokeRoute(findRoute(signature).group, signature, request);
    await check(
      "hook",
      404,
      callPublic("POST /wh/sq/:secret", {
        params: { secret: hook },
        body: { email: "ann@example.net" },
      }),
    );
    const visitor = { siteId: deletedIds.sites, visitorId: "v-1-visitor-of-it" };
    await check(
      "track",
      404,
      callPublic("POST /tracking/event", {
        body: { ...visitor, type: "page_view", url: "https://shop.example/" },
      }),
    );
    await check(
      "identify",
      404,
      callPublic("POST /tracking/identify", { body: { ...visitor, email: "ann@example.net" } }),
    );
    expect(unexpected).toEqual([]);
    expect(byId.length).toBeGreaterThan(50);
    expect(bySite.length).toBeGreaterThan(20);
    // The routes work in the other site; otherwise the checks above would prove nothing.
    const reads = byId.filter(
      ({ route, signature }) => route.method === "GET" && !signature.includes("Id"),
    );
    for (const entry of reads)
      if (entry.signature !== "GET /imports/:id/errors")
        await check(entry.signature, 200, callOf(entry, kept, credential));
    expect(unexpected).toEqual([]);
  });

  test("is in no list and no total", async () => {
    const { caller, credential, kept, deletedIds } = await world();
    await removeSite(caller, deletedIds.sites!);
    const lists = routeTable.filter(
      (entry) => isOwned(entry) && entry.route.method === "GET" && !entry.signature.includes(":"),
    );
    for (const entry of lists) {
      const { status, body } = await callOf(entry, kept, credential);
      // Routes that need a site use the one that is left.
      expect([entry.signature, status]).toEqual([entry.signature, 200]);
      const items =
        Object.values(body.data).find((value): value is { siteId?: number }[] =>
          Array.isArray(value),
        ) ?? [];
      expect([entry.signature, items.filter(({ siteId }) => siteId === deletedIds.sites)]).toEqual([
        entry.signature,
        [],
      ]);
      const { pagination } = body.data as { pagination?: { total: number | null } };
      if (typeof pagination?.total === "number")
        expect([entry.signature, pagination.total]).toEqual([entry.signature, items.length]);
    }
    const { items } = await customEventListing.list(caller, { limit: 50 });
    expect(items).toEqual([]);
  });

  test.each(interruptions)("is erased completely although a worker %s at any step", async (how) => {
    await interruptedAtSomeSteps(how, async (interrupt) => {
      const before = await addresses();
      const { caller, credential, deletedIds } = await world();
      await removeSite(caller, deletedIds.sites!);
      const progress = () =>
        invokeRoute<object>(findRoute("GET /sites/:id").group, "GET /sites/:id", {
          ...credential,
          params: { id: String(deletedIds.sites) },
        });
      expect((await progress()).status).toBe(410);
      const erase = () => siteErasure.erase(caller.orgId, deletedIds.sites!);
      await interrupt(erase, () => {
        clock.advanceClock(200);
        return erase();
      });
      const state = await progress();
      // A pause can last longer than a deleted site answers 410.
      const deleted = [410, expect.objectContaining({ code: "site_deleted", contacts: 2 })];
      if (how === "crashes" || state.status === 410)
        expect([state.status, state.body]).toEqual(deleted);
      // Workers that used the site when it was deleted are done by then.
      clock.advanceClock(1000);
      pendingMessages.length = 0;
      await drain("GROUP", dueShardOf(deletedIds.sites!));
      const messages = pendingMessages.filter(
        ({ queue, body }) => queue === "jobs" && body.includes('"SITE"'),
      );
      if (state.status === 410) expect(messages.length).toBeGreaterThan(0);
      await erase();
      expect((await progress()).status).toBe(404);
      const remaining = (await addresses()).filter((address) => !before.includes(address));
      const owner = String(caller.orgId);
      const ofSite = remaining.filter(
        (address) =>
          address.startsWith(`${owner}#${deletedIds.sites}#`) ||
          Object.entries(deletedIds).some(
            ([kind, id]) => owned.includes(kind) && names(address, owner, kind, id),
          ),
      );
      expect(ofSite).toEqual([]);
    });
  });

  test("costs a fixed number of units per contact", async () => {
    const { caller } = await createAccount();
    const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Large" }));
    const n = 2000;
    for (let from = 0; from < n; from += 100) {
      const rows = Array.from({ length: 100 }, (_, i) =>
        ContactRow.parse({ email: `p${from + i}@example.com`, firstName: "Ann" }),
      );
      await upsert({ caller: caller, siteId: siteId }, rows);
    }
    await removeSite(caller, siteId);
    const { usage } = await measureUnits(() => siteErasure.erase(caller.orgId, siteId));
    expect(await getErasureProgress(caller.orgId, siteId)).toMatchObject({
      contacts: n,
      contactsErased: n,
    });
    const [writes, reads] = [usage.writeUnits / n, usage.readUnits / n];
    // The contact, its index entry and its pointer; one read for its log.
    expect(writes).toBeLessThan(3.5);
    expect(reads).toBeLessThan(1.5);
    const dollars = (1e6 * (writes * 0.625 + reads * 0.125)) / 1e6;
    expect(dollars).toBeLessThan(3);
  });
});

/** Whether a key belongs to this record or a part of it. */
function names(address: string, owner: string, kind: string, id: number): boolean {
  const padded = String(id).padStart(16, "0");
  const prefixes: Record<string, string[]> = {
    contacts: [`${owner}#I${id} `, `${owner}#U${id} `],
    lists: [`${owner}#LIST ${padded}`, `${owner}#MLIST${id}#`, `${owner}#MCOUNTLIST${id} `],
    tags: [`${owner}#TAG ${padded}`, `${owner}#MTAG${id}#`, `${owner}#MCOUNTTAG${id} `],
    topics: [`${owner}#TOPIC ${padded}`],
    segments: [`${owner}#SEGMENT ${padded}`],
    templates: [`${owner}#TEMPLATE ${padded}`, `${owner}#BODY#TEMPLATE#${id} `],
    media: [`${owner}#MEDIA ${padded}`],
    snippets: [`${owner}#SNIPPET ${padded}`, `${owner}#BODY#SNIPPET#${id} `],
    "template-folders": [`${owner}#FOLDER ${padded}`],
    sequences: [
      `${owner}#SEQUENCE ${padded}`,
      `${owner}#Q${id}#`,
      `${owner}#QX${id}#`,
      `${owner}#QN${id} `,
      `${owner}#QC${id}#`,
    ],
    holidays: [`${owner}#HOLIDAY ${padded}`],
    "campaign-series": [`${owner}#SERIES ${padded}`],
    campaigns: [`${owner}#CAMPAIGN ${padded}`, `${owner}#Fcampaign#${id} `],
    forms: [`${owner}#FORM ${padded}`, `${owner}#F${id} `, `${owner}#FN${id} `, `FORM#${id} `],
    scoring: [`${owner}#RULE ${padded}`],
    reports: [`${owner}#REPORT ${padded}`],
    imports: [`${owner}#IMPORT ${padded}`, `${owner}#IMPORTRUN ${padded}`],
    exports: [`${owner}#EXPORT ${padded}`],
    "inbound-emails": [`${owner}#INBOUND#${id} `],
    "contact-actions": [`${owner}#CONTACTACTION ${padded}`, `${owner}#SELECTED#${id} `],
  };
  return prefixes[kind]!.some((prefix) => address.startsWith(prefix));
}

const addresses = async (): Promise<string[]> =>
  (await listAllKeys()).map(({ pk, sk }) => `${pk} ${sk}`);
