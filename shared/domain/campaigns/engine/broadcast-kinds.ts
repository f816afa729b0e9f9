// The differences between campaigns and holidays: when they start, what happens when they are late,
// and how their plan is built.
import { addSeconds, now } from "../../../clock.ts";
import * as campaignPlan from "../campaign-plan.ts";
import * as holidayPlan from "../holiday-plan.ts";
import type { StoredHoliday } from "../holiday-schema.ts";
import type { StoredCampaign } from "../stored-campaign.ts";
import type { Broadcast, BroadcastKind } from "./broadcast.ts";
import type { BroadcastPlan } from "./broadcast-plan.ts";
import * as transitions from "./transitions.ts";

interface BroadcastKindRules {
  getStartTime(broadcast: Broadcast): Promise<Date>;
  /** When it is too late to start: what to do instead. */
  getLateAction(
    broadcast: Broadcast,
    startsAt: Date,
  ): Promise<(() => Promise<unknown>) | undefined>;
  /** Throws 400. */
  buildPlan(broadcast: Broadcast): Promise<BroadcastPlan>;
}

/** A campaign that is later than this is held, unless it has `sendLate`. */
const maxLateSeconds = 3600;

export const broadcastKinds: Record<BroadcastKind, BroadcastKindRules> = {
  campaign: {
    getStartTime: async ({ scheduledAt }) => new Date(scheduledAt!),
    getLateAction: async (broadcast, startsAt) => {
      const { sendLate } = broadcast as StoredCampaign;
      if (sendLate || addSeconds(-maxLateSeconds) <= startsAt) return undefined;
      const reason =
        `The start time ${startsAt.toISOString()} passed more than an hour ago: send, ` +
        "reschedule or cancel the campaign";
      return () => transitions.hold(broadcast, reason);
    },
    buildPlan: async (broadcast) => {
      const campaign = broadcast as StoredCampaign;
      const plan = await campaignPlan.buildCampaignPlan(campaign);
      return campaignPlan.completePlan(campaign, plan);
    },
  },
  holiday: {
    getStartTime: async (broadcast) =>
      (await holidayPlan.getHolidayTimes(broadcast.orgId, (broadcast as StoredHoliday).date))
        .startsAt,
    getLateAction: async (broadcast) => {
      const { date } = broadcast as StoredHoliday;
      const { endsAt } = await holidayPlan.getHolidayTimes(broadcast.orgId, date);
      return now() < endsAt
        ? undefined
        : () =>
            transitions.cancel(
              broadcast,
              `The mail could not be sent on ${date}, and that day is over`,
            );
    },
    buildPlan: (broadcast) => holidayPlan.buildHolidayPlan(broadcast as StoredHoliday),
  },
};
