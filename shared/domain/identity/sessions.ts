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
import { epochSeconds } from "../../clock.ts";
import { randomBase62 } from "../../ids.ts";
import { type Key, keys, ranges, sha256 } from "../../keys.ts";

export const sessionTtlSeconds = 7 * 24 * 3600;

export interface UserKey {
  orgId: number;
  userId: number;
}

/** Always creates a new token, which prevents session fixation. */
export function prepareSession({ orgId, userId }: UserKey): { token: string; writes: Write[] } {
  const token = randomBase62(43);
  const hash = sha256(token);
  const expires = epochSeconds() + sessionTtlSeconds;
  return {
    token,
    writes: [
      put(keys.session(hash), { orgId, userId, expires }),
      put(keys.userSession(orgId, userId, hash), { expires }),
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
