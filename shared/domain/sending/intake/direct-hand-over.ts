// On one machine, the process that accepts a single send also hands it over, without the queue. The
// send is then stored as claimed. If the process dies, the due index finds the send. The local
// service installs the hand-over, so that the Lambda functions that accept mail do not bundle it.
import type { SendingConfig } from "../../senders/sending-configs.ts";
import type { MailContent } from "../rendering/mail-content.ts";
import type { SendItem } from "../sends.ts";

export type AcceptedContent = MailContent & { toName?: string | undefined };

export interface AcceptedSend {
  orgId: number;
  send: SendItem;
  config: SendingConfig;
  /** The organization's time zone. Statistics use its days. */
  timezone: string;
}

/** A reserved provider call. Its owner calls `cancel` in the end, also after `start`. */
export interface DirectHandOver {
  /** The attributes that claim the send. `by` is the random id of the claim. */
  claim: Partial<SendItem> & { by: string; lease: string };
  /** Hands the send over in the background, after it was stored with `claim`. */
  start(content: AcceptedContent, stored: SendItem): void;
  /** Releases the reserved call. Does nothing after `start`. */
  cancel(): void;
}

/** Undefined when the send must wait, such as for the rate limit or a paused provider. */
type ClaimDirectly = (accepted: AcceptedSend) => Promise<DirectHandOver | undefined>;

let installed: ClaimDirectly | undefined;

export const installDirectHandOver = (claimDirectly: ClaimDirectly | undefined): void => {
  installed = claimDirectly;
};

export const claimDirectly: ClaimDirectly = async (accepted) => installed?.(accepted);

export const isInstalled = (): boolean => installed !== undefined;
