// Ten codes for when phone or mailbox are lost, shown once and each good once. Only their hashes are kept.
import { randomInt } from "node:crypto";
import { contains } from "../../conditions.ts";
import { update, type Write } from "../../doors/table.ts";
import { keys } from "../../keys.ts";
import { hashOf } from "./keyed-hashes.ts";
import type { Member, SecondFactors } from "./second-factors.ts";

const howMany = 10;
// Without what is taken for something else in handwriting.
const letters = "23456789abcdefghjkmnpqrstuvwxyz";
const group = () => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join("");

/** `codes` are for the user, like `k7m2p-x9w4t` (49 bits); `hashes` to keep. */
export async function fresh(member: Member): Promise<{ codes: string[]; hashes: Set<string> }> {
  const codes = Array.from({ length: howMany }, () => `${group()}-${group()}`);
  return { codes, hashes: new Set(await Promise.all(codes.map((code) => hashOfCode(member, code)))) };
}

/** Uses the code up; undefined when it is none that is left. */
export async function using(member: Member, factors: SecondFactors, code: string): Promise<Write | undefined> {
  const hash = await hashOfCode(member, code);
  if (!factors.recoveryCodes?.has(hash)) return undefined;
  const changes = { leave: { recoveryCodes: new Set([hash]) } };
  return update(keys.secondFactors(member.orgId, member.userId), changes, { if: contains("recoveryCodes", hash) });
}

const hashOfCode = async ({ orgId, userId }: Member, code: string): Promise<string> =>
  (await hashOf("recovery", orgId, userId, code.toLowerCase().replace(/[^a-z0-9]/g, ""))).toString("base64url");
