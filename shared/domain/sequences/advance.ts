// Enrollments that go on. Of each sequence as many as a transaction holds together: where they are then, what that counts, and the
// mail they get, all of it or none. So each step is done once, whoever dies and however often a message comes.
import { randomUUID } from "node:crypto";
import { now } from "../../clock.ts";
import { enqueue } from "../../doors/queue.ts";
import { getMany, updateMany, type Write } from "../../doors/table.ts";
import { Problem, unlessMissing } from "../../errors.ts";
import type { Address } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import { queues } from "../../queues.ts";
import * as allowance from "../allowance.ts";
import type { ContactItem } from "../contacts/contact.ts";
import * as organizations from "../organizations.ts";
import * as lanes from "../sending/lanes.ts";
import { marketingOf } from "../sending/marketing.ts";
import { type Counted, counting, type Source } from "../sending/sources.ts";
import { charged, type Mailshot, stagedTogether } from "../sending/staging.ts";
import * as sendingConfigs from "../sending-configs.ts";
import * as sites from "../sites.ts";
import type { TemplateMeta } from "../templates.ts";
import { conditions } from "./conditions.ts";
import type { EnrollmentItem } from "./enrollment.ts";
import * as flows from "./flows.ts";
import { type Journey, travelled } from "./journey.ts";
import { isEnding, type Move } from "./move.ts";
import { contactsOf, grouped, make, together } from "./moves.ts";
import { pause } from "./pausing.ts";
import { find, type SequenceItem } from "./record.ts";
import type { Step } from "./step.ts";
import { templatesOf } from "./steps.ts";
import { advanceSoon, dueAt } from "./waiting.ts";
import { opening } from "./windows.ts";

/**
 * Of any organizations; those that are not due, or not there any more, are passed over. What goes wrong with one sequence keeps no
 * other waiting; it is thrown in the end. Tells whether all that were due have gone on, or are held: who was changed meanwhile may be
 * due still.
 */
export async function advance(addresses: Address[], at = now().toISOString()): Promise<boolean> {
  const items = new Set(await getMany<EnrollmentItem>(addresses, { consistent: true }));
  const ready = [...items].flatMap((item) => (item && !item.held && item.at <= at ? [item] : []));
  const bySequence = [...Map.groupBy(ready, ({ orgId, sequenceId }) => `${orgId}/${sequenceId}`).values()];
  const errors: unknown[] = [];
  const made = await inParallel(4, bySequence, (some) => ofOne(some).catch((error: unknown) => errors.push(error)));
  if (errors.length) throw errors[0];
  return made.reduce((sum, n) => sum + n, 0) === ready.length;
}

/** Answers with how many have gone on, or are held. */
async function ofOne(items: EnrollmentItem[]): Promise<number> {
  const [{ orgId, sequenceId }] = items as [EnrollmentItem];
  const sequence = await find({ orgId }, sequenceId).catch(unlessMissing);
  if (sequence?.status !== "active") return hold(items);
  try {
    const { post, journeys } = await plan(orgId, sequence, items);
    return await settle(orgId, sequence, post, journeys);
  } catch (error) {
    if (!(error instanceof Problem) || passing.has(error.kind)) throw error;
    // Nobody can go on: that is for its owner to mend, and nobody loses the place.
    await pause(orgId, sequence, error.message);
    return hold(items);
  }
}

const passing = new Set(["upstream", "limited", "unavailable", "conflict"]);

async function plan(orgId: number, sequence: SequenceItem, items: EnrollmentItem[]): Promise<{ journeys: Journey[]; post: Post }> {
  const [country, people] = await Promise.all([countryOf(orgId, sequence, items), contactsOf(orgId, items)]);
  const journeys = await Promise.all(items.map((item) => travelled(country, item, people.get(item.contactId))));
  return { journeys, post: await postOf(orgId, sequence, country.site, journeys) };
}

/** Off the shelf until the sequence is active again. */
async function hold(items: EnrollmentItem[]): Promise<number> {
  const [{ orgId, sequenceId }] = items as [EnrollmentItem];
  const standing = (item: EnrollmentItem): Move => {
    const { stepId, order, at, waiting = false, sends } = item;
    return { item, reached: [], left: [], to: { stepId, order, at, waiting, sends, held: true } };
  };
  const held = (await inParallel(2, grouped(items.map(standing), 0), (group) => make(group))).flat();
  // Whoever made it active meanwhile may have looked for them too early.
  const sequence = await find({ orgId }, sequenceId).catch(unlessMissing);
  if (sequence?.status === "active") await release(held.map(({ item }) => item));
  return held.length;
}

async function release(items: EnrollmentItem[]): Promise<void> {
  const at = now().toISOString();
  await updateMany(
    items.map((item) => ({
      address: item,
      set: { at, held: false, v: item.v + 2, ...dueAt(item, at) },
      while: ["v", item.v + 1],
    })),
  );
}

async function countryOf(orgId: number, sequence: SequenceItem, items: EnrollmentItem[]) {
  const { siteId, sendWindow } = sequence;
  const [flow, site, { timezone }] = await Promise.all([
    flows.of(orgId, sequence),
    sites.find({ orgId }, siteId),
    sendWindow ? organizations.find(orgId) : { timezone: "UTC" },
  ]);
  return {
    site,
    flow,
    capDays: site.sendFrequencyCapDays ?? 0,
    holds: conditions(orgId, siteId, flow, items),
    opening: (contact: ContactItem, at: Date) => opening(sendWindow, contact.timezone ?? sendWindow?.timezone ?? timezone, at),
  };
}

/** All that is needed to make mail of it. */
interface Post {
  site: sites.Site;
  config: sendingConfigs.SendingConfig | undefined;
  templates: Map<number, TemplateMeta>;
  bcc: string | undefined;
}

/** Throws 404 and 400 where a template, the sending config or the postal address is missing. */
async function postOf(orgId: number, { sendingConfigId, autoBcc }: SequenceItem, site: sites.Site, journeys: Journey[]): Promise<Post> {
  const wanted = [...new Set(journeys.flatMap(({ mail }) => mail?.templateId ?? []))];
  const post = { site, bcc: autoBcc ?? undefined };
  if (!wanted.length) return { ...post, config: undefined, templates: new Map() };
  const [config, templates] = await Promise.all([
    sendingConfigId === null ? sendingConfigs.defaultConfig(orgId) : sendingConfigs.find({ orgId }, sendingConfigId),
    templatesOf(orgId, wanted),
    marketingOf(orgId, site),
  ]);
  const gone = wanted.find((id) => !templates.has(id));
  if (gone !== undefined) throw new Problem("missing", `Template ${gone} is not there any more`);
  return { ...post, config, templates };
}

async function settle(orgId: number, { id }: SequenceItem, post: Post, journeys: Journey[]): Promise<number> {
  const byItem = new Map(journeys.map((journey) => [journey.move.item, journey]));
  const mailSteps = new Set(journeys.flatMap(({ mail }) => mail ?? []));
  const groups = grouped(
    journeys.map(({ move }) => move),
    2 * Math.min(mailSteps.size, 20) + 6,
  );
  if (post.config && mailSteps.size) await insure(orgId, post.config.id);
  const groupsMade = await inParallel(2, groups, (group) =>
    make(group, (moves) =>
      attempt(
        { orgId, id, post },
        moves.map(({ item }) => byItem.get(item)!),
      ),
    ),
  );
  const made = groupsMade.flat();
  if (post.config && made.some(({ item }) => byItem.get(item)?.mail)) await lanes.arrived(orgId, post.config.id);
  const at = now().toISOString();
  await advanceSoon(made.filter(({ to }) => !isEnding(to) && to.at <= at));
  return made.length;
}

interface Sender {
  orgId: number;
  id: number;
  post: Post;
}

/** Throws 402 when neither plan nor credits pay for the mails. */
async function attempt(sender: Sender, journeys: Journey[]): Promise<Move[] | undefined> {
  const { orgId, id } = sender;
  const n = journeys.filter(({ mail }) => mail).length;
  if (!n) return together(...(await prepared(sender, journeys, undefined)));
  const work = async ({ writes, cost }: allowance.Spending) => {
    const [moves, further] = await prepared(sender, journeys, cost);
    return together(moves, [...further, ...writes]);
  };
  return allowance.spend(orgId, n, `sequence:${id}:${randomUUID()}`, work, { listed: { siteId: sender.post.site.id, n } });
}

/** The moves, with the mails that they mean; those are stored, and go once the moves are made. */
async function prepared(sender: Sender, journeys: Journey[], cost: allowance.Cost | undefined): Promise<[Move[], Write[]]> {
  const { id } = sender;
  const at = now();
  const byStep = [
    ...Map.groupBy(
      journeys.filter(({ mail }) => mail),
      ({ mail }) => mail!,
    ),
  ];
  const batches = byStep.map(([step, some]) => ({
    shot: shotOf(sender, step, at),
    contacts: some.map(({ contact }) => contact!),
    held: false,
  }));
  const counted: Counted[] = journeys.flatMap(({ mail, capped }) => [
    ...(mail ? [{ source: sourceOf(id, mail), tallies: { candidates: 1 } }] : []),
    ...capped.map((step) => ({ source: sourceOf(id, step), tallies: { candidates: 1, capped: 1 } })),
  ]);
  // Where nobody gets a mail there may yet be some who are not to have one.
  const { sendIds, writes } = batches.length
    ? await stagedTogether(charged(batches, cost), counted)
    : { sendIds: new Map<number, number>(), writes: counting(sender.orgId, journeys[0]?.move.item.contactId ?? 0, counted) };
  const moves = journeys.map(({ move, mail }) => (mail ? mailed(move, mail, sendIds.get(move.item.contactId)!) : move));
  return [moves, writes];
}

const mailed = (move: Move, step: Step, sendId: number): Move =>
  isEnding(move.to) ? move : { ...move, to: { ...move.to, sends: { ...move.item.sends, [step.id]: sendId } } };

const sourceOf = (id: number, step: Step): Source => ({ kind: "sequence", id, part: step.id });

function shotOf({ orgId, id, post: { site, bcc, config, templates } }: Sender, step: Step, at: Date): Mailshot {
  const { version, subject } = templates.get(step.templateId!)!;
  return { orgId, site, bcc, config: config!, source: sourceOf(id, step), template: { id: step.templateId!, version, subject }, at };
}

// A worker has its timeout to live: who reckons with this one's message is gone before it comes.
const [insuredSeconds, insuranceSeconds] = [30, 2 * queues.advance.timeoutSeconds];
const insured = new Map<string, number>();

/** Whoever dies between letting mail in and telling the lane of it has told it beforehand, late. */
async function insure(orgId: number, configId: number): Promise<void> {
  const lane = `${orgId}/${configId}`;
  const ms = now().getTime();
  if ((insured.get(lane) ?? 0) > ms) return;
  await enqueue(queues.advance, [{ work: "lane", orgId, configId }], { group: orgId, delaySeconds: insuranceSeconds });
  if (insured.size > 1000) insured.clear();
  insured.set(lane, ms + insuredSeconds * 1000);
}
