// Checks the books of a simulated world that has come to rest. Each violation is one sentence.
import { areasOf } from "./actions.ts";
import { erasedEmail, keyOf, type Ledger, type ListedSend, type Scene } from "./scene.ts";
import { checkStatistics, type ListedEvent, listNegatives } from "./statistics.ts";
import { searched } from "./uncertain-mail.ts";
import type { World } from "./world.ts";

interface CampaignDetail {
  status: string;
  stats: object;
  accounting: Record<string, number>;
}

/** States in which a provider has accepted the mail. */
const handedOver = new Set(["sent", "delivered"]);

/** While `isAtRest` is false, mail may wait and look-ups may be underway. */
export async function checkBooks(
  scene: Scene,
  areas: string[],
  isAtRest: boolean,
): Promise<string[]> {
  const { world, ledger, prepared } = scene;
  const contacts = prepared.contacts.length;
  const sends = await listAll<ListedSend>(world, "sends");
  // The sends of an erased contact no longer tell whose mail they are.
  const erased = new Set(ledger.erasures.map(({ email }) => email).concat(erasedEmail));
  const named = sends.filter(({ toEmail }) => !erased.has(toEmail));
  const namedIds = new Set(named.map(({ id }) => id));
  const events = await listAll<ListedEvent>(world, "events");
  const violations = [
    ...checkShown(scene, named, { erased, isAtRest }),
    ...checkUncertain(world, named, isAtRest),
    ...checkAccepted(ledger, sends, isAtRest),
    ...(await checkUsage(scene, sends)),
    ...(await checkCampaigns(world, { ...ledger, contacts, isAtRest }, sends)),
    ...checkEvents(world, {
      sends: named,
      events: events.filter(
        ({ type, sendId }) => Object.values(eventTypes).includes(type) && namedIds.has(sendId),
      ),
      erased,
      isAtRest,
    }),
    ...(await checkStatistics(world, sends, { events, isAtRest })),
    ...world.service.lostAttempts,
    ...(isAtRest ? checkQueues(world) : []),
  ];
  for (const area of areasOf(areas)) violations.push(...(await area.check(scene, sends, isAtRest)));
  return violations;
}

/** All records of one kind, from all pages. */
async function listAll<T>(world: World, kind: "sends" | "events"): Promise<T[]> {
  const all: T[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Record<typeof kind, T[]> & { pagination: { nextCursor: string | null } } = (
      await world.call<never>("GET", `/${kind}?limit=100${cursor && `&cursor=${cursor}`}`)
    ).data;
    all.push(...page[kind]);
    cursor = page.pagination.nextCursor;
  }
  return all;
}

/** Compares what providers accepted with what the service shows. */
function checkShown(
  { world: { outside }, ledger }: Scene,
  sends: ListedSend[],
  { erased, isAtRest }: { erased: Set<string>; isAtRest: boolean },
): string[] {
  const closed = new Set(
    ledger.resolutions.filter(({ outcome }) => outcome === "failed").map(({ key }) => key),
  );
  const mails = Map.groupBy(outside.mails, ({ to, subject }) => keyOf(to, subject));
  const bounced = new Set(
    outside.events
      .filter(({ kind }) => kind === "bounced" || kind === "complained")
      .map(({ mail }) => keyOf(mail.to, mail.subject)),
  );
  const known = Map.groupBy(sends, ({ toEmail, subject }) => keyOf(toEmail, subject));
  const violations: string[] = [];
  for (const [key, copies] of mails) {
    const shown = known.get(key) ?? [];
    if (!shown.length && !erased.has(copies[0]!.to))
      violations.push(`The mail ${key} was handed over, but no send shows it`);
  }
  for (const [key, shown] of known) {
    if (shown.length > 1) violations.push(`The mail ${key} is shown as ${shown.length} sends`);
    const [{ status, error }] = shown as [ListedSend];
    const isMailed = mails.has(key);
    if (handedOver.has(status) && !isMailed)
      violations.push(`The mail ${key} is shown as ${status}, but no provider got it`);
    // A call whose process died stays open while its campaign is paused.
    const isOpen = !isAtRest && status === "queued";
    const isDoubtful = isOpen || status === "uncertain" || bounced.has(key) || closed.has(key);
    if (isMailed && !handedOver.has(status) && !isDoubtful)
      violations.push(`The mail ${key} was handed over, but is shown as ${status} (${error})`);
  }
  return violations;
}

const isUncertain = ({ status }: ListedSend) => status === "uncertain";

/** A mail that their search twice lacks was not accepted, and is handed over again. */
const fullySearched = new Set(["mailgun", "sparkpost"]);

/** Look-ups and events have settled every uncertain mail that the provider can tell of. */
function checkUncertain({ outside }: World, sends: ListedSend[], isAtRest: boolean): string[] {
  const mailed = new Set(outside.mails.map(({ to, subject }) => keyOf(to, subject)));
  const reported = new Set(
    outside.events
      .filter(({ isAccepted }) => isAccepted)
      .map(({ mail }) => keyOf(mail.to, mail.subject)),
  );
  return sends.filter(isUncertain).flatMap(({ toEmail, subject, provider }) => {
    const key = keyOf(toEmail, subject);
    if (reported.has(key)) return [`The mail ${key} is uncertain, but ${provider} told of it`];
    if (!isAtRest) return [];
    const isTold = mailed.has(key) ? searched.has(provider) : fullySearched.has(provider);
    return isTold ? [`The mail ${key} is uncertain, but ${provider} can be asked for it`] : [];
  });
}

const unfinished = new Set(["queued", "sending", "scheduled"]);

/** Every accepted mail is listed, and none waits when nothing is left to do. */
function checkAccepted(ledger: Ledger, sends: ListedSend[], isAtRest: boolean): string[] {
  const byId = new Map(sends.map((send) => [send.id, send]));
  return ledger.sends.flatMap(({ id, to, subject }) => {
    const send = byId.get(id);
    if (!send) return [`The mail ${keyOf(to, subject)} was accepted, but is not listed`];
    return isAtRest && unfinished.has(send.status)
      ? [`The mail ${keyOf(to, subject)} is still ${send.status}, but nothing is left to do`]
      : [];
  });
}

/** Every accepted mail is charged once, and is listed with one status. */
async function checkUsage({ world, ledger }: Scene, sends: ListedSend[]): Promise<string[]> {
  const free = ledger.sends.filter(({ isFree }) => isFree).length;
  const { data } = await world.call<{ mails: { accepted: number } }>("GET", "/plans/usage");
  const { accepted } = data.mails;
  return accepted === sends.length - free
    ? []
    : [`${accepted} mails were charged, and ${sends.length - free} are listed as accepted`];
}

const exclusions = [
  "suppressed",
  "unsubscribed",
  "notInTopic",
  "snoozed",
  "capped",
  "duplicate",
  "invalid",
  "heldOut",
];
const states = ["queued", "sending", "sent", "delivered", "failed", "uncertain", "cancelled"];
/** A call without an answer is counted as sending, and its mails are listed as queued. */
const comparedStates = [["queued", "sending"], ...states.slice(2).map((state) => [state])];
const total = (of: Record<string, number>, names: string[]): number =>
  names.reduce((sum, name) => sum + (of[name] ?? 0), 0);

/** The counters of each campaign add up, and agree with its sends. */
async function checkCampaigns(
  world: World,
  { campaigns, contacts, erasures, isAtRest }: Ledger & { contacts: number; isAtRest: boolean },
  sends: ListedSend[],
): Promise<string[]> {
  const violations: string[] = [];
  for (const { id, subject } of campaigns) {
    const { data, error } = await world.call<CampaignDetail>("GET", `/campaigns/${id}`);
    if (!data) {
      violations.push(`Campaign "${subject}" was accepted, but cannot be read: ${error}`);
      continue;
    }
    const { accounting, stats, status } = data;
    const say = (what: string) =>
      violations.push(`Campaign "${subject}" (${status}): ${what}, ${JSON.stringify(accounting)}`);
    for (const name of listNegatives({ accounting, stats })) say(`${name} is negative`);
    const accepted = accounting.accepted ?? 0;
    if (total(accounting, [...exclusions, "accepted"]) !== accounting.candidates)
      say("the candidates do not add up");
    const candidates = accounting.candidates ?? 0;
    const isWhole = candidates <= contacts && candidates >= contacts - erasures.length;
    if (status === "sent" && !isWhole) say(`the list has ${contacts} contacts`);
    if (total(accounting, states) !== accepted) say("the accepted mails do not add up");
    if (isAtRest && total(accounting, ["queued", "sending"]))
      say("mails wait, but nothing is left to do");
    if (isAtRest && status === "sent")
      for (const flaw of await checkAudit(world, id, candidates)) say(flaw);
    const own = Map.groupBy(
      // A mail that was excluded at the hand-over is not an accepted one.
      sends.filter(
        ({ campaignId, error }) => campaignId === id && !exclusions.includes(error ?? ""),
      ),
      (send) => send.status,
    );
    for (const names of comparedStates) {
      const listed = names.reduce((sum, state) => sum + (own.get(state)?.length ?? 0), 0);
      if (listed !== total(accounting, names))
        say(`${listed} mails are shown as ${names.join(" or ")}`);
    }
  }
  return violations;
}

interface Audit {
  status: string;
  candidates: number;
  outcomes: { count: number }[];
  problems: string[];
}

/** The audit has one outcome for each candidate. Its rows are read apart from the counters. */
async function checkAudit(world: World, id: number, candidates: number): Promise<string[]> {
  const { data } = await world.call<Audit>("GET", `/campaigns/${id}/audit`);
  const { status, problems, outcomes } = data;
  const sum = outcomes.reduce((all, { count }) => all + count, 0);
  const isAudited = status === "complete" || status === "outdated";
  return [
    ...(isAudited ? [] : [`its audit is ${status}`]),
    ...problems,
    ...(sum === candidates && data.candidates === candidates
      ? []
      : [`its audit has ${sum} outcomes of ${data.candidates} candidates`]),
  ];
}

const eventTypes: Record<string, string> = {
  delivered: "delivered",
  bounced: "bounce",
  complained: "spam_report",
  opened: "open",
  clicked: "click",
};

interface History {
  sends: ListedSend[];
  events: ListedEvent[];
  erased: Set<string>;
  isAtRest: boolean;
}

/** Every event of a provider is listed once, and reaches the customer's endpoint under one id. */
function checkEvents({ outside }: World, { sends, events, erased, isAtRest }: History): string[] {
  const ids = new Map(sends.map(({ id, toEmail, subject }) => [keyOf(toEmail, subject), id]));
  const counts = (names: string[]) =>
    new Map([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
  const nameOf = ({ type, sendId }: ListedEvent) => `${type} of send ${sendId}`;
  const posted = counts(
    outside.events
      .filter(({ mail }) => !erased.has(mail.to))
      .map(({ kind, mail }) =>
        nameOf({ type: eventTypes[kind]!, sendId: ids.get(keyOf(mail.to, mail.subject))! }),
      ),
  );
  const listed = counts(events.map(nameOf));
  const violations = [...new Set([...posted.keys(), ...listed.keys()])].flatMap((name) => {
    const [p = 0, l = 0] = [posted.get(name), listed.get(name)];
    return p === l ? [] : [`The event ${name} happened ${p} times and is listed ${l} times`];
  });
  // A failed webhook waits for its next attempt.
  if (!isAtRest) return violations;
  const webhookIds = Map.groupBy(
    outside.received.map(({ id, body }) => ({ id, ...parseWebhook(body) })),
    nameOf,
  );
  for (const [name, n] of listed) {
    const received = new Set((webhookIds.get(name) ?? []).map(({ id }) => id)).size;
    if (received !== n)
      violations.push(`The event ${name} reached the endpoint under ${received} ids`);
  }
  return violations;
}

function parseWebhook(body: string): ListedEvent {
  const { event, sendId } = JSON.parse(body) as { event: string; sendId: number };
  return { type: event, sendId };
}

function checkQueues({ service }: World): string[] {
  const waiting = [...service.messages, ...service.deadLetters].flatMap(([name, all]) =>
    all.map(() => name),
  );
  return waiting.length ? [`Messages wait in the queues ${[...new Set(waiting)].join(", ")}`] : [];
}
