// A chunk on its way to the provider, call by call. A call is claimed before it is made; the first write after the answer is one
// RESULT item; only then are the sends inserted. Whatever dies in between is taken up from what was written.
import { type Packed, packed, unpacked } from "../../bodies.ts";
import { epochSeconds, now } from "../../clock.ts";
import { absent, equals } from "../../conditions.ts";
import { getMany, insertMany, put, queryAll, remove, update, write } from "../../doors/table.ts";
import { canonical } from "../../email.ts";
import { type Address, keys, ranges } from "../../keys.ts";
import { chunked, inParallel } from "../../parallel.ts";
import { provider as providerOf } from "../../providers/index.ts";
import type { Mailing, Outcome, Provider } from "../../providers/provider.ts";
import * as engagement from "../contacts/engagement.ts";
import * as sendingConfigs from "../sending-configs.ts";
import type { SendItem } from "../sends.ts";
import * as suppressions from "../suppressions.ts";
import * as attachments from "./attachments.ts";
import * as chunks from "./chunks.ts";
import { compose } from "./compose.ts";
import { type Content, wording } from "./content.ts";
import type * as lanes from "./lanes.ts";
import { bounded, handOver, lost, marks, singlesInFlight } from "./provider-call.ts";

type Line = chunks.Line;

/** All that the calls of one chunk share. */
interface Load {
  orgId: number;
  config: sendingConfigs.SendingConfig;
  provider: Provider;
  credentials: Record<string, unknown>;
  waiting: lanes.Waiting;
  head: chunks.ChunkHead;
  mailingOf(lines: Line[]): Mailing;
  calls: Line[][];
}

// Mails to a call where a lost answer cannot be asked for again.
const unkeyedCall = 100;
const callsInFlight = 4;
const keepSeconds = 60 * 24 * 3600;

/** Hands over what is left of a chunk; takes it out of the lane when nothing is. */
export async function chunk(orgId: number, configId: number, waiting: lanes.Waiting, mayGoOn: () => boolean): Promise<lanes.Verdict> {
  const load = await prepare(orgId, configId, waiting);
  const open = load.calls.flatMap((lines, n) => (waiting[`d${n}`] ? [] : [{ lines, n }]));
  let wait: lanes.Verdict["wait"];
  const width = load.config.ratePerSecond ? 1 : callsInFlight;
  const finished = await inParallel(width, open, async ({ lines, n }) => {
    if (wait || !mayGoOn()) return false;
    const held = await callOnce(load, lines, n);
    wait ??= held;
    return !held;
  });
  const done = finished.every(Boolean);
  if (done) await write(remove(placeOf(waiting)));
  return { done, ...(wait && { wait }) };
}

const placeOf = ({ pk, sk }: lanes.Waiting): Address => ({ pk, sk });

async function prepare(orgId: number, configId: number, waiting: lanes.Waiting): Promise<Load> {
  const [{ head, lines }, contentItem, config] = await Promise.all([
    chunks.read(orgId, waiting.block, waiting.chunk),
    getMany<Packed>([keys.content(orgId, waiting.block)], { consistent: true }),
    sendingConfigs.find({ orgId }, configId),
  ]);
  const content = await unpacked<Content>(contentItem[0]!);
  const provider = providerOf(config.provider)!;
  const [words, files, credentials] = await Promise.all([
    wording(orgId, content),
    attachments.loaded(content.attachments),
    sendingConfigs.credentials(orgId, config),
  ]);
  const mailingOf = (some: Line[]) => {
    const addressees = some.map((line) => ({ sendId: chunks.idOf(waiting.block, line), ...line }));
    const [first] = some;
    return compose(content, words, addressees, files, {
      trackOpens: first?.opens ?? content.trackOpens,
      trackClicks: first?.clicks ?? content.trackClicks,
    });
  };
  const sendable = lines.filter(({ error }) => !error);
  if (waiting.callSize === undefined) await insertRefused(orgId, waiting.block, head, lines);
  waiting.callSize ??= callSizeOf(provider, mailingOf(sendable), config.ratePerSecond);
  return { orgId, config, provider, credentials, waiting, head, mailingOf, calls: cut(sendable, waiting.callSize) };
}

/** Those who will never be sent to are recorded at once. */
const insertRefused = (orgId: number, block: number, head: chunks.ChunkHead, lines: Line[]) =>
  insertMany(lines.filter(({ error }) => error).map((line) => insertion(orgId, chunks.sendOf(head, block, line))));

const insertion = (orgId: number, send: SendItem) => ({ address: keys.send(orgId, send.id), item: send });

function callSizeOf({ batch, idempotencySeconds }: Provider, mailing: Mailing, ratePerSecond: number | null | undefined): number {
  const together = batch ? Math.min(batch.max, idempotencySeconds ? batch.max : unkeyedCall) : 1;
  const slices = chunked(mailing.recipients, together);
  const size = slices.every((recipients) => batch?.takes({ ...mailing, recipients })) ? together : singlesInFlight;
  return Math.max(1, Math.min(size, Math.ceil(ratePerSecond ?? size)));
}

/** Lines in calls of at most `size`, each with one setting of tracking. */
function cut(lines: Line[], size: number): Line[][] {
  const calls: Line[][] = [];
  for (const line of lines) {
    const last = calls.at(-1);
    if (last && last.length < size && last[0]!.opens === line.opens && last[0]!.clicks === line.clicks) last.push(line);
    else calls.push([line]);
  }
  return calls;
}

interface Result {
  attempt: number;
  outcomes: [i: number, outcome: Outcome][];
}

/** One call, from wherever an earlier attempt left it. Answers with why to wait when not all of it is settled. */
async function callOnce(load: Load, lines: Line[], n: number): Promise<lanes.Verdict["wait"]> {
  const earlier = load.waiting[`c${n}`];
  const results = earlier ? await resultsOf(load, n) : [];
  const unanswered = earlier && !results.some(({ attempt }) => attempt === earlier.attempt) ? earlier : undefined;
  const left = openLines(lines, results);
  const call = unanswered ?? (left.length ? await claimed(load, left, n, earlier, results) : undefined);
  const result = call && (await answered(load, left, n, call, Boolean(unanswered)));
  if (call && !result) return { why: "fault", seconds: 1 };
  if (result) results.push(result);
  // What an earlier attempt was told may not all have been written: it is written again, and found there.
  await record(load, lines, call?.skip ?? earlier?.skip ?? {}, earlier ? results : results.slice(-1));
  const held = result?.outcomes.map(([, outcome]) => outcome).find((outcome) => outcome.status === "held");
  if (held) return { why: held.why === "pace" ? "pace" : "fault", seconds: held.retryAfterSeconds ?? 1 };
  if (load.calls.length > 1) await write(update(placeOf(load.waiting), { set: { [`d${n}`]: true } }));
  return undefined;
}

async function resultsOf({ orgId, waiting }: Load, n: number): Promise<Result[]> {
  const items = await queryAll<Packed>(ranges.results(orgId, waiting.block, waiting.chunk, n), { consistent: true });
  return Promise.all(items.map((item) => unpacked<Result>(item)));
}

/** Lines that no attempt has settled. */
function openLines(lines: Line[], results: Result[]): Line[] {
  const settled = new Set(results.flatMap(({ outcomes }) => outcomes.filter(([, { status }]) => status !== "held").map(([i]) => i)));
  return lines.filter(({ i }) => !settled.has(i));
}

/** Says, before the provider is called, that it is being called, and for whom not. */
async function claimed(load: Load, left: Line[], n: number, earlier: lanes.Claim | undefined, results: Result[]): Promise<lanes.Claim> {
  const at = now().toISOString();
  const attempt = 1 + (results.at(-1)?.attempt ?? 0);
  const claim = { at, first: earlier?.first ?? at, attempt, skip: await leftOut(load, left) };
  const unclaimed = earlier ? equals(`c${n}.attempt`, earlier.attempt) : absent(`c${n}`);
  await write(update(placeOf(load.waiting), { set: { [`c${n}`]: claim, callSize: load.waiting.callSize } }, { if: unclaimed }));
  load.waiting[`c${n}`] = claim;
  return claim;
}

/** Who has been suppressed, or cancelled, since the mail was accepted. */
async function leftOut({ orgId, waiting, head }: Load, left: Line[]): Promise<lanes.Claim["skip"]> {
  const [suppressed, made] = await Promise.all([
    suppressions.among(
      orgId,
      left.map(({ to }) => to),
      "transactional",
    ),
    head.scheduledAt ? getMany(left.map((line) => keys.send(orgId, chunks.idOf(waiting.block, line)))) : [],
  ]);
  const why = (line: Line, n: number) => (made[n] ? "cancelled" : suppressed.has(canonical(line.to)) ? "suppressed" : undefined);
  return Object.fromEntries(left.flatMap((line, n) => (why(line, n) ? [[String(line.i), why(line, n)!]] : [])));
}

/** Makes the call, or decides on one that died, and writes its RESULT. Undefined: not known yet, to be asked again under the same key. */
async function answered(
  load: Load,
  left: Line[],
  n: number,
  { at, first, attempt, skip }: lanes.Claim,
  died: boolean,
): Promise<Result | undefined> {
  const { orgId, waiting, provider } = load;
  const lines = left.filter(({ i }) => !(i in skip));
  const keyLives = epochSeconds() - Date.parse(at) / 1000 < provider.idempotencySeconds;
  const key = `pm-${waiting.block}-${waiting.chunk}-${n}-${attempt}`;
  const outcomes = died && !keyLives ? lines.map(() => lost) : await handOver(provider, load.credentials, load.mailingOf(lines), key);
  const late = epochSeconds() - Date.parse(first) / 1000 >= provider.idempotencySeconds;
  const final = outcomes.map((outcome) => bounded(outcome, Boolean(provider.idempotencySeconds) && late, waiting.at));
  if (keyLives && final.length && final.every((outcome) => outcome.status === "held" && outcome.why === "fault")) return undefined;
  const result: Result = { attempt, outcomes: lines.map(({ i }, k) => [i, final[k]!]) };
  const address = keys.result(orgId, waiting.block, waiting.chunk, n, attempt);
  await write(put(address, { ...(await packed(address, result)), expires: epochSeconds() + keepSeconds }));
  return result;
}

/** Inserts the sends that are settled. An event that came first has inserted its send already, and is left alone. */
async function record(load: Load, lines: Line[], skip: lanes.Claim["skip"], results: Result[]): Promise<void> {
  const { orgId, waiting, head } = load;
  const byIndex = new Map(lines.map((line) => [line.i, line]));
  const sentAt = now().toISOString();
  const settled = results.flatMap(({ outcomes }) => outcomes).filter(([, { status }]) => status !== "held");
  const sends = settled.map(([i, outcome]) => ({ ...chunks.sendOf(head, waiting.block, byIndex.get(i)!), ...marks(outcome, sentAt) }));
  const left = Object.entries(skip).filter(([, why]) => why !== "cancelled");
  const skipped = left.map(([i, error]) => chunks.sendOf(head, waiting.block, { ...byIndex.get(Number(i))!, error }));
  await insertMany([...sends, ...skipped].map((send) => insertion(orgId, send)));
  await engagement.sent(
    orgId,
    sends.filter(({ status }) => status === "sent"),
  );
}
