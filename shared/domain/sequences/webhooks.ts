// The URL by which a sequence is told of people from outside: whoever has it may enroll and cancel by address, and nothing else.
import { timingSafeEqual } from "node:crypto";
import * as z from "zod";
import { get } from "../../doors/table.ts";
import { canonical, EmailAddress, oneLine } from "../../email.ts";
import { invalid, missing, unlessMissing } from "../../errors.ts";
import { keys } from "../../keys.ts";
import { type ContactItem, ContactRow, CustomFields } from "../contacts/contact.ts";
import { upsert } from "../contacts/upserts.ts";
import { opened } from "../sealed-tokens.ts";
import * as enrollments from "./enrollments.ts";
import { find, type SequenceItem } from "./record.ts";

export const Told = z
  .object({
    email: EmailAddress,
    action: z.enum(["enroll", "cancel"]).default("enroll"),
    firstName: oneLine(200).nullable().optional(),
    lastName: oneLine(200).nullable().optional(),
    customFields: CustomFields.optional(),
    startAtStep: z.int().min(1).optional().describe("enroll: the order of the step to begin with"),
  })
  .meta({ examples: [{ email: "ann@example.com", action: "enroll", firstName: "Ann", customFields: { plan: "pro" } }] });
export type Told = z.output<typeof Told>;

export const Heard = z.object({
  action: z.enum(["enroll", "cancel"]),
  contactId: z.int().nullable().describe("null when there is no contact with this address to cancel"),
  changed: z.boolean().describe("Whether it is in the sequence now and was not before, or the other way round"),
  reason: z.string().nullable().describe("Why it was not enrolled"),
});
export type Heard = z.output<typeof Heard>;

/** 404 for a secret that is not, or no longer, that of a sequence. Safe to repeat. */
export async function hear(secret: string, told: Told): Promise<Heard> {
  const { orgId, sequence } = await sequenceOf(secret);
  return actions[told.action](orgId, sequence, told);
}

const unknown = () => missing("There is no such webhook");

async function sequenceOf(secret: string): Promise<{ orgId: number; sequence: SequenceItem }> {
  const content = await opened("sequence", secret);
  if (!content) throw unknown();
  const [orgId, id, hook] = content as [number, number, string];
  const sequence = await find({ orgId }, id).catch(unlessMissing);
  if (!sequence || !same(sequence.hook, hook)) throw unknown();
  return { orgId, sequence };
}

const same = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

const actions: Record<Told["action"], (orgId: number, sequence: SequenceItem, told: Told) => Promise<Heard>> = {
  enroll: async (orgId, sequence, { email, firstName, lastName, customFields, startAtStep }) => {
    const row = ContactRow.parse({ email, ...given({ firstName, lastName, customFields }), source: undefined });
    const [outcome] = await upsert({ orgId }, sequence.siteId, [row]);
    if (outcome?.outcome === "failed" || !outcome) throw invalid(outcome?.error ?? "The contact could not be saved");
    const { enrolled, failed } = await enrollments.enroll({ orgId }, sequence.id, [outcome.id], startAtStep);
    return { action: "enroll", contactId: outcome.id, changed: enrolled > 0, reason: failed[0]?.error ?? null };
  },
  cancel: async (orgId, { id, siteId }, { email }) => {
    const contact = await get<ContactItem>(keys.contact(orgId, siteId, canonical(email)));
    const inside = contact?.sequences?.has(id) === true;
    if (contact && inside) await enrollments.cancel({ orgId }, id, { contactId: contact.id }).catch(unlessMissing);
    return { action: "cancel", contactId: contact?.id ?? null, changed: inside, reason: null };
  },
};

const given = (fields: Record<string, unknown>) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
