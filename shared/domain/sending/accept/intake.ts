// Acceptance of mail: what single sends and batches share. Everything is read and checked before
// anything is written.
import { getMany } from "../../../adapters/dynamodb/table.ts";
import type { Caller } from "../../../caller.ts";
import { addSeconds, now } from "../../../clock.ts";
import { isBrandPath } from "../../../email/brand/brand.ts";
import * as liquid from "../../../email/liquid.ts";
import { invalid, undefinedIfMissing } from "../../../errors.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { createLruCache } from "../../../kernel/lru-cache.ts";
import { keys } from "../../../keys.ts";
import { type Commons, commonFlaw, type Flaw, subjectFlaw } from "../../../providers/limits.ts";
import type { Mailbox } from "../../../providers/provider-adapter.ts";
import { traitsOf } from "../../../providers/traits.ts";
import type { ContactItem } from "../../audience/contacts/contact-schema.ts";
import * as suppressionLookups from "../../audience/suppressions/suppression-lookups.ts";
import { getQuota } from "../../billing/quota.ts";
import { pinBrand } from "../../content/mail-brand.ts";
import { loadSnippets, pinForMail } from "../../content/mail-snippets.ts";
import * as templates from "../../content/templates.ts";
import * as sites from "../../identity/sites.ts";
import { findForSender } from "../../senders/choose-config.ts";
import { getTracking } from "../../senders/domains/domains-by-name.ts";
import { replyToOf } from "../../senders/mail-sender.ts";
import type { SendingConfig } from "../../senders/sending-config-schema.ts";
import * as sendingConfigs from "../../senders/sending-configs.ts";
import * as rateLimiter from "../provider-calls/rate-limiter.ts";
import { type MailContent, toMailContent } from "../rendering/mail-content.ts";
import { toTrackingFields } from "../rendering/own-tracking.ts";
import * as attachments from "./attachments.ts";
import type { MessageFields } from "./message-fields.ts";

type CallerScope = Pick<Caller, "orgId" | "siteIds"> & Partial<Pick<Caller, "plan">>;
export type IntakeContext = Awaited<ReturnType<typeof readIntake>>;

export interface IntakeOptions {
  emails: string[];
  /** Adds the blind copy address of the site. */
  withSiteBcc?: boolean;
  /** The contact that the mail is for, if known. */
  contactId?: number | undefined;
  /** Uses the fallback of the sending config while the breaker of the config is open. */
  canFailOver?: boolean;
  /** The checked attachments, if several messages have the same. */
  files?: attachments.AttachmentFile[] | undefined;
}

const prefetched = new WeakMap<MessageFields, Promise<IntakeContext>>();

/** Starts what `loadIntake` does for the same message. Errors are those of `loadIntake`. */
export function prefetchIntake(...request: Parameters<typeof readIntake>): void {
  const context = readIntake(...request);
  context.catch(() => {});
  prefetched.set(request[1], context);
}

/** Reads and checks everything that acceptance needs, in parallel. */
export function loadIntake(...request: Parameters<typeof readIntake>): Promise<IntakeContext> {
  const [, message] = request;
  const context = prefetched.get(message) ?? readIntake(...request);
  prefetched.delete(message);
  return context;
}

async function readIntake(
  who: CallerScope,
  message: MessageFields,
  { emails, withSiteBcc = false, contactId, canFailOver = false, files: known }: IntakeOptions,
) {
  const { html, text } = message;
  // Snippets belong to a site, so only what names one waits for the site.
  const namesSnippets =
    message.templateId === undefined && liquid.findSnippetNames(html, text).length > 0;
  const earlyVariables = namesSnippets ? undefined : listRequiredVariables(message);
  const [site, chosen, template, suppressed, files, quota] = await Promise.all([
    sites.resolveSite(who, message.siteId),
    findConfigAndTracking(who, message),
    message.templateId === undefined ? undefined : templates.findMeta(who, message.templateId),
    suppressionLookups.filterSuppressed(who.orgId, emails, { purpose: "transactional" }),
    known ?? attachments.validateAttachments(who.orgId, message.attachments),
    getQuota(who.orgId, { consistent: false, plan: who.plan }),
  ]);
  if (template?.blankBody)
    refuse({ path: "templateId", message: "the template has an empty body" });
  const pinned = await pinForMail(who.orgId, template?.siteId ?? site.id, { template, html, text });
  const snippets = pinned && (await loadSnippets(who.orgId, pinned));
  const sources = [message.subject, message.previewText, ...(template ? [] : [html, text])];
  const brand = pinBrand(site, { template, snippets: pinned, sources });
  const inlineVariables = earlyVariables ?? listRequiredVariables(message, snippets);
  const { config: chosenConfig } = chosen;
  refuse(findCommonFlaw(message, chosenConfig, files));
  const isTranslated = Object.keys(template?.subjects ?? {}).length > 0;
  const contactLocales =
    isTranslated && message.locale === undefined
      ? await readContactLocales(who.orgId, site.id, emails)
      : undefined;
  const subject = message.subject ?? template?.subject ?? "";
  const fallback = canFailOver
    ? await findFallback(who, message, { config: chosenConfig, subject, files })
    : undefined;
  const { config, tracking } = fallback ?? chosen;
  return {
    siteId: site.id,
    contactId,
    bcc: (withSiteBcc && !message.secure && site.autoBcc) || undefined,
    /** Replaces `replyTo` of the config. */
    siteReplyTo: site.replyTo,
    site,
    config,
    /** The chosen config, if its fallback takes the mail instead. */
    failedOverFrom: fallback && chosenConfig.id,
    tracking,
    template,
    /** The language that a recipient reads. Undefined if the template has no translations. */
    localeOf: ({ to, locale = message.locale }: { to: string; locale?: string | undefined }) =>
      isTranslated ? (locale ?? contactLocales?.get(normalizeEmail(to))) : undefined,
    /** The versions of the snippets that the mail uses, and their bodies. */
    pinned,
    snippets,
    brand,
    requiredVariables: [
      ...(template?.variables.filter((name) => !template.optional?.includes(name)) ?? []),
      ...inlineVariables,
    ].filter((name) => !isBrandPath(name)),
    suppressed,
    files,
    quota,
  };
}

/** By normalized address. Contacts without a locale are left out. */
async function readContactLocales(
  orgId: number,
  siteId: number,
  emails: string[],
): Promise<Map<string, string>> {
  const contacts = await getMany<ContactItem>(
    [...new Set(emails.map(normalizeEmail))].map((email) => keys.contact(orgId, siteId, email)),
    { consistent: false },
  );
  return new Map(
    contacts.flatMap((contact) =>
      contact?.locale ? [[normalizeEmail(contact.email), contact.locale]] : [],
    ),
  );
}

const findCommonFlaw = (
  message: MessageFields,
  config: SendingConfig,
  files: Commons["attachments"],
): Flaw | undefined =>
  commonFlaw(traitsOf(config.provider), {
    from: fromOf(message, config),
    replyTo: message.replyTo,
    headers: message.headers,
    // The notice has none.
    attachments: message.secure ? [] : files,
  });

interface FailoverRequest {
  config: SendingConfig;
  /** Before it is rendered. */
  subject: string;
  files: Commons["attachments"];
}

/**
 * Finds the fallback if the breaker of the config is open and the fallback can take the mail at
 * once. A fallback of the fallback is not used. A scheduled mail keeps its config, because the
 * breaker may be closed when the mail is due.
 */
async function findFallback(
  who: CallerScope,
  message: MessageFields,
  { config: { id, fallbackConfigId }, subject, files }: FailoverRequest,
) {
  if (!fallbackConfigId || parseSchedule(message)) return undefined;
  if (!rateLimiter.isBreakerOpen(await rateLimiter.getRecentState(who.orgId, id))) return undefined;
  const [config, state] = await Promise.all([
    sendingConfigs.findEventually(who, fallbackConfigId).catch(undefinedIfMissing),
    rateLimiter.getRecentState(who.orgId, fallbackConfigId),
  ]);
  if (!config?.verified || rateLimiter.isPaused(state)) return undefined;
  if (!(message.fromEmail ?? config.fromEmail)) return undefined;
  const flaw =
    findCommonFlaw(message, config, files) ?? subjectFlaw(traitsOf(config.provider), subject);
  if (flaw) return undefined;
  return { config, tracking: await getTracking(who.orgId, fromOf(message, config).email) };
}

/** Throws 400 that names the field. */
export function refuse(flaw: Flaw | undefined): void {
  if (flaw) throw invalid(`${flaw.path}: ${flaw.message}`, { details: [flaw] });
}

/** The variables that must have a value. Throws 400 when the Liquid source is invalid. */
function listRequiredVariables(
  { templateId, ...message }: MessageFields,
  snippets?: liquid.Snippets,
): string[] {
  const { subject, html, text, previewText } = message;
  const isInline = templateId === undefined;
  const plain = Object.entries({ subject, ...(isInline && { text }) });
  const escaped = Object.entries({ previewText, ...(isInline && { html }) });
  return [...plain, ...escaped].flatMap(([field, source], i) =>
    source === undefined
      ? []
      : liquid.requiredVariables(
          liquid.compile(source, {
            ...{ escape: i >= plain.length, field },
            snippets: field === "html" || field === "text" ? (snippets ?? {}) : undefined,
          }),
        ),
  );
}

/** The address from which a sending config last sent, to read its domain together with it. */
const lastSenders = createLruCache<string>(10_000);

async function findConfigAndTracking(who: CallerScope, message: MessageFields) {
  const configKey = `${who.orgId} ${message.sendingConfigId}`;
  const expectedFrom = message.fromEmail ?? lastSenders.get(configKey);
  const [config, expected] = await Promise.all([
    findSendingConfig(who, message),
    expectedFrom === undefined ? undefined : getTracking(who.orgId, expectedFrom),
  ]);
  const { email } = fromOf(message, config);
  lastSenders.set(configKey, email, 1);
  const tracking =
    expected && email === expectedFrom ? expected : await getTracking(who.orgId, email);
  return { config, tracking };
}

const findSendingConfig = (who: CallerScope, { sendingConfigId, fromEmail }: MessageFields) =>
  sendingConfigId === undefined
    ? findForSender(who, fromEmail!)
    : // The first read is eventually consistent; a config that was just created needs the second.
      sendingConfigs
        .findEventually(who, sendingConfigId)
        .catch(() => sendingConfigs.find(who, sendingConfigId));

export const fromOf = ({ fromEmail, fromName }: MessageFields, config: SendingConfig): Mailbox => ({
  email: fromEmail ?? sendingConfigs.senderOf(config).email,
  name: fromName ?? config.fromName ?? undefined,
});

const maxScheduleAheadSeconds = 30 * 24 * 3600;

/** ISO 8601 in UTC. Undefined means now, also for a time in the past. */
export function parseSchedule({ scheduledAt }: MessageFields): string | undefined {
  if (scheduledAt === undefined || Date.parse(scheduledAt) <= now().getTime()) return undefined;
  if (Date.parse(scheduledAt) > addSeconds(maxScheduleAheadSeconds).getTime())
    throw invalid("scheduledAt must be at most 30 days ahead", {
      details: [{ path: "scheduledAt", message: "must be at most 30 days ahead" }],
    });
  return new Date(scheduledAt).toISOString();
}

/** Stores the attachments and returns the content to store. */
export async function buildContent(
  orgId: number,
  message: MessageFields,
  { context, at }: { context: IntakeContext; at: Date },
): Promise<MailContent> {
  const { bcc, site, siteReplyTo, config, template, pinned, brand, files, quota, tracking } =
    context;
  const from = fromOf(message, config);
  const stored = await attachments.storeAttachments(orgId, files);
  const content = toMailContent(message, {
    from,
    template: template && { id: template.id, version: template.version },
    attachments: stored,
    at,
  });
  return {
    ...content,
    ...(pinned && { snippets: pinned }),
    ...(brand && { brand }),
    replyTo: content.replyTo ?? replyToOf({ replyTo: siteReplyTo }, config),
    bcc,
    ...toTrackingFields(
      config,
      {
        trackOpens: content.trackOpens ?? tracking.trackOpens,
        trackClicks: content.trackClicks ?? tracking.trackClicks,
      },
      site,
    ),
    ...(message.secure && { secure: true }),
    ...(quota.account.branded && { branded: true }),
  };
}

/** The fields that single sends and chunk heads share. */
export const toSharedSendFields = (
  { siteId, bcc, config }: IntakeContext,
  { templateId, secure, tags }: MessageFields,
  { from, at, scheduledAt }: { from: Mailbox; at: Date; scheduledAt: string | undefined },
) => ({
  siteId,
  sendingConfigId: config.id,
  provider: config.provider,
  templateId,
  fromEmail: from.email,
  fromName: from.name,
  bcc,
  tags: tags.length ? tags : undefined,
  secure: secure || undefined,
  createdAt: at.toISOString(),
  scheduledAt,
});
