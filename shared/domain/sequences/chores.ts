// What is to be done to all who are in a sequence: once it is active again, who was held goes on; when a step was removed, who is at
// it goes on; when the sequence was removed, they leave. How that is done is in sweeps.ts.
import { after, now } from "../../clock.ts";
import { enqueue } from "../../doors/queue.ts";
import { put, type Write } from "../../doors/table.ts";
import { type Address, dueShard, keys, on, shelves } from "../../keys.ts";
import { queues } from "../../queues.ts";

export interface Chore extends Address {
  orgId: number;
  sequenceId: number;
  siteId: number;
  what: "release" | "remove";
  /** Names it: another one takes its place. */
  since: string;
  /** How often it has gone round. */
  round: number;
  /** By collection: how far it came this time. */
  places?: Record<string, string>;
}
type Named = Pick<Chore, "sequenceId" | "siteId">;

const making = (orgId: number, named: Named, what: Chore["what"]): Write =>
  put(keys.sequenceChore(orgId, named.sequenceId), {
    orgId,
    ...named,
    what,
    since: now().toISOString(),
    round: 0,
    ...dueAt(named.sequenceId, after(60)),
  });

export const dueAt = (sequenceId: number, at: Date) => on(shelves.due("SEQUENCE", dueShard(sequenceId)), at.toISOString());

/** To be written together with what makes it needed. */
export const releasing = (orgId: number, named: Named): Write => making(orgId, named, "release");
export const removing = (orgId: number, named: Named): Write => making(orgId, named, "remove");

export const workSoon = (orgId: number, sequenceId: number): Promise<void> =>
  enqueue(queues.advance, [{ work: "chore", orgId, sequenceId }], { group: orgId });
