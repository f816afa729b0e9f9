// Cursors of the API: the position in a list, encrypted and authenticated, so that callers can
// neither read nor alter it. A cursor opens only for its own list, filters and caller.
import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";
import * as z from "zod";
import { cursorKey } from "../kernel/installation-secrets.ts";
import { unknownCursor } from "../kernel/paging.ts";
import type { Identity, Route } from "./route.ts";

export interface Cursors {
  seal(position: string): string;
  /** Throws 400. */
  open(cursor: string): string;
}

interface ListRequest {
  params: object;
  query: unknown;
}

/** Increase it if the format of positions changes. Cursors of older versions are then refused. */
const version = 1;
const [ivBytes, tagBytes] = [12, 16];

/** Undefined for a route without cursors. Only the first call of a process reads an item. */
export async function cursorsFor(
  route: Route,
  identity: Identity,
  request: ListRequest,
): Promise<Cursors | undefined> {
  if (!hasCursor(route)) return undefined;
  const key = await cursorKey();
  const [cipherKey, ivKey] = [key.subarray(0, 32), key.subarray(32)];
  const purpose = Buffer.from(purposeOf(route, identity, request));
  return {
    seal(position) {
      // The nonce is derived from purpose and position (as in RFC 5297), so two texts never share a
      // nonce.
      const iv = createHmac("sha256", ivKey)
        .update(purpose)
        .update(position)
        .digest()
        .subarray(0, ivBytes);
      const cipher = createCipheriv("aes-256-gcm", cipherKey, iv).setAAD(purpose);
      const encrypted = Buffer.concat([cipher.update(position, "utf8"), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString("base64url");
    },
    open(cursor) {
      const bytes = Buffer.from(cursor, "base64url");
      if (bytes.toString("base64url") !== cursor || bytes.length <= ivBytes + tagBytes)
        throw unknownCursor();
      const cipher = createDecipheriv("aes-256-gcm", cipherKey, bytes.subarray(0, ivBytes), {
        authTagLength: tagBytes,
      });
      cipher.setAAD(purpose).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
      try {
        return Buffer.concat([
          cipher.update(bytes.subarray(ivBytes + tagBytes)),
          cipher.final(),
        ]).toString("utf8");
      } catch {
        throw unknownCursor();
      }
    },
  };
}

export const hasCursor = ({ query }: Pick<Route, "query">): boolean =>
  query instanceof z.ZodObject && "cursor" in query.shape;

/**
 * A cursor is bound to the list, its filters and the caller. The page size may change between
 * pages.
 */
function purposeOf(
  { key }: Route,
  { orgId, siteIds }: Identity,
  { params, query }: ListRequest,
): string {
  const { page: _, limit: __, cursor: ___, ...filters } = query as Record<string, unknown>;
  const sorted = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([version, key, params, sorted, orgId, siteIds ?? null]);
}

/** Encrypts the next position in the data of a response. */
export function withSealedCursor(data: unknown, seal: Cursors["seal"]): unknown {
  const { pagination, nextCursor } = data as { pagination?: object; nextCursor?: string | null };
  if (pagination) return { ...(data as object), pagination: withSealedCursor(pagination, seal) };
  return typeof nextCursor === "string"
    ? { ...(data as object), nextCursor: seal(nextCursor) }
    : data;
}
