// The scenarios of npm run bench.
import * as insight from "./analytics.ts";
import * as batch from "./batch-sends.ts";
import * as campaign from "./campaign.ts";
import * as conflicts from "./conflicts.ts";
import * as webConsole from "./console.ts";
import * as contacts from "./contacts.ts";
import * as outgoing from "./outgoing-webhooks.ts";
import * as inbound from "./provider-events.ts";
import type { BenchRow } from "./report.ts";
import * as segments from "./segments.ts";
import * as sequences from "./sequences.ts";
import * as single from "./single-sends.ts";

export interface BenchScenario {
  title: string;
  run(sizes: number[]): Promise<BenchRow[]>;
  /** The sizes at which it runs by default. */
  sizes?: number[];
}

export const scenarios: Record<string, BenchScenario> = {
  batch: { title: "POST /send/batch: 10 x 1,000 recipients, one caller", run: batch.run },
  single: { title: "POST /send: 50 callers, one mail each at a time", run: single.run },
  inbound: { title: "Events received from a provider", run: inbound.run },
  outgoing: { title: "Events delivered to webhook endpoints", run: outgoing.run },
  segments: { title: "Segments, search and export", run: segments.run, sizes: [10_000, 100_000] },
  campaign: {
    title: "A campaign, from its start until the provider has every mail",
    run: campaign.run,
    sizes: [20_000],
  },
  counted: {
    title: "A campaign whose mails a stand-in of the provider counts for each recipient",
    run: campaign.runCounted,
    sizes: [100_000],
  },
  slow: {
    title: "The same with answers after half a second, handed over by another process",
    run: campaign.runSlow,
    sizes: [100_000],
  },
  sequences: {
    title: "Sequence enrollments that fall due at the same time",
    run: sequences.run,
    sizes: [10_000],
  },
  insight: {
    title: "Figures and reports by number of stored events",
    run: insight.run,
    sizes: [10_000, 100_000, 1_000_000],
  },
  contacts: {
    title: "Contacts: one by one, in bulk, and from files",
    run: contacts.run,
    sizes: [10_000, 100_000],
  },
  console: {
    title: "The console in Chromium: screens from cache, and scrolling of a long table",
    run: webConsole.run,
    sizes: [5_000],
  },
  conflicts: {
    title:
      "Sending while DynamoDB rejects conflicts, throttles and loses responses " +
      "(a number after the name is the seed)",
    run: conflicts.run,
    sizes: [],
  },
};
