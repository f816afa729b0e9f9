// The item with a user's second factors: authenticator app, email codes and recovery codes.
import { get } from "../../../adapters/dynamodb/table.ts";
import { keys } from "../../../keys.ts";
import type { UserKey } from "../sessions.ts";

export const mfaMethods = ["totp", "email_otp"] as const;
export type MfaMethod = (typeof mfaMethods)[number];

export interface SecondFactors {
  /** Encrypted secret of an app that is being set up. */
  pendingTotp?: string;
  /** Encrypted secret of the app. */
  totp?: string;
  totpSince?: string;
  /** The last time step whose code was used. Its code and earlier ones are invalid. */
  usedStep?: number;
  emailOtpSince?: string;
  /** Hashes of the unused codes. */
  recoveryCodes?: Set<string>;
}

export const getSecondFactors = ({ orgId, userId }: UserKey): Promise<SecondFactors | undefined> =>
  get<SecondFactors>(keys.secondFactors(orgId, userId));

export const enabledMethods = (factors: SecondFactors | undefined): MfaMethod[] =>
  mfaMethods.filter(
    (method) => (method === "totp" ? factors?.totp : factors?.emailOtpSince) !== undefined,
  );
