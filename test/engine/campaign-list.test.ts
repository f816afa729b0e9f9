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
