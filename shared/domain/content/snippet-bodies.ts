// The bodies of snippets, one immutable item per version, like those of templates.
import { get, put, update, type Write } from "../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds } from "../../clock.ts";
import type { Snippets } from "../../email/liquid.ts";
import { missing } from "../../errors.ts";
import { type CompressedValue, compress, decompress } from "../../kernel/compressed-values.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { keys } from "../../keys.ts";
import type { PinnedSnippets } from "./snippet-directory.ts";
import { oldVersionTtlSeconds } from "./template-bodies.ts";

export interface SnippetBody {
  html: string | null;
  text: string | null;
  designJson: unknown;
}

interface SnippetVersion {
  orgId: number;
  id: number;
  version: number;
}

const bodyKey = ({ orgId, id, version }: SnippetVersion) =>
  keys.recordBody(orgId, "SNIPPET", { id, version });

export async function storeSnippetWrite(
  version: SnippetVersion,
  body: SnippetBody,
): Promise<Write> {
  const key = bodyKey(version);
  return put(key, await compress(key, body, "templates"));
}

/** Accepted mail still needs the version for a while. */
export const expireSnippetWrite = (version: SnippetVersion): Write =>
  update(bodyKey(version), {
    set: { expires: epochSeconds(addSeconds(oldVersionTtlSeconds)) },
  });

const bodyCache = createLruCache<SnippetBody>(16_000_000);
const entryOverheadBytes = 1000;

/** Throws 404 if the version has expired. Caches bodies, because they never change. */
export async function findSnippetBody(version: SnippetVersion): Promise<SnippetBody> {
  const cacheKey = `${version.orgId}/${version.id}/${version.version}`;
  const cached = bodyCache.get(cacheKey);
  if (cached) return cached;
  const key = bodyKey(version);
  const item =
    (await get<CompressedValue>(key, { consistent: false })) ?? (await get<CompressedValue>(key));
  if (!item?.gz && !item?.blob) throw missing("This version of the snippet is no longer stored");
  const body = await decompress<SnippetBody>(item);
  bodyCache.set(cacheKey, body, 2 * JSON.stringify(body).length + entryOverheadBytes);
  return body;
}

/** The bodies that a mail was accepted with. */
export async function loadSnippets(orgId: number, pinned: PinnedSnippets): Promise<Snippets> {
  const loaded = Object.entries(pinned).map(async ([name, [id, version]]) => {
    const { html, text } = await findSnippetBody({ orgId, id, version });
    return [name, { html, text }] as const;
  });
  return Object.fromEntries(await Promise.all(loaded));
}
