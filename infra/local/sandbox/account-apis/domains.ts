// Parts of the DNS records that the stand-ins return for a domain. They derive from the account.
import { isVerifiedSender } from "../simulator.ts";
import type { SandboxAccount } from "../types.ts";

/** The public key of the account in base64. */
export const dkimKey = (account: SandboxAccount): string =>
  account.deriveBytes("dkim key", 64).toString("base64");

/** A stand-in sees no DNS: to it, every domain but the unverified one has its records. */
export const hasRecords = (domain: string): boolean => isVerifiedSender(`any@${domain}`);
