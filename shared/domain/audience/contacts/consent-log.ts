// The consent log of a contact: what it chose, or a request changed, about email, with the time and
// the way. One transaction writes a change and its entry.
import * as z from "zod";
import { put, type Write } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { randomBase62 } from "../../../ids.ts";
import { positionParts } from "../../../kernel/paging.ts";
import { RecordId, Timestamp } from "../../../kernel/record-fields.ts";
import { keys } from "../../../keys.ts";
import type { ContactItem } from "./contact-schema.ts";

const consentSources = ["api", "preference_page", "one_click", "provider"] as const;

export const ConsentEntry = z
  .object({
    source: z
      .enum(consentSources)
      .describe(
        "`preference_page`: the contact, on the page behind the links of an email. `one_click`: " +
          "the contact, in the mail program. `provider`: reported by the email provider. " +
          "`api`: a request of yours.",
      ),
    ipAddress: z
      .string()
      .nullable()
      .describe("IP address of the contact, or of its mail program. `null` for `api`."),
    sendId: RecordId.nullable().describe("Email whose link was used. `null` for `api`."),
    status: z
      .enum(["subscribed", "unsubscribed"])
      .nullable()
      .describe("New status of the contact. `null` if only topics changed."),
    topics: z
      .array(
        z.object({
          id: RecordId.describe("Id of the topic."),
          name: z.string().describe("Name of the topic at that time."),
          subscribed: z.boolean().describe("Whether the contact joined or left the topic."),
        }),
      )
      .describe("Topics that the contact joined or left."),
    createdAt: Timestamp.describe("When the choice was made."),
  })
  .describe("A choice about email, kept as evidence of consent.")
  .meta({ id: "ConsentEntry" });
export type ConsentEntry = z.output<typeof ConsentEntry>;

/** How a choice was made. */
export interface Consent {
  source: (typeof consentSources)[number];
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

export const toConsentEntry = (item: ConsentItem): ConsentEntry => ({
  source: item.source,
  ipAddress: item.ipAddress ?? null,
  sendId: item.sendId ?? null,
  status: item.status ?? null,
  topics: item.topics ?? [],
  createdAt: item.at,
});
