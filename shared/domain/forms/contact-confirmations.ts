// Double opt-in of contacts that a request or an import has created: their mails, and what the link
// of a mail does.
import { absent, all, equals, exists } from "../../adapters/dynamodb/conditions.ts";
import { transact, update, type Write, write } from "../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../clock.ts";
import { type Language, supportedLanguage } from "../../email/languages.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import * as sealedTokens from "../../kernel/sealed-tokens.ts";
import { indexAttributeNames } from "../../keys.ts";
import * as confirmations from "../audience/contacts/confirmations.ts";
import { consentLogWrite } from "../audience/contacts/consent-log.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as contactStatus from "../audience/contacts/contact-status.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import * as confirmationMails from "./confirmation-mails.ts";

type Confirmation = confirmations.ConfirmationItem;

/** Deterministic: the same address of a contact always has the same token. */
export async function createToken({ orgId, contactId, email }: Confirmation): Promise<string> {
  const seal = await sealedTokens.createSealer("confirm");
  return seal([orgId, contactId, normalizeEmail(email), "contact"]);
}

/** Sends the mail that is due. Idempotent. */
export async function resumeConfirmation(orgId: number, contactId: number): Promise<void> {
  const item = await confirmations.find(orgId, contactId);
  if (item?.duesk === undefined) return;
  const contact = await confirmations.findContact(item);
  if (contact?.status !== "pending" || !isAddressOf(contact, item))
    return finish(item, item.confirmationSendId === undefined ? { error: noLongerPending } : {});
  if (!confirmationMails.isMailDue(item)) return;
  const sent = await confirmationMails.sendNextMail(item, {
    language: languageOf(contact),
    token: await createToken(item),
    formId: 0,
    place: `contact ${contactId} ${item.request}`,
    metadata: { contactId },
  });
  await finish(item, sent);
}

/** Undefined if it is not known, or the service has no texts in it. */
export const languageOf = ({ locale }: Pick<ContactItem, "locale">): Language | undefined =>
  supportedLanguage(locale ?? "");

const noLongerPending = "No confirmation email was sent: the contact was no longer pending";

const isAddressOf = ({ id, email }: ContactItem, item: Confirmation): boolean =>
  id === item.contactId && normalizeEmail(email) === normalizeEmail(item.email);

/** Does nothing if the contact was asked again or has confirmed in between. */
async function finish(item: Confirmation, set: confirmations.ConfirmationMails): Promise<void> {
  const due = set.remindAt
    ? confirmations.dueAttributes(item.contactId, new Date(set.remindAt))
    : {};
  await transact(
    update(
      item,
      {
        set: { ...set, ...due },
        remove: [...(set.remindAt ? [] : indexAttributeNames("due")), "taken"],
      },
      { if: all(exists, equals("request", item.request), absent("confirmedAt")) },
    ),
  );
}

export interface AskedContact {
  item: Confirmation;
  contact: ContactItem;
}

/** Undefined if the contact was deleted, or has another address by now. */
export async function findAsked(
  orgId: number,
  contactId: number,
  email: string,
): Promise<AskedContact | undefined> {
  const item = await confirmations.find(orgId, contactId);
  const contact = item && (await confirmations.findContact(item));
  const isAsked = contact && isAddressOf(contact, item) && normalizeEmail(item.email) === email;
  return isAsked ? { item, contact } : undefined;
}

/** Subscribes the contact, with the evidence. Idempotent. */
export async function confirmContact(
  { item, contact }: AskedContact,
  { ip, userAgent }: { ip: string; userAgent?: string | undefined },
): Promise<void> {
  if (item.confirmedAt !== undefined) return;
  const { orgId, contactId } = item;
  // A confirmation proves that the owner of the email address wants mail again.
  await suppressions.removeIfUnsubscribed(orgId, item.email);
  const confirmed = {
    confirmedAt: now().toISOString(),
    confirmedIp: ip,
    ...(userAgent && { confirmedUserAgent: userAgent.slice(0, maxUserAgent) }),
  };
  const evidence = toConsent(item, { ip, userAgent: confirmed.confirmedUserAgent });
  await contacts.changeWithRetry({ orgId }, { id: contactId }, async (current) => {
    const latest = await confirmations.find(orgId, contactId);
    if (!latest || latest.confirmedAt !== undefined) return;
    const confirmWrite = update(
      latest,
      { set: confirmed, remove: [...indexAttributeNames("due"), "taken"] },
      { if: all(exists, absent("confirmedAt")) },
    );
    await commitConfirmation(current, { confirmWrite, evidence });
  });
  await contactStatus.syncWithSuppressions(orgId, [contact]);
}

const maxUserAgent = 300;

const toConsent = (
  item: Confirmation,
  { ip, userAgent }: { ip: string; userAgent: string | undefined },
) => ({
  source: "confirmation" as const,
  ipAddress: ip,
  sendId: item.confirmationSendId,
  confirmation: {
    source: item.source,
    requestedAt: item.requestedAt,
    templateId: item.templateId ?? null,
    templateVersion: item.templateVersion ?? null,
    locale: item.mailLocale ?? null,
    userAgent: userAgent ?? null,
  },
});

interface ConfirmationCommit {
  confirmWrite: Write;
  evidence: ReturnType<typeof toConsent>;
}

/** A contact that was subscribed in the meantime gets the evidence all the same. */
async function commitConfirmation(
  current: ContactItem,
  { confirmWrite, evidence }: ConfirmationCommit,
): Promise<void> {
  const subscription = current.status === "suppressed" ? current.unsuppressed : current.status;
  if (subscription === "subscribed")
    return write(confirmWrite, consentLogWrite(current, evidence, { status: "subscribed" }));
  await contactStatus.commitSubscription(
    current,
    { status: "subscribed", consent: evidence },
    { commit: (...writes) => write(confirmWrite, ...writes) },
  );
}

/** Asks again, after the link has expired. */
export async function renew({ item }: AskedContact): Promise<void> {
  const { orgId, contactId } = item;
  await transact(
    update(
      item,
      {
        set: {
          requestedAt: now().toISOString(),
          request: `renewal ${now().toISOString()}`,
          ...confirmations.dueAttributes(contactId),
        },
        remove: ["confirmationSendId", "reminderSendId", "remindAt", "error", "taken"],
      },
      { if: all(exists, equals("request", item.request), absent("confirmedAt")) },
    ),
  );
  await confirmations.enqueueMails(orgId, [contactId]);
}

const validSeconds = 30 * 24 * 3600;

/** Links work for 30 days. */
export const isExpired = (requestedAt: string): boolean =>
  addSeconds(validSeconds, new Date(requestedAt)) < now();
