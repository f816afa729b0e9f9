// Whether a contact has paused marketing mail.
import { type Condition, greaterThan } from "../../../adapters/dynamodb/conditions.ts";
import { now } from "../../../clock.ts";
import type { ContactItem } from "./contact-schema.ts";

type SnoozeFields = Pick<ContactItem, "snoozedUntil">;

export const isSnoozed = ({ snoozedUntil = "" }: SnoozeFields, at = now()): boolean =>
  snoozedUntil > at.toISOString();

/** When the pause ends (ISO 8601). Undefined if there is none now. */
export const getSnoozeEnd = (contact: SnoozeFields): string | undefined =>
  isSnoozed(contact) ? contact.snoozedUntil : undefined;

export const snoozedCondition = (): Condition => greaterThan("snoozedUntil", now().toISOString());
