// Opens and clicks that our own tracking records. A visit is queued like an event of a provider, so
// everything that follows is the same: counters, history, segments, scoring and webhooks. The
// tokens name everything, so only the host name of a tracking domain is looked up, once a minute.
import { createHash } from "node:crypto";
import { domainToASCII } from "node:url";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { now } from "../../clock.ts";
import * as ids from "../../ids.ts";
import * as log from "../../kernel/log.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { queues } from "../../queues.ts";
import { findSiteOfHost } from "../identity/tracking-hosts.ts";
import { openLinkToken, openSendToken, probeSendId } from "../sending/rendering/own-tracking.ts";

/** A request for a link or a pixel. */
export interface Visit {
  method: string;
  /** Names are lower-case. */
  headers: Record<string, string | undefined>;
  ipAddress: string;
}

/** Records an open. False for a token that is not valid. */
export async function recordOpen(token: string, visit: Visit): Promise<boolean> {
  const send = await openSendToken(token);
  if (!send || !(await isAtOwnHost(send, visit))) return false;
  await record(send, visit);
  return true;
}

/** Records a click and returns the target as a header value. Undefined: a token is not valid. */
export async function recordClick(
  { token, link }: { token: string; link: string },
  visit: Visit,
): Promise<string | undefined> {
  const [send, target] = await Promise.all([openSendToken(token), openLinkToken(link)]);
  if (!send || send.orgId !== target?.orgId) return undefined;
  if (!(await isAtOwnHost(send, visit))) return undefined;
  if (send.sendId !== probeSendId) await record({ ...send, url: target.url }, visit);
  return toLocation(target.url);
}

type OpenedSend = NonNullable<Awaited<ReturnType<typeof openSendToken>>>;

/** False at the tracking domain of another site. */
async function isAtOwnHost({ orgId, siteId }: OpenedSend, { headers }: Visit): Promise<boolean> {
  const owner = await findSiteOfHost(headers.host);
  return !owner || (owner.orgId === orgId && owner.siteId === siteId);
}

/**
 * The URL in ASCII, as a browser encodes it. What is ASCII already stays as it is: it arrives byte
 * for byte.
 */
export function toLocation(url: string): string {
  const [, scheme = "", authority = "", rest = ""] = /^(https?:\/\/)([^/?#\\]*)(.*)$/is.exec(url)!;
  const [, user = "", host = "", port = ""] = /^(.*@)?(.*?)(:\d*)?$/s.exec(authority)!;
  const hostInAscii = isAscii(host) ? host : domainToASCII(host);
  return scheme + encode(user) + hostInAscii + port + encode(rest);
}

const isAscii = (text: string): boolean => /^[\x21-\x7e]*$/.test(text);

const encode = (text: string): string => text.replace(/[^\x21-\x7e]+/g, encodeURIComponent);

const maxTextLength = 1000;
const secondsOfOneVisit = 60;
const maxVisitsPerMinute = 100;
/** Numbers of visits that were queued, by send and minute. Only bounds what one process queues. */
const visitCounts = createLruCache<number>(20_000);
const queuedVisits = createLruCache<true>(20_000);

/** Never throws: the person gets to the target in any case. */
async function record(
  { orgId, sendId, url }: { orgId: number; sendId: number; url?: string },
  visit: Visit,
): Promise<void> {
  const at = now();
  const minute = Math.floor(at.getTime() / 1000 / secondsOfOneVisit);
  const { "user-agent": userAgent = "" } = visit.headers;
  const type = url === undefined ? ("open" as const) : ("click" as const);
  const isAutomated = isMachine(visit);
  // What one client does in a minute is one event, however often it repeats the request.
  const visitId = hash([orgId, sendId, type, url, visit.ipAddress, userAgent, isAutomated, minute]);
  const countKey = `${orgId} ${sendId} ${minute}`;
  const count = visitCounts.get(countKey) ?? 0;
  if (queuedVisits.get(visitId) || count >= maxVisitsPerMinute) return;
  try {
    const event = {
      id: await ids.nextEventIds(1),
      type,
      email: "",
      sendId,
      providerEventId: visitId,
      timestamp: at.toISOString(),
      data: {
        ...(url !== undefined && { url: url.slice(0, maxTextLength).toWellFormed() }),
        ...(userAgent.trim() && { userAgent: userAgent.slice(0, maxTextLength).toWellFormed() }),
      },
      ipAddress: visit.ipAddress,
      own: true as const,
      ...(isAutomated && { automated: true as const }),
    };
    const message = { orgId, provider: "tracking", events: [event] };
    await enqueue(queues.providerEvents, [message], { group: orgId });
    queuedVisits.set(visitId, true, 1);
    visitCounts.set(countKey, count + 1, 1);
  } catch (error) {
    log.error("a click or open could not be recorded", error, { orgId, sendId });
  }
}

const hash = (parts: unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");

/** Whether a machine follows the link. Its user agent is judged later, with the event. */
function isMachine({ method, headers }: Visit): boolean {
  const purpose = [headers["sec-purpose"], headers.purpose, headers["x-purpose"], headers["x-moz"]];
  return (
    method === "HEAD" ||
    !headers["user-agent"]?.trim() ||
    purpose.some((value) => /prefetch|preview|prerender/i.test(value ?? ""))
  );
}
