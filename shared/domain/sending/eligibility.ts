// Decides which contacts may get marketing mail. It is checked at staging and again at hand-over.

import { getMany } from "../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../clock.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { keys } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import { isSnoozed } from "../audience/contacts/snooze-state.ts";
import { getSharedMailReader, type MailReader } from "../audience/mail-counts/mail-counts.ts";
import * as suppressionLookups from "../audience/suppressions/suppression-lookups.ts";
import { isSubscribed, type MailTopic } from "../audience/topics/topic-subscription.ts";
import type { ExclusionReason } from "./mail-sources.ts";

/** What a mail asks of its recipients. */
export interface MailLimits {
  /** At most one marketing mail in so many days; 0 means no cap. */
  capDays?: number | undefined;
  topic?: MailTopic | undefined;
  /** A notice also goes to contacts who unsubscribed or snooze, and has neither cap nor topic. */
  isNotice?: boolean | undefined;
  /** When the mail would be sent. Defaults to now. */
  at?: Date;
}

/**
 * Why a contact gets no marketing mail now; undefined if it may. `suppressed` has normalized
 * addresses: for a notice those that get no transactional mail. With a cap, the contact must
 * include the mails of campaigns: see `addMailsForCap`.
 */
export function getExclusionReason(
  contact: ContactItem | undefined,
  suppressed: Set<string>,
  { capDays = 0, topic, isNotice, at = now() }: MailLimits,
): ExclusionReason | undefined {
  if (!contact) return "unsubscribed";
  if (isNotice) return getNoticeExclusion(contact, suppressed);
  if (contact.status === "suppressed" || suppressed.has(normalizeEmail(contact.email)))
    return "suppressed";
  if (contact.status !== "subscribed") return "unsubscribed";
  if (topic && !isSubscribed(contact, topic)) return "notInTopic";
  if (isSnoozed(contact, at)) return "snoozed";
  const cappedSince = addSeconds(-capDays * 24 * 3600, at).toISOString();
  const capped = capDays > 0 && (contact.lastMarketingAt ?? "") > cappedSince;
  return capped ? "capped" : undefined;
}

/**
 * A contact that never confirmed gets no notice, because the address may be of somebody else. Its
 * status can say `suppressed` after an unsubscribe, so the suppression list decides.
 */
function getNoticeExclusion(
  { email, status }: ContactItem,
  suppressed: Set<string>,
): ExclusionReason | undefined {
  if (suppressed.has(normalizeEmail(email))) return "suppressed";
  return status === "pending" ? "unsubscribed" : undefined;
}

/** Adds the mails of campaigns to contacts of one site, if there is a cap. */
export const addMailsForCap = async (
  readMails: MailReader,
  contacts: ContactItem[],
  capDays: number,
): Promise<ContactItem[]> => (capDays > 0 ? readMails(contacts) : contacts);

interface IntendedRecipient {
  to: string;
  contactId?: number | undefined;
}

/**
 * In the order given. A contact whose address changed since is still found by its id. A deleted
 * contact gets no mail. Without `readsSuppressions`, the caller finds suppressed addresses itself,
 * which saves half of the read units.
 */
export async function listExclusionReasons(
  { orgId, siteId, capDays = 0, topic, isNotice }: { orgId: number; siteId: number } & MailLimits,
  invited: IntendedRecipient[],
  { consistent = false, readsSuppressions = true } = {},
): Promise<(ExclusionReason | undefined)[]> {
  const [contactsByAddress, suppressed] = await Promise.all([
    getMany<ContactItem>(
      invited.map(({ to }) => keys.contact(orgId, siteId, normalizeEmail(to))),
      { consistent },
    ),
    suppressionLookups.filterSuppressed(
      orgId,
      readsSuppressions ? invited.map(({ to }) => to) : [],
      {
        purpose: isNotice ? "transactional" : "marketing",
        consistent,
      },
    ),
  ]);
  const changedAddress = invited.filter(
    ({ contactId }, i) => contactsByAddress[i]?.id !== contactId,
  );
  const contactsById = new Map(
    (
      await contacts.getByIds(
        orgId,
        changedAddress.flatMap(({ contactId }) => contactId ?? []),
        { consistent },
      )
    ).map((one) => [one.id, one]),
  );
  const found = invited.flatMap(({ contactId }, i) => {
    const byAddress = contactsByAddress[i];
    return (byAddress?.id === contactId ? byAddress : contactsById.get(contactId!)) ?? [];
  });
  const readMails = getSharedMailReader({ orgId, siteId });
  const counted = new Map(
    (await addMailsForCap(readMails, found, capDays)).map((one) => [one.id, one]),
  );
  return invited.map(({ contactId, to }) =>
    suppressed.has(normalizeEmail(to))
      ? "suppressed"
      : getExclusionReason(counted.get(contactId!), suppressed, { capDays, topic, isNotice }),
  );
}
