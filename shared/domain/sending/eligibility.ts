// Decides which contacts may get marketing mail. It is checked at staging and again at hand-over.

import { getMany } from "../../adapters/dynamodb/table.ts";
import { addSeconds } from "../../clock.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { keys } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import { getSharedMailReader, type MailReader } from "../audience/mail-counts/mail-counts.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import { isSubscribed, type MailTopic } from "../audience/topics/topic-subscription.ts";
import type { ExclusionReason } from "./mail-sources.ts";

/** What a mail asks of its recipients. */
export interface MailLimits {
  /** At most one marketing mail in so many days; 0 means no cap. */
  capDays?: number | undefined;
  topic?: MailTopic | undefined;
}

/**
 * Why a contact gets no marketing mail now; undefined if it may. `suppressed` has normalized
 * addresses. With a cap, the contact must include the mails of campaigns: see `addMailsForCap`.
 */
export function getExclusionReason(
  contact: ContactItem | undefined,
  suppressed: Set<string>,
  { capDays = 0, topic }: MailLimits,
): ExclusionReason | undefined {
  if (!contact) return "unsubscribed";
  if (contact.status === "suppressed" || suppressed.has(normalizeEmail(contact.email)))
    return "suppressed";
  if (contact.status !== "subscribed") return "unsubscribed";
  if (topic && !isSubscribed(contact, topic)) return "notInTopic";
  const capped =
    capDays > 0 && (contact.lastMarketingAt ?? "") > addSeconds(-capDays * 24 * 3600).toISOString();
  return capped ? "capped" : undefined;
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
  { orgId, siteId, capDays = 0, topic }: { orgId: number; siteId: number } & MailLimits,
  invited: IntendedRecipient[],
  { consistent = false, readsSuppressions = true } = {},
): Promise<(ExclusionReason | undefined)[]> {
  const [contactsByAddress, suppressed] = await Promise.all([
    getMany<ContactItem>(
      invited.map(({ to }) => keys.contact(orgId, siteId, normalizeEmail(to))),
      { consistent },
    ),
    suppressions.filterSuppressed(orgId, readsSuppressions ? invited.map(({ to }) => to) : [], {
      purpose: "marketing",
      consistent,
    }),
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
      : getExclusionReason(counted.get(contactId!), suppressed, { capDays, topic }),
  );
}
