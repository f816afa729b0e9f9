// Checks the books of a simulated world that has come to rest. Each violation is one sentence.
import { areasOf } from "./actions.ts";
import { erasedEmail, keyOf, type Ledger, type ListedSend, type Scene } from "./scene.ts";
import { checkStatistics, type ListedEvent } from "./statistics.ts";
import type { World } from "./world.ts";

interface CampaignDetail {
  status: string;
  accounting: Record<string, number>;
}

/** States in which a provider has accepted the mail. */
const handedOver = new Set(["sent", "delivered"]);

export async function checkBooks(scene: Scene, areas: string[]): Promise<string[]> {
  const { world, ledger, prepared } = scene;
  const contacts = prepared.contacts.length;
  const sends = await listAll<ListedSend>(world, "sends");
  // The sends of an erased contact no longer tell whose mail they are.
  const erased = new Set(ledger.erasures.map(({ email }) => email).concat(erasedEmail));
  const named = sends.filter(({ toEmail }) => !erased.has(toEmail));
  const namedIds = new Set(named.map(({ id }) => id));
  const events = await listAll<ListedEvent>(world, "events");
  const violations = [
    ...checkMailedOnce(world, named, erased),
    ...checkUncertain(world, named),
    ...checkAccepted(ledger, sends),
    ...(await checkCampaigns(world, { ...ledger, contacts }, sends)),
    ...checkDepartures(world, ledger),
    ...checkEvents(world, {
      sends: named,
      events: events.filter(
        ({ type, sendId }) => Object.values(eventTypes).includes(type) && namedIds.has(sendId),
      ),
      erased,
    }),
    ...(await checkStatistics(world, sends, events)),
    ...checkQueues(world),
  ];
  for (const area of areasOf(areas)) violations.push(...(await area.check(scene, sends)));
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
function checkMailedOnce({ outside }: World, sends: ListedSend[], erased: Set<string>): string[] {
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
    if (copies.length > 1)
      violations.push(`The mail ${key} was handed over ${copies.length} times`);
    if (!shown.length && !erased.has(copies[0]!.to))
      violations.push(`The mail ${key} was handed over, but no send shows it`);
  }
  for (const [key, shown] of known) {
    if (shown.length > 1) violations.push(`The mail ${key} is shown as ${shown.length} sends`);
    const [{ status, error }] = shown as [ListedSend];
    const isMailed = mails.has(key);
    if (handedOver.has(status) && !isMailed)
      violations.push(`The mail ${key} is shown as ${status}, but no provider got it`);
    const isDoubtful = status === "uncertain" || bounced.has(key);
    if (isMailed && !handedOver.has(status) && !isDoubtful)
      violations.push(`The mail ${key} was handed over, but is shown as ${status} (${error})`);
  }
  return violations;
}

const isUncertain = ({ status }: ListedSend) => status === "uncertain";

/** These providers can be asked for mails. */
const searched = new Set(
  "sendgrid postmark mailgun sparkpost brevo mandrill mailjet resend smtp2go".split(" "),
);
/** A mail that their search twice lacks was not accepted, and is handed over again. */
const fullySearched = new Set(["mailgun", "sparkpost"]);

/** Look-ups have settled every uncertain mail that the provider can tell of. */
function checkUncertain({ outside }: World, sends: ListedSend[]): string[] {
  const mailed = new Set(outside.mails.map(({ to, subject }) => keyOf(to, subject)));
  return sends.filter(isUncertain).flatMap(({ toEmail, subject, provider }) => {
    const key = keyOf(toEmail, subject);
    const isTold = mailed.has(key) ? searched.has(provider) : fullySearched.has(provider);
    return isTold ? [`The mail ${key} is uncertain, but ${provider} can be asked for it`] : [];
  });
}

const unfinished = new Set(["queued", "sending", "scheduled"]);

/** Every accepted mail is listed, and none waits when nothing is left to do. */
function checkAccepted(ledger: Ledger, sends: ListedSend[]): string[] {
  const byId = new Map(sends.map((send) => [send.id, send]));
  return ledger.sends.flatMap(({ id, to, subject }) => {
    const send = byId.get(id);
    if (!send) return [`The mail ${keyOf(to, subject)} was accepted, but is not listed`];
    return unfinished.has(send.status)
      ? [`The mail ${keyOf(to, subject)} is still ${send.status}, but nothing is left to do`]
      : [];
  });
}

const exclusions = ["suppressed", "unsubscribed", "notInTopic", "capped", "duplicate", "invalid"];
const states = ["queued", "sending", "sent", "delivered", "failed", "uncertain", "cancelled"];
/** A call without an answer is counted as sending, and its mails are listed as queued. */
const comparedStates = [["queued", "sending"], ...states.slice(2).map((state) => [state])];
const total = (of: Record<string, number>, names: string[]): number =>
  names.reduce((sum, name) => sum + (of[name] ?? 0), 0);

/** The counters of each campaign add up, and agree with its sends. */
async function checkCampaigns(
  world: World,
  { campaigns, contacts, erasures }: Ledger & { contacts: number },
  sends: ListedSend[],
): Promise<string[]> {
  const violations: string[] = [];
  for (const { id, subject } of campaigns) {
    const { data, error } = await world.call<CampaignDetail>("GET", `/campaigns/${id}`);
    if (!data) {
      violations.push(`Campaign "${subject}" was accepted, but cannot be read: ${error}`);
      continue;
    }
    const { accounting, status } = data;
    const say = (what: string) =>
      violations.push(`Campaign "${subject}" (${status}): ${what}, ${JSON.stringify(accounting)}`);
    const accepted = accounting.accepted ?? 0;
    if (total(accounting, [...exclusions, "accepted"]) !== accounting.candidates)
      say("the candidates do not add up");
    const candidates = accounting.candidates ?? 0;
    const isWhole = candidates <= contacts && candidates >= contacts - erasures.length;
    if (status === "sent" && !isWhole) say(`the list has ${contacts} contacts`);
    if (total(accounting, states) !== accepted) say("the accepted mails do not add up");
    if (total(accounting, ["queued", "sending"])) say("mails wait, but nothing is left to do");
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

/** No campaign that started after somebody left reaches that address. */
function checkDepartures({ outside }: World, { campaigns, departures }: Ledger): string[] {
  return departures.flatMap(({ email, at }) =>
    campaigns
      .filter(({ startedAt }) => startedAt > at)
      .flatMap(({ subject }) =>
        outside.mails.some((mail) => mail.subject === subject && mail.to === email)
          ? [`The mail ${keyOf(email, subject)} was handed over after the recipient had left`]
          : [],
      ),
  );
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
}

/** Every event of a provider is listed once, and reaches the customer's endpoint under one id. */
function checkEvents({ outside }: World, { sends, events, erased }: History): string[] {
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
  const waiting = [...service.messages].flatMap(([name, all]) => all.map(() => name));
  return waiting.length ? [`Messages wait in the queues ${[...new Set(waiting)].join(", ")}`] : [];
}
