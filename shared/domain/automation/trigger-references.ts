// The records that the trigger of a sequence names.
import type { CallerScope } from "../../caller.ts";
import { invalid } from "../../errors.ts";
import * as records from "../../kernel/records.ts";
import * as groups from "../audience/groups/groups.ts";
import { withGroupIds } from "../audience/segments/group-ids.ts";
import { conditionsOf } from "../audience/segments/rule-lookups.ts";
import { isPropertyField, parseField } from "../audience/segments/segment-fields.ts";
import { isRules, type SegmentRules } from "../audience/segments/segment-rules.ts";
import * as segments from "../audience/segments/segments.ts";
import { findItem, type SequenceItem } from "./sequence-schema.ts";
import { getGraph } from "./step-graph-store.ts";
import { resolveTriggerGroup } from "./trigger-registrations.ts";
import { checkTriggerConfig, type SequenceTriggerConfig } from "./trigger-schema.ts";

const referencedKinds = {
  tagId: "TAG",
  listId: "LIST",
  formId: "FORM",
  campaignId: "CAMPAIGN",
  sequenceId: "SEQUENCE",
  segmentId: "SEGMENT",
} as const;
const referenceFields = Object.keys(referencedKinds) as (keyof typeof referencedKinds)[];

/**
 * The config with ids of lists and tags in its filter. 404 for a record that does not exist, 400
 * for one of another site.
 */
export async function resolveReferences(
  caller: CallerScope,
  {
    siteId,
    triggerType,
    triggerConfig,
  }: Pick<SequenceItem, "siteId" | "triggerType" | "triggerConfig">,
): Promise<SequenceTriggerConfig | null> {
  if (!triggerConfig) return null;
  await Promise.all(
    referenceFields.map(async (name) => {
      const id = triggerConfig[name];
      if (id === undefined) return;
      const path = `triggerConfig.${name}`;
      await records.findOfSite(referencedKinds[name], caller, { id, siteId, path });
    }),
  );
  await Promise.all([checkStep(caller, triggerConfig), checkSegment(caller, triggerConfig)]);
  const { filter } = triggerConfig;
  if (!filter) return triggerConfig;
  if (triggerType !== "custom_event") refuseProperties(filter, "triggerConfig.filter");
  const site = { orgId: caller.orgId, siteId };
  return { ...triggerConfig, filter: await withGroupIds(site, filter, "triggerConfig.filter") };
}

async function checkStep(
  { orgId }: CallerScope,
  { sequenceId, stepId }: SequenceTriggerConfig,
): Promise<void> {
  if (sequenceId === undefined || stepId === undefined) return;
  const { steps } = await getGraph(orgId, await findItem({ orgId }, sequenceId));
  if (steps.some(({ id }) => id === stepId)) return;
  const message = `triggerConfig.stepId: the sequence has no step ${stepId}`;
  throw invalid(message, { details: [{ path: "triggerConfig.stepId", message }] });
}

/** Mails of campaigns are counted apart from the contact, so no change of it tells of them. */
async function checkSegment(
  caller: CallerScope,
  { segmentId }: SequenceTriggerConfig,
): Promise<void> {
  if (segmentId === undefined) return;
  const { rules } = await segments.find(caller, segmentId);
  const unseen = conditionsOf(rules).find(({ field }) => parseField(field)?.mails);
  if (!unseen) return;
  const message = `triggerConfig.segmentId: no trigger can watch ${unseen.field}`;
  throw invalid(message, { details: [{ path: "triggerConfig.segmentId", message }] });
}

/** Only a custom event has properties. */
function refuseProperties(rules: SegmentRules, path: string): void {
  for (const [i, node] of rules.conditions.entries()) {
    const at = `${path}.conditions.${i}`;
    if (isRules(node)) refuseProperties(node, at);
    else if (isPropertyField(node.field)) {
      const message = `${at}.field: only the trigger custom_event has properties of an event`;
      throw invalid(message, { details: [{ path: `${at}.field`, message }] });
    }
  }
}

/** Sets `waitsAt`. A tag that `triggerConfig` names is created if it does not exist. */
export async function resolveTrigger(
  caller: CallerScope,
  sequence: SequenceItem,
): Promise<SequenceItem> {
  if (sequence.status !== "active") return { ...sequence, waitsAt: null };
  checkTriggerConfig(sequence, true);
  const waitsAt = await resolveTriggerGroup(
    sequence,
    async (name) => (await groups.getOrCreateTags(caller, sequence.siteId, [name])).get(name)!,
  );
  if (waitsAt)
    await groups.findOfSite(waitsAt.kind, caller, { id: waitsAt.id, siteId: sequence.siteId });
  return { ...sequence, waitsAt };
}
