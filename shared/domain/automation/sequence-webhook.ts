// The webhook URL of a sequence. A caller that knows it may enroll and cancel contacts by email
// address, and nothing else.
import { timingSafeEqual } from "node:crypto";
import * as z from "zod";
import { get } from "../../adapters/dynamodb/table.ts";
import { invalid, missing, undefinedIfMissing } from "../../errors.ts";
import { EmailAddress, normalizeEmail, singleLineText } from "../../kernel/email-fields.ts";
import { RecordId } from "../../kernel/record-fields.ts";
import { openToken } from "../../kernel/sealed-tokens.ts";
import { keys } from "../../keys.ts";
import { type ContactItem, ContactRow } from "../audience/contacts/contact-schema.ts";
import { CustomFields } from "../audience/contacts/custom-fields.ts";
import { upsert } from "../audience/contacts/upserts.ts";
import * as enrollments from "./enrollments.ts";
import { findItem, type SequenceItem } from "./sequence-schema.ts";

export const SequenceWebhookCall = z
  .object({
    email: EmailAddress.describe("Email address of the contact."),
    action: z.enum(["enroll", "cancel"]).default("enroll").describe("`enroll` or `cancel`."),
    firstName: singleLineText(200)
      .nullable()
      .optional()
      .describe("First name of the contact. Replaces the stored one."),
    lastName: singleLineText(200)
      .nullable()
      .optional()
      .describe("Last name of the contact. Replaces the stored one."),
    customFields: CustomFields.optional().describe(
      "Custom fields of the contact to set. Fields that are not named stay.",
    ),
    startAtStep: z
      .int()
      .min(1)
      .optional()
      .describe("For `enroll`: `stepOrder` of the step to start with. Defaults to the first step."),
  })
  .meta({
    examples: [
      {
        email: "ann@example.com",
        action: "enroll",
        firstName: "Ann",
        customFields: { plan: "pro" },
      },
    ],
  });
export type SequenceWebhookCall = z.output<typeof SequenceWebhookCall>;

export const SequenceWebhookResult = z.object({
  action: z.enum(["enroll", "cancel"]).describe("What was asked for: `enroll` or `cancel`."),
  contactId: RecordId.nullable().describe(
    "Contact that was enrolled or cancelled. `null` if there was no contact to cancel.",
  ),
  changed: z
    .boolean()
    .describe("Whether the request enrolled the contact, or ended its enrollment."),
  reason: z.string().nullable().describe("Why the contact was not enrolled, or `null`."),
});
export type SequenceWebhookResult = z.output<typeof SequenceWebhookResult>;

/** Idempotent. 404 when the secret is not the current one of a sequence. */
export async function handleWebhook(
  secret: string,
  body: SequenceWebhookCall,
): Promise<SequenceWebhookResult> {
  const { orgId, sequence } = await findBySecret(secret);
  return actions[body.action](orgId, sequence, body);
}

const webhookNotFound = () => missing("The webhook URL does not exist or was replaced");

async function findBySecret(secret: string): Promise<{ orgId: number; sequence: SequenceItem }> {
  const content = await openToken("sequence", secret);
  if (!content) throw webhookNotFound();
  const [orgId, id, hook] = content as [number, number, string];
  const sequence = await findItem({ orgId }, id).catch(undefinedIfMissing);
  if (!sequence || !isEqualSecret(sequence.hook, hook)) throw webhookNotFound();
  return { orgId, sequence };
}

const isEqualSecret = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

const actions: Record<
  SequenceWebhookCall["action"],
  (
    orgId: number,
    sequence: SequenceItem,
    body: SequenceWebhookCall,
  ) => Promise<SequenceWebhookResult>
> = {
  enroll: async (orgId, sequence, { email, firstName, lastName, customFields, startAtStep }) => {
    const row = ContactRow.parse({
      email,
      ...withoutUndefined({ firstName, lastName, customFields }),
      source: undefined,
    });
    const [outcome] = await upsert({ caller: { orgId }, siteId: sequence.siteId }, [row]);
    if (outcome?.outcome === "failed" || !outcome)
      throw invalid(outcome?.error ?? "The contact could not be saved");
    const { enrolled, failed } = await enrollments.enroll({ orgId }, sequence.id, {
      contactIds: [outcome.id],
      startAtStep,
    });
    return {
      action: "enroll",
      contactId: outcome.id,
      changed: enrolled > 0,
      reason: failed[0]?.error ?? null,
    };
  },
  cancel: async (orgId, { id, siteId }, { email }) => {
    const contact = await get<ContactItem>(keys.contact(orgId, siteId, normalizeEmail(email)));
    const isEnrolled = contact?.sequences?.has(id) === true;
    if (contact && isEnrolled)
      await enrollments.cancel({ orgId }, id, { contactId: contact.id }).catch(undefinedIfMissing);
    return { action: "cancel", contactId: contact?.id ?? null, changed: isEnrolled, reason: null };
  },
};

const withoutUndefined = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
