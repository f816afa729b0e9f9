// Soft bounces in a row. A site can allow some before they suppress an address. The outcomes of the
// latest emails to the address are stored by send, and ordered by when the emails were accepted. So
// repeated events and events in any order give the same result.
import { equals, isNew } from "../../adapters/dynamodb/conditions.ts";
import { get, getMany, put, write } from "../../adapters/dynamodb/table.ts";
import { epochSeconds } from "../../clock.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { keys, zeroPad } from "../../keys.ts";
import type { EventType } from "../../providers/inbound/inbound-adapter.ts";
import { maxSoftBounceLimit, type Site } from "../identity/sites.ts";

/** What an event says about one email to one address. */
export interface MailReport {
  siteId: number;
  sendId: number;
  /** When the email was accepted (ISO 8601). */
  acceptedAt: string;
  email: string;
  type: EventType;
  bounceType?: "hard" | "soft" | undefined;
}

const isSoftBounce = ({ type, bounceType }: MailReport): boolean =>
  type === "bounce" && bounceType !== "hard";
const arrivalTypes = new Set<EventType>(["delivered", "open", "click"]);

/**
 * Leaves out the soft bounces that do not suppress the address yet. Safe to repeat: the soft bounce
 * that reaches the limit stays the one that does.
 */
export async function leaveOutAllowedBounces<R extends MailReport>(
  orgId: number,
  reports: R[],
): Promise<R[]> {
  const counted = reports.filter((report) => isSoftBounce(report) || arrivalTypes.has(report.type));
  const limits = await getLimits(orgId, counted);
  const limited = counted.filter(({ siteId }) => limits.has(siteId));
  if (!limited.length) return reports;
  const addressOf = ({ siteId, email }: R) => `${siteId} ${normalizeEmail(email)}`;
  const byAddress = [...Map.groupBy(limited, addressOf).values()];
  const known = await getMany<SoftBounceItem>(byAddress.map(([first]) => keyOf(orgId, first!)));
  const suppressing = await inParallel(8, byAddress, async (ofAddress, i) => {
    // An address without soft bounces has no item, and a delivery does not create one.
    if (!known[i] && !ofAddress.some(isSoftBounce)) return [];
    return recordOutcomes(orgId, ofAddress, limits.get(ofAddress[0]!.siteId)!);
  });
  const kept = new Set(suppressing.flat());
  return reports.filter(
    (report) => !isSoftBounce(report) || !limits.has(report.siteId) || kept.has(report),
  );
}

/** The limit of each site that allows soft bounces. */
async function getLimits(orgId: number, reports: MailReport[]): Promise<Map<number, number>> {
  const siteIds = [...new Set(reports.map(({ siteId }) => siteId))];
  const found = await getMany<Site>(siteIds.map((id) => keys.record(orgId, "SITE", id)));
  return new Map(
    found.flatMap((site) =>
      site?.softBounceLimit && site.softBounceLimit > 1 ? [[site.id, site.softBounceLimit]] : [],
    ),
  );
}

interface SoftBounceItem {
  v: number;
  /** The latest, in order. */
  outcomes: MailOutcome[];
  /** The send whose bounce reached the limit. Bounces up to the position do not count again. */
  reached?: { sendId: number; position: string };
  expires: number;
}
interface MailOutcome {
  sendId: number;
  /** Orders the outcomes. */
  position: string;
  /** A bounce counts more than a delivery, because it can come after it. */
  bounced: boolean;
}

const keyOf = (orgId: number, { siteId, email }: MailReport) =>
  keys.softBounces(orgId, siteId, normalizeEmail(email));

const keptSeconds = 180 * 24 * 3600;

/** Returns the reports whose bounce reaches the limit. */
const recordOutcomes = <R extends MailReport>(
  orgId: number,
  reports: R[],
  limit: number,
): Promise<R[]> =>
  retryOnConflict("The address", async () => {
    const key = keyOf(orgId, reports[0]!);
    const stored = await get<SoftBounceItem>(key);
    const before = stored && stored.expires > epochSeconds() ? stored : undefined;
    let state: BounceState = { outcomes: before?.outcomes ?? [], reached: before?.reached };
    const suppressing: R[] = [];
    for (const report of reports) {
      const next = addOutcome(state, report, limit);
      state = next.state;
      if (next.isReached) suppressing.push(report);
    }
    const { outcomes, reached } = state;
    if (JSON.stringify([outcomes, reached]) !== JSON.stringify([before?.outcomes, before?.reached]))
      await write(
        put(
          key,
          {
            v: (stored?.v ?? 0) + 1,
            outcomes,
            ...(reached && { reached }),
            expires: epochSeconds() + keptSeconds,
          },
          { if: stored ? equals("v", stored.v) : isNew },
        ),
      );
    return suppressing;
  });

type BounceState = Pick<SoftBounceItem, "outcomes"> & {
  reached: SoftBounceItem["reached"] | undefined;
};

function addOutcome(
  { outcomes, reached }: BounceState,
  report: MailReport,
  limit: number,
): { state: BounceState; isReached: boolean } {
  const { sendId, acceptedAt } = report;
  const position = `${acceptedAt}#${zeroPad(sendId)}`;
  const known = outcomes.find((outcome) => outcome.sendId === sendId);
  const outcome = { sendId, position, bounced: isSoftBounce(report) || known?.bounced === true };
  const latest = [...outcomes.filter((one) => one !== known), outcome]
    .toSorted((a, b) => (a.position < b.position ? -1 : 1))
    .slice(-maxSoftBounceLimit);
  const state = { outcomes: latest, reached };
  if (!isSoftBounce(report)) return { state, isReached: false };
  if (reached?.sendId === sendId) return { state, isReached: true };
  if (countBouncesInRow(state) < limit) return { state, isReached: false };
  const reachedNow = { sendId, position: latest.at(-1)!.position };
  return { state: { outcomes: latest, reached: reachedNow }, isReached: true };
}

function countBouncesInRow({ outcomes, reached }: BounceState): number {
  const counts = ({ bounced, position }: MailOutcome) =>
    bounced && position > (reached?.position ?? "");
  return outcomes.length - 1 - outcomes.findLastIndex((outcome) => !counts(outcome));
}
