// What campaigns and holidays differ in: when they start, and what is sent to whom.
import { after, now } from "../../clock.ts";
import type { StoredCampaign } from "../campaigns/campaign.ts";
import * as campaignPlans from "../campaigns/plan.ts";
import * as calendar from "../holidays/calendar.ts";
import type { StoredHoliday } from "../holidays/holiday.ts";
import * as holidayPlans from "../holidays/plan.ts";
import type { Broadcast, Kind } from "./broadcast.ts";
import type { Plan } from "./plan.ts";
import * as states from "./states.ts";

interface Ways {
  startsAt(broadcast: Broadcast): Promise<Date>;
  /** It is too late to start without a word: what is done instead, if so. */
  missed(broadcast: Broadcast, startsAt: Date): Promise<(() => Promise<unknown>) | undefined>;
  /** Throws 400. */
  plan(broadcast: Broadcast): Promise<Plan>;
}

/** A campaign this late waits for a person, unless it says otherwise. */
const latestSeconds = 3600;

export const kinds: Record<Kind, Ways> = {
  campaign: {
    startsAt: async ({ scheduledAt }) => new Date(scheduledAt!),
    missed: async (broadcast, startsAt) => {
      const { sendLate } = broadcast as StoredCampaign;
      if (sendLate || after(-latestSeconds) <= startsAt) return undefined;
      const reason = `It was to start at ${startsAt.toISOString()}, more than an hour ago: send it, schedule it anew or cancel it`;
      return () => states.hold(broadcast, reason);
    },
    plan: (broadcast) => campaignPlans.planOf(broadcast as StoredCampaign),
  },
  holiday: {
    startsAt: async (broadcast) => (await calendar.dayOf(broadcast.orgId, (broadcast as StoredHoliday).date)).startsAt,
    missed: async (broadcast) => {
      const { date } = broadcast as StoredHoliday;
      const { endsAt } = await calendar.dayOf(broadcast.orgId, date);
      return now() < endsAt ? undefined : () => states.cancel(broadcast, `It could not be sent on ${date}, and the day is over`);
    },
    plan: (broadcast) => holidayPlans.planOf(broadcast as StoredHoliday),
  },
};
