// Tests contacts against the rules of steps, at the moment they reach them, and finds the events
// that steps wait for. The data is read once for a whole batch of enrollments.
import { getMany } from "../../adapters/dynamodb/table.ts";
import type { SiteRef } from "../../caller.ts";
import { keys } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import {
  isPropertyField,
  type StepEngagement,
  withEventProperties,
} from "../audience/segments/segment-fields.ts";
import type { SegmentRules } from "../audience/segments/segment-rules.ts";
import * as segments from "../audience/segments/segments.ts";
import { type ActivityItem, activitySortKey } from "../audience/tracking/activities.ts";
import type { SendItem } from "../sending/send-schema.ts";
import type { EnrollmentItem } from "./enrollment-schema.ts";
import { conversionValueOf, type SequenceExit } from "./sequence-goals.ts";
import type { SequenceItem } from "./sequence-schema.ts";
import type { WaitConfig } from "./step-configs.ts";
import type { StepGraph } from "./step-graph.ts";
import { conditionsOf, stepOrdersOf } from "./step-graph-problems.ts";
import type { EnrollmentRunContext } from "./step-runner.ts";

type RuleTests = Pick<EnrollmentRunContext, "conditionHolds" | "findAwaitedEvent" | "findWayOut">;

/** What rules read of enrollments. */
export interface EnrollmentReads {
  /** An event that an enrollment names. */
  getEvent(item: EnrollmentItem, sortKey: string): Promise<ActivityItem | undefined>;
  /** The mails of the enrollments, by send id. */
  getSends(): Promise<Map<number, Pick<SendItem, "openedAt" | "clickedAt">>>;
  /** The time that the rules count from. Absent: now. */
  now?(): Date;
}

/** Each reads once for the whole batch. */
export function createReads(orgId: number, items: EnrollmentItem[]): EnrollmentReads {
  let sends: Promise<Map<number, SendItem>> | undefined;
  let events: Promise<Map<string, ActivityItem>> | undefined;
  return {
    getEvent: async (item, sortKey) => {
      events ??= getEvents(items);
      return (await events).get(nameOf(item, sortKey));
    },
    getSends: () => (sends ??= getSends(orgId, items)),
  };
}

type RuleSource = SiteRef & Pick<SequenceItem, "goals" | "exits">;

export function createRuleTests(
  { orgId, siteId, goals = [], exits = [] }: RuleSource,
  graph: StepGraph,
  { getEvent, getSends: readSends, now }: EnrollmentReads,
): RuleTests {
  const matchers = new Map<SegmentRules, ReturnType<typeof segments.createMatcher>>();
  const matcherOf = async (rules: SegmentRules) => {
    const reading = matchers.get(rules) ?? segments.createMatcher(orgId, siteId, rules);
    matchers.set(rules, reading);
    const matches = await reading;
    return (contact: ContactItem) => matches(contact, now?.());
  };
  return {
    conditionHolds: async ({ conditionConfig }, { item, contact, eventKey }) => {
      const rules = conditionConfig ?? anyContact;
      const matches = await matcherOf(rules);
      const needsEvent = conditionsOf(rules).some(({ field }) => isPropertyField(field));
      const event = needsEvent && eventKey ? await getEvent(item, eventKey) : undefined;
      const subject = needsEvent ? withEventProperties(contact, event?.properties) : contact;
      if (!stepOrdersOf(rules).length) return matches(subject);
      const contactWithSteps: ContactItem & StepEngagement = {
        ...subject,
        ...engagementOf(graph, item, await readSends()),
      };
      return matches(contactWithSteps);
    },
    findAwaitedEvent: async ({ waitConfig }, item, contact) =>
      findHeard(waitConfig ?? {}, item, contact),
    findWayOut: async (item, contact) => {
      const meets = async ({ rules, ...listening }: SequenceExit) => {
        const event = await findHeard(listening, item, contact);
        return { event, isMet: event || (rules && (await (await matcherOf(rules))(contact))) };
      };
      for (const goal of goals) {
        const { event, isMet } = await meets(goal);
        if (isMet) return { reason: "goal", value: conversionValueOf(goal, contact, event) };
      }
      for (const exit of exits) if ((await meets(exit)).isMet) return { reason: "exit" };
      return undefined;
    },
  };
  async function findHeard(
    { eventName, filter = anyContact }: Pick<WaitConfig, "eventName" | "filter">,
    item: EnrollmentItem,
    contact: ContactItem,
  ): Promise<ActivityItem | undefined> {
    if (eventName === undefined || !item.heard?.size) return undefined;
    for (const sortKey of [...item.heard].toSorted()) {
      const event = await getEvent(item, sortKey);
      if (event?.name !== eventName) continue;
      const matches = await matcherOf(filter);
      if (await matches(withEventProperties(contact, event.properties))) return event;
    }
    return undefined;
  }
}

const anyContact: SegmentRules = { match: "all", conditions: [] };

const nameOf = ({ contactId }: Pick<EnrollmentItem, "contactId">, sortKey: string): string =>
  `${contactId} ${sortKey}`;

/** The events that the enrollments name. */
async function getEvents(items: EnrollmentItem[]): Promise<Map<string, ActivityItem>> {
  const eventKeys = items.flatMap(({ orgId, contactId, heard = [], startedBy, wokenBy }) =>
    [...new Set([...heard, startedBy ?? [], wokenBy ?? []].flat())].map((sortKey) =>
      keys.contactLog(orgId, contactId, sortKey),
    ),
  );
  const found = await getMany<ActivityItem>(eventKeys, { consistent: true });
  return new Map(
    found.flatMap((event) => (event ? [[nameOf(event, activitySortKey(event)), event]] : [])),
  );
}

async function getSends(orgId: number, items: EnrollmentItem[]): Promise<Map<number, SendItem>> {
  const ids = items.flatMap(({ sends }) => Object.values(sends ?? {}));
  const found = await getMany<SendItem>(
    ids.map((id) => keys.send(orgId, id)),
    { consistent: true },
  );
  return new Map(found.flatMap((send) => (send ? [[send.id, send]] : [])));
}

function engagementOf(
  { steps, gone }: StepGraph,
  { sends: sendIds = {} }: EnrollmentItem,
  sends: Awaited<ReturnType<EnrollmentReads["getSends"]>>,
): StepEngagement {
  const ordersOfSends = (test: (send: Pick<SendItem, "openedAt" | "clickedAt">) => unknown) =>
    new Set(
      [...gone, ...steps].flatMap(({ id, stepOrder }) => {
        const send = sends.get(sendIds[id] ?? 0);
        return send && stepOrder !== undefined && test(send) ? [stepOrder] : [];
      }),
    );
  // A click counts as an open: mail clients may block the tracking pixel.
  return {
    openedSteps: ordersOfSends(({ openedAt, clickedAt }) => openedAt ?? clickedAt),
    clickedSteps: ordersOfSends(({ clickedAt }) => clickedAt),
  };
}
