// Applies calls of Segment's HTTP tracking API, so that its libraries and customer data platforms
// report contacts and events without new code. Not related to segments of contacts.
import { isDeepStrictEqual } from "node:util";
import { get } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { invalid, isTransient, type Problem } from "../../../errors.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { isObject } from "../../../kernel/json.ts";
import { Locale } from "../../../kernel/locales.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { keys } from "../../../keys.ts";
import * as sites from "../../identity/sites.ts";
import { type ContactChanges, type ContactItem, ContactRow } from "../contacts/contact-schema.ts";
import * as contacts from "../contacts/contacts.ts";
import { getContactIds } from "../contacts/external-ids.ts";
import { upsertRows } from "../contacts/upserts.ts";
import { recordFor } from "./record-custom-events.ts";
import {
  addressOf,
  applied,
  type CallType,
  failed,
  groupByPerson,
  idOf,
  ignored,
  isAddress,
  type NumberedCall,
  numberCalls,
  type Outcome,
  type SegmentCall,
} from "./segment-calls.ts";
import { convertTraits, emailOfTraits } from "./segment-traits.ts";

interface CallContext {
  caller: CallerScope;
  siteId: number;
}
/** Throws 400 if the call is not valid. */
export async function applyCall(caller: CallerScope, type: CallType, call: SegmentCall) {
  const answer = await applyAll(caller, [{ ...call, type }]);
  const { outcome, reason } = answer.results[0]!;
  if (outcome === "failed") throw invalid(reason!, { details: detailsOf(reason!) });
  return answer;
}

const detailsOf = (reason: string) => [{ path: reason.split(":")[0]!, message: reason }];

/** Calls of one person are applied in their order, and a bad call does not stop the others. */
export async function applyAll(caller: CallerScope, calls: unknown[]) {
  const siteId = await sites.resolveSiteId(caller, undefined);
  const numbered = await numberCalls(calls);
  const outcomes: Outcome[] = [];
  await inParallel(8, groupByPerson(numbered), async (positions) => {
    for (const index of positions) {
      const one = numbered[index]!;
      outcomes[index] = "outcome" in one ? one : await applyOne({ caller, siteId }, one);
    }
  });
  const count = (outcome: Outcome["outcome"]) =>
    outcomes.filter((one) => one.outcome === outcome).length;
  return {
    success: true as const,
    applied: count("applied"),
    ignored: count("ignored"),
    failed: count("failed"),
    results: outcomes.map((outcome, index) => ({ index, ...outcome })),
  };
}

const nobody = "No contact has this userId or email address";

async function applyOne(context: CallContext, one: NumberedCall): Promise<Outcome> {
  try {
    if (one.type === "identify") return await identify(context, one);
    if (one.type === "alias") return await alias(context, one.call);
    const contact = await findPerson(context, one.call);
    if (!contact) return ignored(nobody);
    if (one.type === "group") return await group(context, contact, one.call);
    await recordFor(contact, one.event!);
    return applied();
  } catch (error) {
    if (isTransient(error)) throw error;
    return failed(error as Problem);
  }
}

/** By the id, else by the address. */
async function findPerson(
  { caller, siteId }: CallContext,
  call: SegmentCall,
): Promise<ContactItem | undefined> {
  const byId = await findByExternalId({ caller, siteId }, idOf(call.userId));
  const email = addressOf(call);
  if (byId || email === undefined) return byId;
  return get<ContactItem>(keys.contact(caller.orgId, siteId, normalizeEmail(email)));
}

async function findByExternalId(
  { caller, siteId }: CallContext,
  externalId: string | undefined,
): Promise<ContactItem | undefined> {
  if (externalId === undefined) return undefined;
  const contactIds = await getContactIds(caller.orgId, [siteId], externalId);
  const [contact] = await contacts.getByIds(caller.orgId, contactIds, { consistent: true });
  return contact;
}

/** Creates or changes the contact. The call is no consent: a new contact is `pending`. */
async function identify(context: CallContext, one: NumberedCall): Promise<Outcome> {
  const { call, newContactId } = one;
  const externalId = idOf(call.userId);
  const email = addressOf(call);
  const { fields, leftOut } = convertTraits(call.traits ?? {});
  const contact = await findPerson(context, call);
  const given = emailOfTraits(call.traits);
  if (given !== undefined && !isAddress(given)) leftOut.push("email");
  const locale = fields.locale ?? contact?.locale ?? localeOf(call.context);
  const note = leftOut.length ? `Left out traits: ${leftOut.slice(0, 20).join(", ")}` : null;
  if (contact) {
    await changeContact(context, contact, {
      ...fields,
      ...(fields.locale === undefined && locale && { locale }),
      ...(isAddress(given) && { email: given }),
      ...(externalId !== undefined && { externalId }),
    });
    return applied(note);
  }
  if (email === undefined) return ignored(nobody);
  const row = ContactRow.parse({
    ...withoutNulls({ ...fields, locale: locale ?? null }),
    email,
    ...(externalId !== undefined && { externalId }),
    status: call.traits?.subscribed === true ? "subscribed" : "pending",
    source: "segment",
  });
  const [result] = await upsertRows(context, [row], {
    mode: "create",
    ids: [newContactId!],
    mayBeRetry: true,
  });
  // Another request created the contact in between, and this one must not be lost.
  if (result!.outcome === "skipped") return identify(context, one);
  return result!.error === undefined ? applied(note) : failed({ message: result!.error });
}

/** The language of the browser or device that makes the call. */
const localeOf = (context: SegmentCall["context"]): string | undefined =>
  Locale.safeParse(context?.locale).data;

const withoutNulls = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      if (value === null) return [];
      return [[name, isObject(value) ? withoutNulls(value) : value]];
    }),
  );

/** Writes only if something changes: libraries repeat the same traits with each visit. */
async function changeContact(
  { caller }: CallContext,
  contact: ContactItem,
  { customFields, ...fields }: ContactChanges,
): Promise<void> {
  const isSame =
    isDeepStrictEqual({ ...contact, ...fields }, contact) &&
    isDeepStrictEqual({ ...contact.customFields, ...customFields }, { ...contact.customFields });
  if (isSame) return;
  await contacts.change(caller, contact.id, { ...fields, ...(customFields && { customFields }) });
}

/** The name of the group is the company of the contact. */
async function group(
  context: CallContext,
  contact: ContactItem,
  { traits }: SegmentCall,
): Promise<Outcome> {
  const { company } = convertTraits({ company: traits?.name }).fields;
  if (!company) return ignored("The group has no name");
  await changeContact(context, contact, { company });
  return applied();
}

/** The contact with the earlier id gets the new one. Two contacts are not merged. */
async function alias(context: CallContext, call: SegmentCall): Promise<Outcome> {
  const [externalId, previousId] = [idOf(call.userId), idOf(call.previousId)];
  const earlier = await findByExternalId(context, previousId);
  if (externalId === undefined || !earlier) return ignored("No contact has this previousId");
  await changeContact(context, earlier, { externalId });
  return applied();
}
