// Pauses a campaign with too many bounces or complaints, so that a bad list cannot ruin the
// sender's reputation. A person then decides.
import { formatPercent } from "../../../kernel/rates.ts";
import type { BounceCounts } from "./broadcast.ts";

/** Fewer mails are not judged. */
const minHandedOver = 500;
// Rates of the mails handed over since the start, or since the last resume.
const maxBounceRate = 0.05;
const maxComplaintRate = 0.003;

/** The reason to pause; undefined when the rates are acceptable. */
export function checkBounceRates(
  current: BounceCounts,
  baseline: BounceCounts = { handedOver: 0, bounced: 0, complained: 0 },
): string | undefined {
  const n = current.handedOver - baseline.handedOver;
  if (n < minHandedOver) return undefined;
  const [bounced, complained] = [
    (current.bounced - baseline.bounced) / n,
    (current.complained - baseline.complained) / n,
  ];
  const since = baseline.handedOver ? " since it was resumed" : "";
  if (bounced > maxBounceRate)
    return (
      `${formatPercent(bounced)} of ${n} mails${since} bounced, more than ` +
      `${formatPercent(maxBounceRate)}: look at where the addresses come from, then resume or ` +
      "cancel"
    );
  if (complained > maxComplaintRate)
    return (
      `${formatPercent(complained)} of ${n} mails${since} were complained about as spam, more ` +
      `than ${formatPercent(maxComplaintRate)}: look at who asked for this mail, then resume ` +
      "or cancel"
    );
  return undefined;
}
