// Plans the step of one contact in a transaction that upserts many: the item to store, and the
// memberships and topics that change.
import { isDeepStrictEqual } from "node:util";
import { put, type Write } from "../../../adapters/dynamodb/table.ts";
import { Problem } from "../../../errors.ts";
import { type Membership, membershipShardOf } from "../groups/membership-writes.ts";
import {
  type AppliedChoices,
  applyChoices,
  type Choice,
  permittedChoices,
} from "../topics/topic-choices.ts";
import * as confirmations from "./confirmations.ts";
import type { Consent } from "./consent-log.ts";
import type { ContactItem, ContactRow } from "./contact-schema.ts";
import { applyChanges, createItem, membershipsOf, unchangedCondition } from "./contact-writes.ts";
import { externalIdWrites } from "./external-ids.ts";

/** One contact to upsert, with the rows of its email address. */
export interface UpsertTarget {
  orgId: number;
  siteId: number;
  /** The current day in the organization's time zone. */
  date: string;
  /** Id for the contact if it is created. */
  id: number;
  rows: ContactRow[];
  mergedRow: ContactRow;
  tags: number[];
  /** Names of tags that do not exist yet. */
  newTags: string[];
  choices: Choice[];
  consentSource: Consent["source"];
  confirmationSource: confirmations.ConfirmationItem["source"];
  startSequences: boolean;
  resubscribe: boolean;
  mode: UpsertMode;
  /** Fields of a new contact that its row does not set. */
  defaults: NewContactDefaults;
  suppressed: boolean;
  current: ContactItem | undefined;
  created: boolean;
  /** Step whose pointer and memberships were written. */
  pointedStep?: UpsertStep;
  /** The mode excludes it. */
  skipped?: boolean;
  error?: string;
}

/** Whether new email addresses are created and existing contacts changed. */
export type UpsertMode = "create" | "update" | "upsert";
export type NewContactDefaults = Pick<ContactRow, "status" | "source">;

/** The part of one contact in a transaction. */
export interface UpsertStep {
  person: UpsertTarget;
  next: ContactItem;
  isNew: boolean;
  memberships: Membership[];
  /** Topics that it joins or leaves. */
  applied: AppliedChoices;
  /** Stores the contact, enrolled in these sequences. */
  contactWrite(sequences: Set<number> | undefined): Write;
  /** Take and free the id in the customer's own system. */
  externalIdWrites: Write[];
  /** Asks a new contact to confirm. */
  confirmationWrites: Write[];
  /** Sequences that its new memberships trigger. */
  sequenceIds: number[];
  /** Names of the counters it changes. */
  counters: string[];
  bytes: number;
}

/** Undefined when nothing is to be written. */
export function planStep(
  target: UpsertTarget,
  current: ContactItem | undefined,
): UpsertStep | undefined {
  target.current = current;
  // A contact with this id was created by an earlier attempt of the same request.
  target.created = current ? current.id === target.id : target.mode !== "update";
  target.skipped = !target.created && (current ? target.mode === "create" : true);
  if (target.skipped || (current && target.mode === "create")) return undefined;
  try {
    return current ? planUpdate(target, current) : planCreate(target);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    target.error = error.message;
    return undefined;
  }
}

/** Whether the row can be written, with any tags. */
export function isWritable(target: UpsertTarget, current: ContactItem | undefined): boolean {
  const step = planStep(target, current);
  return (
    step !== undefined ||
    (target.error === undefined && !target.skipped && target.mode !== "create")
  );
}

function planCreate(target: UpsertTarget): UpsertStep {
  const { mergedRow, tags, orgId, siteId, id, suppressed, defaults } = target;
  const { tags: _, lists, topics: __, sendConfirmation, ...fields } = mergedRow;
  const applied = applyChoices({}, target.choices);
  const next = createItem(
    {
      ...fields,
      status: fields.status ?? defaults.status,
      source: fields.source ?? defaults.source,
    },
    { orgId, siteId, id, tags, lists, choices: applied.stored, suppressed },
  );
  return toStep(target, {
    next,
    memberships: membershipsOf(next),
    applied,
    condition: { ifAbsent: true },
    confirmationWrites:
      sendConfirmation && next.status === "pending"
        ? [
            confirmations.requestWrite(next, {
              request: `row ${id}`,
              source: target.confirmationSource,
            }),
          ]
        : [],
  });
}

function planUpdate(target: UpsertTarget, current: ContactItem): UpsertStep | undefined {
  const { sendConfirmation: _, email: __, topics: ___, tags: ____, ...row } = target.mergedRow;
  const { lists, status, ...fields } = row;
  const choices = permittedChoices(current, target.choices, target.resubscribe);
  const applied = applyChoices(current, choices);
  const next = applyChanges(current, { ...fields, ...allowedStatus(current, status, target) });
  const merged = {
    ...next,
    ...applied.stored,
    ...unionAttribute("tags", current.tags, target.tags),
    ...unionAttribute("lists", current.lists, lists),
  };
  const memberships = membershipsOf({
    tags: minus(merged.tags, current.tags),
    lists: minus(merged.lists, current.lists),
  });
  if (!memberships.length && isSame(current, merged)) return undefined;
  return toStep(target, {
    next: merged,
    memberships,
    applied,
    condition: { if: unchangedCondition(current) },
    confirmationWrites: [],
  });
}

/** An unsubscribed contact stays unsubscribed without `resubscribe`. */
function allowedStatus(
  { status: now, unsuppressed }: ContactItem,
  wanted: ContactRow["status"],
  { resubscribe, defaults, mergedRow }: UpsertTarget,
): Pick<ContactRow, "status"> {
  const current = now === "suppressed" ? (unsuppressed ?? "subscribed") : now;
  const left = current === "unsubscribed";
  if (left) return resubscribe ? { status: wanted ?? defaults.status ?? "subscribed" } : {};
  // A stranger can type the address of a subscriber, who stays one.
  const staysSubscribed = mergedRow.sendConfirmation && current === "subscribed";
  return wanted === undefined || staysSubscribed ? {} : { status: wanted };
}

const unionAttribute = (name: string, current: Set<number> | undefined, more: number[]) =>
  current || more.length ? { [name]: new Set([...(current ?? []), ...more]) } : {};
const minus = (all: Set<number> | undefined, without: Set<number> | undefined): Set<number> =>
  (all ?? new Set<number>()).difference(without ?? new Set());

/** Ignores the version and the order of fields. */
const isSame = (a: ContactItem, b: ContactItem): boolean =>
  isDeepStrictEqual(withoutVersion(a), withoutVersion(b));
const withoutVersion = ({ updatedAt: _, v: __, tags: ___, lists: ____, ...rest }: ContactItem) =>
  Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));

const toStep = (
  target: UpsertTarget,
  {
    next,
    memberships,
    applied,
    condition,
    confirmationWrites,
  }: Pick<UpsertStep, "next" | "memberships" | "applied" | "confirmationWrites"> & {
    condition: Parameters<typeof put>[2];
  },
): UpsertStep => ({
  person: target,
  next,
  isNew: !target.current,
  memberships,
  applied,
  contactWrite: (sequences = new Set()) => {
    const all = sequences.union(next.sequences ?? new Set());
    return put(next, { ...next, ...(all.size && { sequences: all }) }, condition);
  },
  externalIdWrites: externalIdWrites(target.current, next),
  confirmationWrites,
  sequenceIds: [],
  counters: [
    ...(target.current ? [] : [next.pk]),
    ...memberships.map(({ kind, group }) => `${kind} ${group} ${membershipShardOf(next)}`),
    ...(applied.changes.length ? [`topics ${membershipShardOf(next)}`] : []),
  ],
  bytes: Buffer.byteLength(JSON.stringify(next)),
});
