// The end of a chunk: what became of its mails is counted for the day, and the chunk leaves the lane, together and once.
import { exists } from "../../conditions.ts";
import { claim, remove, type Write } from "../../doors/table.ts";
import type { Outcome } from "../../providers/provider.ts";
import * as days from "../days.ts";
import * as organizations from "../organizations.ts";
import type { Result } from "./calls.ts";
import type { Load } from "./loads.ts";
import { marks } from "./provider-call.ts";

/** `ending`: what ends the chunk, when it is not simply taken out of the lane. Dead before, it is taken up by doing it again. */
export async function close({ orgId, waiting: { pk, sk, block }, head, lines }: Load, results: Result[], ending?: Write[]): Promise<void> {
  const refused = lines.flatMap(({ error }): Outcome[] => (error ? [{ status: "refused", error }] : []));
  const told = results.flatMap(({ outcomes }) => outcomes.map(([, outcome]) => outcome));
  const counts: days.DayCounts = {};
  for (const outcome of [...refused, ...told]) {
    const { status } = marks(outcome, head.createdAt);
    if (status === "sent" || status === "failed" || status === "uncertain") counts[status] = (counts[status] ?? 0) + 1;
  }
  const date = await organizations.today(orgId);
  const counting = days.counting(orgId, head.siteId, date, block, [{ configId: head.sendingConfigId, counts }]);
  await claim(...(ending ?? [remove({ pk, sk }, { if: exists })]), ...counting);
}
