// The list of campaigns with their figures.
import { beforeAll, expect, test } from "vitest";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import * as campaignList from "../../shared/domain/campaigns/campaign-list.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import {
  createCampaignSender,
  createDraft,
  insertListMembers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";

beforeAll(useVirtualQueues);

test("campaigns are found by the time at which they started or are to start", async () => {
  const from = await createCampaignSender();
  const { caller, siteId } = from;
  await insertListMembers(from, 1);
  const [sent, scheduled] = [await createDraft(from), await createDraft(from)];
  await createDraft(from);
  await actions.sendNow(caller, sent.id);
  await runWorkers({ forSeconds: 600 });
  const at = new Date(Date.parse(sent.createdAt) + 40 * 86_400_000).toISOString();
  await actions.schedule(caller, scheduled.id, { scheduledAt: at, sendLate: false });
  const idsOf = async (filter: object) =>
    (await campaignList.list(caller, { limit: 10, page: 1 }, { siteId, ...filter })).campaigns.map(
      ({ id }) => id,
    );
  const before = sent.createdAt;
  expect(await idsOf({ from: before })).toEqual([scheduled.id, sent.id]);
  expect(await idsOf({ from: before, to: at })).toEqual([sent.id]);
  expect(await idsOf({ from: at.replace("Z", "+00:00") })).toEqual([scheduled.id]);
  expect(await idsOf({ to: before })).toEqual([]);
  expect(await idsOf({ from: before, status: "scheduled" })).toEqual([scheduled.id]);
  await from.provider.stop();
});

test("campaigns that have started have the figures of their own screen, if they are asked for", async () => {
  const from = await createCampaignSender();
  const { caller, siteId } = from;
  await insertListMembers(from, 3);
  const sent = await createDraft(from);
  const draft = await createDraft(from);
  await actions.sendNow(caller, sent.id);
  await runWorkers({ forSeconds: 600 });
  const list = async (filter: object) =>
    (await campaignList.list(caller, { limit: 10, page: 1 }, { withStats: true, ...filter }))
      .campaigns;
  const { stats } = await campaigns.findCampaignDetail(caller, sent.id);
  expect(stats.recipients).toBe(3);
  const all = await list({ siteId });
  expect(all.map((one) => [one.id, one.stats])).toEqual([
    [draft.id, undefined],
    [sent.id, stats],
  ]);
  expect((await list({ status: "sent" })).map(({ id }) => id)).toEqual([sent.id]);
  expect((await list({ withStats: false })).filter((one) => one.stats)).toEqual([]);
  await from.provider.stop();
});
