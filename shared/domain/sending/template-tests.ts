// Test mails of a template to people who review it. They use the quota and are in the list of
// sends. No campaign or sequence counts them.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { config } from "../../config.ts";
import { forbidden, invalid } from "../../errors.ts";
import { EmailAddress, normalizeEmail } from "../../kernel/email-fields.ts";
import { RecordId } from "../../kernel/record-fields.ts";
import { permits } from "../../rights.ts";
import * as contacts from "../audience/contacts/contacts.ts";
import { currentBrandVariables } from "../content/mail-brand.ts";
import { templateDraftFields } from "../content/template-checks.ts";
import * as templateRendering from "../content/template-rendering.ts";
import * as templates from "../content/templates.ts";
import { countTemplateTest } from "../identity/attempt-limits.ts";
import { isVerifiedMember } from "../identity/members.ts";
import * as sites from "../identity/sites.ts";
import { findDefault } from "../senders/choose-config.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import { acceptSingle } from "./accept/accept-single.ts";
import { loadIntake } from "./accept/intake.ts";
import { Variables } from "./accept/message-fields.ts";
import { toChunkRecipient } from "./accept/stage-chunks.ts";
import { toTestMessage } from "./accept/test-message.ts";
import { inactiveBrowserLink } from "./rendering/browser-links.ts";
import { getAddressLine } from "./rendering/marketing-mail.ts";

const maxEmails = 5;
const Id = z.int().positive();

export const TemplateTestRequest = z
  .object({
    emails: z.array(EmailAddress).min(1).max(maxEmails).describe("1 to 5 email addresses."),
    contactId: Id.optional().describe(
      "Contact of the template's site whose fields fill the variables. Its `locale` picks the " +
        "translation, unless the request has one.",
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
    missingVariables: templateRendering.RenderedTemplate.shape.missingVariables,
  })
  .meta({ id: "TemplateTests" });
export type TemplateTests = z.output<typeof TemplateTests>;

/**
 * Its unsubscribe links do not work. Throws 400 if the config is not verified, and 403 for a caller
 * without a right to send who names somebody else than members.
 */
export async function sendTemplateTests(
  caller: Caller,
  id: number,
  { emails, contactId, variables, sendingConfigId, ...draft }: TemplateTestRequest,
): Promise<TemplateTests> {
  const { siteId } = await templates.findMeta(caller, id);
  const [ofContact, configId, ofSite] = await Promise.all([
    contactId === undefined ? noContact : readContact(caller, contactId, siteId),
    findVerifiedConfigId(caller, sendingConfigId),
    getSiteVariables(caller, siteId),
  ]);
  const { locale = ofContact.locale } = draft;
  const { missingVariables, ...rendered } = templateRendering.renderBody(
    await templateRendering.findWithDraft(caller, id, { ...draft, locale }),
    { ...inactiveLinks(), ...ofSite, ...ofContact.variables, ...variables },
  );
  const distinct = [...new Map(emails.map((email) => [normalizeEmail(email), email])).values()];
  await requireRecipients(caller, distinct);
  await countTemplateTest(caller.orgId);
  // One after the other, so that a repeated request uses the same ids in the same order.
  const tests: TemplateTests["tests"] = [];
  for (const email of distinct) {
    const message = {
      ...toTestMessage(rendered, {
        siteId,
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

/**
 * A test can have any text, so a caller who may only edit templates must not mail it to anybody.
 */
async function requireRecipients({ orgId, scopes }: Caller, emails: string[]): Promise<void> {
  if (rightsToSend.some((needed) => permits(scopes, needed))) return;
  const areMembers = await Promise.all(emails.map((email) => isVerifiedMember(orgId, email)));
  const others = emails.filter((_, i) => !areMembers[i]);
  if (!others.length) return;
  throw forbidden(
    "Without the right sending:write or marketing:write, test emails go only to members of the " +
      "organization whose email address is verified",
    {
      code: "scope_missing",
      details: others.map((email) => ({ path: "emails", message: `${email} is not a member` })),
    },
  );
}

const rightsToSend: Parameters<typeof permits>[1][] = [
  { right: "sending:write", scope: "send:write" },
  { right: "marketing:write", scope: "campaigns:write" },
];

interface TestedContact {
  variables: Record<string, unknown>;
  locale?: string | undefined;
}

const noContact: TestedContact = { variables: {} };

async function readContact(
  caller: Caller,
  contactId: number,
  siteId: number,
): Promise<TestedContact> {
  const contact = await contacts.findItem(caller, contactId);
  if (contact.siteId !== siteId)
    throw invalid("contactId: the contact belongs to another site than the template", {
      details: [{ path: "contactId", message: "belongs to another site than the template" }],
    });
  const { to, name, variables } = toChunkRecipient(contact, 0);
  return {
    variables: { email: to, ...(name !== undefined && { name }), ...variables },
    locale: contact.locale ?? undefined,
  };
}

async function getSiteVariables(caller: Caller, siteId: number): Promise<Record<string, unknown>> {
  const site = await sites.find(caller, siteId);
  return {
    postalAddress: await getAddressLine(caller.orgId, site),
    ...currentBrandVariables(site),
  };
}

async function findVerifiedConfigId(
  { orgId }: Caller,
  requestedId: number | undefined,
): Promise<number> {
  if (requestedId === undefined) return (await findDefault(orgId)).id;
  const { id, verified } = await sendingConfigs.find({ orgId }, requestedId);
  if (verified) return id;
  throw invalid(`Sending config ${id} is not verified: verify it first`, {
    details: [{ path: "sendingConfigId", message: "is not verified" }],
  });
}

/** This page explains that the link of a test does not work. */
function inactiveLinks() {
  const link = `${config.publicUrl}/api/v1/unsubscribe/preview`;
  return {
    unsubscribeUrl: link,
    preferencesUrl: `${link}?view=preferences`,
    browserUrl: inactiveBrowserLink(),
    contactToken: "preview",
  };
}
