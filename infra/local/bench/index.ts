import * as batch from "./batch.ts";
import * as bundles from "./bundles.ts";
import * as campaign from "./campaign.ts";
import * as contacts from "./contacts.ts";
import * as inbound from "./inbound.ts";
import * as insight from "./insight.ts";
import * as outgoing from "./outgoing.ts";
import * as profile from "./profile.ts";
import type { Row } from "./report.ts";
import * as segments from "./segments.ts";
import * as sequences from "./sequences.ts";
import * as single from "./single.ts";
import * as soak from "./soak.ts";

export interface Bench {
  title: string;
  run(sizes: number[]): Promise<Row[]>;
  /** At which it is measured unless others are given. */
  sizes?: number[];
  /** It takes long, or tells something else than speed. */
  onlyWhenNamed?: true;
}

export const benches: Record<string, Bench> = {
  batch: { title: "POST /send/batch: 10 x 1,000 recipients, one caller", run: batch.run },
  single: { title: "POST /send: 50 callers, one mail each at a time", run: single.run },
  inbound: { title: "Events from a provider", run: inbound.run },
  outgoing: { title: "Events to endpoints of customers", run: outgoing.run },
  segments: { title: "Segments, search and export", run: segments.run, sizes: [10_000, 100_000] },
  campaign: { title: "A campaign, from the start until the provider has it", run: campaign.run, sizes: [20_000] },
  sequences: { title: "Enrollments that fall due at once", run: sequences.run, sizes: [10_000] },
  insight: { title: "Figures and reports, after so many events", run: insight.run, sizes: [10_000, 100_000, 1_000_000] },
  contacts: { title: "Contacts: one by one, in bulk, and from files", run: contacts.run, sizes: [10_000, 100_000] },
  bundles: { title: "Bundles for Lambda", run: bundles.run },
  profile: { title: "Where the time of the service goes, per mail", run: profile.run, onlyWhenNamed: true },
  soak: { title: "20,000 mails through kills, flaky providers, doubled and shuffled events", run: soak.run, onlyWhenNamed: true },
};
