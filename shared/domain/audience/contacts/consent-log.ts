// The consent log of a contact: what it chose, or a request changed, about email, with the time and
// the way. One transaction writes a change and its entry.
import { put, type Write } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { randomBase62 } from "../../../ids.ts";
import { positionParts } from "../../../kernel/paging.ts";
import { keys } from "../../../keys.ts";
import type { ConsentEntry } from "../topics/contact-topic-schemas.ts";
import type { ConfirmedRequest } from "./confirmation-schema.ts";
import type { ContactItem } from "./contact-schema.ts";
import { getSnoozeEnd } from "./snooze-state.ts";

/** How a choice was made. */
export interface Consent {
  source: ConsentEntry["source"];
  ipAddress?: string | undefined;
  sendId?: number | undefined;
  confirmation?: ConfirmedRequest | undefined;
}

export type ConsentItem = Partial<ConsentEntry> & Consent & { at: string };

/** Sort key prefix of choices in the contact log. */
export const logPrefix = "CONSENT|";
export const positionPattern = new RegExp(`^CONSENT\\|${positionParts.time}\\|[0-9A-Za-z]{8}$`);

/** For the transaction that changes the contact. */
export function consentLogWrite(
  { orgId, id }: Pick<ContactItem, "orgId" | "id">,
  consent: Consent,
  change: Partial<Pick<ConsentEntry, "status" | "topics" | "snoozedUntil" | "leaving">>,
): Write {
  const at = now().toISOString();
  return put(keys.contactLog(orgId, id, `${logPrefix}${at}|${randomBase62(8)}`), {
    ...consent,
    ...change,
    at,
  });
}

/** The entry about topics that the contact joins or leaves. None without such topics. */
export const topicLogWrites = (
  contact: Pick<ContactItem, "orgId" | "id">,
  consent: Consent,
  topics: ConsentEntry["topics"],
): Write[] => (topics.length ? [consentLogWrite(contact, consent, { topics })] : []);

/**
 * The evidence that a request subscribed or unsubscribed the contact, changed its topics, or ended
 * its pause.
 */
export function requestConsentWrites(
  before: ContactItem,
  { status, snoozedUntil }: ContactItem,
  topics: ConsentEntry["topics"],
): Write[] {
  const isChoice = status === "subscribed" || status === "unsubscribed";
  const change = {
    ...(isChoice && status !== before.status && { status }),
    ...(topics.length && { topics }),
    ...(getSnoozeEnd(before) && !snoozedUntil && { snoozedUntil: now().toISOString() }),
  };
  return Object.keys(change).length ? [consentLogWrite(before, { source: "api" }, change)] : [];
}

export const toConsentEntry = (item: ConsentItem): ConsentEntry => ({
  source: item.source,
  ipAddress: item.ipAddress ?? null,
  sendId: item.sendId ?? null,
  // Entries of 0.1.0 name no language.
  confirmation: item.confirmation
    ? { ...item.confirmation, locale: item.confirmation.locale ?? null }
    : null,
  status: item.status ?? null,
  topics: item.topics ?? [],
  snoozedUntil: item.snoozedUntil ?? null,
  leaving: item.leaving ?? null,
  createdAt: item.at,
});
