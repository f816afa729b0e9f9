// Taking mail, what single sends and batches share: everything is read and checked before anything is written.
import type { Caller } from "../../caller.ts";
import { after, now } from "../../clock.ts";
import { invalid } from "../../errors.ts";
import * as liquid from "../../liquid.ts";
import type { Mailbox } from "../../providers/provider.ts";
import * as allowance from "../allowance.ts";
import { trackingOf } from "../domains/names.ts";
import * as sendingConfigs from "../sending-configs.ts";
import * as sites from "../sites.ts";
import * as suppressions from "../suppressions.ts";
import * as templates from "../templates.ts";
import * as attachments from "./attachments.ts";
import { variablesFor } from "./compose.ts";
import { type Content, contentOf } from "./content.ts";
import type { BatchRecipient, Message } from "./message.ts";

type Who = Pick<Caller, "orgId" | "siteId">;
export type Gathered = Awaited<ReturnType<typeof gather>>;

interface Circumstances {
  /** The mail is one of those that the site wants copies of. */
  copied?: boolean;
  /** Whom it is meant for, where that is known. */
  contactId?: number | undefined;
}

/** All that has to be read and checked, side by side. */
export async function gather(who: Who, message: Message, emails: string[], { copied = false, contactId }: Circumstances = {}) {
  const reads = readsOf(message);
  const [{ id: siteId, autoBcc }, config, template, suppressed, files, standing] = await Promise.all([
    copied && !message.secure ? sites.resolveSender(who, message.siteId) : uncopied(who, message),
    senderOf(who, message),
    message.templateId === undefined ? undefined : templates.findMeta(who, message.templateId),
    suppressions.among(who.orgId, emails, "transactional"),
    attachments.checked(who.orgId, message.attachments),
    allowance.standing(who.orgId, { consistent: false }),
  ]);
  return {
    siteId,
    contactId,
    bcc: autoBcc ?? undefined,
    config,
    template,
    reads: template ? template.variables.filter((name) => !template.optional?.includes(name)) : reads,
    suppressed,
    files,
    standing,
  };
}

const uncopied = async (who: Who, { siteId }: Message) => ({ id: await sites.resolve(who, siteId), autoBcc: null });

/** The variables that it cannot do without. Throws 400 when a part does not parse. */
function readsOf({ subject, html, text }: Message): string[] {
  return Object.entries({ subject, html, text }).flatMap(([field, source]) =>
    source === undefined ? [] : liquid.needed(liquid.compile(source, { escape: field === "html", field })),
  );
}

const senderOf = (who: Who, { sendingConfigId, fromEmail }: Message) =>
  sendingConfigId === undefined
    ? sendingConfigs.forSender(who, fromEmail!)
    : // One that was made a moment ago costs a second, sure look.
      sendingConfigs.find(who, sendingConfigId, { consistent: false }).catch(() => sendingConfigs.find(who, sendingConfigId));

export const fromOf = ({ fromEmail, fromName }: Message, config: Gathered["config"]): Mailbox => ({
  email: fromEmail ?? config.fromEmail,
  name: fromName ?? config.fromName ?? undefined,
});

const unverified = ({ config }: Gathered): string[] =>
  config.verified ? [] : [`Sending config ${config.id} is not verified yet: the provider has the last word`];

const furthestSeconds = 30 * 24 * 3600;

/** ISO 8601 in UTC when it lies ahead; a time that has passed means now. */
export function scheduleOf({ scheduledAt }: Message): string | undefined {
  if (scheduledAt === undefined || Date.parse(scheduledAt) <= now().getTime()) return undefined;
  if (Date.parse(scheduledAt) > after(furthestSeconds).getTime())
    throw invalid("scheduledAt may be at most 30 days ahead", { details: [{ path: "scheduledAt", message: "at most 30 days ahead" }] });
  return new Date(scheduledAt).toISOString();
}

/** How long content is kept for mail that has not gone yet, and for events that come late. */
export const keepSeconds = 60 * 24 * 3600;

/** The content as it is stored: attachments and all. */
export async function storedContent(orgId: number, message: Message, gathered: Gathered, at: Date): Promise<Content> {
  const { bcc, config, template, files, standing } = gathered;
  const from = fromOf(message, config);
  const [stored, tracking] = await Promise.all([attachments.store(orgId, files), trackingOf(orgId, from.email)]);
  const content = contentOf(message, from, template && { id: template.id, version: template.version }, stored, at);
  return {
    ...content,
    bcc,
    trackOpens: content.trackOpens ?? tracking.trackOpens,
    trackClicks: content.trackClicks ?? tracking.trackClicks,
    ...(message.secure && { secure: true }),
    ...(standing.account.branded && { branded: true }),
  };
}

/** What both kinds of send say of themselves. */
export const shared = (
  { siteId, bcc, config }: Gathered,
  { templateId, secure }: Message,
  from: Mailbox,
  at: Date,
  scheduledAt: string | undefined,
) => ({
  siteId,
  sendingConfigId: config.id,
  provider: config.provider,
  templateId,
  fromEmail: from.email,
  fromName: from.name,
  bcc,
  secure: secure || undefined,
  createdAt: at.toISOString(),
  scheduledAt,
});

type Reader = Partial<Pick<BatchRecipient, "toName" | "variables">>;

/** What the caller should know of mail that was accepted all the same. */
export const warningsOf = (gathered: Gathered, { variables }: Message, readers: Reader[]): string[] => [
  ...unverified(gathered),
  ...withoutValue(gathered, variables, readers),
];

/** An unknown variable renders empty; whoever sends should know. As a preview of the template names them. */
function withoutValue({ reads }: Gathered, variables: Message["variables"], readers: Reader[]): string[] {
  const given = readers.map(({ toName: name, variables: own }) => variablesFor({ variables }, { to: "", name, variables: own }));
  const missing = [...new Set(reads)].filter((path) => given.some((one) => !liquid.has(one, path)));
  return missing.length ? [`Variables without a value: ${missing.slice(0, 20).join(", ")}`] : [];
}
