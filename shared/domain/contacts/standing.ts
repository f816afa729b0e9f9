// How contacts follow the suppression list: an address on it makes its contact `suppressed` in every site, off it the contact is what
// it was. Who writes the list and who writes a contact each look at the other afterwards, so that one of them sees both.
import { exists, isNew } from "../../conditions.ts";
import { check, get, getMany, queryAll, Unmet, update, type Write, write } from "../../doors/table.ts";
import { canonical } from "../../email.ts";
import { keys, ranges } from "../../keys.ts";
import { chunked, inParallel } from "../../parallel.ts";
import type { ContactItem } from "./contact.ts";
import { asRead, touched } from "./items.ts";

/** The contacts of these addresses, in whatever site of the organization. */
export async function everywhere(orgId: number, emails: string[]): Promise<ContactItem[]> {
  const sites = await queryAll<{ id: number }>(ranges.records(orgId, "SITE"));
  const addresses = emails.flatMap((email) => sites.map(({ id }) => keys.contact(orgId, id, canonical(email))));
  return (await getMany<ContactItem>(addresses, { consistent: true })).flatMap((one) => one ?? []);
}

/** Brings contacts to where the list wants them. Safe to repeat. */
export async function follow(orgId: number, contacts: ContactItem[]): Promise<void> {
  for (const some of chunked(contacts, 500)) {
    const listed = await getMany(
      some.map(({ sk }) => keys.suppression(orgId, sk)),
      { consistent: true },
    );
    await inParallel(8, some, (contact, i) => settle(contact, listed[i] !== undefined));
  }
}

const mostTries = 8;

async function settle(contact: ContactItem, listed: boolean): Promise<void> {
  let [current, suppressed]: [ContactItem | undefined, boolean] = [contact, listed];
  for (let tries = 1; current && (current.status === "suppressed") !== suppressed; tries++) {
    try {
      return await write(check(list(current), suppressed ? exists : isNew), (suppressed ? suppressing : restoring)(current));
    } catch (error) {
      if (!(error instanceof Unmet) || tries >= mostTries) throw error;
      const there = await get<ContactItem>({ pk: contact.pk, sk: contact.sk });
      current = there?.id === contact.id ? there : undefined;
      suppressed = (await get(list(contact))) !== undefined;
    }
  }
}

const list = ({ orgId, sk }: ContactItem) => keys.suppression(orgId, sk);

const suppressing = (contact: ContactItem): Write =>
  update(contact, { set: { status: "suppressed", unsuppressed: contact.status, ...touched(contact) } }, { if: asRead(contact) });

/** To be written together with what takes its address off the list. */
export const restoring = (contact: ContactItem): Write =>
  update(
    contact,
    { set: { status: contact.unsuppressed ?? "subscribed", ...touched(contact) }, remove: ["unsuppressed"] },
    { if: asRead(contact) },
  );

/**
 * Who unsubscribes or comes back is so in one site; a suppressed contact keeps the wish for when it is not. False when there is no
 * such contact any more. Every person who leaves by a link, or whose provider says so, comes this way, and again when it is told
 * again: what has to follow from it is called from here.
 */
export async function wish(contact: ContactItem, status: "subscribed" | "unsubscribed"): Promise<boolean> {
  let current: ContactItem | undefined = contact;
  for (let tries = 1; current?.id === contact.id; tries++) {
    const field = current.status === "suppressed" ? "unsuppressed" : "status";
    if (current[field] === status) return true;
    try {
      await write(update(current, { set: { [field]: status, ...touched(current) } }, { if: asRead(current) }));
      return true;
    } catch (error) {
      if (!(error instanceof Unmet) || tries >= mostTries) throw error;
      current = await get<ContactItem>({ pk: contact.pk, sk: contact.sk });
    }
  }
  return false;
}
