// Names of the checks of a domain, for people.
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
