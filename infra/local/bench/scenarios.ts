// The scenarios of npm run bench.
import * as analytics from "./analytics.ts";
import * as batchSends from "./batch-sends.ts";
import * as campaign from "./campaign.ts";
import * as contacts from "./contacts.ts";
import * as outgoingWebhooks from "./outgoing-webhooks.ts";
import * as providerEvents from "./provider-events.ts";
import * as reactions from "./reactions.ts";
import type { BenchRow } from "./report.ts";
import * as segments from "./segments.ts";
import * as sequences from "./sequences.ts";
import * as singleSends from "./single-sends.ts";

export interface BenchScenario {
  title: string;
  run(sizes: number[]): Promise<BenchRow[]>;
  /** The sizes at which it runs by default. */
  sizes?: number[];
}

export const scenarios: Record<string, BenchScenario> = {
  batch: { title: "POST /send/batch: 10 x 1,000 recipients, one caller", run: batchSends.run },
  single: { title: "POST /send: 50 callers, one mail each at a time", run: singleSends.run },
  inbound: { title: "Events received from a provider", run: providerEvents.run },
  outgoing: { title: "Events delivered to webhook endpoints", run: outgoingWebhooks.run },
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
  smtp: {
    title: "A campaign over SMTP whose mails the server counts for each recipient",
    run: campaign.runSmtp,
    sizes: [10_000],
  },
  sequences: {
    title: "Sequence enrollments that fall due at the same time",
    run: sequences.run,
    sizes: [10_000],
  },
  reactions: {
    title: "Mails that custom events start",
    run: reactions.run,
    sizes: [3000],
  },
  insight: {
    title: "Figures and reports by number of stored events",
    run: analytics.run,
    sizes: [10_000, 100_000, 1_000_000],
  },
  contacts: {
    title: "Contacts: one by one, in bulk, and from files",
    run: contacts.run,
    sizes: [10_000, 100_000],
  },
};
