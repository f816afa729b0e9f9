import { expect, test } from "vitest";
import { put, transact, update, write } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import { addSeconds, now } from "../../shared/clock.ts";
import { getAttention } from "../../shared/domain/analytics/attention.ts";
import * as quotas from "../../shared/domain/billing/quota.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import * as dailyCounters from "../../shared/domain/sending/daily-counters.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import { keys, type RecordKind } from "../../shared/keys.ts";
import { plans } from "../../shared/plans.ts";
import { roles } from "../../shared/rights.ts";
import { createAccount } from "../support/accounts.ts";
import { createEachKind, type IdsByKind } from "../support/one-of-each-record.ts";

async function world(): Promise<{ caller: Caller; made: IdsByKind }> {
  const { caller, token } = await createAccount();
  const made = await createEachKind({ cookies: [`${sessionCookieName}=${token}`] });
  await setFields(caller, "CONFIG", made["sending-configs"], {
    verified: true,
    firstEventAt: now().toISOString(),
  });
  return { caller, made };
}

const setFields = (
  { orgId }: Caller,
  kind: RecordKind,
  id: number | undefined,
  set: Record<string, unknown>,
) => write(update(keys.record(orgId, kind, id!), { set }));

const codesFor = async (caller: Caller): Promise<string[]> =>
  (await getAttention(caller)).problems.map(({ code }) => code);

async function breakEverything({ caller, made }: Awaited<ReturnType<typeof world>>) {
  const { orgId } = caller;
  const longAgo = addSeconds(-3600).toISOString();
  const config = made["sending-configs"]!;
  const { period } = await quotas.getQuota(orgId);
  await Promise.all([
    write(update(keys.lane(orgId, config), { set: { heldSince: longAgo, faults: 7 } })),
    setFields(caller, "CONFIG", config, {
      verified: false,
      accountLimits: {
        emailsPerSecond: 1,
        emailsPer24Hours: 100,
        sentLast24Hours: 90,
        readAt: now().toISOString(),
      },
    }),
    setFields(caller, "DOMAIN", made.domains, {
      status: "lost",
      statusReason: "The ownership record is gone.",
    }),
    setFields(caller, "WEBHOOK", made.webhooks, { active: false, inactiveReason: "410 Gone" }),
    setFields(caller, "CAMPAIGN", made.campaigns, {
      status: "paused",
      statusReason: "Too many bounces",
    }),
    setFields(caller, "SEQUENCE", made.sequences, {
      status: "paused",
      statusReason: "Template 3 no longer exists",
    }),
    write(
      update(keys.importRun(orgId, made.imports!), {
        set: { status: "failed", error: "The file is no CSV" },
      }),
    ),
    write(
      put(keys.accountShard(orgId, 0), {
        period: period.start,
        mails: 2 * plans.free.mailsPerMonth,
        charged: 0,
      }),
    ),
  ]);
}

const siteProblems = ["campaign_paused", "import_failed", "sequence_paused"];
const senderProblems = [
  "provider_quota_near",
  "sending_config_failing",
  "sending_config_unverified",
];
const organizationProblems = ["domain_lost", "plan_used_up"];

test("nothing needs attention while all is well", async () => {
  const { caller } = await world();
  expect(await getAttention(caller)).toEqual({ problems: [] });
});

test("each problem has a sentence and its record, errors first", async () => {
  const all = await world();
  await breakEverything(all);
  const { problems } = await getAttention(all.caller);
  expect(problems.map(({ code }) => code).toSorted()).toEqual(
    [...siteProblems, ...senderProblems, ...organizationProblems, "webhook_inactive"].toSorted(),
  );
  const severities = problems.map(({ severity }) => severity);
  expect(severities).toEqual(severities.toSorted());
  const { made } = all;
  expect(problems.find(({ code }) => code === "campaign_paused")).toMatchObject({
    severity: "error",
    message: 'The campaign "Spring" is paused: Too many bounces',
    record: { type: "campaign", id: made.campaigns, siteId: made.sites },
  });
  expect(problems.find(({ code }) => code === "webhook_inactive")!.message).toMatch(
    /^The webhook endpoint at shop\.example gets no events any more: 410 Gone\./,
  );
});

test("callers see only problems of records that they may read", async () => {
  const all = await world();
  await breakEverything(all);
  const { caller, made } = all;
  const viewer = { ...caller, scopes: roles.viewer.scopes };
  expect(await codesFor(viewer)).not.toContain("webhook_inactive");
  expect(await codesFor({ ...caller, scopes: ["attention:read"] })).toEqual([]);
  const ofSite = { ...caller, siteIds: [made.sites!] };
  expect((await codesFor(ofSite)).toSorted()).toEqual(
    [...siteProblems, ...senderProblems].toSorted(),
  );
  const { id: otherSite } = await sites.create(caller, sites.NewSite.parse({ name: "Other" }));
  expect((await codesFor({ ...caller, siteIds: [otherSite] })).toSorted()).toEqual(senderProblems);
});

test("stops of the user, short failures and old ones need no attention", async () => {
  const { caller, made } = await world();
  await Promise.all([
    setFields(caller, "CAMPAIGN", made.campaigns, { status: "paused" }),
    setFields(caller, "WEBHOOK", made.webhooks, { active: false }),
    write(
      update(keys.lane(caller.orgId, made["sending-configs"]!), {
        set: { heldSince: addSeconds(-10).toISOString() },
      }),
    ),
    setFields(caller, "IMPORT", made.imports, {
      createdAt: addSeconds(-8 * 86_400).toISOString(),
    }),
    write(update(keys.importRun(caller.orgId, made.imports!), { set: { status: "failed" } })),
  ]);
  expect(await getAttention(caller)).toEqual({ problems: [] });
});

test("uncertain emails need attention for 90 days, until they are settled", async () => {
  const { caller, made } = await world();
  const { orgId } = caller;
  const countOn = (daysAgo: number, counts: dailyCounters.DayCounts) =>
    transact(
      ...dailyCounters.dayCounterWrites(
        orgId,
        {
          siteId: made.sites!,
          date: addSeconds(-daysAgo * 86_400)
            .toISOString()
            .slice(0, 10),
          shardSeed: 1,
        },
        [{ configId: made["sending-configs"]!, counts }],
      ),
    );
  await countOn(80, { uncertain: 3 });
  await countOn(5, { recovered: 1 });
  expect((await getAttention(caller)).problems).toMatchObject([
    {
      code: "mails_uncertain",
      severity: "warning",
      message: expect.stringMatching(/^For 2 emails of the last 90 days/),
    },
  ]);
  await countOn(0, { failed: 2, uncertain: -2 });
  expect(await getAttention(caller)).toEqual({ problems: [] });
});

test("an unverified sign-up is the first problem", async () => {
  const { caller } = await createAccount();
  expect((await getAttention({ ...caller, unverified: true })).problems).toMatchObject([
    { code: "email_unverified", record: { type: "user", id: caller.userId } },
  ]);
});
