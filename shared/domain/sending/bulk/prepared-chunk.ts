// Loads a chunk with all that its hand-over needs, and renders the mail of its recipients.

import { get } from "../../../adapters/dynamodb/table.ts";
import { nextTurn } from "../../../clock.ts";
import * as liquid from "../../../email/liquid.ts";
import { missing, Problem } from "../../../errors.ts";
import { type CompressedValue, decompress } from "../../../kernel/compressed-values.ts";
import * as log from "../../../kernel/log.ts";
import { keys } from "../../../keys.ts";
import { recipientFlaw } from "../../../providers/limits.ts";
import type { Mailing, ProviderAdapter, Recipient } from "../../../providers/provider-adapter.ts";
import { getProvider as providerOf } from "../../../providers/registry.ts";
import { decryptCredentials } from "../../senders/config-secrets.ts";
import type { SendingConfig } from "../../senders/sending-config-schema.ts";
import * as attachments from "../accept/attachments.ts";
import type { MailSource } from "../mail-sources.ts";
import {
  findConfig,
  limitParallelMails,
  maxParallelSingles,
  toPermanentMessage,
} from "../provider-calls/provider-call.ts";
import { type ComposedMail, compose } from "../rendering/compose.ts";
import { type LiquidMail, loadLiquidMail, type MailContent } from "../rendering/mail-content.ts";
import { createMailTracking, toProviderTracking } from "../rendering/own-tracking.ts";
import type { ChunkRecipient } from "./chunks.ts";
import * as chunks from "./chunks.ts";
import { maxParallelCalls, minParallelCalls } from "./parallel-calls.ts";
import type { QueuedChunk } from "./queued-chunk.ts";
import type { Runner } from "./runner.ts";

export interface PreparedChunk {
  orgId: number;
  queued: QueuedChunk;
  runner: Runner;
  head: chunks.ChunkHead;
  recipients: ChunkRecipient[];
  /** Set on marketing mail. */
  source: MailSource | undefined;
  /** The recipients of each call. */
  calls: ChunkRecipient[][];
  callSize: number;
  /** Accepted sends get items of their own at the hand-over. */
  needsItems: boolean;
  /** Absent when the mail can never be sent: see `refusalReason`. */
  transport: ChunkTransport | undefined;
  refusalReason: string;
}

/** Renders mail and names the provider account that it goes through. */
export interface ChunkTransport {
  config: SendingConfig;
  provider: ProviderAdapter;
  credentials: Record<string, unknown>;
  /** For each recipient, why the mail cannot be rendered, or undefined. */
  listFlaws(recipients: ChunkRecipient[]): Promise<(string | undefined)[]>;
  /** The most calls of this size in flight. */
  limitCalls(callSize: number): number;
  /** Leaves out recipients whose mail cannot be rendered. */
  toMailing(recipients: ChunkRecipient[]): Promise<Mailing>;
}

/** Undefined when the stored chunk has expired. */
export async function prepareChunk(
  orgId: number,
  configId: number,
  queued: QueuedChunk,
): Promise<Omit<PreparedChunk, "runner"> | undefined> {
  const stored = await chunks.getChunkForHandOver(orgId, queued.block, queued.chunk);
  if (!stored) return undefined;
  const { head, lines, needsItems } = stored;
  const recipients = chunks.withTranslations(head, lines);
  const sendable = recipients.filter(({ error }) => !error);
  const variants = [...new Map(sendable.map((one) => [variantKey(one), one])).values()];
  let refusalReason = "";
  const chunk = { configId, block: queued.block, variants, head };
  const transport = await loadTransport(orgId, chunk).catch((error: unknown) => {
    refusalReason = toPermanentMessage(error);
    return undefined;
  });
  const callSize =
    queued.callSize ??
    (transport ? await chooseCallSize(transport, sendable) : chunks.recipientsPerChunk);
  return {
    orgId,
    queued,
    head,
    recipients,
    source: head.source,
    calls: splitIntoCalls(sendable, callSize),
    callSize,
    needsItems,
    transport,
    refusalReason,
  };
}

/** Throws `missing` when the config or the template is gone. */
async function loadTransport(
  orgId: number,
  {
    configId,
    block,
    variants,
    head,
  }: { configId: number; block: number; variants: MailVariant[]; head: chunks.ChunkHead },
): Promise<ChunkTransport> {
  const [item, config] = await Promise.all([
    get<CompressedValue>(keys.bulkContent(orgId, block)),
    findConfig(orgId, configId),
  ]);
  // The content expired while the mail was paused, so the rest of the chunk is cancelled.
  if (!item) throw missing("cancelled");
  const content = chunks.withSenderOf(head, await decompress<MailContent>(item));
  const [files, credentials, ...fields] = await Promise.all([
    attachments.loadAttachments(content.attachments),
    decryptCredentials(orgId, config),
    ...(variants.length ? variants : [{}]).map((variant) => loadVariant(orgId, content, variant)),
  ]);
  const mails = new Map(
    fields.map((field, i) => {
      const { common, ...mail } = compose(content, field, files);
      const key = variantKey(variants[i] ?? {});
      return [key, { ...mail, common: { ...common, configId: config.id } }];
    }),
  );
  const provider = providerOf(config.provider)!;
  return {
    config,
    provider,
    credentials,
    limitCalls: (callSize) =>
      Math.min(...[...mails.values()].map(({ common }) => limitCalls(common, callSize, config))),
    ...createRenderer(block, mails, provider),
  };
}

/** What makes the text of the mail that recipients share differ between them. */
type MailVariant = Pick<ChunkRecipient, "locale" | "opens" | "clicks">;

/** The key of the mail of a recipient. */
export const variantKey = ({ locale, opens, clicks }: MailVariant): string =>
  JSON.stringify([locale, opens, clicks]);

async function loadVariant(
  orgId: number,
  content: MailContent,
  variant: MailVariant,
): Promise<LiquidMail> {
  const [fields, tracking] = await Promise.all([
    loadLiquidMail(orgId, { ...content, locale: variant.locale }),
    createMailTracking(orgId, content, variant),
  ]);
  return { ...fields, tracking };
}

// Characters of the mails of all calls in flight. Some providers get each mail as a whole.
const maxCharactersInFlight = 64_000_000;

function limitCalls(
  common: ComposedMail["common"],
  callSize: number,
  { ratePerSecond }: Pick<ChunkTransport["config"], "ratePerSecond">,
): number {
  if (limitParallelMails(common) < maxParallelSingles) return 1;
  // A call this small may be as many calls with one mail each. A known rate limits them.
  if (callSize <= maxParallelSingles) return ratePerSecond ? maxParallelCalls : minParallelCalls;
  const characters = [...(common.html ?? []), ...(common.text ?? [])].reduce<number>(
    (sum, piece) => sum + (typeof piece === "string" ? piece.length : 0),
    1,
  );
  const bySize = Math.floor(maxCharactersInFlight / (callSize * characters));
  return Math.max(minParallelCalls, Math.min(maxParallelCalls, bySize));
}

// Rendering yields to the event loop after this many units of work, which take a few milliseconds.
const unitsPerTurn = 1_000_000;

/**
 * Renders each recipient once, on first use. All recipients of a chunk share one rendering budget.
 * The recipients of one mailing get the same of the mails, which are named by `variantKey`.
 */
export function createRenderer(
  block: number,
  mails: ReadonlyMap<string, ComposedMail>,
  provider: ProviderAdapter,
): Pick<ChunkTransport, "listFlaws" | "toMailing"> {
  // A string says why the recipient's mail cannot be rendered.
  const renderedByIndex = new Map<number, Recipient | string>();
  const mailOf = (variant: MailVariant) =>
    mails.get(variantKey(variant)) ?? [...mails.values()][0]!;
  const pool = liquid.newPool();
  let unitsSinceTurn = 0;
  const renderOnce = async (recipient: ChunkRecipient): Promise<Recipient | string> => {
    const known = renderedByIndex.get(recipient.i);
    if (known !== undefined) return known;
    if (unitsSinceTurn > unitsPerTurn) {
      await nextTurn();
      unitsSinceTurn = 0;
    }
    const budget = new liquid.Budget({ pool });
    const addressee = { sendId: chunks.sendIdOf(block, recipient), ...recipient };
    const { common, renderRecipient } = mailOf(recipient);
    const rendered = tryRender(
      () => renderRecipient(addressee, budget),
      (result) => recipientFlaw(provider, common, result),
    );
    unitsSinceTurn += budget.used;
    renderedByIndex.set(recipient.i, rendered);
    return rendered;
  };
  const renderAll = async (recipients: ChunkRecipient[]) => {
    const rendered: (Recipient | string)[] = [];
    for (const recipient of recipients) rendered.push(await renderOnce(recipient));
    return rendered;
  };
  return {
    listFlaws: async (recipients) =>
      (await renderAll(recipients)).map((result) =>
        typeof result === "string" ? result : undefined,
      ),
    toMailing: async (recipients) => {
      const rendered = (await renderAll(recipients)).filter((result) => typeof result !== "string");
      const mail = mailOf(recipients[0] ?? {});
      const tracking = toProviderTracking(mail, recipients[0] ?? {});
      return { ...mail.common, ...tracking, recipients: rendered };
    },
  };
}

function tryRender(
  render: () => Recipient,
  flawOf: (rendered: Recipient) => string | undefined,
): Recipient | string {
  try {
    const rendered = render();
    return flawOf(rendered) ?? rendered;
  } catch (error) {
    if (error instanceof Problem) return toPermanentMessage(error).slice(0, 150);
    log.error("mail could not be rendered", error);
    return "The mail could not be rendered";
  }
}

// A lost response makes this many mails uncertain when the provider has no idempotency keys.
const maxCallSizeWithoutKey = 100;

/**
 * Judges by the first recipients. A call that turns out too big for the provider's batch call is
 * made mail by mail.
 */
async function chooseCallSize(
  {
    config: { ratePerSecond, warmUp },
    provider: { batch, idempotencySeconds },
    toMailing,
  }: ChunkTransport,
  recipients: ChunkRecipient[],
): Promise<number> {
  const batchSize = batch
    ? Math.min(batch.max, idempotencySeconds ? batch.max : maxCallSizeWithoutKey)
    : 1;
  const key = variantKey(recipients[0] ?? {});
  const alike = recipients.filter((recipient) => variantKey(recipient) === key);
  const first = await toMailing(alike.slice(0, batchSize));
  const size = batch?.supports(first) ? batchSize : limitParallelMails(first);
  return Math.max(
    1,
    Math.min(size, Math.ceil(ratePerSecond ?? size), warmUp?.firstDayMails ?? size),
  );
}

/**
 * Calls of at most `size` recipients with one translation and equal tracking settings.
 * Deterministic, because it depends on stored data only.
 */
export const splitIntoCalls = (recipients: ChunkRecipient[], size: number): ChunkRecipient[][] =>
  [...Map.groupBy(recipients, ({ locale }) => locale).values()].flatMap((alike) =>
    splitByTracking(alike, size),
  );

function splitByTracking(recipients: ChunkRecipient[], size: number): ChunkRecipient[][] {
  const calls: ChunkRecipient[][] = [];
  for (const recipient of recipients) {
    const last = calls.at(-1);
    const first = last?.[0];
    const fits =
      last &&
      last.length < size &&
      first?.opens === recipient.opens &&
      first?.clicks === recipient.clicks;
    if (fits) last.push(recipient);
    else calls.push([recipient]);
  }
  return calls;
}
