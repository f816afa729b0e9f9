// The end of a chunk: what became of its mails is counted for the day, and the chunk leaves the lane, together and once.
import { absent, all, exists } from "../../conditions.ts";
import { claim, remove, update, type Write } from "../../doors/table.ts";
import { domainOf } from "../../email.ts";
import { chunked } from "../../parallel.ts";
import type { Outcome } from "../../providers/provider.ts";
import * as days from "../days.ts";
import * as organizations from "../organizations.ts";
import type { Result } from "./calls.ts";
import type { Load } from "./loads.ts";
import { marks } from "./provider-call.ts";

// A transaction takes 100 writes.
const domainsAtOnce = 60;

/** `last`: what ends the chunk, when it is not simply taken out of the lane. Dead on the way, it is taken up by doing it again. */
export async function close({ orgId, waiting, head, lines }: Load, results: Result[], last?: Write[]): Promise<void> {
  const address = { pk: waiting.pk, sk: waiting.sk };
  const refused = lines.flatMap(({ i, error }) => (error ? [[i, { status: "refused", error }] as [number, Outcome]] : []));
  const domains = new Map(lines.map(({ i, to }) => [i, domainOf(to)]));
  const happenings = [...refused, ...results.flatMap(({ outcomes }) => outcomes)].flatMap(([i, outcome]): days.Happening[] => {
    const { status } = marks(outcome, head.createdAt);
    const isCounted = status === "sent" || status === "failed" || status === "uncertain";
    return isCounted ? [{ configId: head.sendingConfigId, domain: domains.get(i)!, counts: { [status]: 1 } }] : [];
  });
  const date = await organizations.today(orgId);
  const byDomain = [...Map.groupBy(happenings, ({ domain }) => domain).values()];
  const parts = chunked(byDomain, domainsAtOnce).map((some) => days.counting(orgId, head.siteId, date, waiting.block, some.flat()));
  const further = parts.splice(0, parts.length - 1);
  for (const [k, part] of further.entries())
    await claim(update(address, { set: { [`t${k}`]: true } }, { if: all(exists, absent(`t${k}`)) }), ...part);
  await claim(...(last ?? [remove(address, { if: exists })]), ...parts.flat());
}
