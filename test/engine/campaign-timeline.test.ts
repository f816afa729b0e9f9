// Emails, opens and clicks of a campaign by hour and day.
import { beforeAll, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import { getTimeline } from "../../shared/domain/campaigns/campaign-timeline.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import {
  createCampaignSender,
  createDraft,
  insertListMembers,
  readCampaign,
  readConsistentNumbers,
  runWorkers,
  sendingWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";

beforeAll(useVirtualQueues);

const hour = 3600;
/** Moves the clock to the start of an hour, so that no hour ends during a step. */
const startOfHour = () => clock.advanceClock(hour - ((clock.now().getTime() / 1000) % hour) + 1);
const hourOf = (time: Date) => `${time.toISOString().slice(0, 13)}:00:00.000Z`;

test("each email, open and click counts once, by hour for three days and then by day", async () => {
  startOfHour();
  const sender = await createCampaignSender();
  const { caller, provider } = sender;
  await insertListMembers(sender, 3);
  const { id } = await createDraft(sender);
  expect(await getTimeline(caller, id)).toEqual({ hours: [], days: [] });
  await actions.sendNow(caller, id);
  await runWorkers({ forSeconds: 60 }, sendingWorkers);
  const { sends: sent } = await listSends(caller, { page: 1, limit: 3 }, { campaignId: id });
  const [a, b, c] = sent.map((send) => send.id) as [number, number, number];
  const report = async (type: "delivered" | "open" | "click", ...sendIds: number[]) => {
    const data = type === "click" ? { data: { url: "https://shop.example" } } : {};
    const seconds = Math.floor(clock.now().getTime() / 1000) - Date.UTC(2026, 10, 21, 8) / 1000;
    const events = sendIds.map((sendId) => createEvent(sendId, type, seconds, data));
    await applyMessages(await createEventMessage(caller.orgId, events));
  };
  const first = (await getTimeline(caller, id)).hours;
  expect(first.map(({ sent }) => sent)).toEqual([3]);

  await report("delivered", a, b, c);
  clock.advanceClock(2 * hour);
  await report("open", a, b);
  await report("click", a);
  clock.advanceClock(60);
  await report("open", a);
  const { hours } = await getTimeline(caller, id);
  expect(hours.map(({ sent, opened, clicked }) => [sent, opened, clicked])).toEqual([
    [3, 0, 0],
    [0, 0, 0],
    [0, 2, 1],
  ]);
  expect(hours[0]!.from).toBe(first[0]!.from);
  expect(hours[2]!.from).toBe(hourOf(clock.now()));

  clock.advanceClock(72 * hour);
  await report("open", c);
  const later = await getTimeline(caller, id);
  expect(later.hours).toEqual(hours);
  const today = await organizations.getToday(caller.orgId);
  expect(later.days).toHaveLength(later.days.findIndex(({ date }) => date === today) + 1);
  expect(later.days.at(-1)).toEqual({ date: today, sent: 0, opened: 1, clicked: 0 });
  expect(later.days.reduce((sum, { opened }) => sum + opened, 0)).toBe(3);
  await readConsistentNumbers(sender, id);

  clock.advanceClock(57 * 24 * hour);
  await report("click", b);
  expect(await getTimeline(caller, id)).toEqual(later);
  await expect(readCampaign(sender, id)).resolves.toMatchObject({
    stats: { clicked: 2 },
  });
  await provider.stop();
});
