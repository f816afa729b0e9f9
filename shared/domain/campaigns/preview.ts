// What a campaign would do if it were sent now, without doing it.
import * as z from "zod";
import { after, now } from "../../clock.ts";
import { above, all, type Condition, equals, not, oneOf } from "../../conditions.ts";
import { config } from "../../config.ts";
import { shards } from "../../keys.ts";
import * as liquid from "../../liquid.ts";
import { encodeCursor } from "../../paging.ts";
import { inParallel } from "../../parallel.ts";
import { filled } from "../../providers/provider.ts";
import * as plans from "../broadcasts/plan.ts";
import { shooter } from "../broadcasts/shots.ts";
import * as campaigns from "../campaigns.ts";
import type { ContactItem } from "../contacts/contact.ts";
import * as reader from "../contacts/reader.ts";
import { compose, variablesFor } from "../sending/compose.ts";
import { type Wording, wording } from "../sending/content.ts";
import { marketingOf } from "../sending/marketing.ts";
import { obstacle } from "../sending/reachable.ts";
import * as staging from "../sending/staging.ts";
import * as sites from "../sites.ts";
import * as suppressions from "../suppressions.ts";
import type { StoredCampaign } from "./campaign.ts";
import { planOf } from "./plan.ts";

const n = z.int();
const Sample = z.object({
  contactId: n,
  email: z.string(),
  variantId: n
    .nullable()
    .describe("null: the campaign has no variants, or this contact waits for the winner of the test and is shown the first"),
  subject: z.string(),
  html: z.string().nullable(),
  text: z.string(),
  missingVariables: z.array(z.string()).describe("Looked up and not there for this contact, so empty"),
  error: z.string().nullable().describe("Why it cannot be rendered for this contact: the mail would fail"),
});
type Sample = z.output<typeof Sample>;

const mostSamples = 10;
/** Up to so many the suppression list itself is asked for everybody. */
const mostAsked = 10_000;

export const Preview = z
  .object({
    candidates: n,
    wouldReceive: n,
    suppressed: n,
    unsubscribed: n.describe("Unsubscribed, or not confirmed yet"),
    capped: n,
    exact: z
      .boolean()
      .describe(
        `false above ${mostAsked.toLocaleString("en")} candidates: then contacts are judged by their own status, which a new entry of the suppression list may be ahead of`,
      ),
    samples: z.array(Sample).describe("At most ten, fewer where they are very long; links to unsubscribe are not real"),
  })
  .meta({ id: "CampaignPreview" });
export type Preview = z.output<typeof Preview>;

type Counts = Pick<Preview, "candidates" | "wouldReceive" | "suppressed" | "unsubscribed" | "capped">;

/** With what is worth knowing before it is sent. Throws 400 that names what is missing to send it. */
export async function preview(who: campaigns.Who, id: number): Promise<Preview & { warnings: string[] }> {
  const campaign = await campaigns.item(who, id);
  const plan = await planOf(campaign);
  const [wanted, site] = await Promise.all([plans.wantedOf(who.orgId, plan), sites.find(who, campaign.siteId)]);
  const asked: Asked = { ...plan, orgId: who.orgId, wanted, capDays: site.sendFrequencyCapDays ?? 0 };
  const [counts, samples, { physicalAddress }] = await Promise.all([
    countsOf(asked),
    samplesOf(campaign, asked),
    marketingOf(who.orgId, site),
  ]);
  return { ...counts, samples, warnings: [...gapsIn(samples), ...(physicalAddress ? [] : [addressless])] };
}

const addressless =
  "No postal address is known, which the law of many countries wants in marketing mail: set physicalAddress of the site, or by PUT /compliance";

function gapsIn(samples: Sample[]): string[] {
  const names = new Set(samples.flatMap(({ missingVariables }) => missingVariables));
  if (!names.size) return [];
  const n = samples.filter(({ missingVariables }) => missingVariables.length).length;
  return [`Variables without a value in ${n} of ${samples.length} samples: ${[...names].slice(0, 20).join(", ")}`];
}

async function countsOf(asked: Asked): Promise<Counts & Pick<Preview, "exact">> {
  const candidates = await reader.count(asked.orgId, asked.siteId, asked.wanted);
  const exact = candidates <= mostAsked;
  return { ...(await (exact ? each(asked) : byStatus(asked, candidates))), exact };
}

interface Asked extends plans.Plan {
  orgId: number;
  wanted: reader.Wanted;
  capDays: number;
}

async function each({ orgId, siteId, wanted, capDays }: Asked): Promise<Counts> {
  const counts: Counts = { candidates: 0, wouldReceive: 0, suppressed: 0, unsubscribed: 0, capped: 0 };
  await inParallel(shards.length, shards, async (shard) => {
    for await (const { items } of reader.scan(orgId, siteId, shard, wanted)) {
      const reasons = await obstaclesOf(orgId, items, capDays);
      counts.candidates += items.length;
      for (const reason of reasons) counts[(reason ?? "wouldReceive") as keyof Counts]++;
    }
  });
  return counts;
}

async function obstaclesOf(orgId: number, items: ContactItem[], capDays: number) {
  const suppressed = await suppressions.among(
    orgId,
    items.map(({ email }) => email),
    "marketing",
  );
  return items.map((contact) => obstacle(contact, suppressed, capDays));
}

/** Counted where they lie: nobody is read out. */
async function byStatus({ orgId, siteId, wanted, capDays }: Asked, candidates: number): Promise<Counts> {
  const count = (condition: Condition) =>
    reader.count(orgId, siteId, { ...wanted, filter: wanted.filter ? all(wanted.filter, condition) : condition });
  const lately = above("lastMarketingAt", after(-capDays * 24 * 3600).toISOString());
  const [suppressed, unsubscribed, capped] = await Promise.all([
    count(equals("status", "suppressed")),
    count(not(oneOf("status", ["suppressed", "subscribed"]))),
    capDays ? count(all(equals("status", "subscribed"), lately)) : 0,
  ]);
  return { candidates, wouldReceive: candidates - suppressed - unsubscribed - capped, suppressed, unsubscribed, capped };
}

// What an answer may have.
const mostBytes = 4_000_000;

async function samplesOf(campaign: StoredCampaign, asked: Asked): Promise<Sample[]> {
  const { orgId, siteId, wanted, capDays } = asked;
  const found: ContactItem[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 10 && found.length < mostSamples; pages++) {
    const { items, next } = await reader.page(orgId, siteId, { limit: 50, ...(cursor && { cursor }) }, wanted);
    const reasons = await obstaclesOf(orgId, items, capDays);
    found.push(...items.filter((_, i) => !reasons[i]));
    if (next === undefined) break;
    cursor = encodeCursor(next);
  }
  const render = await renderer(campaign, asked);
  const samples: Sample[] = [];
  let bytes = 0;
  for (const contact of found.slice(0, mostSamples)) {
    const sample = await render(contact, plans.partFor(campaign, asked, contact.id));
    bytes += Buffer.byteLength(sample.html ?? "") + Buffer.byteLength(sample.text);
    if (bytes > mostBytes) break;
    samples.push(sample);
  }
  return samples;
}

/** Mails as they would read, for parts of a plan. */
export async function renderer({ orgId, id }: StoredCampaign, plan: plans.Plan) {
  const shotOf = await shooter({ orgId, kind: "campaign", id }, plan);
  return async (contact: ContactItem, part: plans.Part | undefined): Promise<Sample> => {
    const content = await staging.contentOf({ ...(await shotOf(part)), at: now() });
    const said = await wording(orgId, content);
    // A page says that the link is none.
    const harmless = `${config.publicUrl}/api/v1/unsubscribe/preview`;
    const linksOf = () => ({ page: harmless, oneClick: harmless, contactToken: "preview" });
    const { common, recipient } = compose(content, { ...said, ...(said.marketing && { marketing: { ...said.marketing, linksOf } }) }, []);
    const who = { contactId: contact.id, email: contact.email, variantId: part?.id ?? null };
    try {
      const { name, variables } = staging.lineOf(contact, 0);
      const one = recipient({ sendId: 0, to: contact.email, name, variables, contactId: contact.id });
      const text = filled(common.text ?? [], one);
      const missingVariables = gaps(said, variablesFor(content, { to: contact.email, name, variables }), content.at);
      const html = common.html ? filled(common.html, one) : null;
      return { ...who, subject: filled(common.subject, one), html, text, missingVariables, error: null };
    } catch (error) {
      return { ...who, subject: "", html: null, text: "", missingVariables: [], error: (error as Error).message };
    }
  };
}

/** Named as a preview of a template names them. */
function gaps({ subject, html, text }: Wording, variables: liquid.Variables, at: string): string[] {
  const parts = Object.entries({ subject, html, text }).flatMap(([field, source]) => (source ? [{ field, source }] : []));
  const missing = parts.flatMap(
    ({ field, source }) =>
      liquid.render(liquid.compile(source, { escape: field === "html", field }), variables, { now: new Date(at) }).missing,
  );
  return [...new Set(missing)].filter((name) => !broughtAlong.has(name));
}

const broughtAlong = new Set(["unsubscribeUrl", "contactToken"]);
