// A load: one chunk made ready for its provider.
import { type Packed, unpacked } from "../../bodies.ts";
import { get } from "../../doors/table.ts";
import { missing } from "../../errors.ts";
import { keys } from "../../keys.ts";
import { provider as providerOf } from "../../providers/index.ts";
import type { Mailing, Provider, Recipient } from "../../providers/provider.ts";
import * as sendingConfigs from "../sending-configs.ts";
import * as attachments from "./attachments.ts";
import * as chunks from "./chunks.ts";
import { type Composed, compose } from "./compose.ts";
import { type Content, wording } from "./content.ts";
import type { Waiting } from "./lanes.ts";
import { configOf, finalWords, inFlight, singlesInFlight } from "./provider-call.ts";
import type { Source } from "./sources.ts";

export type Line = chunks.Line;

export interface Load {
  orgId: number;
  waiting: Waiting;
  head: chunks.ChunkHead;
  lines: Line[];
  /** Of marketing mail. */
  source: Source | undefined;
  /** The lines to be sent, call by call. */
  calls: Line[][];
  /** Recipients to a call. */
  callSize: number;
  carrier: Carrier | undefined;
  /** Why there is no carrier, and never will be. */
  refusal: string;
}

/** What takes the lines of a chunk to their provider. */
export interface Carrier {
  config: sendingConfigs.SendingConfig;
  provider: Provider;
  credentials: Record<string, unknown>;
  /** The words for it when a line cannot be rendered. */
  flaw(line: Line): string | undefined;
  /** Calls that may be in flight at once. */
  width: number;
  /** Of lines that have no flaw. */
  mailing(lines: Line[]): Mailing;
}

/** Undefined when it has waited for longer than chunks are kept. */
export async function prepare(orgId: number, configId: number, waiting: Waiting): Promise<Load | undefined> {
  const stored = await chunks.read(orgId, waiting.block, waiting.chunk);
  if (!stored) return undefined;
  const { head, lines } = stored;
  const sendable = lines.filter(({ error }) => !error);
  let refusal = "";
  const carrier = await carrierOf(orgId, configId, waiting).catch((error: unknown) => {
    refusal = finalWords(error);
    return undefined;
  });
  const callSize = waiting.callSize ?? (carrier ? callSizeOf(carrier, sendable) : chunks.linesPerChunk);
  return { orgId, waiting, head, lines, source: head.source, calls: cut(sendable, callSize), callSize, carrier, refusal };
}

const callsInFlight = 4;

/** Throws `missing` when the config or the template is gone. */
async function carrierOf(orgId: number, configId: number, waiting: Waiting): Promise<Carrier> {
  const [item, config] = await Promise.all([get<Packed>(keys.content(orgId, waiting.block)), configOf(orgId, configId)]);
  if (!item) throw missing("It waited for so long that what it says is not kept any more");
  const content = await unpacked<Content>(item);
  const [words, files, credentials] = await Promise.all([
    wording(orgId, content),
    attachments.loaded(content.attachments),
    sendingConfigs.credentials(orgId, config),
  ]);
  const composed = compose(content, words, files);
  const isHeavy = inFlight(composed.common) < singlesInFlight;
  const provider = providerOf(config.provider)!;
  return { config, provider, credentials, width: isHeavy ? 1 : callsInFlight, ...rendering(waiting.block, composed) };
}

// A worker has 180 seconds for all it does.
const renderingMs = 60_000;
const tooSlow = "The template takes too long to render";

/** Each line is rendered when it is first asked for, and once. */
function rendering(block: number, { common, recipient }: Composed): Pick<Carrier, "flaw" | "mailing"> {
  const made = new Map<number, Recipient | string>();
  let leftMs = renderingMs;
  const of = (line: Line): Recipient | string => {
    const started = performance.now();
    const known = made.get(line.i);
    const one = known ?? (leftMs > 0 ? rendered(() => recipient({ sendId: chunks.idOf(block, line), ...line })) : tooSlow);
    made.set(line.i, one);
    leftMs -= performance.now() - started;
    return one;
  };
  return {
    flaw: (line) => {
      const one = of(line);
      return typeof one === "string" ? one : undefined;
    },
    mailing: (lines) => {
      const recipients = lines.map(of).filter((one) => typeof one !== "string");
      const { opens = common.trackOpens, clicks = common.trackClicks } = lines[0] ?? {};
      return { ...common, trackOpens: opens, trackClicks: clicks, recipients };
    },
  };
}

function rendered(make: () => Recipient): Recipient | string {
  try {
    return make();
  } catch (error) {
    return finalWords(error).slice(0, 150);
  }
}

// Mails to a call where a lost answer cannot be asked for again.
const unkeyedCall = 100;

/** The first lines stand for all: a call that proves too big for its batch form goes mail by mail. */
function callSizeOf(
  { config: { ratePerSecond, warmUp }, provider: { batch, idempotencySeconds }, mailing }: Carrier,
  lines: Line[],
): number {
  const together = batch ? Math.min(batch.max, idempotencySeconds ? batch.max : unkeyedCall) : 1;
  const first = mailing(lines.slice(0, together));
  const size = batch?.takes(first) ? together : inFlight(first);
  return Math.max(1, Math.min(size, Math.ceil(ratePerSecond ?? size), warmUp?.firstDayMails ?? size));
}

/** Lines in calls of at most `size`, each with one setting of tracking. From what is stored only, so that it is always the same. */
function cut(lines: Line[], size: number): Line[][] {
  const calls: Line[][] = [];
  for (const line of lines) {
    const last = calls.at(-1);
    if (last && last.length < size && last[0]!.opens === line.opens && last[0]!.clicks === line.clicks) last.push(line);
    else calls.push([line]);
  }
  return calls;
}
