// Campaigns at the local time of each contact: one mail to each, when its own clock has the time.
import { beforeAll, describe, expect, test } from "vitest";
import { worker as fanOutWorker } from "../../functions/queue/fan-out.ts";
import { worker as laneWorker } from "../../functions/queue/lane.ts";
import { queryAll } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { NewContact } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import { CampaignSchedule } from "../../shared/domain/campaigns/campaign-schema.ts";
import { listLocalTimeWarnings } from "../../shared/domain/campaigns/campaign-warnings.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import * as fanOut from "../../shared/domain/campaigns/engine/fan-out.ts";
import { pollBroadcast } from "../../shared/domain/campaigns/engine/poll-broadcast.ts";
import * as resends from "../../shared/domain/campaigns/resends.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import { erase } from "../../shared/domain/privacy/erasure.ts";
import { cancelSend } from "../../shared/domain/sending/cancel-send.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { instantOfLocalTime } from "../../shared/kernel/time-zones.ts";
import { emailShards, ranges } from "../../shared/keys.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  createVariant,
  expectNoDuplicates,
  insertListMembers,
  readCampaign,
  readConsistentNumbers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { interruptedAtSomeSteps, interruptions } from "../support/crash-injection.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";

beforeAll(useVirtualQueues);

const hours = (n: number): number => n * 3600;

// No clock changes there.
const offsetHours = {
  "Pacific/Kiritimati": 14,
  "Asia/Kathmandu": 5.75,
  "Asia/Kolkata": 5.5,
  UTC: 0,
  "America/Phoenix": -7,
  "Pacific/Marquesas": -9.5,
  "Etc/GMT+12": -12,
};
type Zone = keyof typeof offsetHours;
const zones = Object.keys(offsetHours) as Zone[];

/** The local time that UTC has at the next full minute after these hours. */
const localTimeIn = (n: number): string =>
  clock
    .addSeconds(hours(n) + 60)
    .toISOString()
    .slice(0, 16);
const releaseTimeOf = (localTime: string, zone: Zone): string =>
  clock.addSeconds(-hours(offsetHours[zone]), new Date(`${localTime}Z`)).toISOString();

const addressOf = (name: string) => `${name.replace(/\W/g, "-").toLowerCase()}@example.com`;

const createContact = (from: CampaignSender, name: string, timezone: string | null) =>
  contacts.create(
    from.caller,
    NewContact.parse({
      siteId: from.siteId,
      email: addressOf(name),
      lists: [from.listId],
      timezone,
    }),
  );

/** One contact in each zone, by zone. */
async function createContactInEachZone(from: CampaignSender): Promise<Map<Zone, number>> {
  const ids = new Map<Zone, number>();
  for (const zone of zones) ids.set(zone, (await createContact(from, zone, zone)).id);
  return ids;
}

const scheduleAt = (from: CampaignSender, id: number, localTime: string, sendLate = false) =>
  actions.schedule(from.caller, id, CampaignSchedule.parse({ localTime, sendLate }));

async function startScheduled(from: CampaignSender, localTime: string): Promise<number> {
  const { id } = await createDraft(from);
  await scheduleAt(from, id, localTime);
  const startsAt = Date.parse(releaseTimeOf(localTime, "Pacific/Kiritimati"));
  const untilStart = (startsAt - clock.now().getTime()) / 1000;
  await runWorkers({ forSeconds: Math.max(0, untilStart) + 300 });
  return id;
}

/** Moves the clock to these hours before or after the local time in UTC. */
const runUntil = async (localTime: string, offset: number): Promise<void> => {
  const until = Date.parse(`${localTime}Z`) + hours(offset) * 1000;
  await runWorkers({ forSeconds: (until - clock.now().getTime()) / 1000 });
};

async function listSendsOf(from: CampaignSender, id: number) {
  const { sends: all } = await listSends(from.caller, { limit: 100 }, { campaignId: id });
  return new Map(all.map((send) => [send.toEmail, send]));
}

const addressesOf = ({ provider }: CampaignSender) => provider.mails.map(({ to }) => to).toSorted();

describe("a campaign at local time", () => {
  test("reaches each contact when its own clock has the time, and says how many wait", async () => {
    const from = await createCampaignSender();
    await createContactInEachZone(from);
    const localTime = localTimeIn(40);
    const { id } = await createDraft(from);
    expect(await scheduleAt(from, id, localTime)).toMatchObject({
      status: "scheduled",
      localTime,
      scheduledAt: releaseTimeOf(localTime, "Pacific/Kiritimati"),
    });
    expect((await readCampaign(from, id)).waitingForLocalTime).toBeNull();
    await runUntil(localTime, -14.1);
    expect((await readCampaign(from, id)).status).toBe("scheduled");
    await runUntil(localTime, -13);
    expect(addressesOf(from)).toEqual([addressOf("Pacific/Kiritimati")]);
    const waiting = zones.slice(1);
    expect(await readCampaign(from, id)).toMatchObject({
      status: "sending",
      waitingForLocalTime: {
        emails: waiting.length,
        nextAt: releaseTimeOf(localTime, "Asia/Kathmandu"),
        lastAt: releaseTimeOf(localTime, "Etc/GMT+12"),
      },
    });
    const before = await listSendsOf(from, id);
    for (const zone of waiting)
      expect(before.get(addressOf(zone))).toMatchObject({
        status: "scheduled",
        scheduledAt: releaseTimeOf(localTime, zone),
      });
    await expect(cancelSend(from.caller, before.get(addressOf("UTC"))!.id)).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("campaign"),
    });
    await runUntil(localTime, 1);
    expect((await readCampaign(from, id)).waitingForLocalTime).toMatchObject({ emails: 3 });
    await runUntil(localTime, 13);
    expect(await readCampaign(from, id)).toMatchObject({
      status: "sent",
      localTime,
      waitingForLocalTime: null,
      stats: { sent: zones.length },
    });
    expect(expectNoDuplicates(from)).toHaveLength(zones.length);
    for (const [email, { sentAt }] of await listSendsOf(from, id)) {
      const zone = zones.find((one) => addressOf(one) === email)!;
      const lateMs = Date.parse(sentAt!) - Date.parse(releaseTimeOf(localTime, zone));
      expect(lateMs).toBeGreaterThanOrEqual(0);
      // The next zone is a quarter of an hour away.
      expect(lateMs).toBeLessThan(15 * 60_000);
    }
    await from.provider.stop();
  });

  test("takes the offset of that day, before and after clocks change", async () => {
    const from = await createCampaignSender();
    await createContact(from, "new-york", "America/New_York");
    const noonOf = (day: number) =>
      clock
        .addSeconds(hours(24 * day))
        .toISOString()
        .replace(/T.*/, "T12:00");
    const utcHourOf = (day: number) =>
      instantOfLocalTime(noonOf(day), "America/New_York").getUTCHours();
    let day = 2;
    while (utcHourOf(day) === utcHourOf(day + 1)) day++;
    const [before, after] = [noonOf(day), noonOf(day + 1)];
    expect([utcHourOf(day), utcHourOf(day + 1)].toSorted()).toEqual([16, 17]);
    const ids: number[] = [];
    for (const localTime of [before, after]) {
      const { id } = await createDraft(from);
      await scheduleAt(from, id, localTime);
      ids.push(id);
    }
    await runUntil(after, 24);
    for (const [i, localTime] of [before, after].entries()) {
      const [send] = (await listSendsOf(from, ids[i]!)).values();
      expect(send!.sentAt!.slice(0, 13)).toBe(
        instantOfLocalTime(localTime, "America/New_York").toISOString().slice(0, 13),
      );
    }
    await from.provider.stop();
  });

  test("uses the organization's time zone for contacts without one", async () => {
    const from = await createCampaignSender();
    await organizations.change(from.caller, { timezone: "Asia/Kolkata" });
    await createContact(from, "nowhere", null);
    await createContact(from, "phoenix", "America/Phoenix");
    const localTime = localTimeIn(20);
    const id = await startScheduled(from, localTime);
    expect((await readCampaign(from, id)).waitingForLocalTime).toMatchObject({
      nextAt: releaseTimeOf(localTime, "Asia/Kolkata"),
      lastAt: releaseTimeOf(localTime, "America/Phoenix"),
    });
    await runUntil(localTime, 13);
    expect(expectNoDuplicates(from)).toHaveLength(2);
    await from.provider.stop();
  });

  test("writes the recipient's date and time", async () => {
    const from = await createCampaignSender();
    const { id: templateId } = await templates.create(
      from.caller,
      NewTemplate.parse({
        siteId: from.siteId,
        name: "Today",
        subject: "{{ 'now' | date: '%Y-%m-%dT%H:%M' }}",
        html: "<p>Today</p>",
      }),
    );
    await createContact(from, "kiritimati", "Pacific/Kiritimati");
    await createContact(from, "phoenix", "America/Phoenix");
    const localTime = localTimeIn(20);
    const { id } = await createDraft(from, { templateId });
    await scheduleAt(from, id, localTime);
    await runUntil(localTime, 13);
    expect(from.provider.mails.map(({ subject }) => subject)).toEqual([localTime, localTime]);
    expect([...(await listSendsOf(from, id)).values()].map(({ subject }) => subject)).toEqual([
      localTime,
      localTime,
    ]);
    await from.provider.stop();
  });

  test("that is late mails contacts whose time has passed at once, and warns of it", async () => {
    const from = await createCampaignSender();
    await createContactInEachZone(from);
    const localTime = localTimeIn(2);
    expect(listLocalTimeWarnings(CampaignSchedule.parse({ localTime }))).toEqual([
      expect.stringMatching(/time zones ahead of UTC\+02:0[01]: .* at once/),
    ]);
    expect(listLocalTimeWarnings(CampaignSchedule.parse({ localTime: localTimeIn(15) }))).toEqual(
      [],
    );
    const id = await startScheduled(from, localTime);
    const [early, later] = [zones.slice(0, 3), zones.slice(3)];
    expect(addressesOf(from)).toEqual(early.map(addressOf).toSorted());
    expect((await readCampaign(from, id)).waitingForLocalTime).toMatchObject({
      emails: later.length,
    });
    await runUntil(localTime, 13);
    expect(expectNoDuplicates(from)).toHaveLength(zones.length);
    await from.provider.stop();
  });

  test("refuses times that have passed or do not exist, and A/B tests", async () => {
    const from = await createCampaignSender();
    await createContact(from, "utc", "UTC");
    const { id } = await createDraft(from);
    const refused = (path: string) => ({ kind: "invalid", details: [{ path }] });
    for (const localTime of [localTimeIn(-13), localTimeIn(24 * 367)])
      await expect(scheduleAt(from, id, localTime)).rejects.toMatchObject(refused("localTime"));
    const scheduledAt = clock.addSeconds(60).toISOString();
    for (const [given, path] of [
      [{ localTime: "2027-02-29T09:00" }, "localTime"],
      [{ localTime: "2027-03-20T24:00" }, "localTime"],
      [{ localTime: "2027-03-20T09:00Z" }, "localTime"],
      [{ localTime: "2027-03-20T09:00", scheduledAt }, "scheduledAt"],
      [{}, "scheduledAt"],
    ] as const)
      expect(CampaignSchedule.safeParse(given).error?.issues).toMatchObject([{ path: [path] }]);
    const abTest = { testPercent: 50, metric: "open_rate" as const, durationMinutes: 10 };
    await campaigns.updateCampaign(from.caller, id, { abTest });
    for (const subject of ["A", "B"]) await createVariant(from, id, { subject });
    await expect(scheduleAt(from, id, localTimeIn(24))).rejects.toMatchObject(refused("abTest"));
    await campaigns.updateCampaign(from.caller, id, { abTest: null });
    await scheduleAt(from, id, localTimeIn(24));
    await expect(campaigns.updateCampaign(from.caller, id, { abTest })).rejects.toMatchObject(
      refused("abTest"),
    );
    await actions.schedule(from.caller, id, CampaignSchedule.parse({ scheduledAt }));
    expect((await readCampaign(from, id)).localTime).toBeNull();
    await campaigns.updateCampaign(from.caller, id, { abTest });
    await actions.cancel(from.caller, id);
    await from.provider.stop();
  });

  test("that is sent now instead goes to all at once", async () => {
    const from = await createCampaignSender();
    await createContactInEachZone(from);
    const { id } = await createDraft(from);
    await scheduleAt(from, id, localTimeIn(24));
    await actions.sendNow(from.caller, id);
    await runWorkers({ forSeconds: 600 });
    expect(await readCampaign(from, id)).toMatchObject({ status: "sent", localTime: null });
    expect(expectNoDuplicates(from)).toHaveLength(zones.length);
    await from.provider.stop();
  });

  test("with variants sends each contact its variant at its time", async () => {
    const from = await createCampaignSender();
    for (const zone of zones)
      for (const i of [1, 2, 3]) await createContact(from, `${zone}-${i}`, zone);
    const { id } = await createDraft(from);
    for (const subject of ["A", "B"]) await createVariant(from, id, { subject });
    const localTime = localTimeIn(20);
    await scheduleAt(from, id, localTime);
    await runUntil(localTime, 1);
    await readConsistentNumbers(from, id);
    await runUntil(localTime, 13);
    const subjects = expectNoDuplicates(from).map(({ subject }) => subject);
    expect(subjects).toHaveLength(3 * zones.length);
    const { variants } = await readCampaign(from, id);
    expect(variants.map(({ recipients }) => recipients)).toEqual(
      ["A", "B"].map((one) => subjects.filter((subject) => subject === one).length),
    );
    await from.provider.stop();
  });

  test("can be a resend", async () => {
    const from = await createCampaignSender();
    await createContact(from, "kolkata", "Asia/Kolkata");
    await createContact(from, "phoenix", "America/Phoenix");
    const { id } = await createDraft(from);
    await actions.sendNow(from.caller, id);
    await runWorkers({ forSeconds: 600 });
    from.provider.mails.length = 0;
    const request = resends.ResendRequest.parse({ to: "unopened", draft: true });
    const { id: second } = await resends.resend(from.caller, id, request);
    const localTime = localTimeIn(20);
    await scheduleAt(from, second, localTime);
    await runUntil(localTime, 0);
    expect(addressesOf(from)).toEqual([addressOf("kolkata")]);
    await runUntil(localTime, 13);
    expect(expectNoDuplicates(from)).toHaveLength(2);
    await from.provider.stop();
  });
});

describe("between the fan-out and the local time", () => {
  test("a contact that unsubscribes, is suppressed, deleted or erased gets nothing", async () => {
    const from = await createCampaignSender();
    const names = ["unsubscribed", "suppressed", "deleted", "erased", "stays"];
    const ids: number[] = [];
    for (const name of names) ids.push((await createContact(from, name, "America/Phoenix")).id);
    const localTime = localTimeIn(20);
    const id = await startScheduled(from, localTime);
    expect((await readCampaign(from, id)).waitingForLocalTime).toMatchObject({
      emails: names.length,
    });
    await contacts.change(from.caller, ids[0]!, { status: "unsubscribed" });
    const suppressed = { reason: "manual", source: "api" } as const;
    await suppressions.suppress(from.caller.orgId, {
      email: addressOf("suppressed"),
      ...suppressed,
    });
    await contacts.remove(from.caller, ids[2]!);
    await erase(from.caller, ids[3]!);
    await runUntil(localTime, 13);
    expect(addressesOf(from)).toEqual([addressOf("stays")]);
    expect(await readConsistentNumbers(from, id)).toMatchObject({ candidates: 5, sent: 1 });
    expect((await readCampaign(from, id)).status).toBe("sent");
    await from.provider.stop();
  });

  test("a pause holds everyone back; after it, late contacts get it at once", async () => {
    const from = await createCampaignSender();
    await createContactInEachZone(from);
    const localTime = localTimeIn(20);
    const id = await startScheduled(from, localTime);
    await actions.pause(from.caller, id);
    await runUntil(localTime, 1);
    expect(addressesOf(from)).toEqual([addressOf("Pacific/Kiritimati")]);
    await actions.resume(from.caller, id);
    await runWorkers({ forSeconds: 300 });
    expect(addressesOf(from)).toEqual(zones.slice(0, 4).map(addressOf).toSorted());
    await runUntil(localTime, 13);
    expect(expectNoDuplicates(from)).toHaveLength(zones.length);
    expect((await readCampaign(from, id)).status).toBe("sent");
    await from.provider.stop();
  });

  test("bounces of the first zones pause the campaign before the next", async () => {
    const from = await createCampaignSender();
    await insertListMembers(from, 500, () => ({ timezone: "Pacific/Kiritimati" }));
    await createContact(from, "phoenix", "America/Phoenix");
    const localTime = localTimeIn(20);
    const id = await startScheduled(from, localTime);
    expect((await readConsistentNumbers(from, id)).sent).toBe(500);
    const { sends: bounced } = await listSends(from.caller, { limit: 30 }, { campaignId: id });
    const events = bounced.flatMap(({ id: sendId, sentAt }) =>
      sentAt ? createEvent(sendId, "bounce", 60) : [],
    );
    await applyMessages(await createEventMessage(from.caller.orgId, events));
    await runUntil(localTime, 13);
    expect(from.provider.mails).toHaveLength(500);
    expect(await readCampaign(from, id)).toMatchObject({
      status: "paused",
      statusReason: expect.stringContaining("bounced"),
    });
    // The poll did not even queue the chunk, so no lane runner could be faster than the pause.
    const { orgId } = from.caller;
    const chunks = await queryAll(ranges.suspendedChunks(orgId, { kind: "campaign", id }));
    expect(chunks).toEqual([expect.objectContaining({ sk: expect.stringMatching(/^WAIT#/) })]);
    await from.provider.stop();
  });

  test("a cancellation ends the campaign at once", async () => {
    const from = await createCampaignSender();
    await createContactInEachZone(from);
    const localTime = localTimeIn(20);
    const id = await startScheduled(from, localTime);
    await actions.cancel(from.caller, id);
    await runWorkers({ forSeconds: 60 });
    expect(await readCampaign(from, id)).toMatchObject({
      status: "cancelled",
      finishedAt: expect.any(String),
      waitingForLocalTime: null,
      accounting: { sent: 1, cancelled: zones.length - 1, queued: 0 },
    });
    await runUntil(localTime, 13);
    expect(from.provider.mails).toHaveLength(1);
    await from.provider.stop();
  });
});

const keyOf = ({ caller: { orgId } }: CampaignSender, id: number) => ({
  orgId,
  kind: "campaign" as const,
  id,
});

interface Started {
  from: CampaignSender;
  id: number;
  localTime: string;
}

const poll = ({ from, id }: Started) => pollBroadcast(keyOf(from, id));

/** Each prepares a campaign up to some work, and returns that work. */
const interruptedWork: Record<string, (started: Started) => Promise<() => Promise<unknown>>> = {
  "the start": async (started) => () => poll(started),
  "the fan-out": async (started) => {
    await poll(started);
    return async () => {
      for (const shard of emailShards)
        await fanOut.runFanOut(keyOf(started.from, started.id), shard);
    };
  },
  "the wait": async (started) => {
    await poll(started);
    await runWorkers({}, [fanOutWorker, laneWorker]);
    return () => poll(started);
  },
  "the release": async (started) => {
    await runUntil(started.localTime, -0.1);
    clock.advanceClock(hours(0.1) + 1);
    return () => poll(started);
  },
  "a resume": async ({ from, id, localTime }) => {
    await runUntil(localTime, -0.1);
    await actions.pause(from.caller, id);
    await runUntil(localTime, 0.1);
    return () => actions.resume(from.caller, id);
  },
  "the cancellation": async (started) => {
    await runUntil(started.localTime, -1);
    await actions.cancel(started.from.caller, started.id);
    return () => poll(started);
  },
};

// At the start, two of them have passed the local time.
const crashZones: Zone[] = ["Pacific/Kiritimati", "Asia/Kathmandu", "UTC", "America/Phoenix"];
const startHours = 3;

async function expectMailAtItsTime({ from, id, localTime }: Started): Promise<void> {
  for (const { toEmail, sentAt, status } of (await listSendsOf(from, id)).values()) {
    if (status === "cancelled") continue;
    const zone = crashZones.find((one) => addressOf(one) === toEmail.replace(/-\d@/, "@"))!;
    expect(sentAt! >= releaseTimeOf(localTime, zone)).toBe(true);
  }
}

describe.each(interruptions)("a worker that %s", (how) => {
  test.each(Object.entries(interruptedWork))(
    "in %s still sends one mail to each contact, none before its time",
    async (moment, prepareWork) => {
      const from = await createCampaignSender();
      for (const zone of crashZones)
        for (const i of [1, 2]) await createContact(from, `${zone}-${i}`, zone);
      const all = 2 * crashZones.length;
      const steps = await interruptedAtSomeSteps(how, async (interrupt) => {
        from.provider.mails.length = 0;
        const localTime = localTimeIn(startHours);
        const { id } = await createDraft(from);
        const started = { from, id, localTime };
        await scheduleAt(from, id, localTime);
        const work = await prepareWork(started);
        await interrupt(work, () => runWorkers({ forSeconds: 1800 }));
        await readConsistentNumbers(from, id);
        const { status } = await readCampaign(from, id);
        if (status === "paused") await actions.resume(from.caller, id);
        await runUntil(localTime, 13);
        const isCancelled = moment === "the cancellation";
        const sent = isCancelled ? all / 2 : all;
        expect(await readConsistentNumbers(from, id)).toMatchObject({
          candidates: all,
          accepted: all,
          sent,
          cancelled: all - sent,
          releases: [{ mails: 2 }, { mails: 2 }],
        });
        expect(await readCampaign(from, id)).toMatchObject({
          status: isCancelled ? "cancelled" : "sent",
          finishedAt: expect.any(String),
        });
        expect(expectNoDuplicates(from)).toHaveLength(sent);
        await expectMailAtItsTime(started);
      });
      expect(steps.length).toBeGreaterThan(5);
      await from.provider.stop();
    },
  );
});
