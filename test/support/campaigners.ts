// Campaigns on their way without Lambdas: the real workers on virtual queues, a provider of a test's own, and the books that must
// balance whatever happens.
import { expect } from "vitest";
import { worker as campaignWorker } from "../../functions/queue/campaigns.ts";
import { worker as drain } from "../../functions/queue/drain.ts";
import { worker as fanOut } from "../../functions/queue/fan-out.ts";
import { worker as lane } from "../../functions/queue/lane.ts";
import { worker as send } from "../../functions/queue/send.ts";
import type { Worker } from "../../shared/consume.ts";
import { type Campaign, NewCampaign, NewVariant } from "../../shared/domain/campaigns/campaign.ts";
import * as details from "../../shared/domain/campaigns/detail.ts";
import * as variants from "../../shared/domain/campaigns/variants.ts";
import * as campaigns from "../../shared/domain/campaigns.ts";
import * as groups from "../../shared/domain/contacts/groups.ts";
import { newItem } from "../../shared/domain/contacts/items.ts";
import * as sources from "../../shared/domain/sending/sources.ts";
import * as templates from "../../shared/domain/templates.ts";
import { put, writeMany } from "../../shared/doors/table.ts";
import { takeContacts } from "../../shared/ids.ts";
import type { SourceKind } from "../../shared/keys.ts";
import { person } from "./audience.ts";
import type { Mail } from "./fake-provider.ts";
import * as mailroom from "./mailroom.ts";
import * as virtual from "./virtual-queues.ts";

const workers: Worker[] = [send, lane, drain, campaignWorker, fanOut];
export const opened = virtual.opened;
export const settle = (options: Parameters<typeof virtual.settle>[1] = {}, some: Worker[] = workers): Promise<void> =>
  virtual.settle(some, options);

export interface Shop extends mailroom.Sender {
  listId: number;
  templateId: number;
}

/** An organization with a list, a template and a provider. */
export async function shop(key: "postmark" | "resend" = "postmark", more: { ratePerSecond?: number } = {}): Promise<Shop> {
  const sender = await mailroom.sender(key, more);
  const { caller, siteId } = sender;
  const list = await groups.create("LIST", caller, { siteId, name: "News" });
  const template = await templates.create(
    caller,
    templates.NewTemplate.parse({ siteId, name: "News", subject: "News, {{ firstName }}", html: "<p>Hello {{ firstName }}</p>" }),
  );
  return { ...sender, listId: list.id, templateId: template.id };
}

/** Contacts on the list, without their memberships and counts: for what reads contacts only. Answers with their ids. */
export async function people(
  { caller: { orgId }, siteId, listId }: Shop,
  n: number,
  more: (i: number) => object = () => ({}),
): Promise<number[]> {
  const word = crypto.randomUUID().slice(0, 8);
  const ids = await takeContacts(n);
  const items = ids.map((id, i) => {
    const { siteId: _, tags: __, lists: ___, ...fields } = person(`${word}-${i}@example.com`, { firstName: `P${i}` });
    return { ...newItem(fields, { orgId, siteId, id, tags: [], lists: [listId], suppressed: false }), ...more(i) };
  });
  await writeMany(items.map((item) => put(item, item)));
  return ids;
}

export const draft = (from: Shop, fields: Partial<NewCampaign> = {}): Promise<Campaign> =>
  campaigns.create(
    from.caller,
    NewCampaign.parse({
      siteId: from.siteId,
      name: "News",
      templateId: from.templateId,
      listId: from.listId,
      sendingConfigId: from.configId,
      ...fields,
    }),
  );

export const variant = (from: Shop, campaignId: number, fields: object) =>
  variants.create(from.caller, campaignId, NewVariant.parse(fields));

export const look = (from: Shop, id: number) => details.detail(from.caller, id);

/** The numbers of a source, after it was seen that they add up. */
export async function numbers({ caller: { orgId } }: Shop, id: number, kind: SourceKind = "campaign"): Promise<sources.Numbers> {
  const { all, parts } = await sources.numbers(orgId, { kind, id });
  for (const one of [all, ...parts.values()]) {
    const { candidates, accepted, suppressed, unsubscribed, capped, duplicate, invalid } = one;
    expect(accepted + suppressed + unsubscribed + capped + duplicate + invalid).toBe(candidates);
    const { queued, sending, sent, delivered, failed, uncertain, cancelled } = one;
    expect(queued + sending + sent + delivered + failed + uncertain + cancelled).toBe(accepted);
    for (const n of [queued, sending, sent, delivered, failed, uncertain, cancelled]) expect(n).toBeGreaterThanOrEqual(0);
  }
  return all;
}

/** Nobody has a mail twice. */
export function onceEach({ provider }: Shop): Mail[] {
  const addresses = provider.mails.map(({ to }) => to);
  expect(addresses.length).toBe(new Set(addresses).size);
  return provider.mails;
}
