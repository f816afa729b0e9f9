// The consent log of a contact: what it chose, or a request changed, about email, with the time and
// the way. One transaction writes a change and its entry.
import { put, type Write } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { randomBase62 } from "../../../ids.ts";
import { positionParts } from "../../../kernel/paging.ts";
import { keys } from "../../../keys.ts";
import type { ConsentEntry } from "../topics/contact-topic-schemas.ts";
import type { ContactItem } from "./contact-schema.ts";

/** How a choice was made. */
export interface Consent {
  source: ConsentEntry["source"];
  ipAddress?: string | undefined;
  sendId?: number | undefined;
}

export type ConsentItem = Partial<ConsentEntry> & Consent & { at: string };

/** Sort key prefix of choices in the contact log. */
export const logPrefix = "CONSENT|";
export const positionPattern = new RegExp(`^CONSENT\\|${positionParts.time}\\|[0-9A-Za-z]{8}$`);

/** For the transaction that changes the contact. */
export function consentLogWrite(
  { orgId, id }: Pick<ContactItem, "orgId" | "id">,
  consent: Consent,
  change: Partial<Pick<ConsentEntry, "status" | "topics">>,
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

export const toConsentEntry = (item: ConsentItem): ConsentEntry => ({
  source: item.source,
  ipAddress: item.ipAddress ?? null,
  sendId: item.sendId ?? null,
  status: item.status ?? null,
  topics: item.topics ?? [],
  createdAt: item.at,
});
