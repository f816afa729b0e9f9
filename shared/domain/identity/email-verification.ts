// Verification of the address of a sign-up. Where it is required, an organization cannot send
// before its owner has opened the mailed link, so nobody sends or holds an account in the name of
// an address that belongs to somebody else.
import { all, equals, exists, present } from "../../adapters/dynamodb/conditions.ts";
import { get, put, remove, transact, update, write } from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { addSeconds, epochSeconds } from "../../clock.ts";
import { conflict, invalid } from "../../errors.ts";
import { randomBase62 } from "../../ids.ts";
import { queueSystemMail } from "../../kernel/system-mail-queue.ts";
import { keys, sha256 } from "../../keys.ts";
import * as accounts from "./accounts.ts";
import * as attemptLimits from "./attempt-limits.ts";
import * as organizations from "./organizations.ts";

interface VerificationToken {
  email: string;
  userId: number;
  expires: number;
}
const ttlSeconds = 24 * 3600;

/** Creates a token for the mailed link. Undefined if there is nothing to verify. */
export async function createToken(
  email: string,
): Promise<{ token: string; email: string; name: string | null } | undefined> {
  const login = await get<accounts.LoginRecord>(keys.user(email));
  if (!login?.unverified) return undefined;
  const token = randomBase62(43);
  const expires = epochSeconds(addSeconds(ttlSeconds));
  const item: VerificationToken = { email, userId: login.userId, expires };
  await write(put(keys.verificationToken(sha256(token)), item));
  return { token, email, name: login.name };
}

/** Mails the link again. Throws 409 if the address is verified, 429 after five mails. */
export async function resend(caller: Caller): Promise<void> {
  const { user } = await accounts.getProfile(caller);
  const login = await get<accounts.LoginRecord>(keys.user(user.email));
  if (!login?.unverified)
    throw conflict("The address is already verified", { code: "already_verified" });
  await attemptLimits.countMail("verification", user.email);
  await queueSystemMail({ mail: "verify_email", email: user.email });
}

/** The address of an unused token, for the page. */
export async function findAddress(token: string): Promise<string | undefined> {
  const item = await get<VerificationToken>(keys.verificationToken(sha256(token)));
  return item && item.expires > epochSeconds() ? item.email : undefined;
}

/** Marks the address as verified, so the organization can send. Throws 400 `invalid_token`. */
export async function verify(token: string): Promise<void> {
  const key = keys.verificationToken(sha256(token));
  const item = await get<VerificationToken>(key);
  const login = item && (await get<accounts.LoginRecord>(keys.user(item.email)));
  if (!item || !login || item.expires <= epochSeconds()) throw invalidToken();
  const verified = await transact(
    update(
      keys.user(item.email),
      { remove: ["unverified"] },
      { if: all(present("unverified"), equals("userId", item.userId)) },
    ),
    organizations.verifiedWrite(login.orgId),
    remove(key, { if: exists }),
  );
  if (!verified) throw invalidToken();
  accounts.reportLogin("verifyEmail", login, { outcome: "done" });
}

const invalidToken = () =>
  invalid("The link was already used or has expired: log in and request a new one", {
    code: "invalid_token",
    details: [{ path: "token", message: "is no longer valid" }],
  });
