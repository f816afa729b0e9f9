// On one machine, the process that accepts a single send also hands it over, without the queue. The
// send is then stored as claimed. Its entry on the due index repairs what the process leaves behind
// when it dies. Installed from outside, because functions that accept mail on AWS must not bundle
// the hand-over.
import type { SendingConfig } from "../../senders/sending-configs.ts";
import type { MailContent } from "../rendering/mail-content.ts";
import type { SendItem } from "../sends.ts";

export type AcceptedContent = MailContent & { toName?: string | undefined };

export interface AcceptedSend {
  orgId: number;
  send: SendItem;
  config: SendingConfig;
  /** Of the organization, whose days the statistics use. */
  timezone: string;
}

/** `cancel` must be called in the end. */
export interface DirectHandOver {
  /** The attributes that claim the send. `by` is the random id of the claim. */
  claim: Partial<SendItem> & { by: string; lease: string };
  /** Hands the send over in the background, after it was stored with `claim`. */
  start(content: AcceptedContent): void;
  /** Gives the place of the call back. Does nothing after `start`. */
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
