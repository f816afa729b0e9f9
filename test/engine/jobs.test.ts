// The list of an organization's jobs: its order, filters, rights and cost.
import { beforeAll, describe, expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { put, query, transact, update, writeMany } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import * as exports from "../../shared/domain/analytics/exports/exports.ts";
import { runExport } from "../../shared/domain/analytics/exports/run-export.ts";
import * as jobs from "../../shared/domain/analytics/jobs.ts";
import { NewImport } from "../../shared/domain/audience/imports/import-record.ts";
import * as imports from "../../shared/domain/audience/imports/imports.ts";
import { runImport } from "../../shared/domain/audience/imports/run-import.ts";
import { NewContactAction } from "../../shared/domain/automation/contact-actions/action-schema.ts";
import * as actions from "../../shared/domain/automation/contact-actions/contact-actions.ts";
import { runAction } from "../../shared/domain/automation/contact-actions/run-action.ts";
import * as audits from "../../shared/domain/campaigns/audit/campaign-audit.ts";
import { runAudit } from "../../shared/domain/campaigns/audit/run-audit.ts";
import * as campaignActions from "../../shared/domain/campaigns/campaign-actions.ts";
import { removeSite } from "../../shared/domain/identity/remove-site.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { erase } from "../../shared/domain/privacy/site-erasure.ts";
import { startedJobAttributes } from "../../shared/kernel/job-index.ts";
import { indexes, keys } from "../../shared/keys.ts";
import { roles } from "../../shared/rights.ts";
import {
  createCampaignSender,
  createDraft,
  insertListMembers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { createContact, createTestSite, type TestSite } from "../support/contacts.ts";

beforeAll(useVirtualQueues);

const startImport = async ({ caller, siteId }: TestSite, filename = "people.csv") => {
  const file = Buffer.from("email\nann@example.net\nnobody\n");
  const options = NewImport.parse({ siteId, filename });
  return (await imports.start(caller, options, { bytes: file })).id;
};
const startExport = async ({ caller, siteId }: TestSite) =>
  (await exports.start(caller, { type: "contacts", format: "csv", filter: { siteId } })).id;
const startAction = async ({ caller, siteId }: TestSite) => {
  const request = NewContactAction.parse({ siteId, filter: {}, action: "add_tag", tag: "gold" });
  return (await actions.start(caller, request)).id;
};

type Query = Partial<Parameters<typeof jobs.list>[1]>;
const list = (caller: Caller, filter: Query = {}) => jobs.list(caller, { limit: 50, ...filter });
const listNames = async (caller: Caller, filter: Query = {}) =>
  (await list(caller, filter)).items.map(({ type, id }) => `${type} ${id}`);

/** Moves the clock, so that the order of jobs does not depend on the speed of the test. */
const later = (): void => clock.advanceClock(1);

describe("the list of jobs", () => {
  test("shows running jobs first, then the newest, each with its progress in words", async () => {
    const shop = await createTestSite();
    await createContact(shop, "bob@example.net");
    const importId = await startImport(shop);
    later();
    const exportId = await startExport(shop);
    later();
    const actionId = await startAction(shop);
    const userId = shop.caller.userId;
    expect((await list(shop.caller)).items).toMatchObject([
      {
        type: "contact_action",
        id: actionId,
        siteId: shop.siteId,
        path: `/contact-actions/${actionId}`,
        name: "Adds the tag “gold” to the selected contacts",
        status: "running",
        state: "Waiting to start",
        progress: null,
        total: null,
        startedBy: { type: "user", id: userId },
        finishedAt: null,
      },
      { type: "export", id: exportId, path: `/exports/${exportId}`, name: "Export of contacts" },
      { type: "import", id: importId, path: `/imports/${importId}`, name: "Import of people.csv" },
    ]);
    await runAction(shop.orgId, actionId);
    await runImport(shop.orgId, importId);
    const { items } = await list(shop.caller);
    expect(items).toMatchObject([
      { type: "export", status: "running" },
      {
        type: "contact_action",
        name: "Adds the tag “gold” to 1 contact",
        status: "completed",
        state: "1 contact",
        progress: 100,
        ...{ done: 1, total: 1, failed: 0 },
      },
      {
        type: "import",
        status: "completed",
        state: "2 rows: 1 added, 1 refused",
        ...{ done: 2, total: 2, failed: 1 },
      },
    ]);
    expect(items[2]!.finishedAt).toBe((await imports.find(shop.caller, importId)).updatedAt);
    await runExport(shop.orgId, exportId);
    expect((await list(shop.caller)).items[1]).toMatchObject({
      id: exportId,
      status: "completed",
      state: "2 rows",
    });
  });

  test("tells how far a running job is, that it stops, and how it ended", async () => {
    const shop = await createTestSite();
    const importId = await startImport(shop);
    const set = (fields: Record<string, unknown>) =>
      transact(update(keys.importRun(shop.orgId, importId), { set: fields }));
    await set({ status: "running", total: 4000, processed: 1000 });
    expect((await list(shop.caller)).items).toMatchObject([
      { state: "1,000 of 4,000 rows", progress: 25, done: 1000, total: 4000 },
    ]);
    const actionId = await startAction(shop);
    await actions.cancel(shop.caller, actionId);
    expect((await list(shop.caller, { limit: 1 })).items).toMatchObject([
      { type: "contact_action", status: "running", state: "Stopping" },
    ]);
    await runAction(shop.orgId, actionId);
    const cancelled = await list(shop.caller, { status: "cancelled" });
    expect(cancelled.items).toMatchObject([{ id: actionId, state: "Stopped after 0 contacts" }]);
  });

  test("has an error of a file in words", async () => {
    const shop = await createTestSite();
    const options = NewImport.parse({ siteId: shop.siteId });
    const { id } = await imports.start(shop.caller, options, { bytes: Buffer.from("a,b\n1,2\n") });
    await runImport(shop.orgId, id);
    const { error } = await imports.find(shop.caller, id);
    expect((await list(shop.caller, { status: "failed" })).items).toMatchObject([
      { id, name: "Import of contacts", status: "failed", state: error },
    ]);
    expect(await listNames(shop.caller, { status: "running" })).toEqual([]);
    expect(await listNames(shop.caller, { status: "completed" })).toEqual([]);
  });

  test("is read by status and site, page by page, each job once", async () => {
    const shop = await createTestSite();
    const { id: otherSite } = await sites.create(
      shop.caller,
      sites.NewSite.parse({ name: "Other" }),
    );
    const importIds: number[] = [];
    for (const siteId of [shop.siteId, otherSite, shop.siteId, otherSite, shop.siteId]) {
      importIds.push(await startImport({ ...shop, siteId }));
      later();
    }
    for (const id of importIds.slice(1, 4)) await runImport(shop.orgId, id);
    const [first, second, third, fourth, fifth] = importIds.map((id) => `import ${id}`);
    const expected = [fifth, first, fourth, third, second];
    for (const limit of [1, 2, 5]) {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await list(shop.caller, { limit, cursor });
        found.push(...page.items.map(({ type, id }) => `${type} ${id}`));
        cursor = page.pagination.nextCursor ?? undefined;
      } while (cursor);
      expect(found).toEqual(expected);
    }
    expect(await listNames(shop.caller, { limit: 2, page: 2 })).toEqual([fourth, third]);
    expect(await listNames(shop.caller, { status: "running" })).toEqual([fifth, first]);
    expect(await listNames(shop.caller, { status: "completed", limit: 2 })).toEqual([
      fourth,
      third,
    ]);
    expect(await listNames(shop.caller, { siteId: otherSite })).toEqual([fourth, second]);
    const ofSite = { ...shop.caller, siteIds: [otherSite] };
    expect(await listNames(ofSite)).toEqual([fourth, second]);
    await expect(list(ofSite, { siteId: shop.siteId })).rejects.toMatchObject({
      kind: "forbidden",
    });
    await expect(list(shop.caller, { cursor: "9#x" })).rejects.toMatchObject({ kind: "invalid" });
  });

  test("has only jobs whose own endpoint the caller may read", async () => {
    const shop = await createTestSite();
    const [importId, exportId] = [await startImport(shop), await startExport(shop)];
    const as = (scopes: readonly string[]) => listNames({ ...shop.caller, scopes });
    expect(await as(roles.viewer.scopes)).toEqual([`import ${importId}`]);
    expect(new Set(await as(roles.marketer.scopes))).toEqual(
      new Set([`import ${importId}`, `export ${exportId}`]),
    );
    expect(await as(["jobs:read", "exports:read"])).toEqual([`export ${exportId}`]);
    expect(await as(["jobs:read"])).toEqual([]);
    const stranger = await createTestSite();
    expect(await listNames(stranger.caller)).toEqual([]);
    const suppressions = { type: "suppressions", format: "csv", filter: {} } as const;
    const { id } = await exports.start({ ...shop.caller, kind: "api_key", keyId: 7 }, suppressions);
    const [ofOrganization] = (await list(shop.caller, { limit: 1 })).items;
    expect(ofOrganization).toMatchObject({ id, siteId: null });
    expect(ofOrganization!.startedBy).toEqual({ type: "api_key", id: 7 });
    expect(await listNames(shop.caller, { siteId: shop.siteId })).not.toContain(`export ${id}`);
  });

  test("forgets the jobs of a deleted site, and shows its erasure until it is done", async () => {
    const shop = await createTestSite();
    const { id: siteId } = await sites.create(shop.caller, sites.NewSite.parse({ name: "Short" }));
    await createContact({ ...shop, siteId }, "ann@example.net");
    const importId = await startImport(shop);
    await startImport({ ...shop, siteId });
    await removeSite(shop.caller, siteId);
    const { items } = await list(shop.caller);
    expect(items).toMatchObject([
      {
        type: "site_erasure",
        id: siteId,
        siteId: null,
        path: `/sites/${siteId}`,
        name: "Erasure of the site “Short”",
        status: "running",
        state: "0 of 1 contact",
        startedBy: { type: "user", id: shop.caller.userId },
      },
      { type: "import", id: importId },
    ]);
    const ofSite = { ...shop.caller, siteIds: [shop.siteId] };
    expect(await listNames(ofSite)).toEqual([`import ${importId}`]);
    clock.advanceClock(901);
    await erase(shop.orgId, siteId);
    expect(await listNames(shop.caller)).toEqual([`import ${importId}`]);
    const { items: entries } = await query(indexes.jobs(shop.orgId));
    expect(entries).toHaveLength(1);
  });

  test("shows the audit of a campaign, which starts by itself or by a user", async () => {
    const sender = await createCampaignSender();
    const { caller, siteId } = sender;
    await insertListMembers(sender, 1);
    const { id: campaignId } = await createDraft(sender, { name: "Spring" });
    await campaignActions.sendNow(caller, campaignId);
    await runWorkers({ forSeconds: 600 });
    const job = { type: "campaign_audit", id: campaignId, siteId };
    const { items } = await list(caller);
    expect(items).toMatchObject([
      {
        ...job,
        path: `/campaigns/${campaignId}/audit`,
        name: "Audit of the campaign “Spring”",
        status: "completed",
        state: "Every contact has exactly one outcome",
        done: 1,
        startedBy: null,
      },
    ]);
    await audits.auditAgain(caller, campaignId);
    expect((await list(caller)).items).toMatchObject([
      {
        ...job,
        status: "running",
        done: 0,
        startedBy: { type: "user", id: caller.userId },
        finishedAt: null,
      },
    ]);
    await runAudit(caller.orgId, campaignId);
    expect((await list(caller)).items).toMatchObject([{ ...job, status: "completed", done: 1 }]);
  });

  test("ends a page early when 2,000 jobs of others come first, and continues after them", async () => {
    const shop = await createTestSite();
    const importId = await startImport(shop);
    const createdAt = clock.addSeconds(60).toISOString();
    const others = Array.from({ length: 2001 }, (_, i) => ({
      ...keys.importRun(shop.orgId, importId + 1 + i),
      ...startedJobAttributes(shop.orgId, {
        type: "import",
        id: importId + 1 + i,
        siteId: shop.siteId + 1,
        createdAt,
      }),
    }));
    await writeMany(others.map((item) => put(item, item)));
    const caller = { ...shop.caller, siteIds: [shop.siteId] };
    const first = await list(caller);
    expect(first.items).toEqual([]);
    const cursor = first.pagination.nextCursor!;
    const second = await list(caller, { cursor });
    expect(second.items).toMatchObject([{ id: importId }]);
    expect(second.pagination.nextCursor).toBeNull();
  });

  test("costs half a read unit for each job of the page, and one for the index", async () => {
    const shop = await createTestSite();
    for (let i = 0; i < 12; i++) await runImport(shop.orgId, await startImport(shop));
    await startImport(shop);
    await list(shop.caller);
    const cost = async (filter: Query) => {
      const { usage } = await measureUnits(() => list(shop.caller, filter));
      return usage.readUnits;
    };
    expect(await cost({ status: "running", limit: 10 })).toBeLessThanOrEqual(1.5);
    expect(await cost({ limit: 10 })).toBeLessThanOrEqual(7);
  });
});
