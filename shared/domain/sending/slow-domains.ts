// Mail servers that are written to faster than they like answer "later". After some of that the bulk of a sending config waits for
// their domain, longer every time, while mail to all others goes on. Single sends do not wait.
import { epochSeconds, now } from "../../clock.ts";
import { present } from "../../conditions.ts";
import { claim, get, put, update, updateReturning, write } from "../../doors/table.ts";
import { keys } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";

/** An attribute of the lane's item, so that knowing it costs no read: until when (ms since 1970) the domain is waited for. */
export type SlowMark = `slow.${string}`;
const markOf = (domain: string): SlowMark => `slow.${domain}`;

// One mail that is told to wait is everyday life: some servers do so with everyone they do not know.
const toleratedDeferrals = 5;
const withinSeconds = 600;
const firstPauseSeconds = 300;
const longestPauseSeconds = 4 * 3600;
const forgottenSeconds = 24 * 3600;
const mostDomains = 50;

interface Deferrals {
  n: number;
  /** ms since 1970 */
  since: number;
  pauses?: number;
  until?: number;
  expires?: number;
}

export interface Deferral {
  configId: number;
  domain: string;
}

/** Events told of mail that has to wait. Told twice it is at worst a pause earlier. */
export async function deferred(orgId: number, deferrals: Deferral[]): Promise<void> {
  const groups = [...Map.groupBy(deferrals, ({ configId, domain }) => `${configId} ${domain}`).values()];
  await inParallel(4, groups, (some) => noted(orgId, some[0]!, some.length));
}

async function noted(orgId: number, { configId, domain }: Deferral, n: number): Promise<void> {
  const address = keys.deferrals(orgId, configId, domain);
  const time = now().getTime();
  const expires = epochSeconds() + forgottenSeconds;
  const counted = await updateReturning<Deferrals>(update(address, { add: { n }, initialize: { since: time }, set: { expires } }));
  const { since, until = 0, pauses = 0, n: sum } = counted!;
  const isOld = time - Math.max(since, until) > withinSeconds * 1000;
  if (isOld) return write(put(address, { n, since: time, pauses: time - until > forgottenSeconds * 1000 ? 0 : pauses, until, expires }));
  if (sum < toleratedDeferrals || time < until) return;
  const seconds = Math.min(firstPauseSeconds * 2 ** pauses, longestPauseSeconds);
  await write(put(address, { n: 0, since: time, pauses: pauses + 1, until: time + seconds * 1000, expires }));
  await pause(orgId, configId, domain, time + seconds * 1000);
}

async function pause(orgId: number, configId: number, domain: string, until: number): Promise<void> {
  const address = keys.lane(orgId, configId);
  const marks = Object.entries((await get<Record<string, unknown>>(address)) ?? {}).filter(([name]) => name.startsWith("slow."));
  const over = marks.flatMap(([name, end]) => (Number(end) <= now().getTime() && name !== markOf(domain) ? [name] : []));
  if (marks.length - over.length >= mostDomains) return;
  await claim(update(address, { set: { [markOf(domain)]: until }, remove: over }, { if: present("arrivals") }));
}

/** Until when the domain is waited for (ms since 1970); undefined when it is not. */
export function waitedFor(lane: object, domain: string): number | undefined {
  const until = (lane as Record<SlowMark, number | undefined>)[markOf(domain)];
  return until !== undefined && until > now().getTime() ? until : undefined;
}
