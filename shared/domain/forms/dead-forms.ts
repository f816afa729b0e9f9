// Forms that were deleted: nobody is shown one any more, and what was submitted to it goes in the background, however much it is. A
// sweep that dies is begun again.
import { after, now } from "../../clock.ts";
import { exists } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { claim, get, put, query, remove, update, type Write, write, writeMany } from "../../doors/table.ts";
import { type Address, dueShard, keys, on, type Range, ranges, shelves } from "../../keys.ts";
import { queues } from "../../queues.ts";

interface DeadForm {
  orgId: number;
  group: number;
  diedAt: string;
}

/** Who was about to submit when it died has done so by then. */
const lastCallSeconds = 900;

/** To be written together with the removal of the form itself. */
export const dying = (orgId: number, formId: number): Write =>
  put(keys.deadForm(orgId, formId), {
    ...{ orgId, group: formId, diedAt: now().toISOString() },
    ...on(shelves.due("FORM", dueShard(formId)), after(60).toISOString()),
  });

export const sweepSoon = (orgId: number, formId: number): Promise<void> =>
  enqueue(queues.sweep, [{ orgId, kind: "FORM", groupId: formId }], { group: orgId });

/** Sweeps until all is gone or its time is up; then another message goes on. */
export async function sweep(orgId: number, formId: number): Promise<void> {
  const address = keys.deadForm(orgId, formId);
  const dead = await get<DeadForm>(address);
  if (!dead) return;
  // Ticks need not bring what is under way.
  if (!(await claim(update(address, { set: { duesk: after(queues.sweep.timeoutSeconds * 2).toISOString() } }, { if: exists })))) return;
  const until = after(queues.sweep.timeoutSeconds - 30);
  for (const range of [ranges.submissions(orgId, formId), ranges.submissionCounts(orgId, formId), ranges.bodies(orgId, "FORM", formId)])
    if (!(await emptied(range, until))) return sweepSoon(orgId, formId);
  const end = after(lastCallSeconds, new Date(dead.diedAt));
  if (now() >= end) await write(remove(address));
  else await claim(update(address, { set: { duesk: end.toISOString() } }, { if: exists }));
}

const pageSize = 500;

async function emptied(range: Range, until: Date): Promise<boolean> {
  for (let more = true; more; ) {
    if (now() >= until) return false;
    const { items, next } = await query<Address>(range, { limit: pageSize, consistent: true });
    await writeMany(items.map((item) => remove(item)));
    more = next !== undefined;
  }
  return true;
}
