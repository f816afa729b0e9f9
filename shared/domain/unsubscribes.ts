// Leaving and coming back: by one click of a mail program (RFC 8058), or on the page that the link in a mail opens.
import { get } from "../doors/table.ts";
import { canonical } from "../email.ts";
import { missing, Problem } from "../errors.ts";
import { keys } from "../keys.ts";
import type { ContactItem } from "./contacts/contact.ts";
import * as contacts from "./contacts.ts";
import { nameOf, type Site } from "./sites.ts";
import * as suppressions from "./suppressions.ts";
import { opened, type Subscriber } from "./unsubscribe-tokens.ts";

export interface Standing {
  email: string;
  siteName: string;
  /** `suppressed`: it bounced or complained, or somebody suppressed it; it gets nothing, and cannot change that here. */
  state: "subscribed" | "unsubscribed" | "suppressed";
}

const unknown = () => missing("This link is not valid");

/** What the page shows. Reads only: mail programs and scanners open links. Throws 404 for a token that is not ours. */
export async function standing(token: string): Promise<Standing> {
  const { contact, site, email, orgId } = await found(token);
  const suppression = await suppressions.find(orgId, email);
  return { email, siteName: nameOf(site), state: stateOf(contact, suppression?.reason) };
}

function stateOf(contact: ContactItem | undefined, suppressed: suppressions.Reason | undefined): Standing["state"] {
  if (suppressed && suppressed !== "unsubscribe") return "suppressed";
  return suppressed || contact?.status === "unsubscribed" ? "unsubscribed" : "subscribed";
}

/** No more marketing mail from this site. Safe to repeat. */
export async function unsubscribe(token: string): Promise<Standing> {
  const { contact, email, orgId } = await found(token);
  if (contact) await setStatus(contact, "unsubscribed");
  else await suppressions.suppress(orgId, { email, reason: "unsubscribe", detail: null, source: "unsubscribe link" });
  return standing(token);
}

/** Back again, by the person's own hand. An address that bounced or complained stays suppressed. */
export async function resubscribe(token: string): Promise<Standing> {
  const { contact, email, orgId } = await found(token);
  if (contact) await setStatus(contact, "subscribed");
  await welcomeBack(orgId, email);
  return standing(token);
}

/** Takes away what an address without a contact left behind when it unsubscribed; any other suppression stays. */
export async function welcomeBack(orgId: number, email: string): Promise<void> {
  const suppression = await suppressions.find(orgId, email);
  if (suppression?.reason === "unsubscribe") await suppressions.remove(orgId, email).catch(unlessGone);
}

interface Found {
  orgId: number;
  contact: ContactItem | undefined;
  /** The contact's as it is now, else as it was when the mail went. */
  email: string;
  site: Site;
}

async function found(token: string): Promise<Found> {
  const subscriber = await opened(token);
  if (!subscriber) throw unknown();
  const { orgId, siteId, email } = subscriber;
  const [site, contact] = await Promise.all([get<Site>(keys.record(orgId, "SITE", siteId)), contactOf(subscriber)]);
  if (!site) throw unknown();
  return { orgId, contact, email: contact?.email ?? email, site };
}

/** Whoever was deleted and came again under the same address is still the one who clicks. */
async function contactOf({ orgId, siteId, contactId, email }: Subscriber): Promise<ContactItem | undefined> {
  const known = contactId === undefined ? undefined : await contacts.item({ orgId }, contactId).catch(unlessGone);
  return known ?? get<ContactItem>(keys.contact(orgId, siteId, canonical(email)));
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof Problem && error.kind === "missing")) throw error;
}

/** Who is suppressed stays so; the wish is kept for when the suppression is taken away. */
async function setStatus(contact: ContactItem, status: "subscribed" | "unsubscribed"): Promise<void> {
  const wish = contact.status === "suppressed" ? contact.unsuppressed : contact.status;
  if (wish !== status) await contacts.change({ orgId: contact.orgId }, contact.id, { status });
}
