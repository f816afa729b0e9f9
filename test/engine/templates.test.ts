import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Caller } from "../../shared/caller.ts";
import { epochSeconds } from "../../shared/clock.ts";
import * as sites from "../../shared/domain/sites.ts";
import * as folders from "../../shared/domain/template-folders.ts";
import * as templates from "../../shared/domain/templates.ts";
import { metered } from "../../shared/doors/meter.ts";
import { get, queryAll, update, write } from "../../shared/doors/table.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { account } from "../support/callers.ts";

const oneSite = async (): Promise<Caller> => {
  const { caller } = await account();
  await sites.create(caller, sites.NewSite.parse({ name: "Shop" }));
  return caller;
};
const make = (caller: Caller, fields: object = {}) =>
  templates.create(caller, templates.NewTemplate.parse({ name: "T", subject: "Hello", html: "<p>Hello {{ name }}</p>", ...fields }));
const makeFolder = (caller: Caller, name = "F") => folders.create(caller, folders.NewFolder.parse({ name }));
const itemOf = ({ orgId }: Caller, id: number, version: number) =>
  get<{ expires?: number; blob?: string }>(keys.body(orgId, "TEMPLATE", id, version));
const count = async (caller: Caller) => (await templates.list(caller, { limit: 1 })).pagination.total;

/** What gzip cannot make smaller than three quarters. */
const noise = (length: number): string => randomBytes(length).toString("base64").slice(0, length);

describe("versions", () => {
  test("mail accepted with a version gets it after a change and after a delete", async () => {
    const caller = await oneSite();
    const { id, version } = await make(caller, { html: "old" });
    expect(version).toBe(1);
    const changed = await templates.change(caller, id, { html: "new" });
    expect(changed.version).toBe(2);
    await templates.remove(caller, id);
    expect((await templates.body(caller.orgId, id, 1)).html).toBe("old");
    expect((await templates.body(caller.orgId, id, 2)).html).toBe("new");
  });
  test("a replaced version expires after a month and more, the current one does not", async () => {
    const caller = await oneSite();
    const { id } = await make(caller);
    await templates.change(caller, id, { subject: "Bye" });
    const days = ((await itemOf(caller, id, 1))!.expires! - epochSeconds()) / 86_400;
    expect(Math.round(days)).toBe(35);
    expect((await itemOf(caller, id, 2))!.expires).toBeUndefined();
    await templates.remove(caller, id);
    expect((await itemOf(caller, id, 2))!.expires).toBeGreaterThan(epochSeconds());
  });
  test("a new name, folder or the same words again make no new version", async () => {
    const caller = await oneSite();
    const { id, html, designJson } = await make(caller, { designJson: { b: 1, a: [2] } });
    const folder = await makeFolder(caller);
    await templates.change(caller, id, { name: "U", folderId: folder.id });
    await templates.change(caller, id, { html, designJson });
    expect(await templates.find(caller, id)).toMatchObject({ name: "U", folderId: folder.id, version: 1, designJson: { b: 1, a: [2] } });
  });
  test("changes side by side all count, each on top of the other", async () => {
    const caller = await oneSite();
    const { id } = await make(caller);
    await Promise.all([
      templates.change(caller, id, { html: "h" }),
      templates.change(caller, id, { text: "t" }),
      templates.change(caller, id, { subject: "s" }),
      templates.change(caller, id, { designJson: { d: 1 } }),
    ]);
    expect(await templates.find(caller, id)).toMatchObject({ html: "h", text: "t", subject: "s", designJson: { d: 1 }, version: 5 });
  });
  test("a change meets a delete: either is whole", async () => {
    const caller = await oneSite();
    const { id } = await make(caller);
    const [changed] = await Promise.allSettled([templates.change(caller, id, { html: "x" }), templates.remove(caller, id)]);
    if (changed.status === "rejected") expect(changed.reason).toMatchObject({ kind: "missing" });
    await expect(templates.find(caller, id)).rejects.toMatchObject({ kind: "missing" });
    expect(await count(caller)).toBe(0);
    const left = (await Promise.all([1, 2].map((version) => itemOf(caller, id, version)))).filter((item) => item !== undefined);
    expect(left.map(({ expires }) => typeof expires)).toEqual(left.map(() => "number"));
  });
});

describe("bodies", () => {
  test("one too big for an item comes back whole from object storage, a small one from the item", async () => {
    const caller = await oneSite();
    const html = noise(900_000);
    const [big, small] = [await make(caller, { html }), await make(caller)];
    expect((await itemOf(caller, big.id, 1))!.blob).toMatch(new RegExp(`^templates/${caller.orgId}/`));
    expect((await itemOf(caller, small.id, 1))!.blob).toBeUndefined();
    expect((await templates.find(caller, big.id)).html === html).toBe(true);
  });
  test("lists and sends never pay for them", async () => {
    const caller = await oneSite();
    const { id } = await make(caller, { html: noise(150_000) });
    const listed = await metered(() => templates.list(caller, { limit: 50 }));
    expect(listed.usage.readUnits).toBeLessThanOrEqual(1);
    expect(listed.result.items[0]).not.toHaveProperty("html");
    const found = await metered(() => templates.findMeta(caller, id));
    expect(found.usage.readUnits).toBe(0.5);
    expect(found.result).toMatchObject({ id, version: 1, variables: [] });
  });
  test("are read once in a process", async () => {
    const caller = await oneSite();
    const { id } = await make(caller);
    await templates.body(caller.orgId, id, 1);
    const again = await metered(() => templates.body(caller.orgId, id, 1));
    expect(again.usage.readUnits).toBe(0);
    expect(again.result.html).toBe("<p>Hello {{ name }}</p>");
  });
  test("of a version that is gone are missing", async () => {
    const caller = await oneSite();
    const { id } = await make(caller);
    await expect(templates.body(caller.orgId, id, 7)).rejects.toMatchObject({ kind: "missing" });
    await expect(templates.body(caller.orgId + 1_000_000, id, 1)).rejects.toMatchObject({ kind: "missing" });
  });
});

describe("folders", () => {
  test("a deleted folder leaves its templates unfiled, all of them, and no others", async () => {
    const caller = await oneSite();
    const [gone, kept] = [await makeFolder(caller, "gone"), await makeFolder(caller, "kept")];
    const filed = await Promise.all(Array.from({ length: 40 }, () => make(caller, { folderId: gone.id })));
    const other = await make(caller, { folderId: kept.id });
    await folders.remove(caller, gone.id);
    const { items } = await templates.list(caller, { limit: 100 });
    expect(items).toHaveLength(41);
    expect(items.filter(({ folderId }) => folderId !== null).map(({ id }) => id)).toEqual([other.id]);
    expect((await templates.find(caller, filed[0]!.id)).version).toBe(1);
    await expect(folders.remove(caller, gone.id)).rejects.toMatchObject({ kind: "missing" });
    expect((await folders.list(caller, { limit: 50 })).pagination.total).toBe(1);
  });
  test("a delete that died halfway is finished by the next, and meanwhile nothing can be filed there", async () => {
    const caller = await oneSite();
    const folder = await makeFolder(caller);
    const { id } = await make(caller, { folderId: folder.id });
    await write(update(keys.record(caller.orgId, "FOLDER", folder.id), { set: { closing: true } }));
    await expect(make(caller, { folderId: folder.id })).rejects.toMatchObject({ kind: "missing", details: [{ path: "folderId" }] });
    await folders.remove(caller, folder.id);
    expect((await templates.find(caller, id)).folderId).toBeNull();
  });
  test("templates filed while their folder is deleted are not left in a folder that is gone", async () => {
    const caller = await oneSite();
    const folder = await makeFolder(caller);
    const all = await Promise.all(Array.from({ length: 8 }, () => make(caller)));
    await Promise.allSettled([
      ...all.slice(0, 4).map(({ id }) => templates.change(caller, id, { folderId: folder.id })),
      folders.remove(caller, folder.id),
      ...all.slice(4).map(({ id }) => templates.change(caller, id, { folderId: folder.id })),
    ]);
    const { items } = await templates.list(caller, { limit: 100 });
    expect(items.map(({ folderId }) => folderId)).toEqual(all.map(() => null));
  });
  test("a template goes only into folders of its own site or of all sites", async () => {
    const { caller } = await account();
    const [one, two] = [
      await sites.create(caller, sites.NewSite.parse({ name: "1" })),
      await sites.create(caller, sites.NewSite.parse({ name: "2" })),
    ];
    const shared = await makeFolder(caller);
    expect(shared.siteId).toBeNull();
    const own = await folders.create(caller, { name: "own", siteId: one.id });
    const { id } = await make(caller, { siteId: one.id, folderId: own.id });
    await templates.change(caller, id, { folderId: shared.id });
    await expect(make(caller, { siteId: two.id, folderId: own.id })).rejects.toMatchObject({ kind: "missing" });
    const listed = async (siteId: number) => (await folders.list(caller, { siteId, limit: 50 })).items.map(({ name }) => name).sort();
    expect([await listed(one.id), await listed(two.id)]).toEqual([["F", "own"], ["F"]]);
  });
});

test("a refused folder leaves nothing behind", async () => {
  const caller = await oneSite();
  await expect(make(caller, { folderId: 999_999_999 })).rejects.toMatchObject({ kind: "missing" });
  expect(await count(caller)).toBe(0);
  expect(await queryAll(ranges.records(caller.orgId, "TEMPLATE"))).toEqual([]);
});
