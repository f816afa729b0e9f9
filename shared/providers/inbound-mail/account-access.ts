// What is read from the account of a customer at a provider, because its request has only a part of
// the mail.
import * as client from "../../adapters/http/client.ts";
import { config } from "../../config.ts";
import { withConfiguredOrigin } from "../provider-http.ts";

/** Credentials of the sending configs of the provider, oldest first. */
export type ReadAccounts = () => Promise<Record<string, unknown>[]>;

const maxBytes = 36 * 1024 * 1024;

/**
 * Tries the accounts until one has it. Undefined if all say that there is no such thing. Throws if
 * none may read it, so that the queue tries again, and keeps it for the operator at last.
 */
export async function downloadFromAccounts(
  provider: string,
  accounts: Record<string, unknown>[],
  requestFor: (
    account: Record<string, unknown>,
  ) => Promise<{ url: string; headers: Record<string, string> }>,
): Promise<Buffer | undefined> {
  const statuses: number[] = [];
  for (const account of accounts) {
    const { url, headers } = await requestFor(account);
    const target = withConfiguredOrigin(url, config.providerUrl(provider));
    const { status, bytes } = await client.download(target, maxBytes, headers);
    if (status === 200) return bytes;
    statuses.push(status);
  }
  if (statuses.length && statuses.every((status) => status === 404)) return undefined;
  throw new Error(
    `No sending config of ${provider} can read the mail: status ${statuses.join(", ") || "none"}`,
  );
}

/** For signatures without a certificate. */
export const neverFetches = (): Promise<string> => Promise.reject(new Error("No certificate"));
