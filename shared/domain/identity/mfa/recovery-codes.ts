// Recovery codes, for users who lose their phone or mailbox. A code is shown once and works once;
// only its hash is stored.
import { randomInt } from "node:crypto";
import { contains } from "../../../adapters/dynamodb/conditions.ts";
import { update, type Write } from "../../../adapters/dynamodb/table.ts";
import { keyedHash } from "../../../kernel/installation-secrets.ts";
import { keys } from "../../../keys.ts";
import type { UserKey } from "../sessions.ts";
import type { SecondFactors } from "./second-factors.ts";

const codeCount = 10;
// No characters that look alike in handwriting.
const codeAlphabet = "23456789abcdefghjkmnpqrstuvwxyz";
const randomGroup = () =>
  Array.from({ length: 5 }, () => codeAlphabet[randomInt(codeAlphabet.length)]).join("");

/** `codes` look like `k7m2p-x9w4t` (49 bits) and go to the user; `hashes` are stored. */
export async function generateCodes(
  user: UserKey,
): Promise<{ codes: string[]; hashes: Set<string> }> {
  const codes = Array.from({ length: codeCount }, () => `${randomGroup()}-${randomGroup()}`);
  return { codes, hashes: new Set(await Promise.all(codes.map((code) => hashCode(user, code)))) };
}

/** Undefined if the code is wrong or was used before. */
export async function useCodeWrite(
  user: UserKey,
  factors: SecondFactors,
  code: string,
): Promise<Write | undefined> {
  const hash = await hashCode(user, code);
  if (!factors.recoveryCodes?.has(hash)) return undefined;
  const changes = { deleteFromSet: { recoveryCodes: new Set([hash]) } };
  return update(keys.secondFactors(user.orgId, user.userId), changes, {
    if: contains("recoveryCodes", hash),
  });
}

async function hashCode({ orgId, userId }: UserKey, code: string): Promise<string> {
  const canonical = code.toLowerCase().replace(/[^a-z0-9]/g, "");
  return (await keyedHash("recovery", orgId, userId, canonical)).toString("base64url");
}
