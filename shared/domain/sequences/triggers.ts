// What starts sequences. A list or tag knows the sequences that wait for it, on its own record, which whoever joins it to a contact
// reads anyhow. What else sequences wait for stands together on one item of the site, kept in the process for a moment. Who is started
// enters in the transaction of what started it, so it happens once, whoever dies.
import { absent, all, any, type Condition, equals, exists, smaller } from "../../conditions.ts";
import { claim, get, update, type Write } from "../../doors/table.ts";
import { conflict, invalid } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { type GroupKind, keys } from "../../keys.ts";
import type { ContactItem } from "../contacts/contact.ts";
import { type Begun, nothing } from "./begun.ts";
import * as enrollment from "./enrollment.ts";
import type { SequenceItem, TriggerConfig, TriggerType } from "./record.ts";
import { advanceSoon } from "./waiting.ts";

export type { Begun };

/** Active sequences that wait for one and the same. */
const mostWaiting = 20;
const tooMany = () => conflict(`At most ${mostWaiting} active sequences may wait for one and the same`, { code: "too_many_sequences" });

type Waiting = Pick<SequenceItem, "triggerType" | "triggerConfig"> & { sequenceId: number };

const kindOf: Partial<Record<TriggerType, GroupKind>> = { tag_add: "TAG", list_join: "LIST" };
const ofSite: TriggerType[] = ["form_submit", "custom_event", "score_reached"];
const needed: Partial<Record<TriggerType, (keyof TriggerConfig)[]>> = {
  tag_add: ["tagId", "tagName"],
  list_join: ["listId"],
  form_submit: ["formId"],
  custom_event: ["eventName"],
  score_reached: ["score"],
};

/** 400 when the config does not fit the trigger; `whole`: it must say what is waited for. */
export function check({ triggerType, triggerConfig }: Pick<SequenceItem, "triggerType" | "triggerConfig">, whole: boolean): void {
  const fields = needed[triggerType] ?? [];
  const stray = Object.keys(triggerConfig ?? {}).find((field) => !fields.includes(field as keyof TriggerConfig));
  if (stray) throw wrong(`triggerConfig.${stray}`, `${triggerType} takes ${fields.join(" or ") || "no triggerConfig"}`);
  if (whole && fields.length && !fields.some((field) => triggerConfig?.[field] !== undefined))
    throw wrong(`triggerConfig.${fields[0]}`, `${triggerType} needs ${fields.join(" or ")}`);
}

const wrong = (path: string, what: string) => invalid(`${path}: ${what}`, { details: [{ path, message: what }] });

interface Group {
  starts?: Set<number>;
}

/** What changes where sequences are waited for, from what a sequence was to what it will be; undefined: it was not, or will not be. */
export async function arming(orgId: number, before: SequenceItem | undefined, after: SequenceItem | undefined): Promise<Write[]> {
  const [from, to] = [placeOf(before), placeOf(after)];
  const moved = from?.name !== to?.name;
  return [
    ...(from && moved ? await leaving(orgId, before!) : []),
    ...(to && (moved || to.name === "site") ? await arriving(orgId, after!, !moved) : []),
  ];
}

function placeOf(sequence: SequenceItem | undefined): { name: string } | undefined {
  if (sequence?.status !== "active") return undefined;
  if (sequence.waitsAt) return { name: `${sequence.waitsAt.kind}/${sequence.waitsAt.id}` };
  return ofSite.includes(sequence.triggerType) ? { name: "site" } : undefined;
}

async function leaving(orgId: number, { id, siteId, waitsAt }: SequenceItem): Promise<Write[]> {
  if (!waitsAt) return [update(keys.siteTriggers(orgId, siteId), { remove: [`q${id}`], leave: { ids: new Set([id]) } })];
  const group = keys.record(orgId, waitsAt.kind, waitsAt.id);
  const there = await get<Group>(group);
  return there?.starts?.has(id) ? [update(group, { leave: { starts: new Set([id]) } }, { if: exists })] : [];
}

async function arriving(orgId: number, sequence: SequenceItem, again: boolean): Promise<Write[]> {
  const { id, siteId, waitsAt, triggerType, triggerConfig } = sequence;
  if (waitsAt) {
    const room = all(exists, any(absent("starts"), smaller("starts", mostWaiting)));
    return [update(keys.record(orgId, waitsAt.kind, waitsAt.id), { add: { starts: new Set([id]) } }, { if: room, otherwise: tooMany() })];
  }
  const others = (await read(orgId, siteId)).filter(({ sequenceId }) => sequenceId !== id);
  const same = others.filter((one) => one.triggerType === triggerType && sameAs(one.triggerConfig, triggerConfig));
  if (same.length >= mostWaiting || (!again && others.length >= mostOfSite)) throw tooMany();
  const waiting: Waiting = { sequenceId: id, triggerType, triggerConfig };
  return [update(keys.siteTriggers(orgId, siteId), { set: { [`q${id}`]: waiting }, add: { ids: new Set([id]) } })];
}

/** An item has 400 KB; a site that comes near has other troubles. */
const mostOfSite = 500;
const sameAs = (a: TriggerConfig | null, b: TriggerConfig | null): boolean => JSON.stringify(a) === JSON.stringify(b);

async function read(orgId: number, siteId: number): Promise<Waiting[]> {
  const item = (await get<Record<string, unknown>>(keys.siteTriggers(orgId, siteId))) ?? {};
  return Object.entries(item).flatMap(([name, value]) => (/^q\d+$/.test(name) ? [value as Waiting] : []));
}

// A change may take this long until it holds in every process.
const keepMs = 3000;
const known = new Map<string, { waiting: Waiting[]; until: number }>();
const nameOf = (orgId: number, siteId: number): string => `${orgId}/${siteId}`;
export const forget = (orgId: number, siteId: number): void => void known.delete(nameOf(orgId, siteId));

async function waitingAt(orgId: number, siteId: number): Promise<Waiting[]> {
  const kept = known.get(nameOf(orgId, siteId));
  if (kept && kept.until > performance.now()) return kept.waiting;
  const waiting = await read(orgId, siteId);
  if (known.size >= 1000) known.clear();
  known.set(nameOf(orgId, siteId), { waiting, until: performance.now() + keepMs });
  return waiting;
}

interface Entrant {
  contact: ContactItem;
  sequenceIds: number[];
  /** Must hold beside. */
  conditions?: Condition[];
}

/** `room`: writes that the transaction has left. */
export async function beginning(entrants: Entrant[], room = Number.POSITIVE_INFINITY): Promise<Begun> {
  const most = Math.max(0, Math.floor(room / 2));
  const entering = entrants.map((one) => {
    const open = enrollment.open(one.contact, [...new Set(one.sequenceIds)]);
    return { ...one, open: open.slice(0, most), rest: open.slice(most) };
  });
  const n = entering.reduce((sum, { open }) => sum + open.length, 0);
  if (!n && entering.every(({ rest, conditions = [] }) => !rest.length && !conditions.length)) return nothing;
  let number = n ? await ids.takeEnrollments(n) : 0;
  const items = entering.flatMap(({ contact, open }) => open.map((sequenceId) => enrollment.begun(contact, sequenceId, number++)));
  const byContact = new Map(
    entering.map(({ contact, open, conditions = [] }) => {
      const { add, conditions: entry } = enrollment.entering(open);
      return [contact.id, { add: add as Record<string, Set<number>>, conditions: [...entry, ...conditions] }];
    }),
  );
  return {
    ...enrollment.beginning(items),
    of: ({ id }) => byContact.get(id) ?? nothing.of({ id }),
    later: entering.flatMap(({ contact, rest }) => (rest.length ? [{ contact, sequenceIds: rest }] : [])),
  };
}

/** After the transaction. */
export async function started({ placed, later }: Begun): Promise<void> {
  if (placed.length) await advanceSoon(placed);
  for (const { contact, sequenceIds } of later) await enter(contact, sequenceIds);
}

/** Where so much else happens in the transaction that there is no room in it. */
async function enter(contact: ContactItem, sequenceIds: number[]): Promise<void> {
  const begun = await beginning([{ contact, sequenceIds }]);
  const { add, conditions } = begun.of(contact);
  if (!begun.placed.length) return;
  const entering = update(contact, { add: { ...add, v: 1 } }, { if: all(equals("id", contact.id), ...conditions) });
  if (await claim(entering, ...begun.writes)) await advanceSoon(begun.placed);
}

/** What happens to a contact, as far as sequences wait for it. */
export interface Happening {
  /** Of the list or tag it joins: as `starts` says on its record. */
  starts?: Iterable<number> | undefined;
  eventNames?: string[];
  formId?: number;
  /** By which its score changes. */
  points?: number;
}

/** Costs no read where the site has none that waits, but for one in some seconds. `room`: see `beginning`. */
export async function startedBy(
  contact: ContactItem,
  { starts = [], eventNames = [], formId, points = 0 }: Happening,
  room?: number,
): Promise<Begun> {
  const asks = eventNames.length > 0 || formId !== undefined || points !== 0;
  const waiting = asks ? await waitingAt(contact.orgId, contact.siteId) : [];
  const met = waiting.filter(
    ({ triggerType, triggerConfig }) =>
      (triggerType === "custom_event" && eventNames.includes(triggerConfig?.eventName ?? "")) ||
      (triggerType === "form_submit" && formId !== undefined && triggerConfig?.formId === formId) ||
      (triggerType === "score_reached" && reaches(contact, points, triggerConfig?.score)),
  );
  const sequenceIds = [...starts, ...met.map(({ sequenceId }) => sequenceId)];
  // Two changes at a time, neither of which reaches the score alone, must not both be made unseen.
  const counts = points !== 0 && waiting.some(({ triggerType }) => triggerType === "score_reached");
  return beginning([{ contact, sequenceIds, conditions: counts ? [scoreAsRead(contact)] : [] }], room);
}

/** Whether a sequence of the site waits for a score. */
export const waitsForScores = async (orgId: number, siteId: number): Promise<boolean> =>
  (await waitingAt(orgId, siteId)).some(({ triggerType }) => triggerType === "score_reached");

const reaches = ({ score = 0 }: ContactItem, points: number, wanted = Number.POSITIVE_INFINITY): boolean =>
  score < wanted && score + points >= wanted;

const scoreAsRead = ({ score }: ContactItem): Condition => (score === undefined ? absent("score") : equals("score", score));

/** The list or tag at which a sequence waits; a tag that is named and not there yet is made by `tagNamed`. */
export async function groupOf(
  { triggerType, triggerConfig }: Pick<SequenceItem, "triggerType" | "triggerConfig">,
  tagNamed: (name: string) => Promise<number>,
): Promise<{ kind: GroupKind; id: number } | null> {
  const kind = kindOf[triggerType];
  const { tagId, tagName, listId } = triggerConfig ?? {};
  if (!kind) return null;
  const id = kind === "LIST" ? listId : (tagId ?? (tagName === undefined ? undefined : await tagNamed(tagName)));
  return id === undefined ? null : { kind, id };
}
