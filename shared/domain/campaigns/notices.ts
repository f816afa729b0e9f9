// Notices: campaigns that must reach contacts who unsubscribed too, such as new terms. They need a
// right of their own and a typed confirmation.
import type { Caller, CallerScope } from "../../caller.ts";
import { conflict, forbidden, invalid } from "../../errors.ts";
import { permits } from "../../rights.ts";
import type { StoredCampaign } from "./stored-campaign.ts";

/** A caller without scopes may do nothing with notices. */
export type NoticeCaller = CallerScope & Partial<Pick<Caller, "scopes">>;

export const isNotice = ({
  purpose,
}: {
  purpose?: StoredCampaign["purpose"] | undefined;
}): boolean => purpose === "notice";

const right = "marketing:notice";

function requireRight({ scopes = [] }: NoticeCaller): void {
  if (!permits(scopes, { right, scope: right }))
    throw forbidden(
      `A notice also goes to contacts who unsubscribed: sending one needs the right ${right}`,
      { code: "scope_missing" },
    );
}

/** Throws 403 without the right, and 400 unless `confirm` is the name of the campaign. */
export function requireNoticeConfirmed(
  caller: NoticeCaller,
  campaign: StoredCampaign,
  confirm: string | undefined,
): void {
  if (!isNotice(campaign)) return;
  requireRight(caller);
  if (confirm === campaign.name) return;
  const message =
    "must be the name of the campaign, because a notice also goes to contacts who unsubscribed";
  throw invalid(`confirm ${message}`, { details: [{ path: "confirm", message }] });
}

/** A notice was confirmed as it was, so only a caller with the right may change it afterwards. */
export function requireNoticeEditable(
  caller: NoticeCaller,
  current: StoredCampaign,
  changes: { purpose?: StoredCampaign["purpose"] | undefined },
): void {
  if (current.status === "draft") return;
  if (isNotice(current)) requireRight(caller);
  const { purpose = current.purpose } = changes;
  if (isNotice({ purpose }) !== isNotice(current))
    throw conflict(
      `The campaign is ${current.status}: its purpose can be changed only while it is draft`,
      { code: "campaign_status" },
    );
}
