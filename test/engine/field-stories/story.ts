// What the stories share: a campaign from its start to its end, over simulated hours.
import { expect } from "vitest";
import * as actions from "../../../shared/domain/campaigns/campaign-actions.ts";
import type { Campaign, NewCampaign } from "../../../shared/domain/campaigns/campaign-schema.ts";
import * as campaigns from "../../support/campaigns.ts";
import {
  applyMessages,
  type createEvent,
  createEventMessage,
} from "../../support/delivery-events.ts";
import type { ProviderFault } from "../../support/fake-provider.ts";

/** Does to the service what happened elsewhere, and fails unless the promise holds. */
export type Story = () => Promise<void>;

export interface StartedCampaign {
  sender: campaigns.CampaignSender;
  id: number;
}

export const hours = (n: number): { forSeconds: number } => ({ forSeconds: n * 3600 });

/** Starts a campaign to a list of `n` contacts. No email is handed over yet. */
export async function startCampaign(
  n: number,
  provider: "postmark" | "resend" = "postmark",
): Promise<StartedCampaign> {
  const sender = await campaigns.createCampaignSender(provider);
  await campaigns.insertListMembers(sender, n);
  return startDraft(sender);
}

export async function startDraft(
  sender: campaigns.CampaignSender,
  fields: Partial<NewCampaign> = {},
): Promise<StartedCampaign> {
  const { id } = await campaigns.createDraft(sender, fields);
  await actions.sendNow(sender.caller, id);
  return { sender, id };
}

/** Checks that `n` contacts got one email each, and that the campaign and its counters say so. */
export async function expectAllMailedOnce({ sender, id }: StartedCampaign, n: number) {
  const recipients = campaigns.expectNoDuplicates(sender).map(({ to }) => to);
  expect(recipients).toHaveLength(n);
  expect(await campaigns.readConsistentNumbers(sender, id)).toMatchObject({
    candidates: n,
    accepted: n,
    sent: n,
  });
  expect(await readStatus({ sender, id })).toBe("sent");
  return recipients;
}

export const readStatus = async ({ sender, id }: StartedCampaign): Promise<Campaign["status"]> =>
  (await campaigns.readCampaign(sender, id)).status;

/** Runs `work` once, when the provider gets its n-th call, and returns what the calls get. */
export function atCall(
  n: number,
  work: () => Promise<unknown>,
): { fault: () => ProviderFault | undefined; done: () => Promise<unknown> } {
  let calls = 0;
  let running: Promise<unknown> | undefined;
  return {
    fault: () => {
      if (++calls === n) running = work();
      return undefined;
    },
    done: async () => {
      expect(running).toBeDefined();
      await running;
    },
  };
}

export const applyEvents = async (
  { caller }: Pick<campaigns.CampaignSender, "caller">,
  events: ReturnType<typeof createEvent>[],
): Promise<void> => applyMessages(await createEventMessage(caller.orgId, events));
