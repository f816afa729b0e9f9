// Keeps the status of contacts in line with the suppression list: a suppressed email address makes
// its contacts `suppressed` in every site.
// Code that writes the list reads the contacts afterwards, and code that writes contacts reads the
// list, so one of the two sees both.
import { exists, isNew } from "../../../adapters/dynamodb/conditions.ts";
import {
  checkCondition,
  get,
  getMany,
  queryAll,
  update,
  type Write,
  write,
} from "../../../adapters/dynamodb/table.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { inParallel, splitIntoBatches } from "../../../kernel/parallel.ts";
import { retryInTurn } from "../../../kernel/retry-on-conflict.ts";
import { keys, ranges } from "../../../keys.ts";
import { type Consent, consentLogWrite } from "./consent-log.ts";
import { commitContactChanges } from "./contact-events.ts";
import type { ContactItem } from "./contact-schema.ts";
import { bumpVersion, lineOf, unchangedCondition } from "./contact-writes.ts";
import { createDepartureReader, logDepartures } from "./departures.ts";
import type { ChangeContext } from "./reactions.ts";

/** The contacts with these email addresses, in all sites of the organization. */
export async function getContactsByEmail(orgId: number, emails: string[]): Promise<ContactItem[]> {
  const sites = await queryAll<{ id: number }>(ranges.records(orgId, "SITE"));
  const contactKeys = emails.flatMap((email) =>
    sites.map(({ id }) => keys.contact(orgId, id, normalizeEmail(email))),
  );
  const found = await getMany<ContactItem>(contactKeys, { consistent: true });
  return found.flatMap((contact) => contact ?? []);
}

/** Sets the status of contacts by the suppression list. Idempotent. */
export async function syncWithSuppressions(orgId: number, contacts: ContactItem[]): Promise<void> {
  for (const batch of splitIntoBatches(contacts, 500)) {
    const suppressions = await getMany(
      batch.map(({ sk }) => keys.suppression(orgId, sk)),
      { consistent: true },
    );
    await inParallel(8, batch, (contact, i) => syncContact(contact, suppressions[i] !== undefined));
  }
}

// Fewer contacts cost less than the end of the log.
const minContactsForLog = 20;

/**
 * The same for contacts that were created after their addresses were looked up at `lookedUpAt`:
 * only reads the list for those that were suppressed then, or that the departure log names since.
 */
export async function syncCreated(
  orgId: number,
  created: { contact: ContactItem; wasSuppressed: boolean }[],
  lookedUpAt: string,
): Promise<void> {
  const contacts = created.map(({ contact }) => contact);
  if (contacts.length < minContactsForLog) return syncWithSuppressions(orgId, contacts);
  const isDoubtful = ({ contact, wasSuppressed }: (typeof created)[number]) =>
    wasSuppressed || contact.status === "suppressed";
  const recipients = created
    .filter((one) => !isDoubtful(one))
    .map(({ contact }) => ({ to: contact.email, contactId: contact.id, contact }));
  const departed = await createDepartureReader(orgId).filterDeparted(recipients, lookedUpAt);
  await syncWithSuppressions(
    orgId,
    [...created.filter(isDoubtful), ...departed].map(({ contact }) => contact),
  );
}

const syncContact = (contact: ContactItem, isSuppressed: boolean): Promise<void> =>
  inTurn(contact, async (isFirst) => {
    const current = isFirst ? contact : await readAgain(contact);
    const suppressed = isFirst ? isSuppressed : (await get(suppressionKey(contact))) !== undefined;
    if (!current || (current.status === "suppressed") === suppressed) return;
    const after = (suppressed ? toSuppressed : toRestored)(current);
    const transitions = [{ before: current, after }];
    await commitContactChanges(current.orgId, { transitions }, (extraWrites) =>
      write(
        checkCondition(suppressionKey(current), suppressed ? exists : isNew),
        statusWrite(current, after),
        ...extraWrites,
      ),
    );
  });

const inTurn = <T>(
  { orgId, id }: ContactItem,
  attempt: (isFirst: boolean) => Promise<T>,
): Promise<T> => retryInTurn(lineOf(orgId, id), "The contact", attempt);

/** Undefined when the contact was deleted or has another email address. */
async function readAgain(contact: ContactItem): Promise<ContactItem | undefined> {
  const current = await get<ContactItem>({ pk: contact.pk, sk: contact.sk });
  return current?.id === contact.id ? current : undefined;
}

const suppressionKey = ({ orgId, sk }: ContactItem) => keys.suppression(orgId, sk);

const toSuppressed = (contact: ContactItem): ContactItem => ({
  ...contact,
  ...bumpVersion(contact),
  status: "suppressed",
  unsuppressed: contact.status,
});

/** The contact after its suppression is removed. */
export const toRestored = ({
  unsuppressed = "subscribed",
  ...contact
}: ContactItem): ContactItem => ({
  ...contact,
  ...bumpVersion(contact),
  status: unsuppressed,
});

export const statusWrite = (
  before: ContactItem,
  { status, unsuppressed, updatedAt, v }: ContactItem,
): Write =>
  update(
    before,
    {
      set: { status, updatedAt, v, ...(unsuppressed && { unsuppressed }) },
      ...(unsuppressed ? {} : { remove: ["unsuppressed"] }),
    },
    { if: unchangedCondition(before) },
  );

/**
 * Sets the subscription of a contact in its site. On a suppressed contact the status takes effect
 * when the suppression is removed. Returns false when the contact is gone. All unsubscribes by link
 * or by provider event call this, also again when the event is repeated. `consent` is logged with
 * the change.
 */
export const setSubscription = (
  contact: ContactItem,
  status: "subscribed" | "unsubscribed",
  consent?: Consent,
): Promise<boolean> =>
  inTurn(contact, async (isFirst) => {
    const current = isFirst ? contact : await readAgain(contact);
    if (!current) return false;
    const field = current.status === "suppressed" ? "unsuppressed" : "status";
    if (current[field] === status) {
      // An earlier request may have committed without finishing.
      if (status === "unsubscribed")
        await logDepartures(current.orgId, { contactIds: [current.id] });
      return true;
    }
    await commitSubscription(current, { status, consent }, { commit: write });
    return true;
  });

/** Sets the subscription of the contact as it was read. Throws if it has changed since. */
export async function commitSubscription(
  current: ContactItem,
  { status, consent }: { status: "subscribed" | "unsubscribed"; consent?: Consent | undefined },
  { commit, chain }: ChangeContext,
): Promise<void> {
  const field = current.status === "suppressed" ? "unsuppressed" : "status";
  const after = { ...current, ...bumpVersion(current), [field]: status };
  const transitions = [{ before: current, after }];
  const consentWrites = consent ? [consentLogWrite(current, consent, { status })] : [];
  await commitContactChanges(current.orgId, { transitions, chain }, (extraWrites) =>
    commit(statusWrite(current, after), ...consentWrites, ...extraWrites),
  );
}
