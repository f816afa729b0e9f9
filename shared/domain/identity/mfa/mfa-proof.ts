// Proof that the user is present: a code of a second factor, or the password.
import * as z from "zod";
import { get, transact, type Write } from "../../../adapters/dynamodb/table.ts";
import { invalid } from "../../../errors.ts";
import { exactlyOneOf } from "../../../kernel/either-or.ts";
import { keys } from "../../../keys.ts";
import type * as accounts from "../accounts.ts";
import * as attemptLimits from "../attempt-limits.ts";
import * as passwords from "../passwords.ts";
import type { UserKey } from "../sessions.ts";
import * as recoveryCodes from "./recovery-codes.ts";
import type { SecondFactors } from "./second-factors.ts";
import * as secondFactors from "./second-factors.ts";
import * as totp from "./totp.ts";

/** Six digits from the app or a mail, or a recovery code. Spaces and hyphens are ignored. */
export const MfaCode = z.string().min(1).max(30);

/** Proof that the user is present: a code or the password. */
export const MfaProof = exactlyOneOf(
  z.object({
    code: MfaCode.optional().describe(
      "Code of the authenticator app, or a recovery code. Give either this or `password`.",
    ),
    password: passwords.PasswordInput.optional().describe(
      "Password of the user. Give either this or `code`.",
    ),
  }),
  ["code", "password"],
).meta({ id: "MfaProof" });
export type MfaProof = z.output<typeof MfaProof>;

/** Throws 400 `wrong_code` or `wrong_password`, which count as failed logins. */
export async function requireProof(owner: UserKey, email: string, proof: MfaProof): Promise<void> {
  const limits = [attemptLimits.accountLimit(email), attemptLimits.codeLimit(email)];
  const proven = await attemptLimits.withAttemptLimits(limits, async () =>
    (await verifyProof(owner, email, proof)) ? true : undefined,
  );
  if (!proven) throw wrongProof(proof.code === undefined ? "password" : "code");
}

async function verifyProof(
  owner: UserKey,
  email: string,
  { code, password }: MfaProof,
): Promise<boolean> {
  if (code === undefined)
    return passwords.verifyPassword(
      password!,
      (await get<accounts.LoginRecord>(keys.user(email)))?.password,
    );
  const factors = await secondFactors.getSecondFactors(owner);
  const useCode = factors && (await useOwnCodeWrite(owner, factors, code));
  return useCode !== undefined && transact(useCode);
}

/** Uses up a code from the app or a recovery code. Undefined if the code is wrong. */
export const useOwnCodeWrite = async (
  user: UserKey,
  factors: SecondFactors,
  code: string,
): Promise<Write | undefined> =>
  sixDigits.test(stripSeparators(code))
    ? totp.useCodeWrite(user, factors, stripSeparators(code))
    : recoveryCodes.useCodeWrite(user, factors, code);

export const sixDigits = /^\d{6}$/;
export const stripSeparators = (code: string): string => code.replace(/[\s-]/g, "");

export const wrongProof = (path: "code" | "password") =>
  invalid(`The ${path} is wrong`, {
    code: `wrong_${path}`,
    details: [{ path, message: `the ${path} is wrong` }],
  });
