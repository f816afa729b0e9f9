// What the checks of a sender domain find, and what it means.
import { type StandardReason, standardReasons } from "../senders/domains/standards.ts";

const ownReasons = [
  ...["dkim_found", "dkim_missing", "dkim_unknown"],
  ...["spf_found", "spf_wrong", "spf_of_provider"],
  ...["dmarc_found", "dmarc_missing", "dmarc_wrong"],
  ...["alignment_unknown", "alignment_good", "alignment_low"],
  ...["one_click_set", "one_click_needs_https"],
  ...["spam_rate_unknown", "spam_rate_good", "spam_rate_near_limit", "spam_rate_over_limit"],
  ...["volume_low", "volume_near_bulk", "volume_bulk"],
  "not_checked",
] as const;
export type OwnReason = (typeof ownReasons)[number];

export const adviceReasons = [...ownReasons, ...standardReasons] as const;

/** In English. */
export const adviceMessages: Record<OwnReason | StandardReason, string> = {
  dkim_found: "Email is signed with DKIM.",
  dkim_missing: "No DKIM key was found: publish the records of your provider.",
  dkim_unknown:
    "The DKIM records are only shown at the provider: name their selectors to have them checked.",
  spf_found: "SPF counts for your domain.",
  spf_wrong: "The SPF record is wrong: publish the one that is shown with the DNS records.",
  spf_of_provider:
    "SPF counts for the domain of your provider only. Its return address can use your domain.",
  dmarc_found: "The domain has a DMARC record.",
  dmarc_missing: "The domain has no DMARC record: publish one, at first with p=none.",
  dmarc_wrong: "The DMARC record is not valid.",
  alignment_unknown: "No DMARC report has come yet, so nobody knows whether email passes.",
  alignment_good: "Almost all email passes DMARC.",
  alignment_low:
    "Much email with your domain in From does not pass DMARC: look at its sources in the reports.",
  one_click_set: "Marketing email has one-click unsubscribe.",
  one_click_needs_https:
    "One-click unsubscribe needs HTTPS: set PUBLIC_URL to an address that begins with https://.",
  spam_rate_unknown: "Too little email was delivered for a rate of complaints.",
  spam_rate_good: "Complaints are below 0.1 %.",
  spam_rate_near_limit:
    "Complaints are over 0.1 %. From 0.3 %, mailbox providers refuse email: write less often to " +
    "people who do not open it.",
  spam_rate_over_limit:
    "Complaints are over 0.3 %, so mailbox providers may refuse email: stop writing to people " +
    "who did not ask for it.",
  volume_low: "You send Gmail less than 5,000 emails a day.",
  volume_near_bulk:
    "You send Gmail almost 5,000 emails a day. From there its rules for bulk senders apply, and " +
    "go on to apply when you send less.",
  volume_bulk: "You are a bulk sender for Gmail, so everything that is required here applies.",
  not_checked: "It was not checked yet.",
  lookup_failed: "DNS did not answer.",
  dmarc_without_reports: "The DMARC record names no address for reports (rua).",
  dmarc_reports_found: "Mailbox providers send DMARC reports.",
  bimi_absent: "The domain has no BIMI record, which shows your logo at some mailbox providers.",
  bimi_invalid: "The BIMI record is not valid: it needs one logo, as https address of an SVG file.",
  bimi_needs_policy:
    "BIMI needs the DMARC policy quarantine or reject for all email (no pct below 100).",
  bimi_declined: "The BIMI record says that the domain shows no logo.",
  bimi_found: "The BIMI record is valid.",
  mta_sts_absent: "The domain has no MTA-STS record, which makes others encrypt email to you.",
  mta_sts_invalid: "The MTA-STS record is not valid: it needs v=STSv1 and an id.",
  mta_sts_policy_missing: "The MTA-STS policy could not be read at its https address.",
  mta_sts_policy_invalid: "The MTA-STS policy is not valid.",
  mta_sts_mx_mismatch: "The MTA-STS policy does not name all mail servers of the domain.",
  mta_sts_not_enforced: "The MTA-STS policy is valid, but not in the mode enforce.",
  mta_sts_found: "The MTA-STS policy is valid and enforced.",
  tls_rpt_absent: "The domain has no record for TLS reports.",
  tls_rpt_invalid: "The record for TLS reports is not valid: it needs one rua.",
  tls_rpt_found: "Other mail servers send TLS reports.",
};
