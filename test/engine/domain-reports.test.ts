// Reports of mailbox providers that arrive as mail become figures of the domain, once.
import { beforeAll, describe, expect, test } from "vitest";
import { worker as inbound } from "../../functions/queue/inbound.ts";
import { worker as report } from "../../functions/queue/report.ts";
import * as clock from "../../shared/clock.ts";
import { listTimeline } from "../../shared/domain/analytics/contact-timeline.ts";
import { periodEndingOn } from "../../shared/domain/analytics/periods.ts";
import { changeSettings, getSettings } from "../../shared/domain/inbound/inbound-settings.ts";
import * as inboundEmails from "../../shared/domain/inbound/list-inbound.ts";
import { receiveInbound } from "../../shared/domain/inbound/receive-inbound.ts";
import {
  getDmarcReports,
  getTlsReports,
} from "../../shared/domain/senders/domain-reports/read-reports.ts";
import * as domains from "../../shared/domain/senders/domains/domains.ts";
import { createAccount } from "../support/accounts.ts";
import { createContact } from "../support/contacts.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import {
  gzipOf,
  type SampleRow,
  writeDmarcXml,
  writeReportMail,
  writeTlsJson,
  zipOf,
} from "../support/mailbox-reports.ts";
import { createSequenceSender, type SequenceSender } from "../support/sequences.ts";
import {
  pendingMessages,
  runWorkers,
  toSqsRecord,
  useVirtualQueues,
} from "../support/virtual-queues.ts";

beforeAll(async () => {
  await useVirtualQueues();
});

type Owner = Pick<SequenceSender, "caller" | "siteId">;

async function post({ caller, siteId }: Owner, mail: Buffer) {
  const { urls } = await getSettings(caller, siteId);
  await receiveInbound("mime", new URL(urls.mime).searchParams.get("token")!, {
    headers: { "content-type": "message/rfc822" },
    rawBody: mail,
    url: urls.mime,
    querySecret: undefined,
  });
}

const work = () => runWorkers([inbound, report]);

/** Runs the worker of received mail once, and leaves its messages in the queue. */
const workOnce = () =>
  inbound.handler({
    Records: pendingMessages.filter(({ queue }) => queue === "inbound").map(toSqsRecord),
  });

/** 0:00 UTC, some days ago. */
const midnight = (daysAgo: number) =>
  new Date(Math.floor(clock.now().getTime() / 86_400_000 - daysAgo) * 86_400_000);
const dateOf = (time: Date) => time.toISOString().slice(0, 10);
const span = () => periodEndingOn("30d", dateOf(clock.now()));

async function createOwner(name = `d${crypto.randomUUID().slice(0, 8)}.com`) {
  const sender = await createSequenceSender();
  const { id } = await domains.add(sender.caller, domains.NewDomain.parse({ name }));
  return { ...sender, name, domainId: id };
}

interface Sample {
  domain: string;
  rows: SampleRow[];
  reportId?: string;
  reporter?: string;
  daysAgo?: number;
  messageId?: string;
}

const dmarcMail = ({ daysAgo = 2, messageId, ...sample }: Sample): Buffer =>
  writeReportMail({
    type: "application/zip",
    filename: "report.zip",
    content: zipOf("report.xml", writeDmarcXml({ ...sample, from: midnight(daysAgo) })),
    ...(messageId && { messageId }),
  });

describe("DMARC reports", () => {
  test("are added up by source, reporter and day", async () => {
    const owner = await createOwner();
    const { caller, domainId, name: domain } = owner;
    const rows: SampleRow[] = [
      { ip: "192.0.2.1", count: 10 },
      { ip: "192.0.2.1", count: 5, dkim: "fail" },
      { ip: "198.51.100.7", count: 3, disposition: "quarantine", dkim: "fail", spf: "fail" },
    ];
    await post(owner, dmarcMail({ domain, rows }));
    await post(owner, dmarcMail({ domain, rows: rows.slice(2), reporter: "Yahoo", daysAgo: 3 }));
    await post(owner, dmarcMail({ domain, rows, daysAgo: 50 }));
    await work();
    const found = await getDmarcReports(caller, domainId, span());
    expect(found).toMatchObject({
      reports: 2,
      messages: 21,
      passed: 15,
      dkimAligned: 10,
      spfAligned: 15,
      quarantined: 6,
      rejected: 0,
      sourceCount: 2,
      sources: [
        {
          ip: "198.51.100.7",
          messages: 6,
          passed: 0,
          reporters: ["Yahoo", "google.com"],
          lastDay: dateOf(midnight(2)),
        },
        { ip: "192.0.2.1", messages: 15, passed: 15, passRate: 1, dkimDomain: domain },
      ],
      reporters: [
        { reporter: "google.com", messages: 18, passed: 15 },
        { reporter: "Yahoo", messages: 3, passed: 0 },
      ],
    });
    expect(found.days).toHaveLength(30);
    expect(found.days.filter(({ messages }) => messages)).toEqual([
      { date: dateOf(midnight(3)), messages: 3, passed: 0, passRate: 0 },
      { date: dateOf(midnight(2)), messages: 18, passed: 15, passRate: 15 / 18 },
    ]);
    const { caller: other } = await createAccount();
    await expect(getDmarcReports(other, domainId, span())).rejects.toMatchObject({
      kind: "missing",
    });
    await owner.provider.stop();
  });

  test("count once, however often they come and workers crash", async () => {
    const owner = await createOwner();
    const { caller, domainId, name: domain } = owner;
    let n = 0;
    await crashAtSomeSteps(async (crash) => {
      n++;
      const sample = { domain, rows: [{ ip: `192.0.2.${n}` }], reportId: `report-${n}` };
      await post(owner, dmarcMail({ ...sample, messageId: `m${n}` }));
      await crash(workOnce);
      // The reporter repeats the report in another mail.
      await post(owner, dmarcMail(sample));
      await work();
    });
    const found = await getDmarcReports(caller, domainId, span());
    expect(found).toMatchObject({ reports: n, messages: n, sourceCount: n });
    await owner.provider.stop();
  });

  test("of several at the same time are all counted", async () => {
    const owner = await createOwner();
    for (let i = 0; i < 8; i++)
      await post(owner, dmarcMail({ domain: owner.name, rows: [{ ip: `192.0.2.${i}` }] }));
    const messages = pendingMessages.filter(({ queue }) => queue === "inbound");
    await Promise.all(
      messages.map((message) => inbound.handler({ Records: [toSqsRecord(message)] })),
    );
    const found = await getDmarcReports(owner.caller, owner.domainId, span());
    expect(found).toMatchObject({ reports: 8, messages: 8 });
    await work();
    await owner.provider.stop();
  });

  test("of a parent domain count for the subdomain that sends", async () => {
    const parent = `p${crypto.randomUUID().slice(0, 8)}.com`;
    const owner = await createOwner(`news.${parent}`);
    const rows = [
      { ip: "192.0.2.1", count: 4, fromDomain: owner.name },
      { ip: "192.0.2.2", count: 9 },
    ];
    await post(owner, dmarcMail({ domain: parent, rows }));
    await work();
    const found = await getDmarcReports(owner.caller, owner.domainId, span());
    expect(found).toMatchObject({ messages: 4, sourceCount: 1 });
    await owner.provider.stop();
  });

  test("are no reply, no activity, and are not forwarded; those of others are ordinary mail", async () => {
    const owner = await createOwner();
    const { caller, siteId, name: domain } = owner;
    await changeSettings(caller, siteId, { forwardTo: "team@shop.example" });
    const { id: contactId } = await createContact(owner, "noreply-dmarc-support@google.com");
    await post(owner, dmarcMail({ domain, rows: [{ ip: "192.0.2.1" }] }));
    await work();
    const list = async () =>
      (await inboundEmails.list(caller, { limit: 100 }, { siteId })).inboundEmails;
    expect(await list()).toMatchObject([{ kind: "report", sendId: null, contactId: null }]);
    const { entries } = await listTimeline(caller, contactId, { limit: 50 });
    expect(entries.filter(({ type }) => type.startsWith("email"))).toEqual([]);
    expect(owner.provider.mails).toEqual([]);
    const rows = [{ ip: "192.0.2.1" }];
    await post(owner, dmarcMail({ domain: "other.example.com", rows }));
    await post(owner, dmarcMail({ domain, rows, daysAgo: 200 }));
    await post(owner, dmarcMail({ domain, rows, daysAgo: -5 }));
    await work();
    expect((await list()).map(({ kind }) => kind)).toEqual(["other", "other", "other", "report"]);
    await owner.provider.stop();
  });

  test("of more sources than a day can have count without their address", async () => {
    const owner = await createOwner();
    const rowsFrom = (start: number) =>
      Array.from({ length: 2500 }, (_, i) => {
        const n = start + i;
        return { ip: `10.0.${n >> 8}.${n & 255}` };
      });
    for (const start of [0, 2500])
      await post(owner, dmarcMail({ domain: owner.name, rows: rowsFrom(start) }));
    await work();
    const found = await getDmarcReports(owner.caller, owner.domainId, span());
    expect(found).toMatchObject({ messages: 5000, sourceCount: 3001 });
    expect(found.sources).toHaveLength(200);
    expect(found.sources[0]).toMatchObject({ ip: null, messages: 2000 });
    await owner.provider.stop();
  });
});

describe("TLS reports", () => {
  test("are added up by reason and server", async () => {
    const owner = await createOwner();
    const { caller, domainId, name: domain } = owner;
    for (const daysAgo of [3, 2]) {
      const json = writeTlsJson({ domain, from: midnight(daysAgo) });
      const file = {
        type: "application/tlsrpt+gzip",
        filename: "r.json.gz",
        content: gzipOf(json),
      };
      const mail = writeReportMail(file);
      await post(owner, mail);
      await post(owner, mail);
    }
    await work();
    const found = await getTlsReports(caller, domainId, span());
    expect(found).toMatchObject({
      reports: 2,
      successful: 10_652,
      failed: 6,
      failureRate: 6 / 10_658,
      failures: [
        {
          result: "certificate-expired",
          host: `mx1.mail.${domain}`,
          sessions: 6,
          reporters: ["Company-X"],
          lastDay: dateOf(midnight(2)),
        },
      ],
    });
    expect(await getDmarcReports(caller, domainId, span())).toMatchObject({ reports: 0 });
    clock.advanceClock(120 * 86_400);
    const later = await getTlsReports(caller, domainId, {
      from: dateOf(midnight(130)),
      to: dateOf(midnight(0)),
    });
    expect(later.reports).toBe(0);
    await owner.provider.stop();
  });
});
