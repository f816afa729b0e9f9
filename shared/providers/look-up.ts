// Asks a provider which of our mails it has. The adapter defines the request, and how to read the
// mails from the response. Every other response, such as 401, 403 or 404 for a plan without the
// search, leaves the mails unknown.
import * as z from "zod";
import { addSeconds, now } from "../clock.ts";
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
  /** Why the provider took the mail over and then refused to send it. */
  refusal?: string | undefined;
}

interface ResultPage {
  found: FoundMail[];
  /** There are no further mails. */
  isComplete: boolean;
  /** Where the search continues. */
  nextUrl?: string | undefined;
}

interface Search {
  provider: ProviderAdapter;
  mails: SoughtMail[];
  request: { url: string; headers: Record<string, string>; body?: object };
  /** Credentials, in every form in which they are sent, to be removed from error texts. */
  secrets: string[];
  /**
   * Reads a response with status 200, and may request details. Undefined if the body is not the
   * result of a search.
   */
  readFound(response: ProviderResponse): ResultPage | undefined | Promise<ResultPage | undefined>;
}

const maxPages = 5;
/** No further page is requested after this time. */
const maxPagingSeconds = 5;

/** Returns outcomes in the order of the mails. */
export async function searchMails(search: Search): Promise<LookUpOutcome[]> {
  const { provider, mails, request, readFound, secrets } = search;
  const until = addSeconds(maxPagingSeconds);
  const found: FoundMail[] = [];
  let isComplete = false;
  let url: string | undefined = request.url;
  for (let n = 0; url && n < maxPages && now() < until; n++) {
    const response = await readFromProvider(provider, { ...request, url });
    if (!response) return unknown(mails, `${provider.name} did not respond to the search`);
    const page = response.status === 200 ? await readFound(response) : undefined;
    if (!page) {
      const error = `${provider.name} did not answer the search (status ${response.status})`;
      return unknown(mails, sanitizeError(error, secrets), pauseSecondsOf(response));
    }
    found.push(...page.found);
    isComplete = page.isComplete;
    url = page.nextUrl;
  }
  return mails.map((mail) => toOutcome(mail, { found, isComplete }, search));
}

function toOutcome(
  { sendId }: SoughtMail,
  { found, isComplete }: ResultPage,
  { provider, secrets }: Search,
): LookUpOutcome {
  const own = found.filter((mail) => mail.sendId === String(sendId));
  const accepted = own.find(({ refusal }) => refusal === undefined);
  if (accepted) return { status: "found", messageId: accepted.messageId };
  if (own[0]) return { status: "refused", error: sanitizeError(own[0].refusal!, secrets) };
  return isComplete
    ? { status: "missing" }
    : { status: "unknown", error: `${provider.name} found other mails, and not all of them` };
}

const unknown = (mails: SoughtMail[], error: string, retryAfterSeconds?: number): LookUpOutcome[] =>
  mails.map(() => ({ status: "unknown", error, retryAfterSeconds }));

/**
 * Whether a mail that was found by its send id alone is ours: another installation that shares the
 * account may have used the same id.
 */
export const isOurs = (
  { to, at }: { to: string; at: string },
  { mails: [sought], since }: { mails: SoughtMail[]; since: Date },
): boolean => to.toLowerCase() === sought!.to.toLowerCase() && Date.parse(at) >= since.getTime();

/** Our id in the metadata of a mail. Mandrill writes an empty object as []. */
export const SendIdMetadata = z.object({ sendId: z.coerce.string() }).partial().catch({});
