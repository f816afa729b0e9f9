import { statusName } from "./status-names.ts";

type Tone = "good" | "info" | "warn" | "bad" | "quiet";

const toneByStatus: Record<string, Tone> = {
  subscribed: "good",
  pending: "warn",
  unsubscribed: "quiet",
  suppressed: "bad",
  draft: "quiet",
  active: "good",
  completed: "good",
  archived: "quiet",
  scheduled: "info",
  held: "warn",
  sending: "info",
  paused: "warn",
  sent: "good",
  delivered: "good",
  opened: "good",
  clicked: "good",
  queued: "info",
  cancelled: "quiet",
  failed: "bad",
  bounced: "bad",
  complained: "bad",
  uncertain: "warn",
};

export const toneOf = (status: string): Tone => toneByStatus[status] ?? "quiet";

/** A status is a shape and a word, never only a colour. */
export function StatusMark({ status, tone }: { status: string; tone?: Tone }) {
  return <span className={`status ${tone ?? toneOf(status)}`}>{statusName(status)}</span>;
}
