// Mails that custom events start: events arrive at a steady rate, each for another contact, and
// each starts a sequence whose first step is a mail.
import * as clock from "../../../shared/clock.ts";
import { startCountingProvider } from "./counting-provider.ts";
import { measure } from "./measure.ts";
import { type MeasuredService, startMeasuredService } from "./measured-service.ts";
import { uniqueAddress } from "./organizations.ts";
import {
  atMost,
  type BenchRow,
  equalRow,
  formatMs,
  formatNumber,
  median,
  percentile,
  showProgress,
} from "./report.ts";
import { type SeededSite, seedSite } from "./seeded-site.ts";

const eventsPerSecond = 50;
/** An organization may make 2,000 requests a minute. */
const organizations = 2;
const maxLatencyMs = 5000;

export async function run([events = 3000]: number[]): Promise<BenchRow[]> {
  const mailedAt = new Map<string, number>();
  const provider = await startCountingProvider(0, 0, (email) => {
    if (!mailedAt.has(email)) mailedAt.set(email, performance.now());
  });
  const service = await startMeasuredService({ PROVIDER_URL_SENDGRID: provider.url });
  try {
    return await measureReactions(service, { events, mailedAt, accepted: provider.accepted });
  } finally {
    await service.stop();
    await provider.stop();
  }
}

interface Reactions {
  events: number;
  /** When the provider got the first mail to each address. */
  mailedAt: Map<string, number>;
  accepted(): number;
}

async function measureReactions(
  service: MeasuredService,
  { events, mailedAt, accepted }: Reactions,
): Promise<BenchRow[]> {
  const size = Math.ceil(events / organizations);
  const sites: SeededSite[] = [];
  for (let i = 0; i < organizations; i++)
    sites.push(await seedSite(service, size, { all: true, from: i * size }));
  await Promise.all(sites.map(createSequence));
  const record = async (i: number, eventName: string) => {
    const { caller, contactIds } = sites[i % organizations]!;
    const contactId = contactIds[Math.floor(i / organizations)]!;
    await caller.call("POST", "/events/custom", { siteId: caller.siteId, contactId, eventName });
    return performance.now();
  };
  const idle = await measure(service, async () => {
    for (let i = 0; i < idleEvents; i++) await record(i, "looked");
  });
  const answered: Promise<number>[] = [];
  const busy = await measure(service, async () => {
    const startedAt = performance.now();
    for (let i = 0; i < events; i++) {
      await clock.sleep(Math.max(0, startedAt + (i * 1000) / eventsPerSecond - performance.now()));
      answered.push(record(i, "ordered"));
      showProgress("recording events", i, events);
    }
    await Promise.all(answered);
    while (mailedAt.size < events) await clock.sleep(50);
  });
  const answeredAt = await Promise.all(answered);
  const addressOf = (i: number) =>
    uniqueAddress((i % organizations) * size + Math.floor(i / organizations));
  const latencies = answeredAt.map((at, i) => mailedAt.get(addressOf(i))! - at);
  const p95 = percentile(latencies, 0.95);
  const sumOf = (unit: "readUnits" | "writeUnits") =>
    Object.values(busy.units).reduce((sum, units) => sum + units[unit], 0) / events;
  const idleUnits = idle.units["POST /api/v1/events/custom"];
  const idleWrites = (idleUnits?.writeUnits ?? 0) / idleEvents;
  return [
    {
      what: `${eventsPerSecond} events a second: from the response to the mail, p50 and p95`,
      value: `${formatNumber(median(latencies))}, ${formatMs(p95)}`,
      aim: atMost(maxLatencyMs, p95, "ms"),
      note: `${formatNumber(events)} events of ${organizations} organizations`,
    },
    equalRow("mails at the provider", { value: accepted(), expected: events }),
    {
      what: "write units per event",
      value: formatNumber(sumOf("writeUnits")),
      note: `${formatNumber(sumOf("readUnits"))} read units, with the hand-over of the mail`,
    },
    {
      what: "an event that starts nothing: write units",
      value: formatNumber(idleWrites),
      note: `${formatNumber((idleUnits?.readUnits ?? 0) / idleEvents)} read units`,
    },
  ];
}

const idleEvents = 100;

async function createSequence({ caller }: SeededSite): Promise<void> {
  const { configId: sendingConfigId, templateId } = caller;
  const id = await caller.create("/sequences", {
    name: "Thank you",
    sendingConfigId,
    triggerType: "custom_event",
    triggerConfig: { eventName: "ordered" },
  });
  await caller.call("POST", `/sequences/${id}/steps`, { type: "email", templateId });
  await caller.call("PUT", `/sequences/${id}`, { status: "active" });
}
