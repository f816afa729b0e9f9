import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { get, queryAll, update, write } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import { advanceClock, epochSeconds } from "../../shared/clock.ts";
import * as folders from "../../shared/domain/content/template-folders.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as versions from "../../shared/domain/content/template-versions.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { deletedSites } from "../../shared/kernel/site-access.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { createAccount } from "../support/accounts.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";

afterEach(removePauses);

const oneSite = async (): Promise<Caller> => {
  const { caller } = await createAccount();
  await sites.create(caller, sites.NewSite.parse({ name: "Shop" }));
  return caller;
};
const make = (caller: Caller, fields: object = {}) =>
  templates.create(
    caller,
    NewTemplate.parse({
      name: "T",
      subject: "Hello",
      html: "<p>Hello {{ name }}</p>",
      ...fields,
    }),
  );
const makeFolder = (caller: Caller, name = "F") =>
  folders.create(caller, folders.NewTemplateFolder.parse({ name }));
const itemOf = ({ orgId }: Caller, id: number, version: number) =>
  get<{ expires?: number; blob?: string }>(keys.recordBody(orgId, "TEMPLATE", { id, version }));
const count = async (caller: Caller) =>
  (await templates.list(caller, { limit: 1 })).pagination.total;

/** Text that gzip compresses to about three quarters. */
const noise = (length: number): string => randomBytes(length).toString("base64").slice(0, length);

describe("versions", () => {
  test("mail is sent with the version it was accepted with, also after a change or a deletion", async () => {
    const caller = await oneSite();
    const { id, version } = await make(caller, { html: "old" });
    expect(version).toBe(1);
    const changed = await templates.change(caller, id, { html: "new" });
    expect(changed.version).toBe(2);
    await templates.remove(caller, id);
    expect((await templates.readBody(caller.orgId, id, 1)).html).toBe("old");
    expect((await templates.readBody(caller.orgId, id, 2)).html).toBe("new");
  });
  test("the last 50 versions stay, and older ones expire after 61 days", async () => {
    const caller = await oneSite();
    const { id } = await make(caller);
    for (let n = 2; n <= 51; n++) await templates.change(caller, id, { subject: `S${n}` });
    const days = ((await itemOf(caller, id, 1))!.expires! - epochSeconds()) / 86_400;
    expect(Math.round(days)).toBe(61);
    for (const version of [2, 51])
      expect((await itemOf(caller, id, version))!.expires).toBeUndefined();
    const listed = await versions.list(caller, id);
    expect(listed.map(({ version }) => version)).toEqual(
      Array.from({ length: 50 }, (_, i) => 51 - i),
    );
    await expect(versions.find(caller, id, 1)).rejects.toMatchObject({ kind: "missing" });
    await templates.remove(caller, id);
    for (const version of [2, 51])
      expect((await itemOf(caller, id, version))!.expires).toBeGreaterThan(epochSeconds());
    expect(await get(keys.recordBody(caller.orgId, "TEMPLATE", { id, version: "history" }))).toBe(
      undefined,
    );
  });
  test("autosaves of one user within ten minutes are one version", async () => {
    const caller = await oneSite();
    const { id } = await make(caller, { html: "one" });
    const save = (html: string, userId = caller.userId) =>
      templates.change({ ...caller, userId }, id, { html, autosave: true });
    const listed = async () => (await versions.list(caller, id)).map(({ version }) => version);
    await save("two");
    await save("three");
    expect((await save("four")).version).toBe(4);
    expect(await listed()).toEqual([4, 1]);
    // Email that was accepted with a version that was replaced is still sent with it.
    expect((await templates.readBody(caller.orgId, id, 2)).html).toBe("two");
    expect((await itemOf(caller, id, 3))!.expires).toBeGreaterThan(epochSeconds());
    // Another user, then a save that somebody asked for.
    await save("five", caller.userId + 1);
    await templates.change(caller, id, { html: "six" });
    await save("seven");
    expect(await listed()).toEqual([7, 6, 5, 4, 1]);
    advanceClock(11 * 60);
    await save("eight");
    expect(await listed()).toEqual([8, 7, 6, 5, 4, 1]);
    expect((await versions.restore(caller, id, 1)).html).toBe("one");
  });
  test("are listed with their date and their user, and an old one can be restored", async () => {
    const caller = await oneSite();
    const { id } = await make(caller, { html: "one", designJson: { block: 1 } });
    await templates.change(caller, id, { html: "two" });
    const [second, first] = await versions.list(caller, id);
    expect([second, first]).toEqual([
      {
        version: 2,
        subject: "Hello",
        savedAt: expect.any(String),
        savedBy: caller.userId,
        current: true,
      },
      { ...first, version: 1, current: false, savedBy: caller.userId },
    ]);
    expect(second!.savedAt >= first!.savedAt).toBe(true);
    expect(await versions.find(caller, id, 1)).toMatchObject({
      html: "one",
      designJson: { block: 1 },
    });
    const restored = await versions.restore(caller, id, 1);
    expect(restored).toMatchObject({ version: 3, html: "one", designJson: { block: 1 } });
    expect((await versions.restore(caller, id, 3)).version).toBe(3);
    expect((await versions.list(caller, id)).map(({ version }) => version)).toEqual([3, 2, 1]);
  });
  test("saved at once by two users are both in the list", async () => {
    const caller = await oneSite();
    const { id } = await make(caller);
    await Promise.all(["a", "b", "c"].map((html) => templates.change(caller, id, { html })));
    const found = await Promise.all(
      [2, 3, 4].map(async (version) => (await versions.find(caller, id, version)).html),
    );
    expect(found.toSorted()).toEqual(["a", "b", "c"]);
  });
  test("a new name, a new folder or an unchanged body makes no new version", async () => {
    const caller = await oneSite();
    const { id, html, designJson } = await make(caller, { designJson: { b: 1, a: [2] } });
    const folder = await makeFolder(caller);
    await templates.change(caller, id, { name: "U", folderId: folder.id });
    await templates.change(caller, id, { html, designJson });
    expect(await templates.find(caller, id)).toMatchObject({
      name: "U",
      folderId: folder.id,
      version: 1,
      designJson: { b: 1, a: [2] },
    });
  });
  test("concurrent changes are all applied", async () => {
    const caller = await oneSite();
    const { id } = await make(caller);
    await Promise.all([
      templates.change(caller, id, { html: "h" }),
      templates.change(caller, id, { text: "t" }),
      templates.change(caller, id, { subject: "s" }),
      templates.change(caller, id, { designJson: { d: 1 } }),
    ]);
    expect(await templates.find(caller, id)).toMatchObject({
      html: "h",
      text: "t",
      subject: "s",
      designJson: { d: 1 },
      version: 5,
    });
  });
  test("a concurrent change and deletion leave no partial state", async () => {
    const caller = await oneSite();
    const { id } = await make(caller);
    const [changed] = await Promise.allSettled([
      templates.change(caller, id, { html: "x" }),
      templates.remove(caller, id),
    ]);
    if (changed.status === "rejected") expect(changed.reason).toMatchObject({ kind: "missing" });
    await expect(templates.find(caller, id)).rejects.toMatchObject({ kind: "missing" });
    expect(await count(caller)).toBe(0);
    const remainingVersions = (
      await Promise.all([1, 2].map((version) => itemOf(caller, id, version)))
    ).filter((item) => item !== undefined);
    expect(remainingVersions.map(({ expires }) => typeof expires)).toEqual(
      remainingVersions.map(() => "number"),
    );
  });
  test("a deletion meets a change that is saved between its two reads", async () => {
    const caller = await oneSite();
    const { id } = await make(caller);
    const historyKey = keys.recordBody(caller.orgId, "TEMPLATE", { id, version: "history" });
    const reading = pauseCall("GetItem", (input) => input.Key?.sk === historyKey.sk);
    const removal = templates.remove(caller, id);
    await reading.reached;
    await templates.change(caller, id, { html: "new" });
    reading.release();
    await removal;
    await expect(templates.find(caller, id)).rejects.toMatchObject({ kind: "missing" });
    for (const version of [1, 2])
      expect((await itemOf(caller, id, version))!.expires).toBeTypeOf("number");
  });
});

describe("bodies", () => {
  test("are stored in the item if small, else in S3", async () => {
    const caller = await oneSite();
    const html = noise(900_000);
    const [big, small] = [await make(caller, { html }), await make(caller)];
    expect((await itemOf(caller, big.id, 1))!.blob).toMatch(
      new RegExp(`^templates/${caller.orgId}/`),
    );
    expect((await itemOf(caller, small.id, 1))!.blob).toBeUndefined();
    expect((await templates.find(caller, big.id)).html === html).toBe(true);
  });
  test("are not read by lists and sends", async () => {
    const caller = await oneSite();
    const { id } = await make(caller, { html: noise(150_000) });
    // A request has already read the deleted sites with the item of the organization.
    await deletedSites(caller.orgId);
    const listed = await measureUnits(() => templates.list(caller, { limit: 50 }));
    expect(listed.usage.readUnits).toBeLessThanOrEqual(1);
    expect(listed.result.items[0]).not.toHaveProperty("html");
    const found = await measureUnits(() => templates.findMeta(caller, id));
    expect(found.usage.readUnits).toBe(0.5);
    expect(found.result).toMatchObject({ id, version: 1, variables: [] });
  });
  test("are read once per process", async () => {
    const caller = await oneSite();
    const { id } = await make(caller);
    await templates.readBody(caller.orgId, id, 1);
    const again = await measureUnits(() => templates.readBody(caller.orgId, id, 1));
    expect(again.usage.readUnits).toBe(0);
    expect(again.result.html).toBe("<p>Hello {{ name }}</p>");
  });
  test("of an expired version are a 404", async () => {
    const caller = await oneSite();
    const { id } = await make(caller);
    await expect(templates.readBody(caller.orgId, id, 7)).rejects.toMatchObject({
      kind: "missing",
    });
    await expect(templates.readBody(caller.orgId + 1_000_000, id, 1)).rejects.toMatchObject({
      kind: "missing",
    });
  });
});

describe("folders", () => {
  test("a deleted folder unfiles exactly its own templates", async () => {
    const caller = await oneSite();
    const [deleted, kept] = [await makeFolder(caller, "gone"), await makeFolder(caller, "kept")];
    const filed = await Promise.all(
      Array.from({ length: 40 }, () => make(caller, { folderId: deleted.id })),
    );
    const other = await make(caller, { folderId: kept.id });
    await folders.remove(caller, deleted.id);
    const { items } = await templates.list(caller, { limit: 100 });
    expect(items).toHaveLength(41);
    expect(items.filter(({ folderId }) => folderId !== null).map(({ id }) => id)).toEqual([
      other.id,
    ]);
    expect((await templates.find(caller, filed[0]!.id)).version).toBe(1);
    await expect(folders.remove(caller, deleted.id)).rejects.toMatchObject({ kind: "missing" });
    expect((await folders.list(caller, { limit: 50 })).pagination.total).toBe(1);
  });
  test("a repeated request finishes an interrupted deletion, and meanwhile no template can be added", async () => {
    const caller = await oneSite();
    const folder = await makeFolder(caller);
    const { id } = await make(caller, { folderId: folder.id });
    await write(update(keys.record(caller.orgId, "FOLDER", folder.id), { set: { closing: true } }));
    await expect(make(caller, { folderId: folder.id })).rejects.toMatchObject({
      kind: "missing",
      details: [{ path: "folderId" }],
    });
    await folders.remove(caller, folder.id);
    expect((await templates.find(caller, id)).folderId).toBeNull();
  });
  test("templates added during the deletion of a folder do not stay in it", async () => {
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
  test("a template can only be in a folder of its own site or of all sites", async () => {
    const { caller } = await createAccount();
    const [one, two] = [
      await sites.create(caller, sites.NewSite.parse({ name: "1" })),
      await sites.create(caller, sites.NewSite.parse({ name: "2" })),
    ];
    const shared = await makeFolder(caller);
    expect(shared.siteId).toBeNull();
    const own = await folders.create(caller, { name: "own", siteId: one.id });
    const { id } = await make(caller, { siteId: one.id, folderId: own.id });
    await templates.change(caller, id, { folderId: shared.id });
    await expect(make(caller, { siteId: two.id, folderId: own.id })).rejects.toMatchObject({
      kind: "missing",
    });
    const listed = async (siteId: number) =>
      (await folders.list(caller, { siteId, limit: 50 })).items.map(({ name }) => name).sort();
    expect([await listed(one.id), await listed(two.id)]).toEqual([["F", "own"], ["F"]]);
  });
});

test("a rejected folder creates no template", async () => {
  const caller = await oneSite();
  await expect(make(caller, { folderId: 999_999_999 })).rejects.toMatchObject({ kind: "missing" });
  expect(await count(caller)).toBe(0);
  expect(await queryAll(ranges.records(caller.orgId, "TEMPLATE"))).toEqual([]);
});
