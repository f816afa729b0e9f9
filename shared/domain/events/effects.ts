// What else follows from an event, beside its send and the counters. Each effect is safe to repeat: a run that died before it
// counted makes them again.
import { canonical, domainOf } from "../../email.ts";
import { inParallel } from "../../parallel.ts";
import type { EventType } from "../../providers/inbound/inbound.ts";
import * as engagement from "../contacts/engagement.ts";
import * as standing from "../contacts/standing.ts";
import { allHappened, type Happening } from "../scoring.ts";
import type { Trigger } from "../scoring-rules.ts";
import * as slowDomains from "../sending/slow-domains.ts";
import * as suppressions from "../suppressions.ts";
import * as webhooks from "../webhooks.ts";
import type { Entry } from "./timeline.ts";
import { isAutomated, nameOf, type TimelineItem } from "./timeline-item.ts";

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
  suppress(orgId, happened.filter(({ entry }) => entry.type !== "unsubscribe").map(reportOf));

const reportOf = ({ send, entry, provider }: Happened) => ({ email: send.toEmail, type: entry.type, detail: entry.data?.reason, provider });

/** Who unsubscribes leaves the site that wrote; an address without a contact is remembered for the whole organization. */
const leaving: Effect = async (orgId, happened) => {
  const left = happened.filter(({ entry }) => entry.type === "unsubscribe");
  const contacts = await engagement.contactsOf(
    orgId,
    left.map(({ send }) => send),
  );
  const stayed = await inParallel(8, left, async (_, i) => !(contacts[i] && (await standing.wish(contacts[i], "unsubscribed"))));
  await suppress(orgId, left.filter((_, i) => stayed[i]).map(reportOf));
};

/** What machines open and click is nobody's doing. */
const engaging: Effect = (orgId, happened) =>
  engagement.engaged(
    orgId,
    happened.flatMap(({ send, entry }) => {
      const { type } = entry;
      if ((type !== "open" && type !== "click") || isAutomated(entry, send)) return [];
      const { siteId, contactId, toEmail, campaignId } = send;
      return [{ siteId, contactId, toEmail, campaignId, key: entry.id, type, at: entry.at }];
    }),
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

const triggers: Partial<Record<EventType, Trigger>> = {
  open: "email_open",
  click: "email_click",
  unsubscribe: "unsubscribe",
  bounce: "bounce",
};

/** What machines open and click moves nobody's score. */
const scoring: Effect = async (orgId, happened) => {
  const telling = happened.flatMap(({ send, entry }) => {
    const trigger = triggers[entry.type];
    if (!trigger || isAutomated(entry, send)) return [];
    const facts = { url: entry.data?.url, campaignId: send.campaignId ?? undefined };
    const happening: Happening = { trigger, key: `send ${send.id} ${nameOf(entry)}`, at: entry.at, facts };
    return [{ siteId: send.siteId, contactId: send.contactId, email: send.toEmail, happening }];
  });
  for (const [siteId, some] of Map.groupBy(telling, (one) => one.siteId)) await allHappened(orgId, siteId, some);
};

const slowing: Effect = (orgId, happened) =>
  slowDomains.deferred(
    orgId,
    happened.flatMap(({ send, entry }) =>
      entry.type === "deferred" ? [{ configId: send.sendingConfigId, domain: domainOf(send.toEmail) }] : [],
    ),
  );

export const effects: Effect[] = [suppressing, leaving, engaging, slowing, forwarding, scoring];
