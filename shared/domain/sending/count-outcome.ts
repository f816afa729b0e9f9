// Counts the outcome of a single send, or of a bulk mail that was uncertain, once.
import { absent, all, equals, present } from "../../adapters/dynamodb/conditions.ts";
import { transact, update } from "../../adapters/dynamodb/table.ts";
import { indexAttributeNames, keys } from "../../keys.ts";
import * as engagement from "../audience/contacts/engagement.ts";
import * as organizations from "../identity/organizations.ts";
import * as dailyCounters from "./daily-counters.ts";
import {
  addSourceCountWrites,
  countsOfSettled,
  type SourceCounts,
  sourceOf,
} from "./mail-sources.ts";
import * as outcomeRuns from "./outcome-runs.ts";
import type { SingleSendItem } from "./single-send-item.ts";

export type Contacts = Awaited<ReturnType<typeof engagement.getAddressees>>;

/** Counts the outcome once, on the contact and in the counters. Safe to repeat. */
export async function countOutcome(
  orgId: number,
  send: SingleSendItem,
  knownContacts?: Contacts,
): Promise<void> {
  const { uncounted, run, siteId, sendingConfigId: configId } = send;
  if (!uncounted) return;
  const key = keys.send(orgId, send.id);
  const due = send.lookUp ? [] : indexAttributeNames("due");
  const remove = [...due, "uncounted", "run", "wasUncertain"];
  const condition = all(
    present("uncounted"),
    run === undefined ? absent("run") : equals("run", run),
  );
  if (run && !(await outcomeRuns.abandonRun(orgId, run))) {
    await transact(update(key, { remove }, { if: condition }));
    return;
  }
  const [date, contacts] = await Promise.all([
    organizations.getToday(orgId),
    knownContacts ?? engagement.getAddressees(orgId, [send]),
  ]);
  const contactId = send.contactId ?? contacts[0]?.id;
  if (uncounted === "sent") await engagement.recordSends(orgId, [{ ...send, contactId }], contacts);
  const { counts, sourceCounts } = countsOf(send, uncounted);
  const source = sourceOf(send);
  const time = { acceptedAt: send.createdAt, date };
  await transact(
    update(key, { set: { contactId }, remove }, { if: condition }),
    ...dailyCounters.dayCounterWrites(orgId, { siteId, date, shardSeed: send.id }, [
      { configId, counts },
    ]),
    ...(source
      ? addSourceCountWrites(orgId, send.id, [{ source, counts: sourceCounts, time }])
      : []),
  );
}

/** What the outcome changes in the daily counters, and in those of the mail's source. */
function countsOf(
  { wasUncertain, error }: SingleSendItem,
  status: NonNullable<SingleSendItem["uncounted"]>,
): { counts: dailyCounters.DayCounts; sourceCounts: SourceCounts } {
  const sourceCounts = countsOfSettled({ status, error });
  if (!wasUncertain) return { counts: { [status]: 1 }, sourceCounts };
  const counts = status === "sent" ? { recovered: 1 } : { [status]: 1, uncertain: -1 };
  // An outcome that is uncertain again changes nothing.
  return status === "uncertain"
    ? { counts: {}, sourceCounts: {} }
    : { counts, sourceCounts: { ...sourceCounts, uncertain: -1 } };
}
