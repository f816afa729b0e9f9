import { describe, expect, inject, test } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";
import type {} from "../support/setup/service.ts";
import { waitFor } from "../support/wait-for.ts";

type Row = Record<string, unknown>;
interface Delivery {
  funnel: Row;
  complaintRate: number;
  dailyTrends: Row[];
  configPerformance: Row[];
  ispBreakdown: Row[];
  ispGroups: Row[];
  reputation: Row;
}
interface Listed {
  contacts: Row[];
  enrollments: Row[];
  sequences: Row[];
  schedules: Row[];
  pagination: { total: number | null; nextCursor: string | null };
}

const csvOf = async (client: TestClient, path: string) => {
  const answer = await client.call("GET", `${path}${path.includes("?") ? "&" : "?"}format=csv`);
  expect([path, answer.status, answer.headers.get("content-type")]).toEqual([
    path,
    200,
    "text/csv; charset=utf-8",
  ]);
  expect(answer.headers.get("content-disposition")).toMatch(/^attachment; filename="[\w-]+\.csv"$/);
  return answer.text.trim().split(/\r?\n/);
};

const sandbox = await fetch(`${inject("baseUrl").replace(/\/api\/v1$/, "")}/_local/sandbox`, {
  headers: { accept: "application/json" },
});
// Only the local service has the provider sandbox.
const atHome = sandbox.ok;
type Accounts = Record<string, object>;
const accounts = atHome
  ? ((await sandbox.json()) as { data: { providers: Accounts } }).data.providers
  : {};

describe("figures", () => {
  test("of an organization without sends are zero for every period and interval", async () => {
    const { call, siteId } = await signedUp();
    expectStatus(201, await call("POST", "/campaigns", { name: "Spring" }));
    for (const period of ["7d", "30d", "90d"]) {
      const length = Number.parseInt(period, 10);
      const dashboard = expectStatus(
        200,
        await call<Row>("GET", `/dashboard/overview?period=${period}`),
      ).body.data;
      expect(dashboard).toMatchObject({
        siteId: null,
        timezone: "UTC",
        contacts: { total: 0, previous: 0, change: null },
        sends: { total: 0 },
        totals: { sent: 0, openRate: 0 },
        change: { sent: null, openRate: null },
        recentCampaigns: [
          { name: "Spring", status: "draft", stats: { recipients: 0, openRate: 0 } },
        ],
        reputation: { score: "unknown" },
      });
      for (const interval of ["day", "week", "month"]) {
        const { series, previousSeries } = expectStatus(
          200,
          await call<{ series: Row[]; previousSeries: Row[] }>(
            "GET",
            `/analytics/overview?period=${period}&interval=${interval}&siteId=${siteId}`,
          ),
        ).body.data;
        if (interval === "day")
          expect([series.length, previousSeries.length]).toEqual([length, length]);
        expect(series.every(({ sent }) => sent === 0)).toBe(true);
      }
      const delivery = expectStatus(
        200,
        await call<{ dailyTrends: Row[] }>("GET", `/analytics/deliverability?period=${period}`),
      ).body.data;
      expect(delivery).toMatchObject({
        funnel: { sent: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0, failed: 0 },
        bounceBreakdown: { hard: 0, soft: 0, block: 0, topReasons: [] },
        complaintRate: 0,
        ispBreakdown: [],
        configPerformance: [],
      });
      expect(delivery.dailyTrends).toHaveLength(length);
    }
    expect(
      expectStatus(200, await call<Row>("GET", "/analytics/deliverability")).body.data.period,
    ).toBe("30d");
    for (const query of ["period=1y", "interval=hour", "siteId=x"]) {
      const { status, body } = await call("GET", `/analytics/overview?${query}`);
      expect([query, status, body.code]).toEqual([query, 400, "validation_failed"]);
    }
  });

  test.skipIf(!atHome)(
    "show what was sent, opened and bounced, by site, config and mailbox provider",
    async () => {
      const client = await signedUp();
      const { call, siteId } = client;
      const config = {
        provider: "postmark",
        fromEmail: "shop@pennymail.test",
        fromName: "Shop",
        ...accounts.postmark,
      };
      const { id: configId } = expectStatus(
        201,
        await call<{ id: number }>("POST", "/sending-configs", config),
      ).body.data;
      const other = expectStatus(
        201,
        await call<{ id: number }>("POST", "/sites", { name: "Blog" }),
      ).body.data.id;
      const mail = {
        siteId,
        sendingConfigId: configId,
        subject: "Hi",
        html: '<a href="https://shop.example">Hi</a>',
      };
      for (const outcome of ["delivered", "clicked", "bounced", "complained", "dropped"]) {
        const to = `${outcome}+${siteId}@simulator.pennymail.test`;
        expectStatus(
          202,
          await call("POST", "/send", { ...mail, to, trackOpens: true, trackClicks: true }),
        );
      }
      const path = `/analytics/deliverability?period=7d&siteId=${siteId}`;
      const look = async () => expectStatus(200, await call<Delivery>("GET", path)).body.data;
      const found = await waitFor(async () => {
        const { funnel, complaintRate } = await look();
        expect(funnel).toMatchObject({ sent: 5, delivered: 3, failed: 2 });
        const figures = [funnel.clicked, funnel.bounced, complaintRate];
        expect(figures.every((figure) => Number(figure) > 0)).toBe(true);
        return look();
      });
      expect(found.funnel).toEqual({
        sent: 5,
        delivered: 3,
        opened: expect.any(Number),
        clicked: expect.any(Number),
        bounced: 1,
        failed: 2,
      });
      expect(found).toMatchObject({
        complaintRate: 1 / 3,
        bounceBreakdown: { topReasons: [{ count: 1, share: 1 }] },
      });
      // The day may have ended between the two requests.
      const sum = (count: "sent" | "delivered" | "bounced") =>
        found.dailyTrends.reduce((total, day) => total + Number(day[count]), 0);
      expect([sum("sent"), sum("delivered"), sum("bounced")]).toEqual([5, 3, 1]);
      expect(found.configPerformance).toMatchObject([
        {
          sendingConfigId: configId,
          provider: "postmark",
          label: "Shop <shop@pennymail.test>",
          sent: 5,
          delivered: 3,
        },
      ]);
      const receiver = { group: "Other", sent: 5, delivered: 3, deliveryRate: 0.6 };
      expect(found.ispBreakdown).toMatchObject([
        { domain: "simulator.pennymail.test", ...receiver },
      ]);
      expect(found.ispGroups).toMatchObject([{ ...receiver, domains: 1 }]);
      expect(found.reputation).toMatchObject({
        score: "poor",
        bounceRate: 0.2,
        complaintRate: 1 / 3,
      });
      const elsewhere = expectStatus(
        200,
        await call<Delivery>("GET", `/analytics/deliverability?siteId=${other}`),
      ).body.data;
      expect(elsewhere.funnel).toMatchObject({ sent: 0, delivered: 0 });
      expect(
        expectStatus(200, await call<Row>("GET", "/dashboard/overview")).body.data,
      ).toMatchObject({
        sends: { total: 5 },
        totals: { sent: 5 },
      });
      // A key of the other site does not see the figures of this one.
      const as = { key: await client.newKey({ siteId: other }) };
      expect((await call("GET", path, undefined, { as })).body).toMatchObject({
        code: "site_forbidden",
      });
      const bound = expectStatus(
        200,
        await call<Row>("GET", "/dashboard/overview", undefined, { as }),
      ).body.data;
      expect(bound).toMatchObject({ siteId: other, sends: { total: 0 }, totals: { sent: 0 } });
      const stranger = await signedUp();
      expect((await stranger.call("GET", path)).status).toBe(404);
    },
  );
});

describe("a report", () => {
  test("of contacts is returned in pages, and completely as CSV", async () => {
    const client = await signedUp();
    const { call, siteId } = client;
    const contacts = Array.from({ length: 30 }, (_, i) => ({
      email: `p${i}@example.com`,
      firstName: i === 0 ? "=1+1" : `P${i}`,
    }));
    expectStatus(200, await call("POST", "/contacts/bulk", { siteId, contacts }));
    expectStatus(
      201,
      await call("POST", "/contacts", { email: "gone@example.com", status: "unsubscribed" }),
    );
    const first = expectStatus(
      200,
      await call<Listed>("GET", `/reports/no-sequences?siteId=${siteId}&limit=20`),
    ).body.data;
    expect(first.contacts).toHaveLength(20);
    const next = `/reports/no-sequences?siteId=${siteId}&limit=20&cursor=${first.pagination.nextCursor}`;
    const second = expectStatus(200, await call<Listed>("GET", next)).body.data;
    expect(second.pagination.nextCursor).toBeNull();
    const emails = [...first.contacts, ...second.contacts].map(({ email }) => email);
    expect(emails).toEqual(contacts.map(({ email }) => email).sort());
    const lines = await csvOf(client, `/reports/no-sequences?siteId=${siteId}`);
    expect(lines).toHaveLength(31);
    expect(lines[0]).toMatch(/^contactId,email,firstName,/);
    expect(lines.find((line) => line.includes("p0@"))).toContain("'=1+1");
    for (const report of ["multi-sequence", "unengaged-contacts"]) {
      expect(
        expectStatus(200, await call<Listed>("GET", `/reports/${report}`)).body.data.contacts,
      ).toEqual([]);
      expect(await csvOf(client, `/reports/${report}`)).toHaveLength(1);
    }
  });

  test("of sequences counts enrollments and lists stalled ones", async () => {
    const client = await signedUp();
    const { call, siteId } = client;
    const { id } = expectStatus(
      201,
      await call<{ id: number }>("POST", "/sequences", { name: "Welcome" }),
    ).body.data;
    const person = expectStatus(
      201,
      await call<{ id: number }>("POST", "/contacts", { email: "ann@example.com" }),
    ).body.data;
    expectStatus(
      201,
      await call("POST", `/sequences/${id}/steps`, { type: "delay", delayMinutes: 60 * 24 * 30 }),
    );
    expectStatus(200, await call("POST", `/sequences/${id}/enroll`, { contactIds: [person.id] }));
    const funnel = expectStatus(
      200,
      await call<Listed>("GET", `/reports/sequence-funnel?siteId=${siteId}`),
    ).body.data;
    expect(funnel.sequences).toEqual([
      {
        sequenceId: id,
        name: "Welcome",
        status: "draft",
        active: 1,
        completed: 0,
        cancelled: 0,
        failed: 0,
        total: 1,
        completionRate: 0,
      },
    ]);
    expect(await csvOf(client, "/reports/sequence-funnel")).toHaveLength(2);
    expect(
      expectStatus(200, await call<Listed>("GET", "/reports/stalled-enrollments")).body.data
        .enrollments,
    ).toEqual([]);
    expect(await csvOf(client, "/reports/stalled-enrollments")).toHaveLength(1);
    const inNone = async () =>
      expectStatus(200, await call<Listed>("GET", "/reports/no-sequences")).body.data.contacts;
    expect(await inNone()).toMatchObject([{ contactId: person.id }]);
    expectStatus(200, await call("PUT", `/sequences/${id}`, { status: "active" }));
    expect(await inNone()).toEqual([]);
  });

  test("requires a siteId of the caller if there is more than one site", async () => {
    const { call, newKey, siteId } = await signedUp();
    const other = expectStatus(201, await call<{ id: number }>("POST", "/sites", { name: "Blog" }))
      .body.data.id;
    const as = { key: await newKey({ siteId: other }) };
    for (const report of [
      "multi-sequence",
      "stalled-enrollments",
      "sequence-funnel",
      "unengaged-contacts",
      "no-sequences",
    ])
      for (const format of ["json", "csv"]) {
        expect(
          (await call("GET", `/reports/${report}?format=${format}`)).body.details?.[0]?.path,
        ).toBe("siteId");
        expect(
          (await call("GET", `/reports/${report}?format=${format}`, undefined, { as })).status,
        ).toBe(200);
        const foreign = await call(
          "GET",
          `/reports/${report}?format=${format}&siteId=${siteId}`,
          undefined,
          { as },
        );
        expect([foreign.status, foreign.body.code]).toEqual([403, "site_forbidden"]);
        expect(
          (await call("GET", `/reports/${report}?format=${format}&siteId=999999999`)).status,
        ).toBe(404);
      }
  });

  test("too long for one response becomes an export", async () => {
    const { call, siteId } = await signedUp();
    const { status, body } = await call<{ id: number }>("POST", "/exports", {
      type: "no-sequences",
      siteId,
    });
    expect([status, body.data]).toMatchObject([202, { type: "no-sequences", status: "queued" }]);
  });
});

describe("a report schedule", () => {
  test("is created, listed, changed and deleted", async () => {
    const { call, siteId } = await signedUp();
    const body = { frequency: "weekly", recipient: "team@shop.example" };
    const made = expectStatus(201, await call<Row>("POST", "/reports/schedules", body)).body.data;
    expect(made).toMatchObject({
      siteId,
      ...body,
      active: true,
      lastSentAt: null,
      lastSendId: null,
      lastError: null,
    });
    const nextAt = new Date(String(made.nextAt));
    expect([nextAt.getUTCDay(), nextAt.getUTCHours()]).toEqual([1, 7]);
    const path = `/reports/schedules/${made.id}`;
    expect(expectStatus(200, await call("GET", path)).body.data).toEqual(made);
    expect(
      expectStatus(200, await call<Listed>("GET", "/reports/schedules")).body.data,
    ).toMatchObject({
      schedules: [made],
      pagination: { total: 1 },
    });
    const changed = expectStatus(
      200,
      await call<Row>("PUT", path, { frequency: "monthly", recipient: "boss@shop.example" }),
    ).body.data;
    expect(changed).toMatchObject({ frequency: "monthly", recipient: "boss@shop.example" });
    expect(String(changed.nextAt)).toMatch(/-01T07:00:00.000Z$/);
    expect(
      expectStatus(200, await call<Row>("PUT", path, { active: false })).body.data,
    ).toMatchObject({ active: false, nextAt: null });
    expectStatus(200, await call("DELETE", path));
    for (const method of ["GET", "DELETE"]) expect((await call(method, path)).status).toBe(404);
    expect((await call("PUT", path, { active: true })).status).toBe(404);
    for (const wrong of [
      { ...body, frequency: "hourly" },
      { ...body, recipient: "nobody" },
      { frequency: "daily" },
    ])
      expect((await call("POST", "/reports/schedules", wrong)).status).toBe(400);
  });
});
