// Snippets: named pieces that templates and other snippets bring in with `{% render 'name' %}`, and
// layouts, which are snippets with a place for `{{ content }}`.
import type * as z from "zod";
import { equals } from "../../adapters/dynamodb/conditions.ts";
import { update, type Write, write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import * as liquid from "../../email/liquid.ts";
import { conflict, invalid, limitExceeded, missing } from "../../errors.ts";
import type { PageRequest, Pagination } from "../../kernel/paging.ts";
import * as records from "../../kernel/records.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { keys } from "../../keys.ts";
import * as sites from "../identity/sites.ts";
import {
  expireSnippetWrite,
  findSnippetBody,
  loadSnippets,
  type SnippetBody,
  storeSnippetWrite,
} from "./snippet-bodies.ts";
import {
  chainLength,
  findCycle,
  isClosed,
  listEntries,
  maxSnippets,
  pinSnippets,
  putEntry,
  readDirectory,
  replaceDirectoryWrite,
  type SnippetDirectory,
} from "./snippet-directory.ts";
import {
  maxVersionsOfSnippet,
  type NewSnippet,
  type Snippet,
  type SnippetChanges,
  type SnippetMeta,
  type SnippetVersion,
} from "./snippet-schema.ts";
import { brandAsOne, filesIn, maxVariables } from "./template-bodies.ts";

const maxSnippetDepth = 8;

/** One item lists what all snippets of a site use. With more of them it could pass 400 kB. */
const maxUses = 8;

interface StoredSnippet extends SnippetMeta {
  savedAt: string;
  savedBy: number | null;
  /** Files of the media library that the html shows. */
  pictures: string[];
  /** The versions that were replaced, newest first. */
  replaced: z.output<typeof SnippetVersion>[];
}

type Editor = CallerScope & { userId?: number };

const toVersion = ({ version, savedAt, savedBy }: StoredSnippet) => ({ version, savedAt, savedBy });

const toSnippet = (stored: StoredSnippet, body: SnippetBody): Snippet => ({
  ...stored,
  ...body,
  versions: [toVersion(stored), ...stored.replaced],
});

/** Newest first, without bodies. */
export async function list(
  caller: CallerScope,
  {
    siteId,
    ...request
  }: PageRequest & {
    siteId?: number | undefined;
    search?: string | undefined;
  },
): Promise<{ items: SnippetMeta[]; pagination: Pagination }> {
  return records.list<SnippetMeta>("SNIPPET", caller, {
    ...request,
    siteIds: await sites.siteFilter(caller, siteId),
  });
}

export async function find(caller: CallerScope, id: number): Promise<Snippet> {
  const stored = await records.find<StoredSnippet>("SNIPPET", caller, id);
  const { orgId } = caller;
  return toSnippet(stored, await findSnippetBody({ orgId, id, version: stored.version }));
}

export async function create(
  caller: Editor,
  { siteId: requestedSiteId, name, ...body }: NewSnippet,
): Promise<Snippet> {
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  const { orgId, userId = null } = caller;
  const stamp = await records.newRecordFields("SNIPPET");
  return retryOnConflict("The snippets of the site", async () => {
    const directory = await readDirectory(orgId, siteId);
    requireFreeName(directory, stamp.id, name);
    if (listEntries(directory).length >= maxSnippets)
      throw limitExceeded("name", `A site can have at most ${maxSnippets} snippets`);
    const content = await compileSnippet(orgId, directory, { name, body });
    const version = 1;
    const record: StoredSnippet = {
      ...{ ...stamp, siteId, name, version, ...content },
      ...{ savedAt: stamp.createdAt, savedBy: userId, replaced: [] },
    };
    const entry = { id: stamp.id, name, version, uses: content.uses };
    const stored = await records.insert("SNIPPET", caller, {
      record,
      extraWrites: [
        await storeSnippetWrite({ orgId, id: stamp.id, version }, body),
        replaceDirectoryWrite(orgId, siteId, putEntry(directory, entry)),
      ],
    });
    return toSnippet(stored, body);
  });
}

/** A repeated request finds its own snippet. */
function requireFreeName(directory: SnippetDirectory, id: number, name: string): void {
  if (listEntries(directory).some((entry) => entry.name === name && entry.id !== id))
    throw conflict(`The site has a snippet "${name}" already`, {
      code: "snippet_exists",
      details: [{ path: "name", message: "is taken" }],
    });
}

/**
 * Mail that was accepted before is sent with the version it was accepted with. A new name needs a
 * snippet that is closed, so that nothing uses the old one.
 */
export const change = (
  caller: Editor,
  id: number,
  { version: baseVersion, name: newName, ...given }: SnippetChanges,
): Promise<Snippet> =>
  retryOnConflict("The snippet", async () => {
    const { orgId, userId = null } = caller;
    const stored = await records.find<StoredSnippet>("SNIPPET", caller, id);
    const [before, directory] = await Promise.all([
      findSnippetBody({ orgId, id, version: stored.version }),
      readDirectory(orgId, stored.siteId),
    ]);
    const after: SnippetBody = { ...before, ...(given as Partial<SnippetBody>) };
    const { siteId } = stored;
    const name = newName ?? stored.name;
    const isRenamed = name !== stored.name;
    if (!isRenamed && JSON.stringify(after) === JSON.stringify(before))
      return toSnippet(stored, before);
    if (baseVersion !== undefined && baseVersion !== stored.version) throw snippetChanged();
    if (isRenamed && !isClosed(directory, id)) throw snippetChanged();
    requireFreeName(directory, id, name);
    const content = await compileSnippet(orgId, directory, { name, body: after });
    requireSameParts(before, after);
    if (stored.isLayout && !content.isLayout) throw lostContent();
    const at = now().toISOString();
    const version = stored.version + 1;
    const replaced = [toVersion(stored), ...stored.replaced];
    const kept = replaced.slice(0, maxVersionsOfSnippet - 1);
    const set = { ...content, name, version, savedAt: at, savedBy: userId, updatedAt: at };
    const entry = { id, name, version, uses: content.uses };
    await write(
      update(
        keys.record(orgId, "SNIPPET", id),
        { set: { ...set, replaced: kept } },
        { if: equals("version", stored.version) },
      ),
      await storeSnippetWrite({ orgId, id, version }, after),
      replaceDirectoryWrite(orgId, siteId, putEntry(directory, entry)),
      ...expireWrites(orgId, id, replaced.slice(maxVersionsOfSnippet - 1)),
    );
    return toSnippet({ ...stored, ...set, replaced: kept }, after);
  });

const expireWrites = (orgId: number, id: number, versions: { version: number }[]): Write[] =>
  versions.map(({ version }) => expireSnippetWrite({ orgId, id, version }));

const snippetChanged = () =>
  conflict(
    "Somebody has changed the snippet since it was read: read it again, then repeat the change " +
      "with its version",
    { code: "snippet_changed" },
  );

/** Templates that use a part could not be sent without it. */
function requireSameParts(before: SnippetBody, after: SnippetBody): void {
  for (const part of ["html", "text"] as const)
    if (before[part] !== null && after[part] === null)
      throw invalid(`${part}: templates may use it, so it has to stay`, {
        details: [{ path: part, message: "has to stay" }],
      });
}

const lostContent = () =>
  invalid("html: a layout has to keep {{ content }} once, outside of tags", {
    details: [{ path: "html", message: "has to keep {{ content }} once, outside of tags" }],
  });

/** Saves the content of an earlier version as a new version. */
export async function restore(caller: Editor, id: number, version: number): Promise<Snippet> {
  const stored = await records.find<StoredSnippet>("SNIPPET", caller, id);
  if (version !== stored.version && !stored.replaced.some((one) => one.version === version))
    throw missing("This version of the snippet is not stored: `versions` lists those that are");
  return change(caller, id, await findSnippetBody({ orgId: caller.orgId, id, version }));
}

/**
 * Closes the snippet for new uses, before it is deleted or renamed, and returns how to open it
 * again. Something that is stored at the same time either sees that it is closed, or is found by
 * the search for uses that follows.
 */
export async function close(caller: CallerScope, id: number): Promise<{ reopen(): Promise<void> }> {
  await moveEntry(caller, id, { from: "s", to: "d" });
  return { reopen: () => moveEntry(caller, id, { from: "d", to: "s" }) };
}

const moveEntry = (
  caller: CallerScope,
  id: number,
  { from, to }: { from: "s" | "d"; to: "s" | "d" },
): Promise<void> =>
  retryOnConflict("The snippet", async () => {
    const { siteId } = await records.find<StoredSnippet>("SNIPPET", caller, id);
    const directory = await readDirectory(caller.orgId, siteId);
    const { [`${from}${id}` as const]: entry, ...others } = directory;
    if (!entry) return;
    const moved = { ...others, [`${to}${id}`]: entry } as SnippetDirectory;
    await write(replaceDirectoryWrite(caller.orgId, siteId, moved));
  });

/** The snippet has to be closed. Mail that was accepted with it is still sent. */
export const remove = (caller: CallerScope, id: number): Promise<void> =>
  retryOnConflict("The snippet", async () => {
    const { orgId } = caller;
    const stored = await records.find<StoredSnippet>("SNIPPET", caller, id);
    const { siteId, version } = stored;
    const directory = await readDirectory(orgId, siteId);
    if (!isClosed(directory, id)) throw snippetChanged();
    const { [`d${id}` as const]: _, ...others } = directory;
    await write(
      ...records.removeWrites("SNIPPET", caller, {
        id,
        siteId,
        condition: { if: equals("version", version) },
      }),
      replaceDirectoryWrite(orgId, siteId, others as SnippetDirectory),
      ...expireWrites(orgId, id, [stored, ...stored.replaced]),
    );
  });

/** Throws 400 if a part is not valid Liquid, or uses a snippet that does not exist or itself. */
async function compileSnippet(
  orgId: number,
  directory: SnippetDirectory,
  { name, body }: { name: string; body: SnippetBody },
): Promise<Pick<StoredSnippet, "variables" | "uses" | "isLayout" | "pictures">> {
  if (body.html === null && body.text === null)
    throw invalid("html or text is required", {
      details: [{ path: "html", message: "is required" }],
    });
  const named = liquid.findSnippetNames(body.html, body.text);
  if (named.length > maxUses)
    throw limitExceeded("html", `A snippet can use at most ${maxUses} others`);
  const cycle = findCycle(directory, { name, uses: named });
  if (cycle) {
    const path = cycle.join(" > ");
    throw invalid(`The snippet would use itself: ${path}`, {
      code: "snippet_cycle",
      details: [{ path: "html", message: `uses itself: ${path}` }],
    });
  }
  if (chainLength(directory, { name, uses: named }) > maxSnippetDepth)
    throw limitExceeded("html", `Snippets can be nested at most ${maxSnippetDepth} deep`);
  const snippets = await loadSnippets(orgId, pinSnippets(directory, named));
  const parts = Object.entries({ html: body.html, text: body.text }).flatMap(([field, source]) =>
    source === null ? [] : [liquid.compile(source, { escape: field === "html", field, snippets })],
  );
  const variables = new Set(brandAsOne(parts.flatMap(liquid.variableNames)));
  const isLayout = isUsableLayout({ name, body }, snippets);
  if (isLayout) variables.delete("content");
  if (variables.size > maxVariables)
    throw limitExceeded("html", `A snippet can use at most ${maxVariables} variables`);
  return {
    isLayout,
    pictures: filesIn(body.html ?? ""),
    variables: [...variables],
    uses: [...new Set(parts.flatMap(liquid.snippetNames))],
  };
}

/** Whether every part of the snippet can be the layout of a template. */
function isUsableLayout(
  { name, body }: { name: string; body: SnippetBody },
  snippets: liquid.Snippets,
): boolean {
  const all = { ...snippets, [name]: body };
  const parts = (["html", "text"] as const).filter((part) => body[part] !== null);
  return parts.every((part) => {
    try {
      const source = `{% layout '${name}' %}`;
      liquid.compile(source, { escape: part === "html", field: part, snippets: all });
      return true;
    } catch {
      return false;
    }
  });
}
