// Whether a contact has paused marketing mail.
import * as z from "zod";
import { type Condition, greaterThan } from "../../../adapters/dynamodb/conditions.ts";
import { now } from "../../../clock.ts";
import { Timestamp } from "../../../kernel/record-fields.ts";
import type { ContactItem } from "./contact-schema.ts";

/** A field of a contact in the API. */
export const SnoozeEnd = Timestamp.nullable().describe(
  "Until when the contact has paused marketing email on the preference page. `null`: it has " +
    "not, or the pause is over.",
);

/** A field of a request. */
export const EndOfPause = z
  .null()
  .describe(
    "`null` ends the pause of marketing email that the contact chose on the preference page. " +
      "Only the contact itself can begin one.",
  );

type SnoozeFields = Pick<ContactItem, "snoozedUntil">;

export const isSnoozed = ({ snoozedUntil = "" }: SnoozeFields, at = now()): boolean =>
  snoozedUntil > at.toISOString();

/** When the pause ends (ISO 8601). Undefined if there is none now. */
export const getSnoozeEnd = (contact: SnoozeFields): string | undefined =>
  isSnoozed(contact) ? contact.snoozedUntil : undefined;

export const snoozedCondition = (): Condition => greaterThan("snoozedUntil", now().toISOString());
