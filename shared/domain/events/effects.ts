// What else follows from an event, beside its send and the counters. Each effect is safe to repeat: a run that died before it
// counted makes them again.
import { canonical } from "../../email.ts";
import { inParallel } from "../../parallel.ts";
import type { EventType } from "../../providers/inbound/inbound.ts";
import * as suppressions from "../suppressions.ts";
import * as webhooks from "../webhooks.ts";
import type { Entry } from "./timeline.ts";
import { isAutomated, type TimelineItem } from "./timeline-item.ts";

export interface Happened {
  /** As it is after the event. */
  send: TimelineItem;
  entry: Entry;
  provider: string;
}

type Effect = (orgId: number, happened: Happened[]) => Promise<void>;

const reasons: Partial<Record<EventType, suppressions.Reason>> = {
  bounce: "bounce",
  spam_report: "spam_report",
  unsubscribe: "unsubscribe",
};

/** Bounces, hard or soft, and complaints keep all further mail away; who unsubscribes gets no more marketing. */
export async function suppress(
  orgId: number,
  reports: { email: string; type: EventType; detail?: string | undefined; provider: string }[],
): Promise<void> {
  const wanted = reports.flatMap(({ email, type, detail, provider }) => {
    const reason = reasons[type];
    return reason
      ? [{ email, reason, detail: detail?.replace(/\s+/g, " ").slice(0, suppressions.maxDetailLength) ?? null, source: provider }]
      : [];
  });
  // One address at a time: side by side they would only get in each other's way.
  const byAddress = [...Map.groupBy(wanted, ({ email }) => canonical(email)).values()];
  await inParallel(8, byAddress, async (some) => {
    for (const one of some) await suppressions.suppress(orgId, one);
  });
}

const suppressing: Effect = (orgId, happened) =>
  suppress(
    orgId,
    happened.map(({ send, entry, provider }) => ({ email: send.toEmail, type: entry.type, detail: entry.data?.reason, provider })),
  );

const forwarding: Effect = (orgId, happened) =>
  webhooks.announce(
    orgId,
    happened.map(({ send, entry }) => ({
      id: entry.id,
      event: entry.type,
      sendId: send.id,
      contactId: send.contactId ?? null,
      email: send.toEmail,
      timestamp: entry.at,
      data: { ...entry.data, ...(isAutomated(entry, send) && { automated: true }) },
    })),
  );

export const effects: Effect[] = [suppressing, forwarding];
