// Acceptance of mail: what single sends and batches share. Everything is read and checked before
// anything is written.
import type { Caller } from "../../../caller.ts";
import { addSeconds, now } from "../../../clock.ts";
import * as liquid from "../../../email/liquid.ts";
import { invalid, Problem, undefinedIfMissing } from "../../../errors.ts";
import { toSingleLine } from "../../../kernel/email-fields.ts";
import { createLruCache } from "../../../kernel/lru-cache.ts";
import { type Commons, commonFlaw, type Flaw, subjectFlaw } from "../../../providers/limits.ts";
import type { Mailbox } from "../../../providers/provider-adapter.ts";
import { traitsOf } from "../../../providers/traits.ts";
import * as suppressions from "../../audience/suppressions/suppressions.ts";
import * as allowance from "../../billing/quota.ts";
import * as templates from "../../content/templates.ts";
import * as organizations from "../../identity/organizations.ts";
import * as sites from "../../identity/sites.ts";
import { getTracking } from "../../senders/domains/domains-by-name.ts";
import * as sendingConfigs from "../../senders/sending-configs.ts";
import * as limiter from "../provider-calls/rate-limiter.ts";
import { mergeVariables } from "../rendering/compose.ts";
import { type MailContent, toMailContent } from "../rendering/mail-content.ts";
import * as attachments from "./attachments.ts";
import * as directHandOver from "./direct-hand-over.ts";
import type { BatchRecipient, MessageFields } from "./message.ts";

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
  { emails, withSiteBcc = false, contactId, canFailOver = false }: IntakeOptions,
) {
  const inlineVariables = listRequiredVariables(message);
  const [site, chosen, template, suppressed, files, quota, timezone] = await Promise.all([
    withSiteBcc && !message.secure
      ? sites.resolveSite(who, message.siteId)
      : resolveSiteWithoutBcc(who, message),
    findConfigAndTracking(who, message),
    message.templateId === undefined ? undefined : templates.findMeta(who, message.templateId),
    suppressions.filterSuppressed(who.orgId, emails, { purpose: "transactional" }),
    attachments.validateAttachments(who.orgId, message.attachments),
    emails.length === 1
      ? allowance.getRecentQuota(who.orgId, who.plan)
      : allowance.getQuota(who.orgId, { consistent: false, plan: who.plan }),
    directHandOver.isInstalled() ? organizations.getTimezone(who.orgId) : undefined,
    readLaneAhead(who, message),
  ]);
  const { id: siteId, autoBcc } = site;
  if (template?.blankBody)
    refuse({ path: "templateId", message: "the template has an empty body" });
  const { config: chosenConfig } = chosen;
  refuse(findCommonFlaw(message, chosenConfig, files));
  const subject = message.subject ?? template?.subject ?? "";
  const fallback = canFailOver
    ? await findFallback(who, message, { config: chosenConfig, subject, files })
    : undefined;
  const { config, tracking } = fallback ?? chosen;
  return {
    siteId,
    contactId,
    bcc: autoBcc ?? undefined,
    config,
    /** The chosen config, if its fallback takes the mail instead. */
    failedOverFrom: fallback && chosenConfig.id,
    tracking,
    template,
    requiredVariables: [
      ...(template?.variables.filter((name) => !template.optional?.includes(name)) ?? []),
      ...inlineVariables,
    ],
    suppressed,
    files,
    quota,
    /** Known if this process can hand the mail over itself. */
    timezone,
  };
}

/**
 * The direct hand-over needs the state of the lane a moment later, and finds it in the cache. Read
 * here, it is no call of its own.
 */
async function readLaneAhead(
  { orgId }: CallerScope,
  { sendingConfigId }: MessageFields,
): Promise<void> {
  if (directHandOver.isInstalled() && sendingConfigId !== undefined)
    await limiter.getRecentState(orgId, sendingConfigId);
}

const findCommonFlaw = (
  message: MessageFields,
  config: sendingConfigs.SendingConfig,
  files: Commons["attachments"],
): Flaw | undefined =>
  commonFlaw(traitsOf(config.provider), {
    from: fromOf(message, config),
    replyTo: message.replyTo,
    headers: message.headers,
    attachments: files,
  });

interface FailoverRequest {
  config: sendingConfigs.SendingConfig;
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
  if (!limiter.isBreakerOpen(await limiter.getRecentState(who.orgId, id))) return undefined;
  const [config, state] = await Promise.all([
    sendingConfigs.findEventually(who, fallbackConfigId).catch(undefinedIfMissing),
    limiter.getRecentState(who.orgId, fallbackConfigId),
  ]);
  if (!config?.verified || limiter.isPaused(state)) return undefined;
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

const resolveSiteWithoutBcc = async (who: CallerScope, { siteId }: MessageFields) => ({
  id: await sites.resolveSiteId(who, siteId),
  autoBcc: null,
});

/** The variables that must have a value. Throws 400 when the Liquid source is invalid. */
function listRequiredVariables({ templateId, ...message }: MessageFields): string[] {
  const { subject, html, text, previewText } = message;
  const isInline = templateId === undefined;
  const plain = Object.entries({ subject, ...(isInline && { text }) });
  const escaped = Object.entries({ previewText, ...(isInline && { html }) });
  return [...plain, ...escaped].flatMap(([field, source], i) =>
    source === undefined
      ? []
      : liquid.requiredVariables(liquid.compile(source, { escape: i >= plain.length, field })),
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
    ? sendingConfigs.findForSender(who, fromEmail!)
    : // The first read is eventually consistent; a config that was just created needs the second.
      sendingConfigs
        .findEventually(who, sendingConfigId)
        .catch(() => sendingConfigs.find(who, sendingConfigId));

export const fromOf = (
  { fromEmail, fromName }: MessageFields,
  config: sendingConfigs.SendingConfig,
): Mailbox => ({
  email: fromEmail ?? sendingConfigs.senderOf(config).email,
  name: fromName ?? config.fromName ?? undefined,
});

function listSenderWarnings({ config, failedOverFrom }: IntakeContext): string[] {
  if (failedOverFrom)
    return [
      `The provider of sending config ${failedOverFrom} fails, so its fallback takes this ` +
        `mail: sending config ${config.id}`,
    ];
  return config.verified ? [] : [sendingConfigs.unverifiedWarning(config.id)];
}

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

/** How long content is kept, for mail that is not handed over yet and for late events. */
export const contentTtlSeconds = 60 * 24 * 3600;

/** Stores the attachments and returns the content to store. */
export async function buildContent(
  orgId: number,
  message: MessageFields,
  { context, at }: { context: IntakeContext; at: Date },
): Promise<MailContent> {
  const { bcc, config, template, files, quota, tracking } = context;
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
    bcc,
    trackOpens: content.trackOpens ?? tracking.trackOpens,
    trackClicks: content.trackClicks ?? tracking.trackClicks,
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

type VariableSource = Partial<Pick<BatchRecipient, "toName" | "variables">>;

// Rendering blocks other requests. Recipients that are not checked within this time are checked at
// hand-over.
const checkingMs = 200;

/**
 * Checks the rendered mail for what the provider would refuse: an empty subject or body, or a
 * subject that is too long. A part with fixed text is never empty, so it is not rendered. The body
 * of a template is checked at hand-over only.
 */
export function renderedFlaws(
  message: MessageFields,
  { config, template }: IntakeContext,
  at: Date,
): (recipient: VariableSource & { to: string }) => Flaw | undefined {
  const traits = traitsOf(config.provider);
  const source = message.subject ?? template?.subject ?? "";
  const subject = partOf(source, "subject");
  const bodies = template ? [] : [partOf(message.html, "html"), partOf(message.text, "text")];
  const isBlank = (part: Part, variables: liquid.LiquidVariables) =>
    !part.hasFixedText && !/\S/.test(part.render(variables, at));
  const flawOf = (recipient: VariableSource & { to: string }): Flaw | undefined => {
    const variables = mergeVariables(message, {
      to: recipient.to,
      name: recipient.toName,
      variables: recipient.variables,
    });
    if (isBlank(subject, variables)) return { path: "subject", message: "renders empty" };
    if (bodies.length && bodies.every((body) => isBlank(body, variables)))
      return { path: "html", message: "renders empty" };
    return traits.limits?.subjectCharacters
      ? subjectFlaw(traits, toSingleLine(subject.render(variables, at)))
      : undefined;
  };
  let leftMs = checkingMs;
  return (recipient) => {
    if (leftMs <= 0) return undefined;
    const started = performance.now();
    try {
      return flawOf(recipient);
    } catch (error) {
      // A mail that cannot be rendered fails at hand-over, with the reason.
      if (error instanceof Problem && error.kind === "invalid") return undefined;
      throw error;
    } finally {
      leftMs -= performance.now() - started;
    }
  };
}

type Part = ReturnType<typeof partOf>;

/** A part with fixed text is never empty, whatever the variables are. */
function partOf(source: string | undefined, field: "subject" | "html" | "text") {
  const { pieces, values } = liquid.toSubstitutions(
    liquid.compile(source ?? "", { escape: field === "html", field }),
  );
  return {
    hasFixedText: pieces.some((piece) => typeof piece === "string" && /\S/.test(piece)),
    render: (variables: liquid.LiquidVariables, now: Date): string => {
      const filled = values(variables, { now, budget: liquid.Budget.forSubject() });
      return pieces
        .map((piece) => (typeof piece === "string" ? piece : (filled[piece] ?? "")))
        .join("");
    },
  };
}

/** Warnings about mail that is accepted nevertheless. */
export const listIntakeWarnings = (
  context: IntakeContext,
  { variables }: MessageFields,
  recipients: VariableSource[],
): string[] => [
  ...listSenderWarnings(context),
  ...listVariableWarnings(context, variables, recipients),
];

const maxCheckedVariables = 200;

/** Warns about variables without a value, because they render empty. */
function listVariableWarnings(
  context: IntakeContext,
  sharedVariables: MessageFields["variables"],
  recipients: VariableSource[],
): string[] {
  const names = context.requiredVariables.slice(0, maxCheckedVariables);
  const missing = listMissing(names, sharedVariables, recipients);
  return missing.length ? [describeMissing(missing)] : [];
}

/** Throws 400 that names the variables, if the message is strict. */
export function requireVariables(
  { requiredVariables }: IntakeContext,
  { strict, variables }: MessageFields,
  recipients: VariableSource[],
): void {
  const missing = strict ? listMissing(requiredVariables, variables, recipients) : [];
  if (!missing.length) return;
  const details = missing
    .slice(0, 20)
    .map((name) => ({ path: `variables.${name}`, message: "has no value" }));
  throw invalid(describeMissing(missing), { code: "variables_missing", details });
}

const describeMissing = (names: string[]): string =>
  `These variables have no value: ${names.slice(0, 20).join(", ")}`;

/** Uses the same names as the preview of a template. */
function listMissing(
  names: string[],
  sharedVariables: MessageFields["variables"],
  recipients: VariableSource[],
): string[] {
  const values = recipients.map(({ toName: name, variables }) =>
    mergeVariables({ variables: sharedVariables }, { to: "", name, variables }),
  );
  return [...new Set(names)].filter((path) =>
    values.some((recipientValues) => !liquid.hasVariable(recipientValues, path)),
  );
}
