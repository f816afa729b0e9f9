// The tracking domain of a site: the host name of the tracked links in its mail, in place of that
// of PUBLIC_URL. `sending/tracking-domains` assigns and checks it.
import * as z from "zod";
import { config } from "../../config.ts";
import { Timestamp } from "../../kernel/record-fields.ts";

export const DomainName = z
  .string()
  .max(253, { abort: true })
  .toLowerCase()
  .regex(
    /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
    "must be a domain name such as shop.example",
  );

export const trackingDomain = DomainName.nullable().describe(
  "Host name of tracked links in email of the site, such as `click.shop.example`, for sending " +
    "configs with `tracking` `own`. It must be a verified domain or below one. New email uses it " +
    "once the check in `trackingDomainState` succeeds; until then, and while the check fails, " +
    "links have the address of the service. Giving it again checks it at once. `null`: the " +
    "address of the service.",
);

const TrackingDomainState = z
  .object({
    status: z
      .enum(["pending", "verified", "failing"])
      .describe(
        "`pending`: no check has succeeded yet. `verified`: new email uses the domain; checked " +
          "daily. `failing`: the last check failed, so new email has the address of the service.",
      ),
    reason: z.string().nullable().describe("Why the last check failed, or `null`."),
    record: z
      .object({
        type: z.literal("CNAME").describe("Type of the DNS record."),
        name: z.string().describe("Name of the record."),
        value: z.string().describe("Value of the record."),
      })
      .describe(
        "DNS record to publish. On AWS, the value is the target of the custom domain that the " +
          "operator creates for this name, if that differs.",
      ),
    lastCheckedAt: Timestamp.nullable().describe("When it was last checked. `null`: not yet."),
  })
  .meta({ id: "TrackingDomainState" });

/** Fields of a site in a response. */
export const trackingDomainFields = {
  trackingDomain,
  trackingDomainState: TrackingDomainState.nullable().describe(
    "Result of the checks of `trackingDomain`, or `null` without one.",
  ),
};

/** Stored with the site. */
export interface TrackingDomainCheck {
  status: z.output<typeof TrackingDomainState>["status"];
  reason: string | null;
  /** When the domain was assigned (ISO 8601). */
  since: string;
  checkedAt: string | null;
}

interface TrackedSite {
  trackingDomain?: string | null | undefined;
  trackingCheck?: TrackingDomainCheck | undefined;
}

export function trackingDomainToApi({ trackingDomain: name = null, trackingCheck }: TrackedSite) {
  if (name === null || !trackingCheck) return { trackingDomain: null, trackingDomainState: null };
  const { status, reason, checkedAt } = trackingCheck;
  const value = new URL(config.publicUrl).hostname;
  const record = { type: "CNAME" as const, name, value };
  const trackingDomainState = { status, reason, record, lastCheckedAt: checkedAt };
  return { trackingDomain: name, trackingDomainState };
}

/** The tracking domain that new mail uses. Undefined: the address of the service. */
export const verifiedTrackingDomain = ({
  trackingDomain: name,
  trackingCheck,
}: TrackedSite): string | undefined =>
  trackingCheck?.status === "verified" ? (name ?? undefined) : undefined;
