// Settles a single send, or a bulk mail that was uncertain: one transaction stores what became of
// the mail and counts it, in the daily counters, in those of its campaign or sequence, and on its
// contact. A send that is not settled has attributes of its hand-over, and the transaction removes
// them, so each mail is settled once.

import type { Condition } from "../../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  get,
  transact,
  update,
  type Write,
} from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { dateIn } from "../../../kernel/time-zones.ts";
import { indexAttributeNames, keys } from "../../../keys.ts";
import type { HandOverOutcome } from "../../../providers/provider-adapter.ts";
import { getProvider } from "../../../providers/registry.ts";
import * as engagement from "../../audience/contacts/engagement.ts";
import * as organizations from "../../identity/organizations.ts";
import * as dailyCounters from "../daily-counters.ts";
import {
  addSourceCountWrites,
  countsOfSettled,
  type SourceCounts,
  sourceOf,
} from "../mail-sources.ts";
import { toSendFields } from "../provider-calls/provider-call.ts";
import type { SendItem } from "../send-schema.ts";
import {
  handOverAttributes,
  inLookUpCondition,
  isInLookUp,
  isLeased,
  isPending,
  isSettled,
  isUnchanged,
  lookUpAttributes,
  type SingleSendItem,
  unchangedCondition,
} from "./single-send-item.ts";

/** The contact that a mail is for, if there is one. */
export type Contacts = Awaited<ReturnType<typeof engagement.getAddressees>>;

type SettledStatus = "sent" | "failed" | "uncertain" | "cancelled";

/** What a caller has read already. */
interface KnownFacts {
  contacts?: Contacts | undefined;
  /** The organization's time zone. */
  timezone?: string | undefined;
}

/** A change of a send that settles it. */
interface Settlement {
  set: Partial<SingleSendItem>;
  remove: string[];
  condition: Condition;
  counted: Counted;
}

/** What the counters get to know. */
interface Counted {
  status: SettledStatus;
  /** Why the mail failed. */
  error?: string | null | undefined;
  /** It has been counted as uncertain. */
  wasUncertain: boolean;
}

/**
 * Stores and counts the outcome of a hand-over. An event may have settled the status before: then
 * only the other fields from the provider's response are added. Does nothing if the send is
 * settled, or if another worker has claimed it or returned it to the queue since.
 */
export const settleSend = (
  orgId: number,
  send: SingleSendItem,
  { outcome, ...known }: KnownFacts & { outcome: HandOverOutcome },
): Promise<void> => {
  const fields = toSendFields(outcome, now().toISOString());
  return settle({ orgId, send, known }, (current) => {
    if (isUnchanged(current, send)) return toSettlement(orgId, current, fields);
    if (current.by !== send.by || isPending(current) || isSettled(current)) return undefined;
    const { status: _, error: __, ...others } = fields;
    return toSettlement(orgId, current, { ...others, status: "sent", keepsStatus: true });
  });
};

/**
 * An event proved that the provider has the mail, after its worker crashed or before it was handed
 * over again. Counts it as sent, because nobody else does. While its lease is valid, the worker is
 * alive and settles the send itself.
 */
export const settleByEvent = (orgId: number, send: SingleSendItem): Promise<void> =>
  settle({ orgId, send }, (current) =>
    isPending(current) || isSettled(current) || isLeased(current)
      ? undefined
      : toSettlement(orgId, current, { status: "sent", keepsStatus: true }),
  );

/**
 * Stores and counts what became of an uncertain mail. Does nothing if it was settled in the
 * meantime, or if a later look-up has begun.
 */
export const settleUncertain = (
  orgId: number,
  send: SingleSendItem,
  fields: Partial<SendItem> & { status: Exclude<SettledStatus, "uncertain"> },
): Promise<void> =>
  settle({ orgId, send }, (current) =>
    isInLookUp(current, send.lookUp)
      ? {
          set: { ...fields, updatedAt: now().toISOString() },
          remove: [...transientAttributes, "lookUp", ...(fields.error ? [] : ["error"])],
          condition: inLookUpCondition(send.lookUp),
          counted: { ...fields, wasUncertain: true },
        }
      : undefined,
  );

const dueAttributeNames = indexAttributeNames("due");
/** Attributes that are needed only until the mail is settled. */
const transientAttributes = [...dueAttributeNames, ...handOverAttributes, "wasUncertain"];

function toSettlement(
  orgId: number,
  send: SingleSendItem,
  { keepsStatus = false, ...fields }: Partial<SendItem> & { keepsStatus?: boolean },
): Settlement {
  const { status, ...others } = fields;
  const isUncertain = status === "uncertain";
  const lookUp: object = isUncertain ? lookUpOf(orgId, send) : {};
  // A look-up may find that the mail has to be handed over again, with its content.
  const kept = isUncertain && "lookUp" in lookUp ? ["content", ...Object.keys(lookUp)] : [];
  return {
    set: { ...others, ...(!keepsStatus && { status }), ...lookUp },
    remove: [
      ...transientAttributes.filter((name) => !kept.includes(name)),
      // What a user knew of the hand-over before is not known of this one.
      ...(isUncertain ? ["resolution"] : []),
    ],
    condition: unchangedCondition(send),
    counted: {
      status: status as SettledStatus,
      error: fields.error,
      wasUncertain: send.wasUncertain ?? false,
    },
  };
}

const lookUpOf = (orgId: number, send: SingleSendItem) => {
  const provider = getProvider(send.provider);
  return provider ? lookUpAttributes(orgId, send.id, { provider, revision: send.revision }) : {};
};

/** Repeats the change with what is stored by then, until it is made or has become unnecessary. */
async function settle(
  { orgId, send, known = {} }: { orgId: number; send: SingleSendItem; known?: KnownFacts },
  settlementOf: (current: SingleSendItem) => Settlement | undefined,
): Promise<void> {
  await retryOnConflict("The send", async (attempt) => {
    const current = attempt === 1 ? send : await get<SingleSendItem>(keys.send(orgId, send.id));
    const settlement = current && settlementOf(current);
    if (!current || !settlement) return;
    const [contacts, timezone] = await Promise.all([
      current.system
        ? []
        : (attempt === 1 && known.contacts) || engagement.getAddressees(orgId, [current]),
      known.timezone ?? organizations.getTimezone(orgId),
    ]);
    const date = dateIn(timezone, now());
    const { counted, set, remove, condition } = settlement;
    const fields = { contactId: current.contactId ?? contacts[0]?.id, ...set };
    const isMade = await transact(
      // Incrementing `v` makes events that were applied to the old state apply again.
      update(keys.send(orgId, send.id), { set: fields, add: { v: 1 }, remove }, { if: condition }),
      ...(current.system
        ? []
        : countWrites(orgId, { ...current, ...fields }, { ...counted, date, contacts })),
    );
    if (!isMade) throw new ConditionFailed(0);
  });
}

interface CountedMail extends Counted {
  /** Today in the time zone of the organization. */
  date: string;
  contacts: Contacts;
}

function countWrites(orgId: number, send: SingleSendItem, mail: CountedMail): Write[] {
  const { siteId, sendingConfigId: configId, createdAt: acceptedAt } = send;
  const { date, contacts } = mail;
  const { counts, sourceCounts } = countsOf(mail);
  const source = sourceOf(send);
  const sourceChange = source && { source, counts: sourceCounts, time: { acceptedAt, date } };
  return [
    ...dailyCounters.dayCounterWrites(orgId, { siteId, date, shardSeed: send.id }, [
      { configId, counts },
    ]),
    ...(sourceChange ? addSourceCountWrites(orgId, send.id, [sourceChange]) : []),
    ...(mail.status === "sent" && contacts[0]
      ? engagement.countSendWrites(orgId, contacts[0], send)
      : []),
  ];
}

/** What the outcome changes in the daily counters, and in those of the mail's source. */
function countsOf({ status, error, wasUncertain }: Counted): {
  counts: dailyCounters.DayCounts;
  sourceCounts: SourceCounts;
} {
  const sourceCounts = countsOfSettled({ status, error: error ?? null });
  if (!wasUncertain) return { counts: { [status]: 1 }, sourceCounts };
  const counts = status === "sent" ? { recovered: 1 } : { [status]: 1, uncertain: -1 };
  // An outcome that is uncertain again changes nothing.
  return status === "uncertain"
    ? { counts: {}, sourceCounts: {} }
    : { counts, sourceCounts: { ...sourceCounts, uncertain: -1 } };
}
