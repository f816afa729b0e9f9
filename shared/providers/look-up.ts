// Asks a provider which of our mails it has. The adapter defines the request, and how to read the
// mails from the response. Every other response, such as 401, 403 or 404 for a plan without the
// search, leaves the mails unknown.
import * as z from "zod";
import type { LookUpOutcome, ProviderAdapter, SoughtMail } from "./provider-adapter.ts";
import {
  type ProviderResponse,
  pauseSecondsOf,
  readFromProvider,
  sanitizeError,
} from "./provider-http.ts";

/** A mail in the response to a search. `sendId` is absent if the mail was not sent by us. */
interface FoundMail {
  sendId: string | undefined;
  messageId: string | undefined;
}

interface Search {
  provider: ProviderAdapter;
  mails: SoughtMail[];
  request: { url: string; headers: Record<string, string>; body?: object };
  /** Credentials, in every form in which they are sent, to be removed from error texts. */
  secrets: string[];
  /**
   * Reads a response with status 200. `isComplete`: there are no further mails. Undefined if the
   * body is not the result of a search.
   */
  readFound(response: ProviderResponse): { found: FoundMail[]; isComplete: boolean } | undefined;
}

/** Returns outcomes in the order of the mails. */
export async function searchMails(search: Search): Promise<LookUpOutcome[]> {
  const { provider, mails, request, readFound, secrets } = search;
  const response = await readFromProvider(provider, request);
  if (!response) return unknown(mails, `${provider.name} did not respond to the search`);
  const result = response.status === 200 ? readFound(response) : undefined;
  if (!result) {
    const error = `${provider.name} did not answer the search (status ${response.status})`;
    return unknown(mails, sanitizeError(error, secrets), pauseSecondsOf(response));
  }
  const bySendId = new Map(result.found.map((mail) => [mail.sendId, mail]));
  return mails.map(({ sendId }): LookUpOutcome => {
    const mail = bySendId.get(String(sendId));
    if (mail) return { status: "found", messageId: mail.messageId };
    return result.isComplete
      ? { status: "missing" }
      : { status: "unknown", error: `${provider.name} found too many other mails` };
  });
}

const unknown = (mails: SoughtMail[], error: string, retryAfterSeconds?: number): LookUpOutcome[] =>
  mails.map(() => ({ status: "unknown", error, retryAfterSeconds }));

/** Our id in the metadata of a mail. Mandrill writes an empty object as []. */
export const SendIdMetadata = z.object({ sendId: z.coerce.string() }).partial().catch({});
