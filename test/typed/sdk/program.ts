// What the types of the SDK accept and refuse. It is compiled in a project that has the package and
// nothing else of this repository.
import {
  type Campaign,
  type Contact,
  type ErrorCode,
  type Export,
  type PagedList,
  Pennymail,
  type PennymailError,
  type ReportedContact,
  type Send,
  type SendEmailRequest,
  type WebhookEvent,
} from "pennymail";

const pennymail = new Pennymail({
  baseUrl: "https://mail.example",
  apiKey: "pm_live_x",
  siteId: 1,
});

type Equals<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Arguments<Method extends (...args: never[]) => unknown> = Parameters<Method>;
type Result<Method extends (...args: never[]) => unknown> = Awaited<ReturnType<Method>>;
type Accepts<Wanted, Given> = [Given] extends [Wanted] ? true : false;
type Api = typeof pennymail;

/** Exact types of results, inputs and codes. Where one differs, this does not compile. */
export const exact: [
  Equals<Result<Api["contacts"]["get"]>, Contact>,
  Equals<
    ReturnType<Api["contacts"]["list"]> extends PagedList<infer Item, infer _> ? Item : 0,
    Contact
  >,
  Equals<Result<Api["contacts"]["export"]>, string | Export>,
  Equals<Arguments<Api["send"]>[0], SendEmailRequest>,
  Equals<Arguments<Api["contacts"]["removeTag"]>[1], number>,
  Equals<Send["campaignId"], number | null>,
  Equals<PennymailError["code"], ErrorCode>,
  Equals<Awaited<ReturnType<typeof Pennymail.webhooks.verify>>, WebhookEvent>,
  Equals<WebhookEvent["contactId"], number | null>,
] = [true, true, true, true, true, true, true, true, true];

export const accepted: [
  Accepts<
    Arguments<Api["contacts"]["create"]>[0],
    { email: string; customFields: { plan: string } }
  >,
  Accepts<Arguments<Api["send"]>[0], { to: string; subject: string; html: string }>,
  Accepts<ErrorCode, "email_exists">,
  Accepts<ErrorCode, "timeout">,
  Accepts<Campaign["status"], "scheduled">,
  Accepts<WebhookEvent["event"], "spam_report">,
] = [true, true, true, true, true, true];

export const refused: [
  Accepts<Arguments<Api["contacts"]["create"]>[0], { firstName: string }>,
  Accepts<Arguments<Api["contacts"]["get"]>[0], string>,
  Accepts<Arguments<Api["send"]>[0], { to: number }>,
  Accepts<ErrorCode, "no_such_code">,
  Accepts<keyof Api, "nothing">,
  Accepts<keyof Contact, "colour">,
  Accepts<WebhookEvent["event"], "opened">,
] = [false, false, false, false, false, false, false];

/** Lists are awaited for a page, and iterated over for all items. */
export async function readLists(): Promise<[Contact[], ReportedContact[], string | Export]> {
  const { contacts, pagination } = await pennymail.contacts.list({ limit: 10 });
  if (pagination.nextCursor === null) return [contacts, [], ""];
  const reported: ReportedContact[] = [];
  for await (const contact of pennymail.reports.listUnengagedContacts()) reported.push(contact);
  return [contacts, reported, await pennymail.reports.listUnengagedContacts({ format: "csv" })];
}
