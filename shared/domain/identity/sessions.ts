// Sessions. The cookie has a random token; the table has its hash, and one item per user and
// session, so all sessions can be ended.

import * as z from "zod";
import { exists } from "../../adapters/dynamodb/conditions.ts";
import {
  get,
  getMany,
  put,
  queryAll,
  remove,
  transact,
  update,
  type Write,
  write,
  writeMany,
} from "../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds, now } from "../../clock.ts";
import { missing } from "../../errors.ts";
import { randomBase62 } from "../../ids.ts";
import { RecordId, Timestamp } from "../../kernel/record-fields.ts";
import { type Key, keys, ranges, sha256 } from "../../keys.ts";

export const sessionTtlSeconds = 7 * 24 * 3600;

/** A user. `orgId` is the organization in which the user signed up. */
export interface UserKey {
  orgId: number;
  userId: number;
}

/** The browser or program that logs in. */
export interface SessionClient {
  address: string;
  userAgent?: string | undefined;
}

export interface SessionItem extends UserKey {
  /** The organization of the session. */
  orgId: number;
  /** The organization in which the user signed up, if it is another one. */
  homeOrgId?: number;
  /** Unix seconds. */
  expires: number;
  /** Time of the login. */
  createdAt: string;
  /** When a switch opened the session in this organization. Default: the time of the login. */
  switchedAt?: string;
  /** To the minute. */
  lastUsedAt: string;
  address?: string;
  userAgent?: string;
  /** Single sign-on with this provider opened the session. It never leaves its organization. */
  providerId?: string;
}

interface NewSession {
  /** Default: the organization in which the user signed up. */
  orgId?: number;
  client?: SessionClient | undefined;
  /** Unix seconds. Default: in 7 days. */
  expires?: number;
  /** Time of the login. Default: now. */
  createdAt?: string | undefined;
  /** See SessionItem. */
  switchedAt?: string;
  /** See SessionItem. */
  providerId?: string;
}

const maxUserAgentLength = 300;

/** Always creates a new token, which prevents session fixation. */
export function prepareSession(
  { orgId: homeOrgId, userId }: UserKey,
  { orgId = homeOrgId, client, expires, createdAt, switchedAt, providerId }: NewSession = {},
): { token: string; writes: Write[] } {
  const token = randomBase62(43);
  const hash = sha256(token);
  const at = now().toISOString();
  const item: SessionItem = {
    orgId,
    userId,
    ...(orgId !== homeOrgId && { homeOrgId }),
    expires: expires ?? epochSeconds() + sessionTtlSeconds,
    createdAt: createdAt ?? at,
    ...(switchedAt !== undefined && { switchedAt }),
    lastUsedAt: at,
    ...(client && { address: client.address }),
    ...(client?.userAgent && { userAgent: client.userAgent.slice(0, maxUserAgentLength) }),
    ...(providerId !== undefined && { providerId }),
  };
  return {
    token,
    writes: [
      put(keys.session(hash), item),
      put(keys.userSession(homeOrgId, userId, hash), { expires: item.expires }),
    ],
  };
}

const idLength = 16;

export const UserSession = z
  .object({
    id: z.string().describe("Id of the session. It is not its token."),
    current: z.boolean().describe("Whether it is the session of the request."),
    organizationId: RecordId.describe("The organization that the session belongs to."),
    origin: z
      .enum(["password", "sso"])
      .describe("How the user logged in. `sso`: with the single sign-on of the organization."),
    address: z.string().nullable().describe("IP address of the login. `null`: not known."),
    userAgent: z.string().nullable().describe("`User-Agent` of the login. `null`: not known."),
    createdAt: Timestamp.nullable().describe("Time of the login. `null`: not known."),
    lastUsedAt: Timestamp.nullable().describe(
      "When the session was last used, to the minute. `null`: not known.",
    ),
    expiresAt: Timestamp.describe("When the session ends."),
  })
  .meta({ id: "UserSession" });
export type UserSession = z.output<typeof UserSession>;

/** Whether the login of the session is at most so many seconds ago. */
export async function isLoginWithin(sessionHash: string, seconds: number): Promise<boolean> {
  const session = await get<SessionItem>(keys.session(sessionHash));
  return (session?.createdAt ?? "") >= addSeconds(-seconds).toISOString();
}

const maxListed = 200;

/**
 * The sessions of the user, the last used first. At most 200. `onlyOrgId`: those in this
 * organization. Default: in all organizations.
 */
export async function listSessions(
  user: UserKey,
  { currentHash, onlyOrgId }: { currentHash: string; onlyOrgId?: number | undefined },
): Promise<UserSession[]> {
  const pointers = await queryAll<Key>(ranges.userSessions(user.orgId, user.userId), {
    consistent: true,
  });
  const hashes = pointers.map(({ sk }) => sk).slice(-maxListed);
  const items = await getMany<SessionItem>(hashes.map(keys.session), { consistent: true });
  return items
    .flatMap((item, i) => (item && item.expires > epochSeconds() ? [toApi(hashes[i]!, item)] : []))
    .filter(({ organizationId }) => onlyOrgId === undefined || organizationId === onlyOrgId)
    .map((session) => ({ ...session, current: currentHash.startsWith(session.id) }))
    .sort((a, b) => (b.lastUsedAt ?? "").localeCompare(a.lastUsedAt ?? ""));
}

const toApi = (hash: string, item: SessionItem): Omit<UserSession, "current"> => ({
  id: hash.slice(0, idLength),
  organizationId: item.orgId,
  origin: item.providerId === undefined ? "password" : "sso",
  address: item.address ?? null,
  userAgent: item.userAgent ?? null,
  createdAt: item.createdAt,
  lastUsedAt: item.lastUsedAt,
  expiresAt: new Date(item.expires * 1000).toISOString(),
});

/** Ends one session of the user, only in the organization `onlyOrgId` if given. Throws 404. */
export async function revokeSession(
  user: UserKey,
  id: string,
  onlyOrgId?: number | undefined,
): Promise<void> {
  const known = /^[0-9a-f]{16}$/.test(id)
    ? await queryAll<Key>(ranges.userSessions(user.orgId, user.userId, id), { consistent: true })
    : [];
  const items =
    onlyOrgId === undefined
      ? []
      : await getMany<SessionItem>(
          known.map(({ sk }) => keys.session(sk)),
          { consistent: true },
        );
  const ended = known.filter((_, i) => onlyOrgId === undefined || items[i]?.orgId === onlyOrgId);
  if (!ended.length) throw missing("The session does not exist");
  await write(...ended.flatMap(({ sk }) => endSessionWrites(user, sk)));
}

/** A use is recorded once a minute, so it costs almost nothing. */
const usePrecisionMs = 60_000;

/**
 * Records that the session is used. Returns false, and ends the session, if it was not used for
 * `idleMinutes`.
 */
export async function recordUse(
  hash: string,
  session: SessionItem,
  idleMinutes: number | null,
): Promise<boolean> {
  const { lastUsedAt, orgId, homeOrgId = orgId, userId } = session;
  const at = now();
  const unusedMs = at.getTime() - Date.parse(lastUsedAt);
  if (idleMinutes !== null && unusedMs > idleMinutes * 60_000) {
    await endSession({ orgId: homeOrgId, userId }, hash);
    return false;
  }
  if (unusedMs < usePrecisionMs) return true;
  const set = { lastUsedAt: at.toISOString() };
  return transact(update(keys.session(hash), { set }, { if: exists }));
}

/** `hash` is the SHA-256 of the session's token. */
export const endSession = (user: UserKey, hash: string): Promise<void> =>
  write(...endSessionWrites(user, hash));

/**
 * Ends sessions until a read finds none, because a switch to another organization may replace a
 * session after it was read.
 */
export async function endAllSessions(user: UserKey, exceptHash?: string): Promise<void> {
  for (;;) {
    const sessions = await queryAll<Key>(ranges.userSessions(user.orgId, user.userId), {
      consistent: true,
    });
    const ended = sessions.filter(({ sk }) => sk !== exceptHash);
    if (!ended.length) return;
    await writeMany(ended.flatMap(({ sk }) => endSessionWrites(user, sk)));
  }
}

/** Ends the sessions that single sign-on of the organization opened for the user. */
export async function endSsoSessions(user: UserKey, orgId: number): Promise<void> {
  const pointers = await queryAll<Key>(ranges.userSessions(user.orgId, user.userId), {
    consistent: true,
  });
  const hashes = pointers.map(({ sk }) => sk);
  const items = await getMany<SessionItem>(hashes.map(keys.session), { consistent: true });
  const ended = hashes.filter((_, i) => {
    const item = items[i];
    return item?.orgId === orgId && item.providerId !== undefined;
  });
  await writeMany(ended.flatMap((hash) => endSessionWrites(user, hash)));
}

const endSessionWrites = ({ orgId, userId }: UserKey, hash: string): Write[] => [
  remove(keys.session(hash)),
  remove(keys.userSession(orgId, userId, hash)),
];
