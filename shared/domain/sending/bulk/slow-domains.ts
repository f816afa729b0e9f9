// Pauses for recipient domains. A mail server that gets mail too fast defers it. After several
// deferrals, the bulk mail of the sending config to that domain pauses, longer each time. Mail to
// other domains and single sends continue.

import { present } from "../../../adapters/dynamodb/conditions.ts";
import {
  get,
  put,
  transact,
  update,
  updateReturning,
  write,
} from "../../../adapters/dynamodb/table.ts";
import { epochSeconds, now } from "../../../clock.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { keys } from "../../../keys.ts";

/**
 * Attribute of the lane item: when the pause of the domain ends (ms since 1970). Stored there
 * because the lane item is read anyway.
 */
export type SlowDomainAttribute = `slow.${string}`;
const slowDomainAttribute = (domain: string): SlowDomainAttribute => `slow.${domain}`;

// A single deferral is normal: some servers defer the first mail of every unknown sender.
const deferralsBeforePause = 5;
const deferralWindowSeconds = 600;
const firstPauseSeconds = 300;
const longestPauseSeconds = 4 * 3600;
const pauseMemorySeconds = 24 * 3600;
const maxPausedDomains = 50;

interface DeferralCounter {
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

/** Counts deferral events. A repeated event can at worst start a pause earlier. */
export async function recordDeferrals(orgId: number, deferrals: Deferral[]): Promise<void> {
  const groups = [
    ...Map.groupBy(deferrals, ({ configId, domain }) => `${configId} ${domain}`).values(),
  ];
  await inParallel(4, groups, (group) => recordDeferral(orgId, group[0]!, group.length));
}

async function recordDeferral(
  orgId: number,
  { configId, domain }: Deferral,
  n: number,
): Promise<void> {
  const key = keys.deferrals(orgId, configId, domain);
  const time = now().getTime();
  const expires = epochSeconds() + pauseMemorySeconds;
  const counted = await updateReturning<DeferralCounter>(
    update(key, { add: { n }, setIfAbsent: { since: time }, set: { expires } }),
  );
  const { since, until = 0, pauses = 0, n: sum } = counted!;
  const isOld = time - Math.max(since, until) > deferralWindowSeconds * 1000;
  if (isOld)
    return write(
      put(key, {
        n,
        since: time,
        pauses: time - until > pauseMemorySeconds * 1000 ? 0 : pauses,
        until,
        expires,
      }),
    );
  if (sum < deferralsBeforePause || time < until) return;
  const seconds = Math.min(firstPauseSeconds * 2 ** pauses, longestPauseSeconds);
  await write(
    put(key, { n: 0, since: time, pauses: pauses + 1, until: time + seconds * 1000, expires }),
  );
  await pauseDomain({ orgId, configId }, domain, time + seconds * 1000);
}

async function pauseDomain(
  { orgId, configId }: { orgId: number; configId: number },
  domain: string,
  until: number,
): Promise<void> {
  const key = keys.lane(orgId, configId);
  const pauses = Object.entries((await get<Record<string, unknown>>(key)) ?? {}).filter(([name]) =>
    name.startsWith("slow."),
  );
  const expiredAttributes = pauses.flatMap(([name, end]) =>
    Number(end) <= now().getTime() && name !== slowDomainAttribute(domain) ? [name] : [],
  );
  if (pauses.length - expiredAttributes.length >= maxPausedDomains) return;
  await transact(
    update(
      key,
      { set: { [slowDomainAttribute(domain)]: until }, remove: expiredAttributes },
      { if: present("arrivals") },
    ),
  );
}

/** When the pause of the domain ends (ms since 1970); undefined when it is not paused. */
export function getPauseEnd(lane: object, domain: string): number | undefined {
  const until = (lane as Record<SlowDomainAttribute, number | undefined>)[
    slowDomainAttribute(domain)
  ];
  return until !== undefined && until > now().getTime() ? until : undefined;
}
