// What the runs of a sequence need besides the enrollment and its contact.
import * as clock from "../../clock.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import type { MailTopic } from "../audience/topics/topic-subscription.ts";
import * as topics from "../audience/topics/topics.ts";
import * as sites from "../identity/sites.ts";
import { loadTimezones, nextOpening } from "./send-window.ts";
import type { SequenceItem } from "./sequence-schema.ts";
import { createRuleTests, type EnrollmentReads } from "./step-conditions.ts";
import type { StepGraph } from "./step-graph.ts";
import * as stepGraphStore from "./step-graph-store.ts";
import type { EnrollmentRunContext } from "./step-runner.ts";

export interface RunSettings {
  orgId: number;
  site: sites.Site;
  graph: StepGraph;
  topic: MailTopic | undefined;
  timezoneOf(contact: ContactItem): string;
}

/** Throws 404: without its topic, a sequence cannot tell who wants its mail. */
export async function loadRunSettings(orgId: number, sequence: SequenceItem): Promise<RunSettings> {
  const { siteId, sendWindow, topicId } = sequence;
  const [graph, site, timezoneOf, topic] = await Promise.all([
    stepGraphStore.getGraph(orgId, sequence),
    sites.find({ orgId }, siteId),
    loadTimezones(orgId, sendWindow),
    topicId ? topics.findOfSite({ orgId }, { id: topicId, siteId }) : undefined,
  ]);
  return { orgId, site, graph, timezoneOf, topic: topic && topics.toMailTopic(topic) };
}

/** Runs are at the time of `reads`. */
export function createRunContext(
  { siteId, sendWindow, triggerType, goals, exits }: SequenceItem,
  { orgId, site, graph, topic, timezoneOf }: RunSettings,
  reads: EnrollmentReads,
): EnrollmentRunContext {
  return {
    graph,
    triggerType,
    limits: { capDays: site.sendFrequencyCapDays ?? 0, topic },
    ...createRuleTests({ orgId, siteId, goals, exits }, graph, reads),
    now: reads.now ?? clock.now,
    timezoneOf,
    nextOpening: (contact, at) => nextOpening(sendWindow, timezoneOf(contact), at),
  };
}
