// Codes of an authenticator app (RFC 6238): six digits, a new one every 30 seconds. Clocks may differ by one step, and a code works once.
import { Secret, TOTP } from "otpauth";
import { now } from "../../clock.ts";
import { absent, all, any, below, equals } from "../../conditions.ts";
import { update, type Write } from "../../doors/table.ts";
import * as vault from "../../doors/vault.ts";
import { keys } from "../../keys.ts";
import type { Member, SecondFactors } from "./second-factors.ts";

const issuer = "Pennymail";
const window = 1;

const generator = (secret: string, label = "") => new TOTP({ issuer, label, secret: Secret.fromBase32(secret) });

/** A new secret: base32 to type in, and as `otpauth:` URL to scan. */
export function fresh(email: string): { secret: string; otpauthUrl: string } {
  const secret = new Secret({ size: 20 }).base32;
  return { secret, otpauthUrl: generator(secret, email).toString() };
}

export const seal = (member: Member, secret: string): Promise<string> => vault.seal(secret, contextOf(member));

/** The time step that the code is of; undefined when it is of none about now. */
export async function stepOf(member: Member, sealed: string, code: string): Promise<number | undefined> {
  const totp = generator(await vault.open(sealed, contextOf(member)));
  const timestamp = now().getTime();
  const delta = totp.validate({ token: code, timestamp, window });
  return delta === null ? undefined : totp.counter({ timestamp }) + delta;
}

/** Uses the code up; undefined when it is wrong or was used before. */
export async function using(member: Member, { totp, usedStep = 0 }: SecondFactors, code: string): Promise<Write | undefined> {
  const step = totp && (await stepOf(member, totp, code));
  if (!step || step <= usedStep) return undefined;
  const unused = all(equals("totp", totp), any(absent("usedStep"), below("usedStep", step)));
  return update(keys.secondFactors(member.orgId, member.userId), { set: { usedStep: step } }, { if: unused });
}

const contextOf = ({ orgId, userId }: Member): vault.Context => ({ orgId: String(orgId), userId: String(userId), purpose: "totp" });
