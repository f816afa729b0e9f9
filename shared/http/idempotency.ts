// Idempotency-Key: the same key and request get the first answer again, for 24 hours (interface-decisions, section 1).
import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { epochSeconds } from "../clock.ts";
import { any, atMost, equals, isNew } from "../conditions.ts";
import { claim, get, put, update, write } from "../doors/table.ts";
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
  answer?: { statusCode: number; body: Uint8Array };
}

const keepSeconds = 24 * 3600;
// A little over the longest time a request can take.
const leaseSeconds = 35;

/** Runs `work` once for this key, or answers as the first time. A request without the header just runs. */
export async function once(route: Route, identity: Identity, request: Request, work: () => Promise<Answer>): Promise<Answer> {
  const key = request.headers["idempotency-key"];
  if (key === undefined || route.method !== "POST") return work();
  if (key.length < 1 || key.length > 255) throw invalid("Idempotency-Key must have 1 to 255 characters");
  const address = keys.idempotency(identity.orgId, key);
  const { replay, memory } = await begin(address, fingerprint(route, identity, request));
  if (replay) return replay;
  const answer = await remembering(memory!, work);
  await finish(address, answer, route.once);
  return answer;
}

async function begin(address: Address, print: string): Promise<{ replay?: Answer; memory?: Memory }> {
  const time = epochSeconds();
  const attempt: Attempt = { fingerprint: print, lease: time + leaseSeconds, expires: time + keepSeconds };
  // TTL deletes days late, so an expired item counts as none.
  if (await claim(put(address, attempt, { if: any(isNew, atMost("expires", time)) }))) return { memory: { address, taken: {} } };
  const earlier = await get<Attempt>(address);
  if (!earlier) throw conflict("The first request with this Idempotency-Key is still running", { code: "idempotency_in_progress" });
  if (earlier.fingerprint !== print) throw conflict("This Idempotency-Key was used for another request", { code: "idempotency_mismatch" });
  if (earlier.answer) return { replay: replayed(earlier.answer) };
  const takenOver =
    earlier.lease <= time && (await claim(update(address, { set: { lease: attempt.lease } }, { if: equals("lease", earlier.lease) })));
  if (!takenOver) throw conflict("The first request with this Idempotency-Key is still running", { code: "idempotency_in_progress" });
  return { memory: { address, taken: earlier.taken ?? {} } };
}

// What ended in 5xx or 429 may be tried again at once, under the ids it had taken.
async function finish(address: Address, { statusCode = 200, body = "" }: Answer, secrets: string[]) {
  const passing = statusCode >= 500 || statusCode === 429;
  const set = passing ? { lease: 0 } : { answer: { statusCode, body: gzipSync(without(secrets, body)) } };
  await write(update(address, { set }));
}

function without(secrets: string[], body: string): string {
  if (!secrets.length) return body;
  return JSON.stringify(JSON.parse(body), (name, value: unknown) => (secrets.includes(name) ? undefined : value));
}

const replayed = ({ statusCode, body }: NonNullable<Attempt["answer"]>): Answer => ({
  statusCode,
  headers: { "content-type": "application/json; charset=utf-8", "idempotent-replayed": "true" },
  body: gunzipSync(body).toString("utf8"),
});

// A bound key's site is a part of what it asks: two of them may well send the same words.
const fingerprint = (route: Route, { siteId }: Identity, { rawBody, path, queryString }: Request): string =>
  createHash("sha256")
    .update(`${route.method} ${path}?${queryString} ${siteId ?? ""}\n`)
    .update(rawBody)
    .digest("hex");
