// The differences between campaigns and holidays: when they start, what happens when they are late,
// and how their plan is built.
import { addSeconds, now } from "../../../clock.ts";
import * as campaignPlans from "../campaign-plan.ts";
import type { StoredCampaign } from "../campaign-schema.ts";
import * as holidayPlans from "../holiday-plan.ts";
import type { StoredHoliday } from "../holiday-schema.ts";
import type { Broadcast, BroadcastKind } from "./broadcast.ts";
import type { BroadcastPlan } from "./broadcast-plan.ts";
import * as states from "./transitions.ts";

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
      return () => states.hold(broadcast, reason);
    },
    buildPlan: (broadcast) => campaignPlans.buildCampaignPlan(broadcast as StoredCampaign),
  },
  holiday: {
    getStartTime: async (broadcast) =>
      (await holidayPlans.getHolidayTimes(broadcast.orgId, (broadcast as StoredHoliday).date))
        .startsAt,
    getLateAction: async (broadcast) => {
      const { date } = broadcast as StoredHoliday;
      const { endsAt } = await holidayPlans.getHolidayTimes(broadcast.orgId, date);
      return now() < endsAt
        ? undefined
        : () =>
            states.cancel(broadcast, `The mail could not be sent on ${date}, and that day is over`);
    },
    buildPlan: (broadcast) => holidayPlans.buildHolidayPlan(broadcast as StoredHoliday),
  },
};
