// Leaving and coming back: by one click of a mail program (RFC 8058), or on the page that the link
// in a mail opens.

import { ConditionFailed, get } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { isContended, missing, undefinedIfMissing } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { retryInTurn } from "../../kernel/retry-on-conflict.ts";
import { keys } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as standing from "../audience/contacts/contact-status.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import { type LinkSubject, openToken } from "../audience/contacts/link-tokens.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import * as sites from "../identity/sites.ts";
import * as chunks from "../sending/bulk/chunks.ts";
import * as events from "./apply-events.ts";
import { eventKey, type SendWithEvents } from "./send-events.ts";

export interface UnsubscribeStatus {
  email: string;
  siteName: string;
  /**
   * `suppressed`: it bounced or complained, or somebody suppressed it; it gets nothing, and cannot
   * change that here.
   */
  state: "subscribed" | "unsubscribed" | "suppressed";
  /** It gets no marketing mail from any site of the organization. */
  everything: boolean;
}

/**
 * What the page shows. Reads only: mail programs and scanners open links. Throws 404 for a token
 * that is not ours.
 */
export async function findStatus(token: string): Promise<UnsubscribeStatus> {
  const { contact, site, email, orgId } = await findSubject(token);
  const suppression = await suppressions.find(orgId, email);
  const everything = suppression !== undefined;
  return {
    email,
    siteName: sites.displayNameOf(site),
    state: stateOf(contact, suppression?.reason),
    everything,
  };
}

function stateOf(
  contact: ContactItem | undefined,
  suppressed: suppressions.SuppressionReason | undefined,
): UnsubscribeStatus["state"] {
  if (suppressed && suppressed !== "unsubscribe") return "suppressed";
  return suppressed || (contact && isUnsubscribed(contact)) ? "unsubscribed" : "subscribed";
}

const isUnsubscribed = ({ status, unsuppressed }: ContactItem): boolean =>
  (status === "suppressed" ? unsuppressed : status) === "unsubscribed";

/**
 * No more marketing mail from this site, and an event of the mail whose link it was. Safe to
 * repeat, and to be ended by doing it again.
 */
export async function unsubscribe(token: string, ipAddress?: string): Promise<void> {
  const subject = await findSubject(token);
  // First, as it is told only of a person who has not left yet; and whatever comes of it, the
  // person leaves.
  await recordUnsubscribeEvent(subject, ipAddress).finally(() => applyUnsubscribe(subject));
}

/** No more marketing mail from any site of the organization. */
export async function unsubscribeFromEverything(token: string, ipAddress?: string): Promise<void> {
  const { orgId, contact, email, ...rest } = await findSubject(token);
  await recordUnsubscribeEvent({ orgId, contact, email, ...rest }, ipAddress).finally(async () => {
    if (contact) await standing.setSubscription(contact, "unsubscribed");
    await suppressions.suppress(orgId, { email, reason: "unsubscribe", detail: null, source });
  });
}

async function applyUnsubscribe({ orgId, siteId, contact, email }: TokenSubject): Promise<void> {
  if (contact && (await standing.setSubscription(contact, "unsubscribed"))) return;
  await contacts.leaveSite(orgId, { siteId, email, source });
}

/** Back again, by the person's own hand. An address that bounced or complained stays suppressed. */
export async function resubscribe(token: string): Promise<void> {
  const { contact, email, orgId } = await findSubject(token);
  if (contact) await standing.setSubscription(contact, "subscribed");
  await suppressions.removeIfUnsubscribed(orgId, email);
}

interface TokenSubject extends LinkSubject {
  contact: ContactItem | undefined;
  /** The contact's as it is now, else as it was when the mail went. */
  email: string;
  site: sites.Site;
}

const invalidLink = () => missing("This link is not valid");

async function findSubject(token: string): Promise<TokenSubject> {
  const subscriber = await openToken("unsubscribe", token);
  if (!subscriber) throw invalidLink();
  const { orgId, siteId, email } = subscriber;
  const [site, contact] = await Promise.all([
    get<sites.Site>(keys.record(orgId, "SITE", siteId)),
    getContact(subscriber),
  ]);
  if (!site) throw invalidLink();
  return { ...subscriber, contact, email: contact?.email ?? email, site };
}

/** Finds a contact that was deleted and created again by its address. */
async function getContact({
  orgId,
  siteId,
  contactId,
  email,
}: LinkSubject): Promise<ContactItem | undefined> {
  const known =
    contactId === undefined
      ? undefined
      : await contacts.findItem({ orgId }, contactId).catch(undefinedIfMissing);
  return known ?? get<ContactItem>(keys.contact(orgId, siteId, normalizeEmail(email)));
}

const source = "unsubscribe link";
const event = { type: "unsubscribe", providerEventId: "link" } as const;

/**
 * What events of providers do: the send has it in its history, its campaign counts it, endpoints
 * and scoring rules hear of it, once for each mail. Who had left already leaves no other mail; a
 * repeat of the one that was told ends what died on the way.
 */
const recordUnsubscribeEvent = async (
  { orgId, sendId, contact, email }: TokenSubject,
  ipAddress: string | undefined,
): Promise<void> => {
  if (sendId === undefined) return;
  await retryInTurn(`send ${orgId} ${sendId}`, "The mail", async () => {
    const send = await get<SendWithEvents>(keys.send(orgId, sendId));
    if (!send && !(await chunks.getChunkSend(orgId, sendId))) return;
    const isRecorded = send?.events?.some((entry) => eventKey(entry) === eventKey(event));
    if (contact && isUnsubscribed(contact) && !isRecorded) return;
    const inboundEvent = {
      ...event,
      id: await ids.nextEventIds(1),
      sendId,
      email,
      timestamp: now().toISOString(),
      data: {},
      ipAddress,
    };
    const messageId = `${source} of send ${sendId}`;
    await events
      .applyEvents(orgId, [
        { messageId, body: { orgId, provider: source, events: [inboundEvent] } },
      ])
      .catch((error: unknown) => {
        // Simultaneous clicks in other processes abandon each other's runs.
        throw isContended(error) ? new ConditionFailed(0) : error;
      });
  });
};
