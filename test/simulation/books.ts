// Checks the books of a simulated world that has come to rest. Each violation is one sentence.
import type { Ledger } from "./actions.ts";
import type { World } from "./world.ts";

interface ListedSend {
  id: number;
  toEmail: string;
  subject: string;
  status: string;
  error: string | null;
  campaignId: number | null;
}

interface CampaignDetail {
  status: string;
  accounting: Record<string, number>;
}

/** States in which a provider has accepted the mail. */
const handedOver = new Set(["sent", "delivered"]);

export async function checkBooks(world: World, ledger: Ledger): Promise<string[]> {
  const sends = await listSends(world);
  return [
    ...checkMailedOnce(world, sends),
    ...checkAccepted(ledger, sends),
    ...(await checkCampaigns(world, ledger, sends)),
    ...checkQueues(world),
  ];
}

async function listSends(world: World): Promise<ListedSend[]> {
  const all: ListedSend[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: { sends: ListedSend[]; pagination: { nextCursor: string | null } } = (
      await world.call<never>("GET", `/sends?limit=100${cursor && `&cursor=${cursor}`}`)
    ).data;
    all.push(...page.sends);
    cursor = page.pagination.nextCursor;
  }
  return all;
}

const keyOf = (to: string, subject: string) => `${to.toLowerCase()} "${subject}"`;

/** Compares what providers accepted with what the service shows. */
function checkMailedOnce({ outside }: World, sends: ListedSend[]): string[] {
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
    if (copies.length > Math.max(1, shown.length) && !shown.some(isUncertain))
      violations.push(`The mail ${key} was handed over ${copies.length} times`);
    if (!shown.length) violations.push(`The mail ${key} was handed over, but no send shows it`);
  }
  for (const [key, shown] of known) {
    if (shown.length > 1) violations.push(`The mail ${key} is shown as ${shown.length} sends`);
    const [{ status, error }] = shown as [ListedSend];
    const isMailed = mails.has(key);
    if (handedOver.has(status) && !isMailed)
      violations.push(`The mail ${key} is shown as ${status}, but no provider got it`);
    if (isMailed && !handedOver.has(status) && status !== "uncertain" && !bounced.has(key))
      violations.push(`The mail ${key} was handed over, but is shown as ${status} (${error})`);
  }
  return violations;
}

const isUncertain = ({ status }: ListedSend) => status === "uncertain";

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
const total = (of: Record<string, number>, names: string[]): number =>
  names.reduce((sum, name) => sum + (of[name] ?? 0), 0);

/** The counters of each campaign add up, and agree with its sends. */
async function checkCampaigns(
  world: World,
  { campaigns }: Ledger,
  sends: ListedSend[],
): Promise<string[]> {
  const violations: string[] = [];
  for (const { id, subject } of campaigns) {
    const { data } = await world.call<CampaignDetail>("GET", `/campaigns/${id}`);
    const { accounting, status } = data;
    const say = (what: string) =>
      violations.push(`Campaign "${subject}" (${status}): ${what}, ${JSON.stringify(accounting)}`);
    const accepted = accounting.accepted ?? 0;
    if (total(accounting, [...exclusions, "accepted"]) !== accounting.candidates)
      say("the candidates do not add up");
    if (total(accounting, states) !== accepted) say("the accepted mails do not add up");
    if (status !== "paused" && total(accounting, ["queued", "sending"]))
      say("mails wait, but nothing is left to do");
    const own = Map.groupBy(
      // A mail that was excluded at the hand-over is not an accepted one.
      sends.filter(
        ({ campaignId, error }) => campaignId === id && !exclusions.includes(error ?? ""),
      ),
      (send) => send.status,
    );
    // A call without an answer is counted as sending, and its mails are listed as queued.
    for (const state of states)
      if ((own.get(state)?.length ?? 0) !== (accounting[state] ?? 0))
        say(`${own.get(state)?.length ?? 0} mails are shown as ${state}`);
  }
  return violations;
}

function checkQueues({ service }: World): string[] {
  const waiting = [...service.messages].flatMap(([name, all]) => all.map(() => name));
  return waiting.length ? [`Messages wait in the queues ${[...new Set(waiting)].join(", ")}`] : [];
}
