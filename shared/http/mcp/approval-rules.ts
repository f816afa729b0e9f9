// Which calls mail many people or change what is paid, and what an agent must show before it makes
// one. The rules read with the caller's key.
import { isObject } from "../../kernel/json.ts";
import type { OperationArguments } from "./call-api.ts";
import { ToolFailure } from "./tool-failure.ts";

/** Calls that mail at most this many people at once need no approval. */
const maxWithoutApproval = 10;

export interface MassMailing {
  /** What the agent shows to the user. */
  preview: Record<string, unknown>;
  /** If any of it changes, an approval is void. */
  approved: unknown;
}

/** Calls an operation that changes nothing, and returns `data`. */
export type ReadApi = (operation: string, args: OperationArguments) => Promise<unknown>;

/**
 * Returns what the call would mail, or undefined if it mails at most ten people. Throws
 * `ToolFailure` for a call that agents may not make.
 */
export type ApprovalRule = (
  args: OperationArguments,
  read: ReadApi,
) => Promise<MassMailing | undefined>;

/** The rules by operation. All other operations mail at most ten people. */
export const approvalRules: Record<string, ApprovalRule> = {
  sendCampaign: previewCampaign,
  scheduleCampaign: previewCampaign,
  resendCampaign: refuseImmediateResend,
  resumeCampaign: previewRestOfCampaign,
  updateCampaign: refuseScheduledCampaign,
  createCampaignVariant: refuseScheduledCampaign,
  updateCampaignVariant: refuseScheduledCampaign,
  deleteCampaignVariant: refuseScheduledCampaign,
  updateTemplate: refuseTemplateOfScheduled,
  restoreTemplate: refuseTemplateOfScheduled,
  updateSnippet: refuseSnippetOfScheduled,
  restoreSnippet: refuseSnippetOfScheduled,
  updateSegment: refuseContentOfScheduled(({ segmentId, audience }) => [
    segmentId,
    ...(audience?.segments ?? []),
    ...(audience?.exclude.segments ?? []),
  ]),
  sendEmail: limitAddresses,
  sendEmailBatch: previewBatch,
  sendEmailList: limitEmailList,
  createCampaignSeries: refuseActiveSeries,
  updateCampaignSeries: refuseRunningSeries,
  resumeCampaignSeries: refuseResumedSeries,
  createHoliday: refuseHoliday,
  updateHoliday: refuseHoliday,
  enrollSequenceContacts: limitEnrollments,
  createSequenceEnrollment: limitEnrollments,
  updateSequence: previewRelease,
  updateSequenceStep: previewStepChange,
  replaceSequenceSteps: previewReplacedSteps,
  deleteSequenceStep: previewStepChange,
  publishSequenceDraft: previewPublishedSteps,
  upsertContacts: previewAddedContacts,
  addListContacts: previewAddedContacts,
  createContactAction: previewContactAction,
  createImport: previewImport,
  changePlan: refusePlanChange,
  cancelPlan: refusePayment,
};

interface CampaignPreview {
  fingerprint: string;
  samples: { subject: string; text: string; missingVariables: string[]; error: string | null }[];
  [count: string]: unknown;
}
const [maxSamples, maxSampleCharacters] = [2, 400];

async function previewCampaign({ id }: OperationArguments, read: ReadApi): Promise<MassMailing> {
  const { samples, ...counts } = (await read("previewCampaign", { id })) as CampaignPreview;
  const shown = samples.slice(0, maxSamples).map(({ subject, text, missingVariables, error }) => ({
    subject,
    text: text.slice(0, maxSampleCharacters),
    missingVariables,
    error,
  }));
  const { fingerprint, ...figures } = counts;
  return { preview: { ...figures, samples: shown }, approved: counts };
}

/** A draft has a preview that the user can approve. */
async function refuseImmediateResend({ body }: OperationArguments): Promise<undefined> {
  if (isObject(body) && body.draft === true) return;
  throw new ToolFailure(
    "approval_impossible",
    "Agents cannot send a campaign again at once, because it has no preview yet",
    { remedy: "Set draft to true, and send the new campaign with sendCampaign." },
  );
}

/** A paused campaign keeps its content, so only the number of waiting emails counts. */
async function previewRestOfCampaign(
  { id }: OperationArguments,
  read: ReadApi,
): Promise<MassMailing> {
  const { status, statusReason, accounting } = (await read("getCampaign", { id })) as {
    status: string;
    statusReason: string | null;
    accounting: { queued: number };
  };
  const preview = { status, statusReason, waitingEmails: accounting.queued };
  return { preview, approved: preview };
}

const seriesRemedy =
  "Create the series with the status paused, and ask the user to resume it in the console.";

async function refuseActiveSeries({ body }: OperationArguments): Promise<undefined> {
  if (isObject(body) && body.status === "paused") return;
  return refuseResumedSeries();
}

async function refuseResumedSeries(): Promise<undefined> {
  throw new ToolFailure(
    "approval_impossible",
    "Agents cannot start recurring campaigns, because later recipients have no preview yet",
    { remedy: seriesRemedy },
  );
}

async function refuseRunningSeries({ id }: OperationArguments, read: ReadApi): Promise<undefined> {
  const { status } = (await read("getCampaignSeries", { id })) as { status: string };
  if (status === "active")
    throw new ToolFailure(
      "approval_impossible",
      "Agents cannot change recurring campaigns that are active",
      { remedy: "Pause the series first, and ask the user to resume it in the console." },
    );
}

async function refuseScheduledCampaign(
  { id }: OperationArguments,
  read: ReadApi,
): Promise<undefined> {
  const { status } = (await read("getCampaign", { id })) as { status: string };
  if (status === "scheduled")
    throw new ToolFailure(
      "approval_impossible",
      "Agents cannot change a campaign that is scheduled, because its preview was approved",
      { remedy: "Ask the user to change it, or cancel it and create another one." },
    );
}

interface CampaignContent {
  id: number;
  templateId: number | null;
  segmentId: number | null;
  audience: { segments: number[]; exclude: { segments: number[] } } | null;
  variants: { templateId: number | null }[];
}

/** For a template or a segment whose campaign was approved and has not started yet. */
function refuseContentOfScheduled(
  idsOf: (campaign: CampaignContent) => (number | null)[],
): ApprovalRule {
  return async ({ id }, read) => {
    for await (const campaign of readScheduledCampaigns(read))
      if (idsOf(campaign).includes(Number(id)))
        throw new ToolFailure(
          "approval_impossible",
          `The scheduled campaign ${campaign.id} uses it, so agents cannot change it any more`,
          { remedy: "Ask the user to change it, or use a new template or segment." },
        );
    return undefined;
  };
}

function refuseTemplateOfScheduled(
  args: OperationArguments,
  read: ReadApi,
): ReturnType<ApprovalRule> {
  const refuse = refuseContentOfScheduled(({ templateId, variants }) => [
    templateId,
    ...variants.map((variant) => variant.templateId),
  ]);
  return refuse(args, read);
}

interface SnippetUse {
  kind: string;
  id: number;
}

async function refuseSnippetOfScheduled(
  { id }: OperationArguments,
  read: ReadApi,
): Promise<undefined> {
  const open = [Number(id)];
  const seen = new Set(open);
  for (let snippet = open.pop(); snippet !== undefined; snippet = open.pop()) {
    const { uses } = (await read("listSnippetUses", { id: snippet })) as { uses: SnippetUse[] };
    for (const use of uses) {
      if (use.kind === "template") await refuseTemplateOfScheduled({ id: use.id }, read);
      if (use.kind === "campaign") await refuseScheduledCampaign({ id: use.id }, read);
      if (use.kind !== "snippet" || seen.has(use.id)) continue;
      seen.add(use.id);
      open.push(use.id);
    }
  }
}

async function* readScheduledCampaigns(read: ReadApi): AsyncGenerator<CampaignContent> {
  const scheduled = readAll<{ id: number }>(read, "listCampaigns", { status: "scheduled" });
  // The list has no variants.
  for await (const { id } of scheduled)
    yield (await read("getCampaign", { id })) as CampaignContent;
}

/** The items of all pages of a list. */
async function* readAll<T>(
  read: ReadApi,
  operation: string,
  filter: OperationArguments,
): AsyncGenerator<T> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = { ...filter, limit: 100, ...(cursor !== undefined && { cursor }) };
    const { pagination, ...lists } = (await read(operation, page)) as {
      pagination: { nextCursor: string | null };
    };
    yield* Object.values(lists as Record<string, T[]>).flat();
    cursor = pagination.nextCursor;
  }
}

async function limitAddresses({ body }: OperationArguments): Promise<undefined> {
  if (countAddresses(body) > maxWithoutApproval)
    throw new ToolFailure(
      "approval_impossible",
      `Agents can send one email to at most ${maxWithoutApproval} addresses`,
      { remedy: "Use sendEmailBatch, which sends to each recipient alone." },
    );
}

async function limitEmailList({ body }: OperationArguments): Promise<undefined> {
  const messages = isObject(body) && Array.isArray(body.messages) ? body.messages : [];
  const addresses = messages.reduce<number>((sum, message) => sum + countAddresses(message), 0);
  if (addresses > maxWithoutApproval)
    throw new ToolFailure(
      "approval_impossible",
      `Agents can send different emails to at most ${maxWithoutApproval} addresses at once`,
      { remedy: "Send fewer, or use sendEmailBatch for the same content." },
    );
}

function countAddresses(message: unknown): number {
  const { to, cc, bcc } = isObject(message) ? message : {};
  return [to, cc, bcc].flat().filter((address) => address !== undefined).length;
}

async function previewBatch(
  { body }: OperationArguments,
  read: ReadApi,
): Promise<MassMailing | undefined> {
  if (countOf(body, "recipients") <= maxWithoutApproval) return undefined;
  const { fingerprint, ...preview } = (await read("previewEmailBatch", { body })) as {
    fingerprint: string;
  };
  return { preview, approved: [fingerprint, preview] };
}

/** The preview of a change costs nothing. */
async function refusePlanChange({ body }: OperationArguments): Promise<undefined> {
  if (isObject(body) && body.confirm !== true) return;
  return refusePayment();
}

async function refusePayment(): Promise<never> {
  throw new ToolFailure(
    "approval_impossible",
    "Agents cannot change or cancel the plan, because it is paid",
    { remedy: "Ask the user to do it." },
  );
}

async function refuseHoliday({ body }: OperationArguments): Promise<undefined> {
  if (isObject(body) && body.status === "cancelled") return;
  throw new ToolFailure(
    "approval_impossible",
    "Agents cannot schedule or change holiday emails: who gets one is only known on its day",
    { remedy: "Ask the user to do it." },
  );
}

async function limitEnrollments({ body }: OperationArguments): Promise<undefined> {
  if (countOf(body, "contactIds") > maxWithoutApproval) refuseManyEnrollments();
}

function refuseManyEnrollments(): never {
  throw new ToolFailure(
    "approval_impossible",
    `Agents can enroll at most ${maxWithoutApproval} contacts at once, because the first email ` +
      "of a sequence goes out at once",
    { remedy: "Enroll fewer, or ask the user to do it." },
  );
}

interface SequenceDetail {
  status: string;
  updatedAt: string;
  steps: {
    id: number;
    type: string;
    delayMinutes: number | null;
    stats: { waiting: number };
  }[];
  stats: { active: number };
}

/** Contacts continue when their sequence becomes active, or when its send window opens. */
async function previewRelease(
  { id, body }: OperationArguments,
  read: ReadApi,
): Promise<MassMailing | undefined> {
  if (!isObject(body) || (body.status !== "active" && body.sendWindow === undefined))
    return undefined;
  const { status, updatedAt, stats } = (await read("getSequenceDetail", { id })) as SequenceDetail;
  const isActive = (body.status ?? status) === "active";
  const releases = isActive && (status !== "active" || body.sendWindow !== undefined);
  if (!releases || stats.active <= maxWithoutApproval) return undefined;
  const preview = { contactsThatContinue: stats.active };
  return { preview, approved: [preview, updatedAt] };
}

/** Contacts that wait at a step continue if it is deleted or its delay becomes shorter. */
async function previewStepChange(
  { id, stepId, body }: OperationArguments,
  read: ReadApi,
): Promise<MassMailing | undefined> {
  if (isObject(body) && body.delayMinutes === undefined) return undefined;
  const { steps, updatedAt } = (await read("getSequenceDetail", { id })) as SequenceDetail;
  const waiting = steps.find((step) => step.id === Number(stepId))?.stats.waiting ?? 0;
  if (waiting <= maxWithoutApproval) return undefined;
  const preview = { contactsThatWaitAtTheStep: waiting };
  return { preview, approved: [preview, updatedAt] };
}

/** A new send window and changed or deleted steps can all let contacts continue. */
async function previewReplacedSteps(
  args: OperationArguments,
  read: ReadApi,
): Promise<MassMailing | undefined> {
  const released = await previewRelease(args, read);
  if (released) return released;
  const given = isObject(args.body) && Array.isArray(args.body.steps) ? args.body.steps : [];
  const { steps, updatedAt } = (await read("getSequenceDetail", { id: args.id })) as SequenceDetail;
  const moved = steps.filter(({ id, type, delayMinutes }) => {
    const step = given.filter(isObject).find((other) => other.id === id);
    return step?.type !== type || (step?.delayMinutes ?? null) !== delayMinutes;
  });
  const waiting = moved.reduce((sum, { stats }) => sum + stats.waiting, 0);
  if (waiting <= maxWithoutApproval) return undefined;
  const preview = { contactsThatWaitAtChangedSteps: waiting };
  return { preview, approved: [preview, updatedAt] };
}

async function previewPublishedSteps(
  { id }: OperationArguments,
  read: ReadApi,
): Promise<MassMailing | undefined> {
  const { draftVersion, steps, sendWindow } = (await read("getSequenceDraft", { id })) as {
    draftVersion: number;
    steps: object[];
    sendWindow?: unknown;
  };
  const mailing = await previewReplacedSteps({ id, body: { steps, sendWindow } }, read);
  return mailing && { ...mailing, approved: [mailing.approved, draftVersion] };
}

interface ActiveSequence {
  id: number;
  name: string;
  triggerType: string;
  updatedAt: string;
}

interface ScheduledCampaign {
  id: number;
  name: string;
  scheduledAt: string | null;
}

/** New contacts can start sequences, and scheduled campaigns reach them too. */
async function previewAddedContacts(
  { body }: OperationArguments,
  read: ReadApi,
): Promise<MassMailing | undefined> {
  const contacts = countOf(body, "contacts") + countOf(body, "contactIds");
  if (contacts <= maxWithoutApproval) return undefined;
  return previewReach(contacts, await listTriggeredSequences(read), read);
}

/** The option is a field of the body, or a parameter. */
async function previewImport(
  { body, startSequences }: OperationArguments,
  read: ReadApi,
): Promise<MassMailing | undefined> {
  const options = isObject(body) ? [startSequences, body.startSequences] : [startSequences];
  const starts = options.some((option) => option !== undefined && String(option) !== "false");
  const sequences = starts ? await listTriggeredSequences(read) : [];
  return previewReach("all rows of the file", sequences, read);
}

interface ContactActionPreview {
  count: number;
  summary: string;
  startsSequences: { id: number; name: string }[];
}

/** Joined tags, lists and topics can bring contacts into the audience of scheduled campaigns. */
const actionsThatAdd = ["add_tag", "add_to_list", "join_topic"];

async function previewContactAction(
  { body }: OperationArguments,
  read: ReadApi,
): Promise<MassMailing | undefined> {
  const preview = (await read("previewContactAction", { body })) as ContactActionPreview;
  if (preview.count <= maxWithoutApproval) return undefined;
  const action = isObject(body) ? String(body.action) : "";
  if (action === "enroll") refuseManyEnrollments();
  const sequences = actionsThatAdd.includes(action) ? await listTriggeredSequences(read) : [];
  const reach = actionsThatAdd.includes(action)
    ? await previewReach(preview.count, sequences, read)
    : undefined;
  const shown = { ...reach?.preview, ...preview };
  return { preview: shown, approved: [shown, reach?.approved] };
}

/** Active sequences that a list or a tag starts. */
async function listTriggeredSequences(read: ReadApi): Promise<ActiveSequence[]> {
  const triggered: ActiveSequence[] = [];
  const active = readAll<ActiveSequence>(read, "listSequences", { status: "active" });
  for await (const sequence of active)
    if (/^(tag_add|list_join)$/.test(sequence.triggerType)) triggered.push(sequence);
  return triggered;
}

async function previewReach(
  contacts: number | string,
  sequences: ActiveSequence[],
  read: ReadApi,
): Promise<MassMailing | undefined> {
  const campaigns: ScheduledCampaign[] = [];
  const scheduled = readAll<ScheduledCampaign>(read, "listCampaigns", { status: "scheduled" });
  for await (const { id, name, scheduledAt } of scheduled)
    campaigns.push({ id, name, scheduledAt });
  if (!sequences.length && !campaigns.length) return undefined;
  const preview = {
    contacts,
    sequencesThatMayStart: sequences.map(({ id, name, triggerType }) => ({
      id,
      name,
      triggerType,
    })),
    scheduledCampaignsThatMayReachThem: campaigns,
  };
  return { preview, approved: [preview, sequences.map(({ updatedAt }) => updatedAt)] };
}

/** Length of a list in the body. */
const countOf = (body: unknown, field: string): number => {
  const list = isObject(body) ? body[field] : undefined;
  return Array.isArray(list) ? list.length : 0;
};
