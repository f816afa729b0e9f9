// Click and open tracking of the service, instead of the provider's. The link of a mail is
// `/t/<recipient>/<target>`, and its pixel `/t/<recipient>/open.gif`. Recipient and target are
// sealed tokens, so nothing is stored for a link, and nobody can make one that leads elsewhere.
import { config } from "../../../config.ts";
import type { TrackingOptions } from "../../../email/link-tracking.ts";
import * as sealedTokens from "../../../kernel/sealed-tokens.ts";
import type { Mailing } from "../../../providers/provider-adapter.ts";
import type { SendingConfig } from "../../senders/sending-config-schema.ts";
import { trackingOf } from "../../senders/tracking-modes.ts";
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

type TrackingFields = Pick<MailContent, "tracking" | "trackOpens" | "trackClicks">;

/** The fields of the content, by the mode of the sending config. */
export function toTrackingFields(
  sender: Pick<SendingConfig, "provider" | "tracking">,
  { trackOpens, trackClicks }: Omit<TrackingFields, "tracking">,
): TrackingFields {
  const mode = trackingOf(sender);
  if (mode === "off") return { trackOpens: false, trackClicks: false };
  return { trackOpens, trackClicks, ...(mode === "own" && { tracking: "own" as const }) };
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
  { tracking, trackOpens, trackClicks }: TrackingFields,
  { opens = trackOpens, clicks = trackClicks }: TrackingChoice = {},
): Promise<MailTracking | undefined> {
  if (tracking !== "own") return undefined;
  const [sealSend, sealLink] = await Promise.all([
    sealedTokens.createSealer("tracked-send"),
    sealedTokens.createSealer("tracked-link"),
  ]);
  return {
    orgId,
    opens: opens ?? true,
    clicks: clicks ?? true,
    base: `${config.publicUrl}/t/`,
    pixelName,
    sealTarget(url) {
      const content = [orgId, url.toWellFormed()];
      const isTracked = !isPageOfRecipient(url) && sealedTokens.fitsToken("tracked-link", content);
      return isTracked ? sealLink(content) : undefined;
    },
    tokenOf: (sendId) => sealSend([orgId, sendId]),
  };
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
): Promise<{ orgId: number; sendId: number } | undefined> {
  const content = await sealedTokens.openToken("tracked-send", token);
  if (!content) return undefined;
  const [orgId, sendId] = content as [number, number];
  return { orgId, sendId };
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
