// The email that asks for a confirmation (double opt-in), of a form or of a contact: a first one
// and, if the site wants it, one reminder. It is a normal send of the site.

import {
  absent,
  any,
  atMost,
  contains,
  equals,
  isNew,
  sizeBelow,
} from "../../adapters/dynamodb/conditions.ts";
import { get, transact, update } from "../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds, now } from "../../clock.ts";
import { config } from "../../config.ts";
import type { Brand } from "../../email/brand/brand.ts";
import type { Language } from "../../email/languages.ts";
import { renderSimpleEmail } from "../../email/simple-email.ts";
import { confirmationEmailWording } from "../../email/wording/by-topic.ts";
import { Problem } from "../../errors.ts";
import * as ids from "../../ids.ts";
import type { Key } from "../../keys.ts";
import { keys } from "../../keys.ts";
import type { ConfirmationMails } from "../audience/contacts/confirmations.ts";
import { findSurvivor } from "../audience/contacts/contact-lookups.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { chooseTranslation } from "../content/template-translations.ts";
import type { StoredConsentSettings } from "../identity/consent-settings.ts";
import { displayNameOf, type Site } from "../identity/sites.ts";
import { findDefault } from "../senders/choose-config.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import { acceptSingle } from "../sending/accept/accept-single.ts";
import { loadIntake } from "../sending/accept/intake.ts";
import type { SingleMessage } from "../sending/accept/single-message.ts";
import { toContactVariables } from "../sending/contact-variables.ts";
import { findUsableTemplate } from "./confirmation-templates.ts";

/** A submission of a form or the confirmation of a contact, while it waits. */
export interface WaitingConfirmation extends Key, ConfirmationMails {
  orgId: number;
  siteId: number;
  email: string;
  contactId?: number;
}

export interface ConfirmationContext {
  /** Language of the text of the service. Undefined: that of the brand, else English. */
  language: Language | undefined;
  /** Language of the request (BCP 47), for the template of the site. Absent: of the contact. */
  locale?: string | undefined;
  token: string;
  /** A form mails an address once per hour. 0: contacts, for all of the organization. */
  formId: number;
  /** Names the request among those to this address. */
  place: string;
  metadata: Record<string, number>;
}

const limitError =
  "No confirmation email was sent: one was already sent to this address within the last hour";

/** Whether the next mail can be sent now. A reminder waits for its time. */
export const isMailDue = ({ confirmationSendId, remindAt }: ConfirmationMails): boolean =>
  confirmationSendId === undefined || (remindAt !== undefined && remindAt <= now().toISOString());

/**
 * Sends the first mail or the reminder, and returns what it leaves in the item. Idempotent: a retry
 * after a crash uses the send id of the first attempt.
 */
export async function sendNextMail(
  waiting: WaitingConfirmation,
  context: ConfirmationContext,
): Promise<ConfirmationMails> {
  const isReminder = waiting.confirmationSendId !== undefined;
  const place = isReminder ? `${context.place} reminder` : context.place;
  if (!(await reserveMailSlot(waiting, { ...context, place })))
    return isReminder ? {} : { error: limitError };
  try {
    const reserved = { key: waiting, taken: { ...waiting.taken } };
    const sent = await ids.withReservedIds(reserved, () => acceptMail(waiting, context));
    return isReminder ? { reminderSendId: sent.confirmationSendId! } : sent;
  } catch (error) {
    // A retry does not help, for example without a verified sending config or without credits.
    if (error instanceof Problem && isFinal(error))
      return isReminder ? {} : { error: error.message };
    throw error;
  }
}

const isFinal = ({ kind }: Problem): boolean => ["invalid", "missing", "unpaid"].includes(kind);

async function acceptMail(
  waiting: WaitingConfirmation,
  context: ConfirmationContext,
): Promise<ConfirmationMails> {
  const { orgId, siteId, email, contactId } = waiting;
  const [sender, site, contact] = await Promise.all([
    findDefault(orgId),
    get<Site & StoredConsentSettings>(keys.record(orgId, "SITE", siteId)),
    contactId === undefined ? undefined : findSurvivor(orgId, contactId),
  ]);
  const locale = context.locale ?? contact?.locale ?? undefined;
  const template = site && (await findUsableTemplate(orgId, site, locale));
  const siteName = site
    ? displayNameOf(site)
    : (sender.fromName ?? sendingConfigs.senderOf(sender).email);
  const link = `${config.publicUrl}/api/v1/forms/confirm/${context.token}`;
  const language = context.language ?? site?.brand?.language ?? "en";
  const message: SingleMessage = {
    to: email,
    siteId,
    sendingConfigId: sender.id,
    fromName: sender.fromName ?? siteName.slice(0, 100),
    ...(template
      ? { templateId: template.id, locale, variables: variablesOf(contact, { siteName, link }) }
      : composeContent({ siteName, brand: site?.brand ?? undefined, link }, language)),
    // Click tracking would replace the confirmation link with a redirect.
    trackOpens: false,
    trackClicks: false,
    metadata: context.metadata,
    headers: {},
    tags: [],
    attachments: [],
    secure: false,
    secureExpiresInDays: 30,
  };
  const intake = await loadIntake({ orgId }, message, {
    emails: [email],
    contactId,
    canFailOver: true,
  });
  const { id } = await acceptSingle({ orgId }, message, { context: intake });
  const mailLocale = intake.template
    ? (chooseTranslation(intake.template, intake.localeOf({ to: email })) ?? intake.template.locale)
    : language;
  const remindAfter = site?.confirmationReminderHours;
  return {
    confirmationSendId: id,
    ...(mailLocale && { mailLocale }),
    ...(intake.template && {
      templateId: intake.template.id,
      templateVersion: intake.template.version,
    }),
    ...(remindAfter && { remindAt: addSeconds(remindAfter * hourSeconds).toISOString() }),
  };
}

const variablesOf = (
  contact: ContactItem | undefined,
  { siteName, link }: { siteName: string; link: string },
) => ({ ...(contact && toContactVariables(contact)), siteName, confirmUrl: link });

/** Passes all texts as variables, so that the site's name is not read as Liquid. */
function composeContent(
  { siteName, brand, link }: { siteName: string; brand: Brand | undefined; link: string },
  language: Language,
) {
  const { subject, greeting, intro, confirm, ignoreNote } = confirmationEmailWording[language];
  const blocks = [greeting, intro(siteName), { link, label: confirm }, { note: ignoreNote }];
  const variables = {
    subject: subject(siteName),
    ...renderSimpleEmail({ sender: siteName, lang: language, blocks, brand }),
  };
  return { subject: "{{ subject }}", html: "{{ html | raw }}", text: "{{ text }}", variables };
}

const hourSeconds = 3600;
const maxMailsPerHour = 5;

/**
 * Returns whether a confirmation email may be sent: one per hour for each email address and form,
 * and five per hour for each address and organization, so that a form or an API cannot be used to
 * flood a mailbox. A retry for the same place is allowed.
 */
function reserveMailSlot(
  { orgId, email }: WaitingConfirmation,
  { formId, place }: Pick<ConfirmationContext, "formId" | "place">,
): Promise<boolean> {
  const time = epochSeconds();
  const until = time + hourSeconds;
  const expires = time + 2 * hourSeconds;
  const isFree = any(isNew, atMost("until", time), equals("place", place));
  const hasRoom = any(
    absent("places"),
    contains("places", place),
    sizeBelow("places", maxMailsPerHour),
  );
  return transact(
    update(
      keys.confirmMail(orgId, formId, email),
      { set: { place, until, expires } },
      { if: isFree },
    ),
    update(
      keys.confirmMailCount(orgId, email, Math.floor(time / hourSeconds)),
      { add: { places: new Set([place]) }, set: { expires } },
      { if: hasRoom },
    ),
  );
}
