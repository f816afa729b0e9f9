// The mail of enrollment runs: what it is made of, and the writes that stage it in the transaction
// of its enrollments.
import { randomUUID } from "node:crypto";
import type { Write } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { now } from "../../clock.ts";
import { Problem } from "../../errors.ts";
import { queues } from "../../queues.ts";
import type { MailTopic } from "../audience/topics/topic-subscription.ts";
import type { ActivityItem } from "../audience/tracking/activities.ts";
import { chargeMails, type MailCharge } from "../billing/charge.ts";
import type { MailCost } from "../billing/quota.ts";
import { pinBrand } from "../content/mail-brand.ts";
import { type PinnedSnippets, pinForMail } from "../content/mail-snippets.ts";
import { pinTemplate, type SentTemplate } from "../content/templates.ts";
import type * as sites from "../identity/sites.ts";
import { findDefault } from "../senders/choose-config.ts";
import { requireAllowedFrom } from "../senders/mail-sender.ts";
import type { SendingConfig } from "../senders/sending-config-schema.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import {
  allocateCharges,
  type MarketingMessage,
  stageChunks,
} from "../sending/accept/stage-chunks.ts";
import {
  addSourceCountWrites,
  type MailSource,
  type SourceCountChange,
} from "../sending/mail-sources.ts";
import { requireMarketingSender } from "../sending/rendering/marketing-mail.ts";
import { toMarketingUtm } from "../sending/rendering/utm.ts";
import type { EnrollmentItem } from "./enrollment-schema.ts";
import { type EnrollmentTransition, isEnd } from "./enrollment-transition.ts";
import type { SequenceItem } from "./sequence-schema.ts";
import type { EnrollmentRun } from "./step-runner.ts";
import type { SequenceStep } from "./step-schema.ts";
import { getTemplates } from "./steps.ts";
import { commitGroup } from "./transition-commits.ts";

/** A template with the current versions of its snippets. */
interface MailTemplate extends SentTemplate {
  pinned?: PinnedSnippets | undefined;
}

export interface MailContext {
  site: sites.Site;
  /** Undefined when no run sends mail. */
  config: SendingConfig | undefined;
  templates: Map<number, MailTemplate>;
  topic: MailTopic | undefined;
  bcc: string | undefined;
  sequence: Pick<SequenceItem, "name" | "utm" | "fromEmail" | "fromName" | "replyTo">;
  /** What the mail can read besides fields of the contact: `event`, by the id of the contact. */
  extraVariables: Map<number, { event: Record<string, unknown> }>;
}

/** Throws 404 or 400 when a template, the sending config or the postal address is missing. */
export async function loadMailContext(
  orgId: number,
  {
    sequence,
    site,
    topic,
    runs,
    getEvent,
  }: Pick<MailContext, "site" | "topic"> & {
    sequence: SequenceItem;
    runs: EnrollmentRun[];
    getEvent(item: EnrollmentItem, sortKey: string): Promise<ActivityItem | undefined>;
  },
): Promise<MailContext> {
  const templateIds = [...new Set(runs.flatMap(({ mailStep }) => mailStep?.templateId ?? []))];
  const { sendingConfigId, autoBcc } = sequence;
  const extraVariables: MailContext["extraVariables"] = new Map();
  const common = { site, topic, sequence, bcc: autoBcc ?? undefined, extraVariables };
  if (!templateIds.length) return { ...common, config: undefined, templates: new Map() };
  const [config, found] = await Promise.all([
    sendingConfigId === null ? findDefault(orgId) : sendingConfigs.find({ orgId }, sendingConfigId),
    getTemplates(orgId, templateIds),
    requireMarketingSender(orgId, site),
  ]);
  if (sequence.fromEmail) await requireAllowedFrom({ orgId }, config, sequence.fromEmail);
  const missingId = templateIds.find((id) => !found.has(id));
  if (missingId !== undefined)
    throw new Problem("missing", `Template ${missingId} no longer exists`);
  const templates = await pinTemplates(orgId, found);
  for (const { mailStep, eventKey, transition } of runs) {
    const readsEvent = mailStep && mentionsEvent(mailStep, templates.get(mailStep.templateId!));
    const event = readsEvent && eventKey && (await getEvent(transition.enrollment, eventKey));
    if (event) extraVariables.set(event.contactId, { event: JSON.parse(event.properties ?? "{}") });
  }
  return { ...common, config, templates };
}

/** Throws 400 if a template uses a snippet that does not exist. */
async function pinTemplates(
  orgId: number,
  found: Awaited<ReturnType<typeof getTemplates>>,
): Promise<MailContext["templates"]> {
  const pinned = [...found.values()].map(
    async (template): Promise<[number, MailTemplate]> => [
      template.id,
      { ...template, pinned: await pinForMail(orgId, template.siteId, { template }) },
    ],
  );
  return new Map(await Promise.all(pinned));
}

const mentionsEvent = (
  { previewText }: SequenceStep,
  template: MailTemplate | undefined,
): boolean =>
  previewText?.includes("event") === true ||
  // Its variables are those at the last change of the template; those of its snippets may be new.
  template?.pinned !== undefined ||
  template?.variables.some((name) => /^event(?![\w-])/.test(name)) === true;

interface SequenceMailSender {
  orgId: number;
  /** The sequence. */
  id: number;
  mailContext: MailContext;
}

/** Throws 402 when neither the plan nor the credits cover the mails. */
export async function commitGroupWithMails(
  sender: SequenceMailSender,
  runs: EnrollmentRun[],
): Promise<boolean> {
  const { orgId, id, mailContext } = sender;
  const mailCount = runs.filter(({ mailStep }) => mailStep).length;
  if (!mailCount) return commitGroup(...(await prepareGroup(sender, runs, undefined)));
  const commitCharged = async ({ writes: chargeWrites, cost }: MailCharge) => {
    const [transitions, mailWrites] = await prepareGroup(sender, runs, cost);
    return commitGroup(transitions, [...mailWrites, ...chargeWrites]);
  };
  const order = {
    orgId,
    n: mailCount,
    reference: `sequence:${id}:${randomUUID()}`,
    siteSends: { siteId: mailContext.site.id, n: mailCount },
  };
  return chargeMails(order, commitCharged);
}

/** Stores the chunks of the mail. Nothing sends them before the returned writes are committed. */
async function prepareGroup(
  sender: SequenceMailSender,
  runs: EnrollmentRun[],
  cost: MailCost | undefined,
): Promise<[EnrollmentTransition[], Write[]]> {
  const { orgId, id, mailContext } = sender;
  const startedAt = now();
  const runsWithMail = runs.filter(({ mailStep }) => mailStep);
  const runsByStep = Map.groupBy(runsWithMail, ({ mailStep }) => mailStep!);
  const batches = [...runsByStep].map(([step, stepRuns]) => ({
    message: toMessage(sender, step, startedAt),
    contacts: stepRuns.map(({ contact }) => contact!),
    extraVariables: mailContext.extraVariables,
    isSuspended: false,
  }));
  const counted: SourceCountChange[] = runs.flatMap(({ mailStep, skippedSteps }) => [
    ...(mailStep ? [{ source: sourceOf(id, mailStep), counts: { candidates: 1 } }] : []),
    ...skippedSteps.map(({ step, reason }) => ({
      source: sourceOf(id, step),
      counts: { candidates: 1, [reason]: 1 },
    })),
  ]);
  // Contacts whose mail is skipped are counted even when no contact of the group gets mail.
  const { sendIds, writes } = batches.length
    ? await stageChunks(allocateCharges(batches, cost), counted)
    : {
        sendIds: new Map<number, number>(),
        writes: addSourceCountWrites(orgId, runs[0]?.transition.enrollment.contactId ?? 0, counted),
      };
  const transitions = runs.map(({ transition, mailStep }) =>
    mailStep
      ? withSendId(transition, mailStep, sendIds.get(transition.enrollment.contactId)!)
      : transition,
  );
  return [transitions, writes];
}

function withSendId(
  transition: EnrollmentTransition,
  step: SequenceStep,
  sendId: number,
): EnrollmentTransition {
  const { enrollment, to } = transition;
  return isEnd(to)
    ? transition
    : { ...transition, to: { ...to, sends: { ...enrollment.sends, [step.id]: sendId } } };
}

const sourceOf = (id: number, step: SequenceStep): MailSource => ({
  kind: "sequence",
  id,
  part: step.id,
});

function toMessage(
  { orgId, id, mailContext: { site, topic, bcc, config, templates, sequence } }: SequenceMailSender,
  step: SequenceStep,
  startedAt: Date,
): MarketingMessage {
  const template = templates.get(step.templateId!)!;
  const { name, pinned } = template;
  return {
    orgId,
    site,
    bcc,
    config: config!,
    sender: sequence,
    source: sourceOf(id, step),
    topic,
    template: pinTemplate(template),
    snippets: pinned,
    brand: pinBrand(site, { template, snippets: pinned, sources: [step.previewText] }),
    utm: toMarketingUtm(sequence.utm, { campaign: sequence.name, content: name }),
    previewText: step.previewText ?? undefined,
    startedAt,
  };
}

// One wake-up covers all commits of the next 30 seconds: it is delayed by twice the worker timeout,
// so those workers have ended when it arrives.
const wakeUpValidSeconds = 30;
const wakeUpDelaySeconds = 2 * queues.advance.timeoutSeconds;
const wakeUpUntil = new Map<string, number>();

/**
 * Enqueues a delayed wake-up of the lane. Call it before the commit: if the worker crashes between
 * the commit and
 * `lanes.announceArrival`, the message still starts the lane.
 */
export async function enqueueLaneWakeUp(orgId: number, configId: number): Promise<void> {
  const lane = `${orgId}/${configId}`;
  const ms = now().getTime();
  if ((wakeUpUntil.get(lane) ?? 0) > ms) return;
  await enqueue(queues.advance, [{ work: "lane", orgId, configId }], {
    group: orgId,
    delaySeconds: wakeUpDelaySeconds,
  });
  if (wakeUpUntil.size > 1000) wakeUpUntil.clear();
  wakeUpUntil.set(lane, ms + wakeUpValidSeconds * 1000);
}
