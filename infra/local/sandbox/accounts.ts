// Derives the ids, keys and secrets of sandbox accounts from one root key per DATA_DIR, so accounts
// need no storage.
import { createHmac, randomBytes } from "node:crypto";
import { equalInConstantTime } from "../constant-time.ts";
import type { SandboxAccount, SandboxProvider } from "./types.ts";

export interface SandboxAccounts {
  /** Creates an account that exists at all providers. */
  create(): SandboxAccount;
  /** Returns undefined for an id that this sandbox did not create. */
  findById(id: string): SandboxAccount | undefined;
  /** The account that sends Pennymail's own mail. */
  systemAccount: SandboxAccount;
  /** Returns the account with this API key or access key id. */
  findByApiKey(provider: SandboxProvider, key: string | undefined): SandboxAccount | undefined;
}

export function createAccounts(root: Buffer): SandboxAccounts {
  const fromNumber = (number: string) => deriveAccount(root, number + checksum(root, number));
  const findById = (id: string) =>
    id.length === 16 && checksum(root, id.slice(0, 10)) === id.slice(10)
      ? deriveAccount(root, id)
      : undefined;
  return {
    create: () => fromNumber(randomBytes(5).toString("hex")),
    findById,
    systemAccount: fromNumber("0000000000"),
    findByApiKey: (provider, key) => {
      const found = findById(
        (provider.accountIdPattern.exec(key ?? "") ?? []).slice(1).join("").toLowerCase(),
      );
      return found &&
        Object.values(provider.credentials(found)).some((credential) =>
          equalInConstantTime(credential, key ?? ""),
        )
        ? found
        : undefined;
    },
  };
}

function deriveAccount(root: Buffer, id: string): SandboxAccount {
  const derived = (purpose: string) =>
    createHmac("sha512", root).update(`${id} ${purpose}`).digest();
  return {
    id,
    deriveHex: (purpose, length) => derived(purpose).toString("hex").slice(0, length),
    deriveBytes: (purpose, length) => derived(purpose).subarray(0, length),
  };
}

const checksum = (root: Buffer, number: string) =>
  createHmac("sha256", root).update(`account ${number}`).digest("hex").slice(0, 6);
