// Idempotency-Key: the same key and request get the first answer again, for 24 hours (interface-decisions, section 1).
import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { epochSeconds } from "../clock.ts";
import { any, atMost, equals, isNew } from "../conditions.ts";
import { claim, get, getMany, put, update, write, writeMany } from "../doors/table.ts";
import { conflict, invalid } from "../errors.ts";
import { type Memory, remembering } from "../ids.ts";
import { type Address, keys } from "../keys.ts";
import type { Identity, Request, Route } from "./route.ts";

type Answer = APIGatewayProxyStructuredResultV2;

interface Attempt {
  fingerprint: string;
  /** Until when the request at work may be believed to live (Unix seconds). */
  lease: number;
  expires: number;
  taken?: Memory["taken"];
  /** What an item does not hold of the body lies in as many items beside it. */
  answer?: { statusCode: number; body: Uint8Array; further: number };
}

const keepSeconds = 24 * 3600;
// A little over the longest time a request can take.
const leaseSeconds = 35;

/** Runs `work` once for this key, or answers as the first time. A request without the header just runs. */
export async function once(route: Route, identity: Identity, request: Request, work: () => Promise<Answer>): Promise<Answer> {
  const key = request.headers["idempotency-key"];
  if (key === undefined || route.method !== "POST") return work();
  if (key.length < 1 || key.length > 255) throw invalid("Idempotency-Key must have 1 to 255 characters");
  const place = { orgId: identity.orgId, key };
  const { replay, memory } = await begin(place, fingerprint(route, identity, request));
  if (replay) return replay;
  const answer = await remembering(memory!, work);
  await finish(place, answer, route.once);
  return answer;
}

/** The first answer, where this request was answered before: what it asked for may have changed since, and must not matter. */
export async function answered(route: Route, identity: Identity, request: Request): Promise<Answer | undefined> {
  const key = request.headers["idempotency-key"];
  if (!key || key.length > 255 || route.method !== "POST") return undefined;
  const place = { orgId: identity.orgId, key };
  const earlier = await get<Attempt>(addressOf(place));
  const same = earlier && earlier.expires > epochSeconds() && earlier.fingerprint === fingerprint(route, identity, request);
  return same && earlier.answer ? replayed(place, earlier.answer) : undefined;
}

interface Place {
  orgId: number;
  key: string;
}
const addressOf = ({ orgId, key }: Place): Address => keys.idempotency(orgId, key);
const partsOf = ({ orgId, key }: Place, parts: number): Address[] =>
  Array.from({ length: parts }, (_, part) => keys.idempotencyPart(orgId, key, part));

async function begin(place: Place, print: string): Promise<{ replay?: Answer; memory?: Memory }> {
  const address = addressOf(place);
  const time = epochSeconds();
  const attempt: Attempt = { fingerprint: print, lease: time + leaseSeconds, expires: time + keepSeconds };
  // TTL deletes days late, so an expired item counts as none.
  if (await claim(put(address, attempt, { if: any(isNew, atMost("expires", time)) }))) return { memory: { address, taken: {} } };
  const earlier = await get<Attempt>(address);
  if (!earlier) throw conflict("The first request with this Idempotency-Key is still running", { code: "idempotency_in_progress" });
  if (earlier.fingerprint !== print) throw conflict("This Idempotency-Key was used for another request", { code: "idempotency_mismatch" });
  if (earlier.answer) return { replay: await replayed(place, earlier.answer) };
  const takenOver =
    earlier.lease <= time && (await claim(update(address, { set: { lease: attempt.lease } }, { if: equals("lease", earlier.lease) })));
  if (!takenOver) throw conflict("The first request with this Idempotency-Key is still running", { code: "idempotency_in_progress" });
  return { memory: { address, taken: earlier.taken ?? {} } };
}

// What ended in 5xx or 429 may be tried again at once, under the ids it had taken.
async function finish(place: Place, { statusCode = 200, body = "" }: Answer, secrets: string[]) {
  const passing = statusCode >= 500 || statusCode === 429;
  const set = passing ? { lease: 0 } : { answer: { statusCode, ...(await kept(place, gzipSync(without(secrets, body)))) } };
  await write(update(addressOf(place), { set }));
}

// An item has 400 KB at the most, and an answer may well be longer.
const partBytes = 300_000;

async function kept(place: Place, bytes: Buffer): Promise<{ body: Buffer; further: number }> {
  const [body = bytes, ...further] = Array.from({ length: Math.ceil(bytes.length / partBytes) }, (_, part) =>
    bytes.subarray(part * partBytes, (part + 1) * partBytes),
  );
  const expires = epochSeconds() + keepSeconds;
  const addresses = partsOf(place, further.length);
  await writeMany(further.map((part, i) => put(addresses[i]!, { bytes: part, expires })));
  return { body, further: further.length };
}

function without(secrets: string[], body: string): string {
  if (!secrets.length) return body;
  return JSON.stringify(JSON.parse(body), (name, value: unknown) => (secrets.includes(name) ? undefined : value));
}

async function replayed(place: Place, { statusCode, body, further }: NonNullable<Attempt["answer"]>): Promise<Answer> {
  const parts = await getMany<{ bytes: Uint8Array }>(partsOf(place, further), { consistent: true });
  return {
    statusCode,
    headers: { "content-type": "application/json; charset=utf-8", "idempotent-replayed": "true" },
    body: gunzipSync(Buffer.concat([body, ...parts.map((part) => part!.bytes)])).toString("utf8"),
  };
}

// A bound key's site is a part of what it asks: two of them may well send the same words.
const fingerprint = (route: Route, { siteId }: Identity, { rawBody, path, queryString }: Request): string =>
  createHash("sha256")
    .update(`${route.method} ${path}?${queryString} ${siteId ?? ""}\n`)
    .update(rawBody)
    .digest("hex");
