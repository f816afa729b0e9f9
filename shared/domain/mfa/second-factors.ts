// What a user logs in with beside the password: codes of an app, codes by mail, and recovery codes for when those are lost.
import { get } from "../../doors/table.ts";
import { keys } from "../../keys.ts";

export const methods = ["totp", "email_otp"] as const;
export type Method = (typeof methods)[number];

export interface Member {
  orgId: number;
  userId: number;
}

export interface SecondFactors {
  /** A sealed secret that waits for its first code. */
  pendingTotp?: string;
  /** The sealed secret that codes of the app come from. */
  totp?: string;
  totpSince?: string;
  /** The newest time step whose code was used: that code and those before it are worth nothing any more. */
  usedStep?: number;
  emailOtpSince?: string;
  /** Hashes of those that are left. */
  recoveryCodes?: Set<string>;
}

export const find = ({ orgId, userId }: Member): Promise<SecondFactors | undefined> =>
  get<SecondFactors>(keys.secondFactors(orgId, userId));

/** None: the password is enough. */
export const methodsOf = (factors: SecondFactors | undefined): Method[] =>
  methods.filter((method) => (method === "totp" ? factors?.totp : factors?.emailOtpSince) !== undefined);
