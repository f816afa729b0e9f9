// Resends: a campaign goes again, once, to the recipients whose mail failed or was not opened.
import { beforeAll, describe, expect, test } from "vitest";
import { ContactChanges } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import * as previews from "../../shared/domain/campaigns/campaign-preview.ts";
import type { Campaign } from "../../shared/domain/campaigns/campaign-schema.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import * as resends from "../../shared/domain/campaigns/resends.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { listSends, type SendFilter } from "../../shared/domain/sending/list-sends.ts";
import { inParallel } from "../../shared/kernel/parallel.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  createVariant,
  readConsistentNumbers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { newContact } from "../support/contacts.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import { measureUnits } from "../support/request-units.ts";

beforeAll(useVirtualQueues);

/** Unlike inserted members, they are found by their id. */
const createMembers = ({ caller, siteId, listId }: CampaignSender, n: number) =>
  inParallel(8, Array.from({ length: n }), () =>
    contacts.create(
      caller,
      newContact(`${crypto.randomUUID()}@example.com`, { siteId, lists: [listId] }),
    ),
  );

/** A sent campaign, and its sends in the order of their addresses. */
async function createSentCampaign(n: number, provider?: "resend") {
  const sender = await createCampaignSender(provider);
  await createMembers(sender, n);
  const { id } = await createDraft(sender);
  await actions.sendNow(sender.caller, id);
  await runWorkers({ forSeconds: 600 });
  const { sends: all } = await listSends(sender.caller, { limit: 100 }, { campaignId: id });
  const sorted = all.toSorted((a, b) => (a.toEmail < b.toEmail ? -1 : 1));
  expect(sorted).toHaveLength(n);
  sender.provider.mails.length = 0;
  return { sender, id, sends: sorted };
}

const apply = async (
  { caller }: CampaignSender,
  events: ReturnType<typeof createEvent>[],
): Promise<void> => applyMessages(await createEventMessage(caller.orgId, events));

const resend = (
  { caller }: CampaignSender,
  id: number,
  fields: { to: "failed" | "unopened"; subject?: string; draft?: boolean },
): Promise<Campaign> => resends.resend(caller, id, resends.ResendRequest.parse(fields));

const listMailed = ({ provider }: CampaignSender) => provider.mails.map(({ to }) => to).toSorted();
const addressesOf = (some: { toEmail: string }[]) => some.map(({ toEmail }) => toEmail).toSorted();

test("the recipients are listed by reaction, and the filter costs no further reads", async () => {
  const { sender, id: campaignId, sends: all } = await createSentCampaign(5);
  const [opened = 0, clicked = 0, both = 0, byMachine = 0, ignored = 0] = all.map(({ id }) => id);
  await apply(sender, [
    createEvent(opened, "open", 60),
    createEvent(clicked, "click", 60),
    createEvent(both, "open", 60),
    createEvent(both, "click", 90),
    createEvent(byMachine, "open", 60, { automated: true }),
  ]);
  const list = async (filter: Pick<SendFilter, "opened" | "clicked">) => {
    const { result, usage } = await measureUnits(() =>
      listSends(sender.caller, { limit: 10 }, { campaignId, ...filter }),
    );
    return { ids: result.sends.map(({ id }) => id).toSorted(), readUnits: usage.readUnits };
  };
  const { readUnits } = await list({});
  for (const [filter, ids] of [
    [{ opened: "true" }, [opened, clicked, both]],
    [{ opened: "false" }, [byMachine, ignored]],
    [{ clicked: "true" }, [clicked, both]],
    [{ clicked: "false" }, [opened, byMachine, ignored]],
    [{ opened: "true", clicked: "false" }, [opened]],
  ] as const) {
    const found = await list(filter);
    expect([filter, found.ids]).toEqual([filter, ids.toSorted()]);
    expect(found.readUnits).toBeLessThanOrEqual(readUnits);
  }
});

describe("a resend to those who have not opened", () => {
  test("reaches each of them once; opens of machines do not count", async () => {
    const { sender, id, sends: all } = await createSentCampaign(12);
    const { caller } = sender;
    const [opened, clicked, byMachine, moved, left, suppressed, deleted, ...others] = all;
    await apply(sender, [
      ...all.slice(0, 3).map((send) => createEvent(send.id, "delivered", 1)),
      createEvent(opened!.id, "open", 60),
      createEvent(clicked!.id, "click", 60),
      createEvent(byMachine!.id, "open", 60, { automated: true }),
    ]);
    const changeContact = (contactId: number, changes: object) =>
      contacts.change(caller, contactId, ContactChanges.parse(changes));
    const newAddress = `moved-${crypto.randomUUID()}@example.com`;
    await changeContact(moved!.contactId!, { email: newAddress });
    await changeContact(left!.contactId!, { status: "unsubscribed" });
    await suppressions.suppress(caller.orgId, {
      ...{ email: suppressed!.toEmail, reason: "manual", detail: null, source: "test" },
    });
    await contacts.remove(caller, deleted!.contactId!);
    const draft = await resend(sender, id, { to: "unopened", subject: "Again", draft: true });
    const preview = await previews.preview(caller, draft.id);
    expect(preview).toMatchObject({
      ...{ candidates: 9, wouldReceive: 7, unsubscribed: 1, suppressed: 1, exact: true },
    });
    expect(preview.samples.map(({ subject }) => subject)).toEqual(Array(7).fill("Again"));
    await actions.sendNow(caller, draft.id);
    await runWorkers({ forSeconds: 600 });
    expect(listMailed(sender)).toEqual(
      [newAddress, ...addressesOf([byMachine!, ...others])].toSorted(),
    );
    expect(new Set(sender.provider.mails.map(({ subject }) => subject))).toEqual(
      new Set(["Again"]),
    );
    expect(await readConsistentNumbers(sender, draft.id)).toMatchObject({
      ...{ candidates: 9, accepted: 7, unsubscribed: 1, suppressed: 1, sent: 7 },
    });
    expect((await campaigns.findCampaignDetail(caller, id)).resends).toEqual([
      { to: "unopened", campaignId: draft.id },
    ]);
    await sender.provider.stop();
  });

  test("reaches each contact once when its fan-out crashes at any step", async () => {
    await crashAtSomeSteps(async (crash) => {
      const { sender, id, sends: all } = await createSentCampaign(20, "resend");
      const { id: resendId } = await resend(sender, id, { to: "unopened" });
      await crash(() => runWorkers({ forSeconds: 600 }));
      await runWorkers({ forSeconds: 3600 });
      expect(listMailed(sender)).toEqual(addressesOf(all));
      expect((await campaigns.findCampaignDetail(sender.caller, resendId)).status).toBe("sent");
      await readConsistentNumbers(sender, resendId);
      await sender.provider.stop();
    });
  });

  test("has the winner of an A/B test as its content", async () => {
    const sender = await createCampaignSender();
    await createMembers(sender, 12);
    const { id } = await createDraft(sender, {
      abTest: { testPercent: 1, metric: "open_rate", durationMinutes: 10 },
    });
    await createVariant(sender, id, { subject: "A", html: "<p>A</p>", weight: 40 });
    await createVariant(sender, id, { subject: "B", html: "<p>B</p>", weight: 60 });
    await actions.sendNow(sender.caller, id);
    await runWorkers({ forSeconds: 3600 });
    sender.provider.mails.length = 0;
    await resend(sender, id, { to: "unopened" });
    await runWorkers({ forSeconds: 600 });
    expect(sender.provider.mails).toHaveLength(12);
    for (const { subject } of sender.provider.mails) expect(subject).toBe("B");
    await sender.provider.stop();
  });

  test("respects the frequency cap", async () => {
    const { sender, id } = await createSentCampaign(3);
    const changes = sites.SiteChanges.parse({ sendFrequencyCapDays: 7 });
    await sites.change(sender.caller, sender.siteId, changes);
    const { id: resendId } = await resend(sender, id, { to: "unopened" });
    await runWorkers({ forSeconds: 600 });
    expect(await readConsistentNumbers(sender, resendId)).toMatchObject({
      ...{ candidates: 3, capped: 3, accepted: 0 },
    });
    await sender.provider.stop();
  });
});

describe("a resend of failed mail", () => {
  test("reaches only recipients whose mail failed and who are not suppressed", async () => {
    const { sender, id, sends: all } = await createSentCampaign(6);
    const [dropped, bounced, delivered] = all;
    await apply(sender, [
      createEvent(dropped!.id, "dropped", 1),
      createEvent(bounced!.id, "bounce", 1, { data: { bounceType: "hard" } }),
      createEvent(delivered!.id, "delivered", 1),
    ]);
    const { id: resendId } = await resend(sender, id, { to: "failed" });
    await runWorkers({ forSeconds: 600 });
    expect(listMailed(sender)).toEqual([dropped!.toEmail]);
    expect(await readConsistentNumbers(sender, resendId)).toMatchObject({
      ...{ candidates: 2, accepted: 1, suppressed: 1 },
    });
    await sender.provider.stop();
  });
});

describe("a campaign", () => {
  test("is sent again to its recipients once, also by simultaneous requests", async () => {
    const { sender, id } = await createSentCampaign(2);
    const holding = pauseCall("TransactWriteItems");
    const late = resend(sender, id, { to: "unopened" });
    await holding.reached;
    await resend(sender, id, { to: "unopened" });
    holding.release();
    await expect(late).rejects.toMatchObject({ code: "already_resent" });
    removePauses();
    await runWorkers({ forSeconds: 600 });
    expect(sender.provider.mails).toHaveLength(2);
    await expect(resend(sender, id, { to: "unopened" })).rejects.toMatchObject({
      kind: "conflict",
      code: "already_resent",
    });
    expect((await resend(sender, id, { to: "failed" })).resendOf).toEqual({
      campaignId: id,
      to: "failed",
    });
    await sender.provider.stop();
  });

  test("has the warnings of its own audience, and is not created if it is strict", async () => {
    const sender = await createCampaignSender();
    const { siteId, listId } = sender;
    const fields = { siteId, lists: [listId], firstName: "Ann" };
    for (let i = 0; i < 3; i++)
      await contacts.create(
        sender.caller,
        newContact(`${crypto.randomUUID()}@example.com`, fields),
      );
    const { id } = await createDraft(sender, { strict: true });
    await actions.sendNow(sender.caller, id);
    await runWorkers({ forSeconds: 600 });
    const given = { to: "unopened" as const, subject: "{{ company }}" };
    const gaps = "These variables have no value in 3 of 3 samples: company";
    const request = resends.ResendRequest.parse(given);
    expect(await resends.listWarnings(sender.caller, id, request)).toContain(gaps);
    await expect(resend(sender, id, given)).rejects.toThrow(gaps);
    expect((await resend(sender, id, { to: "unopened" })).status).toBe("sending");
    await sender.provider.stop();
  });
  test("that has not ended is not sent again", async () => {
    const sender = await createCampaignSender();
    await createMembers(sender, 1);
    const { id } = await createDraft(sender);
    const refused = { kind: "conflict", code: "campaign_status" };
    await expect(resend(sender, id, { to: "failed" })).rejects.toMatchObject(refused);
    await actions.sendNow(sender.caller, id);
    await expect(resend(sender, id, { to: "failed" })).rejects.toMatchObject(refused);
    await sender.provider.stop();
  });

  test("keeps its recipients until its resend has ended; a deleted draft makes room", async () => {
    const { sender, id } = await createSentCampaign(1);
    const { caller, listId } = sender;
    const draft = await resend(sender, id, { to: "unopened", draft: true });
    await expect(campaigns.remove(caller, id)).rejects.toMatchObject({ code: "campaign_running" });
    await expect(campaigns.updateCampaign(caller, draft.id, { listId })).rejects.toMatchObject({
      kind: "invalid",
    });
    await campaigns.remove(caller, draft.id);
    await resend(sender, id, { to: "unopened" });
    await runWorkers({ forSeconds: 600 });
    expect(sender.provider.mails).toHaveLength(1);
    await campaigns.remove(caller, id);
    await sender.provider.stop();
  });
});
