// Leaving and coming back: by one click of a mail program (RFC 8058), or on the page that the link in a mail opens.
import { randomInt } from "node:crypto";
import { now, sleep } from "../clock.ts";
import { get } from "../doors/table.ts";
import { canonical } from "../email.ts";
import { missing, unlessMissing } from "../errors.ts";
import * as ids from "../ids.ts";
import { keys } from "../keys.ts";
import type { ContactItem } from "./contacts/contact.ts";
import * as standing from "./contacts/standing.ts";
import * as contacts from "./contacts.ts";
import * as events from "./events/apply.ts";
import { nameOf, type TimelineItem } from "./events/timeline-item.ts";
import * as chunks from "./sending/chunks.ts";
import * as sites from "./sites.ts";
import * as suppressions from "./suppressions.ts";
import { opened, type Subscriber } from "./unsubscribe-tokens.ts";

export interface Standing {
  email: string;
  siteName: string;
  /** `suppressed`: it bounced or complained, or somebody suppressed it; it gets nothing, and cannot change that here. */
  state: "subscribed" | "unsubscribed" | "suppressed";
}

/** What the page shows. Reads only: mail programs and scanners open links. Throws 404 for a token that is not ours. */
export async function find(token: string): Promise<Standing> {
  const { contact, site, email, orgId } = await found(token);
  const suppression = await suppressions.find(orgId, email);
  return { email, siteName: sites.nameOf(site), state: stateOf(contact, suppression?.reason) };
}

function stateOf(contact: ContactItem | undefined, suppressed: suppressions.Reason | undefined): Standing["state"] {
  if (suppressed && suppressed !== "unsubscribe") return "suppressed";
  return suppressed || (contact && hasLeft(contact)) ? "unsubscribed" : "subscribed";
}

const hasLeft = ({ status, unsuppressed }: ContactItem): boolean => (status === "suppressed" ? unsuppressed : status) === "unsubscribed";

/**
 * No more marketing mail from this site, and an event of the mail whose link it was. An address without a contact is remembered for
 * the whole organization. Safe to repeat, and to be ended by doing it again.
 */
export async function unsubscribe(token: string, ipAddress?: string): Promise<void> {
  const who = await found(token);
  // First, as it is told only of a person who has not left yet; and whatever comes of it, the person leaves.
  await told(who, ipAddress).finally(() => leave(who));
}

async function leave({ orgId, contact, email }: Found): Promise<void> {
  if (contact && (await standing.wish(contact, "unsubscribed"))) return;
  await suppressions.suppress(orgId, { email, reason: "unsubscribe", detail: null, source });
}

/** Back again, by the person's own hand. An address that bounced or complained stays suppressed. */
export async function resubscribe(token: string): Promise<void> {
  const { contact, email, orgId } = await found(token);
  if (contact) await standing.wish(contact, "subscribed");
  await suppressions.welcomeBack(orgId, email);
}

interface Found extends Subscriber {
  contact: ContactItem | undefined;
  /** The contact's as it is now, else as it was when the mail went. */
  email: string;
  site: sites.Site;
}

const unknown = () => missing("This link is not valid");

async function found(token: string): Promise<Found> {
  const subscriber = await opened(token);
  if (!subscriber) throw unknown();
  const { orgId, siteId, email } = subscriber;
  const [site, contact] = await Promise.all([get<sites.Site>(keys.record(orgId, "SITE", siteId)), contactOf(subscriber)]);
  if (!site) throw unknown();
  return { ...subscriber, contact, email: contact?.email ?? email, site };
}

/** Whoever was deleted and came again under the same address is still the one who clicks. */
async function contactOf({ orgId, siteId, contactId, email }: Subscriber): Promise<ContactItem | undefined> {
  const known = contactId === undefined ? undefined : await contacts.item({ orgId }, contactId).catch(unlessMissing);
  return known ?? get<ContactItem>(keys.contact(orgId, siteId, canonical(email)));
}

const source = "unsubscribe link";
const event = { type: "unsubscribe", providerEventId: "link" } as const;

/**
 * What events of providers do: the send has it in its history, its campaign counts it, endpoints and scoring rules hear of it, once
 * for each mail. Who had left already leaves no other mail; a repeat of the one that was told ends what died on the way.
 */
async function told({ orgId, sendId, contact, email }: Found, ipAddress: string | undefined): Promise<void> {
  if (sendId === undefined) return;
  const send = await get<TimelineItem>(keys.send(orgId, sendId));
  if (!send && !(await chunks.line(orgId, sendId))) return;
  const begun = send?.events?.some((entry) => nameOf(entry) === nameOf(event));
  if (contact && hasLeft(contact) && !begun) return;
  const arriving = { ...event, id: await ids.takeEvents(1), sendId, email, timestamp: now().toISOString(), data: {}, ipAddress };
  const message = { messageId: `${source} of send ${sendId}`, attempt: 1, body: { orgId, provider: source, events: [arriving] } };
  // Of clicks at once each takes the others for dead, and disturbs them: they come again out of step.
  for (let tries = 1; ; tries++) {
    const [error] = await events.batch([message]);
    if (error === undefined) return;
    if (tries >= mostTries) throw error;
    await sleep(randomInt(20, 80) * tries);
  }
}

const mostTries = 8;
