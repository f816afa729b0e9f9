// A provider's call at the edge: proven, put into our words, queued and answered. What it does to sends comes later, from the queue.
import { createHash } from "node:crypto";
import { epochSeconds, now } from "../../clock.ts";
import { absent, any, equals, isNew } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { claim, put, update } from "../../doors/table.ts";
import * as web from "../../doors/web.ts";
import { missing, Problem } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { keys } from "../../keys.ts";
import { chunked } from "../../parallel.ts";
import type { Inbound, Notice, ProviderEvent, Reading } from "../../providers/inbound/inbound.ts";
import { inbound as inboundOf } from "../../providers/inbound/index.ts";
import { queues } from "../../queues.ts";
import * as certificates from "./certificates.ts";
import { type InboundConfig, inboundConfig } from "./inbound-configs.ts";

/**
 * Throws 404 for an unknown config; for a call that is not proven, and for one that could not be stored, the status that this
 * provider understands as "do not come again" and "come again".
 */
export async function receive(provider: string, configId: number, notice: Notice): Promise<void> {
  const inbound = inboundOf(provider)!;
  if (inbound.probe?.(notice)) return;
  const config = await trying(inbound, () => inboundConfig(configId));
  if (!config || config.provider !== provider) throw missing("There is no such sending config");
  if (!(await trying(inbound, () => proven(inbound, config, notice)))) throw forged(inbound);
  const reading = inbound.read(notice);
  await trying(inbound, () => accept(inbound, config, configId, notice, reading));
}

// Where the proof is the secret in the URL, `genuine` compares it, in constant time.
const proven = async (inbound: Inbound, { secret }: InboundConfig, notice: Notice): Promise<boolean> =>
  Boolean(secret) && inbound.genuine(notice, secret!, now(), certificates.fetched);

const forged = ({ statuses }: Inbound) => new Problem("unauthenticated", "Unauthorized", { status: statuses.forged });

/** An outage of ours must not lose an event: the provider is told to come again. */
async function trying<T>({ statuses }: Inbound, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem("unavailable", "We could not take this now", { status: statuses.busy, cause: error });
  }
}

async function accept(inbound: Inbound, config: InboundConfig, configId: number, notice: Notice, reading: Reading): Promise<void> {
  const { events, confirm, source, onceToken } = reading;
  if (source !== undefined && !(await fromSameSource(config, configId, source))) throw forged(inbound);
  if (onceToken !== undefined && !(await firstUse(configId, onceToken, notice))) throw forged(inbound);
  if (confirm !== undefined) await confirmed(confirm);
  if (events.length) await queue(config, events);
}

async function confirmed(url: string): Promise<void> {
  const { status } = await web.call({ url: certificates.redirected(url), timeoutSeconds: 10, maxBytes: 100_000 });
  if (status >= 300) throw new Error(`The subscription could not be confirmed: status ${status}`);
}

// The first topic that a config hears from is its own; another one is somebody else's.
async function fromSameSource({ source: known }: InboundConfig, configId: number, source: string): Promise<boolean> {
  if (known !== undefined) return known === source;
  const mine = any(absent("source"), equals("source", source));
  return claim(update(keys.inboundConfig(configId), { set: { source } }, { if: mine }));
}

// The signature does not cover the body, so its token is good for one body. The same call again is a retry.
const tokenSeconds = 2 * 24 * 3600;
const firstUse = (configId: number, token: string, { rawBody }: Notice): Promise<boolean> => {
  const body = createHash("sha256").update(rawBody).digest("hex");
  const free = any(isNew, equals("body", body));
  return claim(put(keys.onceToken(configId, token), { body, expires: epochSeconds() + tokenSeconds }, { if: free }));
};

const mostPerMessage = 200;
const mostBytes = 200_000;

async function queue({ orgId, provider }: InboundConfig, events: ProviderEvent[]): Promise<void> {
  const first = await ids.takeEvents(events.length);
  const numbered = events.map((event, i) => ({ ...event, id: first + i }));
  const messages = chunked(numbered, mostPerMessage).flatMap(fitting);
  await enqueue(
    queues.providerEvents,
    messages.map((some) => ({ orgId, provider, events: some })),
    { group: orgId },
  );
}

// 256 KB is the most that one message takes.
function fitting<T>(events: T[]): T[][] {
  if (events.length <= 1 || Buffer.byteLength(JSON.stringify(events)) <= mostBytes) return [events];
  const half = Math.ceil(events.length / 2);
  return [...fitting(events.slice(0, half)), ...fitting(events.slice(half))];
}
