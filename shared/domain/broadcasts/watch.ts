// A list that nobody asked for, or an old one, ruins the name of its sender within an hour: then we stop, and a person decides.
import { percent } from "../insight/figures.ts";
import type { Watched } from "./broadcast.ts";

/** Handed over before anything is concluded. */
const fewest = 500;
/** Of those handed over since the start, or since it was resumed. */
const mostBounced = 0.05;
const mostComplained = 0.003;

/** Why it is to be paused; undefined when all is well. */
export function alarm(now: Watched, from: Watched = { handedOver: 0, bounced: 0, complained: 0 }): string | undefined {
  const n = now.handedOver - from.handedOver;
  if (n < fewest) return undefined;
  const [bounced, complained] = [(now.bounced - from.bounced) / n, (now.complained - from.complained) / n];
  const since = from.handedOver ? " since it was resumed" : "";
  if (bounced > mostBounced)
    return `${percent(bounced)} of ${n} mails${since} bounced, more than ${percent(mostBounced)}: look at where the addresses come from, then resume or cancel`;
  if (complained > mostComplained)
    return `${percent(complained)} of ${n} mails${since} were complained about as spam, more than ${percent(mostComplained)}: look at who asked for this mail, then resume or cancel`;
  return undefined;
}
