// Sandbox accounts need no storage: id, keys and secrets all follow from one root key per DATA_DIR.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Account, MailProvider } from "./contract.ts";

export interface Accounts {
  /** A new account, as if someone had signed up at all ten providers. */
  open(): Account;
  /** The account with this id, if it was opened here. */
  named(id: string): Account | undefined;
  /** The account behind mail to our own users. */
  system: Account;
  /** The account whose API key this is. */
  owner(provider: MailProvider, key: string | undefined): Account | undefined;
}

export function accounts(root: Buffer): Accounts {
  const numbered = (number: string) => account(root, number + seal(root, number));
  const named = (id: string) => (id.length === 16 && seal(root, id.slice(0, 10)) === id.slice(10) ? account(root, id) : undefined);
  return {
    open: () => numbered(randomBytes(5).toString("hex")),
    named,
    system: numbered("0000000000"),
    owner: (provider, key) => {
      const found = named((provider.keyPattern.exec(key ?? "") ?? []).slice(1).join("").toLowerCase());
      return found && Object.values(provider.credentials(found)).some((own) => same(own, key ?? "")) ? found : undefined;
    },
  };
}

/** Equal, told in the same time whatever the difference. */
export function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function account(root: Buffer, id: string): Account {
  const derived = (purpose: string) => createHmac("sha512", root).update(`${id} ${purpose}`).digest();
  return {
    id,
    hex: (purpose, length) => derived(purpose).toString("hex").slice(0, length),
    bytes: (purpose, length) => derived(purpose).subarray(0, length),
  };
}

const seal = (root: Buffer, number: string) => createHmac("sha256", root).update(`account ${number}`).digest("hex").slice(0, 6);
