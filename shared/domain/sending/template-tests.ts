// Test mails of a template to people who review it. They use the quota and are in the list of
// sends. No campaign or sequence counts them.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { config } from "../../config.ts";
import { invalid } from "../../errors.ts";
import { EmailAddress, normalizeEmail } from "../../kernel/email-fields.ts";
import { RecordId } from "../../kernel/record-fields.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import { templateDraftFields } from "../content/template-checks.ts";
import * as templates from "../content/templates.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import { acceptSingle } from "./intake/accept-single.ts";
import { loadIntake } from "./intake/intake.ts";
import { Variables } from "./intake/message.ts";
import { toChunkRecipient } from "./intake/stage-chunks.ts";
import { toTestMessage } from "./intake/test-message.ts";

const maxEmails = 5;
const Id = z.int().positive();

export const TemplateTestRequest = z
  .object({
    emails: z.array(EmailAddress).min(1).max(maxEmails).describe("1 to 5 email addresses."),
    contactId: Id.optional().describe(
      "Contact of the template's site whose fields fill the variables.",
    ),
    variables: Variables.default({}).describe(
      "Values for the Liquid variables. They replace those of the contact.",
    ),
    sendingConfigId: Id.optional().describe(
      "Verified sending config to send with. Defaults to the organization's oldest verified one.",
    ),
    ...templateDraftFields,
  })
  .meta({ examples: [{ emails: ["ada@example.com"], variables: { firstName: "Ada" } }] });
export type TemplateTestRequest = z.output<typeof TemplateTestRequest>;

export const TemplateTests = z
  .object({
    tests: z
      .array(
        z.object({
          email: z.string().describe("Email address of the recipient."),
          sendId: RecordId.describe("Send of the test mail, for GET /sends/:id."),
          status: z
            .enum(["queued", "scheduled", "failed"])
            .describe("`failed`: the email address is suppressed."),
        }),
      )
      .describe("One entry per email address."),
    missingVariables: templates.RenderedTemplate.shape.missingVariables,
  })
  .meta({ id: "TemplateTests" });
export type TemplateTests = z.output<typeof TemplateTests>;

/** Its unsubscribe links do not work. Throws 400 if the config is not verified. */
export async function sendTemplateTests(
  caller: Caller,
  id: number,
  { emails, contactId, variables, sendingConfigId, ...draft }: TemplateTestRequest,
): Promise<TemplateTests> {
  const template = await templates.find(caller, id);
  const { subject = template.subject, html = template.html, text = template.text } = draft;
  const [ofContact, configId] = await Promise.all([
    contactId === undefined ? {} : getContactVariables(caller, contactId, template.siteId),
    findVerifiedConfigId(caller, sendingConfigId),
  ]);
  const { missingVariables, ...rendered } = templates.renderBody(
    { subject, html, text },
    { ...inactiveLinks(), ...ofContact, ...variables },
  );
  const distinct = [...new Map(emails.map((email) => [normalizeEmail(email), email])).values()];
  // One after the other, so that a repeated request uses the same ids in the same order.
  const tests: TemplateTests["tests"] = [];
  for (const email of distinct) {
    const message = {
      ...toTestMessage(rendered, {
        siteId: template.siteId,
        metadata: { testOfTemplate: String(id) },
      }),
      to: email,
      sendingConfigId: configId,
    };
    const context = await loadIntake(caller, message, { emails: [email] });
    const { id: sendId, status } = await acceptSingle(caller, message, { context });
    tests.push({ email, sendId, status });
  }
  return { tests, missingVariables };
}

async function getContactVariables(
  caller: Caller,
  contactId: number,
  siteId: number,
): Promise<Record<string, unknown>> {
  const contact = await contacts.findItem(caller, contactId);
  if (contact.siteId !== siteId)
    throw invalid("contactId: the contact belongs to another site than the template", {
      details: [{ path: "contactId", message: "belongs to another site than the template" }],
    });
  const { to, name, variables } = toChunkRecipient(contact, 0);
  return { email: to, ...(name !== undefined && { name }), ...variables };
}

async function findVerifiedConfigId(
  { orgId }: Caller,
  requestedId: number | undefined,
): Promise<number> {
  if (requestedId === undefined) return (await sendingConfigs.findDefault(orgId)).id;
  const { id, verified } = await sendingConfigs.find({ orgId }, requestedId);
  if (verified) return id;
  throw invalid(`Sending config ${id} is not verified: verify it first`, {
    details: [{ path: "sendingConfigId", message: "is not verified" }],
  });
}

/** This page explains that the link of a test does not work. */
function inactiveLinks() {
  const link = `${config.publicUrl}/api/v1/unsubscribe/preview`;
  return { unsubscribeUrl: link, preferencesUrl: link, contactToken: "preview" };
}
