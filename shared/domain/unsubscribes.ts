// Leaving and coming back: by one click of a mail program (RFC 8058), or on the page that the link in a mail opens.
import { now } from "../clock.ts";
import { equals } from "../conditions.ts";
import { claim, get, update, write } from "../doors/table.ts";
import { missing, Problem } from "../errors.ts";
import { keys } from "../keys.ts";
import type { ContactItem } from "./contacts/contact.ts";
import * as contacts from "./contacts.ts";
import type { Site } from "./sites.ts";
import * as suppressions from "./suppressions.ts";
import { opened, type Subscriber } from "./unsubscribe-tokens.ts";

export interface Standing {
  email: string;
  siteName: string;
  subscribed: boolean;
}

const unknown = () => missing("This link is not valid");

/** What the page shows. Reads only: mail programs and scanners open links. Throws 404 for a token that is not ours. */
export async function standing(token: string): Promise<Standing> {
  const { subscriber, contact, site } = await found(token);
  const suppression = await suppressions.find(subscriber.orgId, subscriber.email);
  const subscribed = contact ? contact.status === "subscribed" || contact.status === "pending" : !suppression;
  return { email: contact?.email ?? subscriber.email, siteName: site.companyName ?? site.name, subscribed };
}

/** No more marketing mail from this site. Safe to repeat. */
export async function unsubscribe(token: string): Promise<Standing> {
  const { subscriber, contact } = await found(token);
  if (contact) await setStatus(contact, "unsubscribed");
  else
    await suppressions.suppress(subscriber.orgId, {
      email: subscriber.email,
      reason: "unsubscribe",
      detail: null,
      source: "unsubscribe link",
    });
  return standing(token);
}

/** Back again, by the person's own hand. An address that bounced or complained stays suppressed. */
export async function resubscribe(token: string): Promise<Standing> {
  const { subscriber, contact } = await found(token);
  if (contact) await setStatus(contact, "subscribed");
  const suppression = await suppressions.find(subscriber.orgId, contact?.email ?? subscriber.email);
  if (suppression?.reason === "unsubscribe") await suppressions.remove(subscriber.orgId, suppression.email).catch(unlessGone);
  return standing(token);
}

async function found(token: string): Promise<{ subscriber: Subscriber; contact?: ContactItem | undefined; site: Site }> {
  const subscriber = await opened(token);
  if (!subscriber) throw unknown();
  const { orgId, siteId, contactId } = subscriber;
  const [site, contact] = await Promise.all([
    get<Site>(keys.record(orgId, "SITE", siteId)),
    contactId === undefined ? undefined : contacts.item({ orgId }, contactId).catch(unlessGone),
  ]);
  if (!site) throw unknown();
  return { subscriber, contact, site };
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof Problem && error.kind === "missing")) throw error;
}

/** Who is suppressed stays so; the wish is kept for when the suppression is taken away. */
async function setStatus(contact: ContactItem, status: "subscribed" | "unsubscribed"): Promise<void> {
  const updatedAt = now().toISOString();
  const wished = claim(update(contact, { set: { unsuppressed: status, updatedAt } }, { if: equals("status", "suppressed") }));
  if (await wished) return;
  await write(update(contact, { set: { status, updatedAt } }, { if: equals("id", contact.id), otherwise: unknown() }));
}
