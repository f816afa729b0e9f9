// Click and open tracking of the service, instead of the provider's. The link of a mail is
// `/t/<recipient>/<target>`, and its pixel `/t/<recipient>/open.gif`. Recipient and target are
// sealed tokens, so nothing is stored for a link, and nobody can make one that leads elsewhere.
import { config } from "../../../config.ts";
import type { TrackingOptions } from "../../../email/link-tracking.ts";
import * as sealedTokens from "../../../kernel/sealed-tokens.ts";
import type { Mailing } from "../../../providers/provider-adapter.ts";
import { verifiedTrackingDomain } from "../../identity/site-tracking-domain.ts";
import type { SendingConfig } from "../../senders/sending-config-schema.ts";
import { type TrackingMode, trackingOf } from "../../senders/tracking-modes.ts";
import type { ComposedMail } from "./compose.ts";
import type { MailContent } from "./mail-content.ts";

/** The pixel, in the place of a target. */
export const pixelName = "open.gif";

/** Input of `compose`. Equal fields lead to an equal mail. */
export interface MailTracking extends TrackingOptions {
  orgId: number;
  tokenOf(sendId: number): string;
}

/** What a mail or its recipient says about tracking. Undefined: it says nothing. */
interface TrackingChoice {
  opens?: boolean | undefined;
  clicks?: boolean | undefined;
}

type TrackingFields = Pick<MailContent, "tracking" | "trackingSite" | "trackOpens" | "trackClicks">;

/** What a site says about its tracking domain. */
type TrackingSite = { id: number } & Parameters<typeof verifiedTrackingDomain>[0];

/** The fields of the content, by the mode of the sending config and the domain of the site. */
export function toTrackingFields(
  sender: Pick<SendingConfig, "provider" | "tracking">,
  { trackOpens, trackClicks }: Pick<TrackingFields, "trackOpens" | "trackClicks">,
  site: TrackingSite,
): TrackingFields {
  const mode = trackingOf(sender);
  if (mode === "off") return { trackOpens: false, trackClicks: false };
  if (mode !== "own") return { trackOpens, trackClicks };
  const domain = verifiedTrackingDomain(site);
  return {
    trackOpens,
    trackClicks,
    tracking: "own",
    ...(domain !== undefined && { trackingSite: { id: site.id, domain } }),
  };
}

/**
 * The content of a mail that moved to a config with this mode. Our own links work with each
 * provider, so they stay. New ones have the address of the service: the state of a tracking domain
 * could change between two attempts.
 */
export function withTracking(content: MailContent, mode: TrackingMode | undefined): MailContent {
  if (mode === "off")
    return { ...content, tracking: undefined, trackOpens: false, trackClicks: false };
  return mode === "own" ? { ...content, tracking: mode } : content;
}

/** What the provider tracks: what the recipient says, else the content. */
export function toProviderTracking(
  { common, isTracked }: Pick<ComposedMail, "common" | "isTracked">,
  { opens = common.trackOpens, clicks = common.trackClicks }: TrackingChoice,
): Pick<Mailing, "trackOpens" | "trackClicks"> {
  if (isTracked) return { trackOpens: false, trackClicks: false };
  return { trackOpens: opens, trackClicks: clicks };
}

/** Undefined if the provider tracks the mail, or nobody does. */
export async function createMailTracking(
  orgId: number,
  { tracking, trackingSite, trackOpens, trackClicks }: TrackingFields,
  { opens = trackOpens, clicks = trackClicks }: TrackingChoice = {},
): Promise<MailTracking | undefined> {
  if (tracking !== "own") return undefined;
  const [sealSend, sealLink] = await Promise.all([
    sealedTokens.createSealer("tracked-send"),
    sealedTokens.createSealer("tracked-link"),
  ]);
  // At a tracking domain, only links of its site work.
  const siteOf = trackingSite ? [trackingSite.id] : [];
  return {
    orgId,
    opens: opens ?? true,
    clicks: clicks ?? true,
    base: linkBaseAt(trackingSite?.domain),
    pixelName,
    sealTarget(url) {
      const content = [orgId, url.toWellFormed(), ...siteOf];
      const isTracked = !isPageOfRecipient(url) && sealedTokens.fitsToken("tracked-link", content);
      return isTracked ? sealLink(content) : undefined;
    },
    tokenOf: (sendId) => sealSend([orgId, sendId, ...siteOf]),
  };
}

/** What is before the token of a link. The domain replaces the host name of the service. */
function linkBaseAt(domain: string | undefined): string {
  const url = new URL(`${config.publicUrl}/t/`);
  if (domain !== undefined) url.hostname = domain;
  return url.href;
}

/** The id in the token of a probe. No send has it. */
export const probeSendId = 0;

/** A link that checks whether a domain leads to this service. Following it records nothing. */
export async function createProbe(
  { orgId, siteId }: { orgId: number; siteId: number },
  { host, at }: { host: string; at: Date },
): Promise<{ url: string; target: string }> {
  const [sealSend, sealLink] = await Promise.all([
    sealedTokens.createSealer("tracked-send"),
    sealedTokens.createSealer("tracked-link"),
  ]);
  // Changes with each check, so that no cache answers.
  const target = `${config.publicUrl}/?check=${at.getTime()}`;
  const token = sealSend([orgId, probeSendId, siteId]);
  return { url: `${linkBaseAt(host)}${token}/${sealLink([orgId, target, siteId])}`, target };
}

/** Pages of the service whose links have a token with which one can act for the recipient. */
const pagesOfRecipient = [
  "/t/",
  "/view/",
  "/secure/",
  "/api/v1/unsubscribe",
  "/api/v1/forms/confirm/",
];

const isPageOfRecipient = (url: string): boolean =>
  pagesOfRecipient.some((path) => url.startsWith(`${config.publicUrl}${path}`));

/** Undefined for a token that is not valid. */
export async function openSendToken(
  token: string,
): Promise<{ orgId: number; sendId: number; siteId?: number | undefined } | undefined> {
  const content = await sealedTokens.openToken("tracked-send", token);
  if (!content) return undefined;
  const [orgId, sendId, siteId] = content as [number, number, number?];
  return { orgId, sendId, siteId };
}

/** The target of a link. Undefined for a token that is not valid. */
export async function openLinkToken(
  token: string,
): Promise<{ orgId: number; url: string } | undefined> {
  const content = await sealedTokens.openToken("tracked-link", token);
  if (!content) return undefined;
  const [orgId, url] = content as [number, string];
  return { orgId, url };
}
