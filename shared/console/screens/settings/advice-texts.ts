// Names of the checks of a domain and what they found, for people.
import type { AdviceCheck } from "pennymail";
import { t } from "../../language/translate.ts";

export const adviceNames: Record<AdviceCheck["name"], string> = {
  dkim: t("Signature (DKIM)"),
  spf: t("Allowed senders (SPF)"),
  dmarc: t("Policy (DMARC)"),
  alignment: t("Email that passes DMARC"),
  one_click_unsubscribe: t("One-click unsubscribe"),
  spam_rate: t("Reported as spam"),
  volume: t("Emails a day to Gmail"),
  dmarc_reports: t("DMARC reports"),
  bimi: t("Logo (BIMI)"),
  mta_sts: t("Encryption of received email (MTA-STS)"),
  tls_rpt: t("TLS reports"),
};

export const adviceTexts: Record<AdviceCheck["reason"], string> = {
  dkim_found: t("Email is signed with DKIM."),
  dkim_missing: t("No DKIM key was found: publish the records of your provider."),
  dkim_unknown: t(
    "The DKIM records are only shown at the provider: name their selectors to have them checked.",
  ),
  spf_found: t("SPF counts for your domain."),
  spf_wrong: t("The SPF record is wrong: publish the one that is shown with the DNS records."),
  spf_of_provider: t(
    "SPF counts for the domain of your provider only. Its return address can use your domain.",
  ),
  dmarc_found: t("The domain has a DMARC record."),
  dmarc_missing: t("The domain has no DMARC record: publish one, at first with p=none."),
  dmarc_wrong: t("The DMARC record is not valid."),
  alignment_unknown: t("No DMARC report has come yet, so nobody knows whether email passes."),
  alignment_good: t("Almost all email passes DMARC."),
  alignment_low: t(
    "Much email with your domain in From does not pass DMARC: look at its sources in the reports.",
  ),
  one_click_set: t("Marketing email has one-click unsubscribe."),
  one_click_needs_https: t(
    "One-click unsubscribe needs HTTPS: set PUBLIC_URL to an address that begins with https://.",
  ),
  spam_rate_unknown: t("Too little email was delivered for a rate of complaints."),
  spam_rate_good: t("Complaints are below 0.1 %."),
  spam_rate_near_limit: t(
    "Complaints are over 0.1 %. From 0.3 %, mailbox providers refuse email: write less " +
      "often to people who do not open it.",
  ),
  spam_rate_over_limit: t(
    "Complaints are over 0.3 %, so mailbox providers may refuse email: stop writing to " +
      "people who did not ask for it.",
  ),
  volume_low: t("You send Gmail less than 5,000 emails a day."),
  volume_near_bulk: t(
    "You send Gmail almost 5,000 emails a day. From there its rules for bulk senders " +
      "apply, and go on to apply when you send less.",
  ),
  volume_bulk: t("You are a bulk sender for Gmail, so everything that is required here applies."),
  not_checked: t("It was not checked yet."),
  lookup_failed: t("DNS did not answer."),
  dmarc_without_reports: t("The DMARC record names no address for reports (rua)."),
  dmarc_reports_found: t("Mailbox providers send DMARC reports."),
  bimi_absent: t("The domain has no BIMI record, which shows your logo at some mailbox providers."),
  bimi_invalid: t(
    "The BIMI record is not valid: it needs one logo, as https address of an SVG file.",
  ),
  bimi_needs_policy: t(
    "BIMI needs the DMARC policy quarantine or reject for all email (no pct below 100).",
  ),
  bimi_declined: t("The BIMI record says that the domain shows no logo."),
  bimi_found: t("The BIMI record is valid."),
  mta_sts_absent: t("The domain has no MTA-STS record, which makes others encrypt email to you."),
  mta_sts_invalid: t("The MTA-STS record is not valid: it needs v=STSv1 and an id."),
  mta_sts_policy_missing: t("The MTA-STS policy could not be read at its https address."),
  mta_sts_policy_invalid: t("The MTA-STS policy is not valid."),
  mta_sts_mx_mismatch: t("The MTA-STS policy does not name all mail servers of the domain."),
  mta_sts_not_enforced: t("The MTA-STS policy is valid, but not in the mode enforce."),
  mta_sts_found: t("The MTA-STS policy is valid and enforced."),
  tls_rpt_absent: t("The domain has no record for TLS reports."),
  tls_rpt_invalid: t("The record for TLS reports is not valid: it needs one rua."),
  tls_rpt_found: t("Other mail servers send TLS reports."),
};
