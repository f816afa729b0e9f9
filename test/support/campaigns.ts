// Campaigns without Lambda: the workers on virtual queues, a fake provider for each test, and a
// check that all counts agree.
import { expect } from "vitest";
import { worker as campaignWorker } from "../../functions/queue/campaigns.ts";
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as fanOut } from "../../functions/queue/fan-out.ts";
import { worker as jobs } from "../../functions/queue/jobs.ts";
import { worker as lane } from "../../functions/queue/lane.ts";
import { worker as send } from "../../functions/queue/send.ts";
import { put, writeMany } from "../../shared/adapters/dynamodb/table.ts";
import * as reader from "../../shared/domain/audience/contacts/contact-reader.ts";
import { createItem } from "../../shared/domain/audience/contacts/contact-writes.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { type Campaign, NewCampaign } from "../../shared/domain/campaigns/campaign-schema.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import { NewVariant } from "../../shared/domain/campaigns/variant-schema.ts";
import * as variants from "../../shared/domain/campaigns/variants.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import * as sources from "../../shared/domain/sending/mail-sources.ts";
import type { MailTimeline } from "../../shared/domain/sending/mail-timeline.ts";
import { toMailingStats } from "../../shared/domain/sending/mailing-stats.ts";
import { nextContactIds } from "../../shared/ids.ts";
import type { QueueWorker } from "../../shared/kernel/queue-worker.ts";
import { emailShards, type SourceKind } from "../../shared/keys.ts";
import { newContact } from "./contacts.ts";
import type { FakeProviderMail } from "./fake-provider.ts";
import * as mailTest from "./sending.ts";
import * as virtual from "./virtual-queues.ts";

/** All except the worker that folds the mail logs of sites. */
export const sendingWorkers: QueueWorker[] = [send, lane, drain, campaignWorker, fanOut];
const workers: QueueWorker[] = [...sendingWorkers, jobs];
export const useVirtualQueues = virtual.useVirtualQueues;
export const runWorkers = (
  options: Parameters<typeof virtual.runWorkers>[1] = {},
  selectedWorkers: QueueWorker[] = workers,
): Promise<void> => virtual.runWorkers(selectedWorkers, options);

export interface CampaignSender extends mailTest.TestSender {
  listId: number;
  templateId: number;
}

/** Creates an organization with a list, a template and a fake provider. */
export async function createCampaignSender(
  key: "postmark" | "sparkpost" | "resend" = "postmark",
  extraFields: Parameters<typeof mailTest.createSender>[1] = {},
): Promise<CampaignSender> {
  const sender = await mailTest.createSender(key, extraFields);
  const { caller, siteId } = sender;
  const list = await groups.create("LIST", caller, { siteId, name: "News" });
  const template = await templates.create(
    caller,
    NewTemplate.parse({
      siteId,
      name: "News",
      subject: "News, {{ firstName }}",
      html: "<p>Hello {{ firstName }}</p>",
    }),
  );
  return { ...sender, listId: list.id, templateId: template.id };
}

/**
 * Inserts contacts of the list without memberships and counts, for tests that only read contacts.
 * Returns their ids.
 */
export async function insertListMembers(
  { caller: { orgId }, siteId, listId }: CampaignSender,
  n: number,
  extraFields: (i: number) => object = () => ({}),
): Promise<number[]> {
  const ids = await nextContactIds(n);
  const items = ids.map((id, i) => {
    const {
      siteId: _,
      tags: __,
      lists: ___,
      ...fields
    } = newContact(`member${ids[0]}-${i}@example.com`, { firstName: `P${i}` });
    return {
      ...createItem(fields, { orgId, siteId, id, tags: [], lists: [listId], suppressed: false }),
      ...extraFields(i),
    };
  });
  await writeMany(items.map((item) => put(item, item)));
  return ids;
}

/** Finds a shard with at least two contacts. */
export async function findShardWithContacts({
  caller: { orgId },
  siteId,
}: CampaignSender): Promise<string> {
  for (const shard of emailShards)
    for await (const { items } of reader.readShard({ orgId, siteId }, shard))
      if (items.length > 1) return shard;
  throw new Error("No shard has two contacts");
}

export const createDraft = (
  sender: CampaignSender,
  fields: Partial<NewCampaign> = {},
): Promise<Campaign> =>
  campaigns.create(
    sender.caller,
    NewCampaign.parse({
      siteId: sender.siteId,
      name: "News",
      templateId: sender.templateId,
      listId: sender.listId,
      sendingConfigId: sender.configId,
      ...fields,
    }),
  );

export const createVariant = (sender: CampaignSender, campaignId: number, fields: object) =>
  variants.create(sender.caller, campaignId, NewVariant.parse(fields));

export const readCampaign = (sender: CampaignSender, id: number) =>
  campaigns.findCampaignDetail(sender.caller, id);

/** Reads the totals of a source and checks that they add up, and its timeline to the totals. */
export async function readConsistentNumbers(
  { caller: { orgId } }: CampaignSender,
  id: number,
  kind: SourceKind = "campaign",
): Promise<sources.SourceTotals> {
  const { all, parts } = await sources.getSourceTotals(orgId, { kind, id });
  for (const one of [all, ...parts.values()]) {
    const reasons = sources.exclusionReasons.map((reason) => one[reason]);
    expect(reasons.reduce((sum, n) => sum + n, one.accepted)).toBe(one.candidates);
    const { queued, sending, sent, delivered, failed, uncertain, cancelled } = one;
    expect(queued + sending + sent + delivered + failed + uncertain + cancelled).toBe(one.accepted);
    for (const n of [queued, sending, sent, delivered, failed, uncertain, cancelled])
      expect(n).toBeGreaterThanOrEqual(0);
  }
  if (kind === "campaign") {
    const { sent, opened, clicked } = toMailingStats(all);
    expect(sumTimeline(await sources.getMailTimeline(orgId, id))).toEqual([sent, opened, clicked]);
  }
  return all;
}

function sumTimeline({
  hours,
  days,
}: MailTimeline): [sent: number, opened: number, clicked: number] {
  const all = [...hours.values(), ...days.values()];
  const sum = (name: "sent" | "opened" | "clicked") => all.reduce((n, one) => n + one[name], 0);
  return [sum("sent"), sum("opened"), sum("clicked")];
}

/** Checks that no address has two mails. Returns the mails. */
export function expectNoDuplicates({ provider }: CampaignSender): FakeProviderMail[] {
  const addresses = provider.mails.map(({ to }) => to);
  expect(addresses.length).toBe(new Set(addresses).size);
  return provider.mails;
}
