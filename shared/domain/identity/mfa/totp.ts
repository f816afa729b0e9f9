// Codes of an authenticator app (RFC 6238): six digits, a new code every 30 seconds. Clocks may
// differ by one step; a code works once.
import { Secret, TOTP } from "otpauth";
import { absent, all, any, equals, lessThan } from "../../../adapters/dynamodb/conditions.ts";
import { update, type Write } from "../../../adapters/dynamodb/table.ts";
import * as encryption from "../../../adapters/kms/encryption.ts";
import { now } from "../../../clock.ts";
import { keys } from "../../../keys.ts";
import type { UserKey } from "../sessions.ts";
import type { SecondFactors } from "./second-factors.ts";

const issuer = "Pennymail";
const allowedSteps = 1;

const createTotp = (secret: string, label = "") =>
  new TOTP({ issuer, label, secret: Secret.fromBase32(secret) });

/** `secret` is base32. */
export function generateSecret(email: string): { secret: string; otpauthUrl: string } {
  const secret = new Secret({ size: 20 }).base32;
  return { secret, otpauthUrl: createTotp(secret, email).toString() };
}

export const sealSecret = (user: UserKey, secret: string): Promise<string> =>
  encryption.encrypt(secret, contextOf(user));

/** The time step of the code. Undefined if the code is wrong. */
export async function findTimeStep(
  user: UserKey,
  sealed: string,
  code: string,
): Promise<number | undefined> {
  const totp = createTotp(await encryption.decrypt(sealed, contextOf(user)));
  const timestamp = now().getTime();
  const delta = totp.validate({ token: code, timestamp, window: allowedSteps });
  return delta === null ? undefined : totp.counter({ timestamp }) + delta;
}

/** Undefined if the code is wrong or was used before. */
export async function useCodeWrite(
  user: UserKey,
  { totp, usedStep = 0 }: SecondFactors,
  code: string,
): Promise<Write | undefined> {
  const step = totp && (await findTimeStep(user, totp, code));
  if (!step || step <= usedStep) return undefined;
  const unused = all(equals("totp", totp), any(absent("usedStep"), lessThan("usedStep", step)));
  return update(
    keys.secondFactors(user.orgId, user.userId),
    { set: { usedStep: step } },
    { if: unused },
  );
}

const contextOf = ({ orgId, userId }: UserKey): encryption.EncryptionContext => ({
  orgId: String(orgId),
  userId: String(userId),
  purpose: "totp",
});
