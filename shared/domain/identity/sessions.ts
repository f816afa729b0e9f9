// Sessions. The cookie has a random token; the table has its hash, and one item per user and
// session, so all sessions can be ended.

import {
  put,
  queryAll,
  remove,
  type Write,
  write,
  writeMany,
} from "../../adapters/dynamodb/table.ts";
import { epochSeconds, now } from "../../clock.ts";
import { randomBase62 } from "../../ids.ts";
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
  createdAt?: string;
  /** To the minute. */
  lastUsedAt?: string;
  address?: string;
  userAgent?: string;
}

interface NewSession {
  /** Default: the organization in which the user signed up. */
  orgId?: number;
  client?: SessionClient | undefined;
  /** Unix seconds. Default: in 7 days. */
  expires?: number;
}

const maxUserAgentLength = 300;

/** Always creates a new token, which prevents session fixation. */
export function prepareSession(
  { orgId: homeOrgId, userId }: UserKey,
  { orgId = homeOrgId, client, expires }: NewSession = {},
): { token: string; writes: Write[] } {
  const token = randomBase62(43);
  const hash = sha256(token);
  const at = now().toISOString();
  const item: SessionItem = {
    orgId,
    userId,
    ...(orgId !== homeOrgId && { homeOrgId }),
    expires: expires ?? epochSeconds() + sessionTtlSeconds,
    createdAt: at,
    lastUsedAt: at,
    ...(client && { address: client.address }),
    ...(client?.userAgent && { userAgent: client.userAgent.slice(0, maxUserAgentLength) }),
  };
  return {
    token,
    writes: [
      put(keys.session(hash), item),
      put(keys.userSession(homeOrgId, userId, hash), { expires: item.expires }),
    ],
  };
}

/** `hash` is the SHA-256 of the session's token. */
export const endSession = (user: UserKey, hash: string): Promise<void> =>
  write(...endSessionWrites(user, hash));

export async function endAllSessions(user: UserKey, exceptHash?: string): Promise<void> {
  const sessions = await queryAll<Key>(ranges.userSessions(user.orgId, user.userId), {
    consistent: true,
  });
  await writeMany(
    sessions.filter(({ sk }) => sk !== exceptHash).flatMap(({ sk }) => endSessionWrites(user, sk)),
  );
}

const endSessionWrites = ({ orgId, userId }: UserKey, hash: string): Write[] => [
  remove(keys.session(hash)),
  remove(keys.userSession(orgId, userId, hash)),
];
