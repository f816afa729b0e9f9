// Sessions: a random token in the user's cookie, its hash here, and a mark beside the user so that all can be ended together.
import { epochSeconds } from "../clock.ts";
import { put, queryAll, remove, type Write, write, writeMany } from "../doors/table.ts";
import { randomText } from "../ids.ts";
import { type Address, keys, ranges, sha256 } from "../keys.ts";

export const lifetimeSeconds = 7 * 24 * 3600;

interface Owner {
  orgId: number;
  userId: number;
}

/** A session about to begin: always a new token, never one that a browser brought along. */
export function opening({ orgId, userId }: Owner): { token: string; writes: Write[] } {
  const token = randomText(43);
  const hash = sha256(token);
  const expires = epochSeconds() + lifetimeSeconds;
  return {
    token,
    writes: [put(keys.session(hash), { orgId, userId, expires }), put(keys.sessionOf(orgId, userId, hash), { expires })],
  };
}

/** `hash` is the SHA-256 of the session's token. */
export const end = (owner: Owner, hash: string): Promise<void> => write(...ending(owner, hash));

/** Ends every session of the user but the one named. */
export async function endAll(owner: Owner, except?: string): Promise<void> {
  const marks = await queryAll<Address>(ranges.sessionsOf(owner.orgId, owner.userId), { consistent: true });
  await writeMany(marks.filter(({ sk }) => sk !== except).flatMap(({ sk }) => ending(owner, sk)));
}

const ending = ({ orgId, userId }: Owner, hash: string): Write[] => [
  remove(keys.session(hash)),
  remove(keys.sessionOf(orgId, userId, hash)),
];
