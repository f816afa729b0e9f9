// Idempotency-Key: for 24 hours, a repeated request with the same key gets the stored response.
import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { absent, all, any, atMost, equals, isNew } from "../adapters/dynamodb/conditions.ts";
import {
  get,
  getMany,
  put,
  remove,
  transact,
  update,
  updateReturning,
  writeMany,
} from "../adapters/dynamodb/table.ts";
import { epochSeconds } from "../clock.ts";
import { conflict, invalid } from "../errors.ts";
import { type ReservedIds, withReservedIds } from "../ids.ts";
import { endedBy } from "../kernel/leases.ts";
import { type Key, keys } from "../keys.ts";
import { formDataOf } from "./form-body.ts";
import type { ApiRequest, Identity, Route } from "./route.ts";

type LambdaResponse = APIGatewayProxyStructuredResultV2;

interface IdempotencyRecord {
  fingerprint: string;
  /** When another request may take over (Unix seconds). */
  lease: number;
  expires: number;
  taken?: ReservedIds["taken"];
  /**
   * The response. The rest of a large body is in `further` more items. Their keys contain the
   * lease, so a request that was taken over cannot replace them.
   */
  answer?: { statusCode: number; body: Uint8Array; further: number; lease: number };
}

const retentionSeconds = 24 * 3600;
// A little more than the longest duration of a request.
const leaseSeconds = 35;

interface IncomingRequest {
  identity: Identity;
  request: ApiRequest;
  body: unknown;
}

/**
 * Runs `work` once per key. Returns the stored response of this key if there is one: a replay must
 * succeed even if the request would fail today. Requests without the header and previews always
 * run.
 */
export async function runOnce(
  route: Route,
  { identity, request, body }: IncomingRequest,
  work: () => Promise<LambdaResponse>,
): Promise<LambdaResponse> {
  const key = request.headers["idempotency-key"];
  if (key === undefined || route.method !== "POST" || isPreview(route, body)) return work();
  if (key.length < 1 || key.length > 255)
    throw invalid("Idempotency-Key must have 1 to 255 characters");
  const requestKey = { orgId: identity.orgId, key };
  const { replay, reserved } = await claimKey(
    requestKey,
    await fingerprint(route, identity, request),
  );
  if (replay) return replay;
  const response = await withReservedIds(reserved!, work);
  const { lease } = reserved!;
  if (await storeResponse({ ...requestKey, lease }, response, route.fieldsShownOnce))
    return response;
  // The process stood still for so long that a repeated request has taken over.
  throw stillRunning();
}

/** Whether the request changes nothing. */
export const isPreview = ({ preview }: Route, body: unknown): boolean =>
  typeof preview === "function" ? preview(body) : preview;

interface RequestKey {
  orgId: number;
  key: string;
}
const keyOf = ({ orgId, key }: RequestKey): Key => keys.idempotency(orgId, key);
const partKeys = (
  { orgId, key }: RequestKey,
  { further, lease }: { further: number; lease: number },
): Key[] =>
  Array.from({ length: further }, (_, part) =>
    keys.idempotencyPart(orgId, `${key} ${lease}`, part),
  );

type LeasedIds = ReservedIds & { lease: number };

async function claimKey(
  requestKey: RequestKey,
  fingerprint: string,
): Promise<{ replay?: LambdaResponse; reserved?: LeasedIds }> {
  const key = keyOf(requestKey);
  const time = epochSeconds();
  const attempt: IdempotencyRecord = {
    fingerprint,
    lease: time + leaseSeconds,
    expires: time + retentionSeconds,
  };
  // TTL deletes items days late, so an expired item counts as absent.
  if (await transact(put(key, attempt, { if: any(isNew, atMost("expires", time)) })))
    return { reserved: { key, taken: {}, lease: attempt.lease } };
  const earlier = await get<IdempotencyRecord>(key);
  if (!earlier) throw stillRunning();
  if (earlier.fingerprint !== fingerprint)
    throw conflict("This Idempotency-Key was used for a different request: use a new key", {
      code: "idempotency_mismatch",
    });
  if (earlier.answer) return { replay: await replayResponse(requestKey, earlier.answer) };
  if (earlier.lease > epochSeconds(endedBy(leaseSeconds))) throw stillRunning();
  // The earlier request may record ids or store its response until its lease is taken over.
  const takenOver = await updateReturning<IdempotencyRecord>(
    update(
      key,
      { set: { lease: attempt.lease } },
      { if: all(equals("lease", earlier.lease), absent("answer")) },
    ),
  );
  if (!takenOver) throw stillRunning();
  return { reserved: { key, taken: takenOver.taken ?? {}, lease: attempt.lease } };
}

const stillRunning = () =>
  conflict(
    "The first request with this Idempotency-Key is still running: repeat this request later",
    { code: "idempotency_in_progress" },
  );

// Only final outcomes are stored: success, payment required, not found, conflict.
const isStored = (status: number): boolean =>
  status < 300 || status === 402 || status === 404 || status === 409;

/** False if another request has taken the lease over. Its response counts. */
async function storeResponse(
  { lease, ...requestKey }: RequestKey & { lease: number },
  { statusCode = 200, body = "" }: LambdaResponse,
  secrets: string[],
): Promise<boolean> {
  const key = keyOf(requestKey);
  const isOwned = { if: equals("lease", lease) };
  if (isStored(statusCode)) {
    const answer = {
      statusCode,
      ...(await storeBody({ ...requestKey, lease }, gzipSync(removeFields(secrets, body)))),
    };
    return transact(update(key, { set: { answer } }, isOwned));
  } else if (statusCode >= 500 || statusCode === 429) {
    // The same request can run again immediately, with the ids that it has reserved.
    return transact(update(key, { set: { lease: 0 } }, isOwned));
  } else {
    // A 4xx response changes nothing. The caller can correct the request and keep the key.
    return transact(remove(key, isOwned));
  }
}

// An item can have 400 KB, and a response may be larger.
const partBytes = 300_000;

async function storeBody(
  { lease, ...requestKey }: RequestKey & { lease: number },
  bytes: Buffer,
): Promise<{ body: Buffer; further: number; lease: number }> {
  const [body = bytes, ...further] = Array.from(
    { length: Math.ceil(bytes.length / partBytes) },
    (_, part) => bytes.subarray(part * partBytes, (part + 1) * partBytes),
  );
  const expires = epochSeconds() + retentionSeconds;
  const furtherKeys = partKeys(requestKey, { further: further.length, lease });
  await writeMany(further.map((part, i) => put(furtherKeys[i]!, { bytes: part, expires })));
  return { body, further: further.length, lease };
}

function removeFields(secrets: string[], body: string): string {
  if (!secrets.length) return body;
  return JSON.stringify(JSON.parse(body), (name, value: unknown) =>
    secrets.includes(name) ? undefined : value,
  );
}

async function replayResponse(
  requestKey: RequestKey,
  { statusCode, body, ...stored }: NonNullable<IdempotencyRecord["answer"]>,
): Promise<LambdaResponse> {
  const parts = await getMany<{ bytes: Uint8Array }>(partKeys(requestKey, stored), {
    consistent: true,
  });
  return {
    statusCode,
    headers: { "content-type": "application/json; charset=utf-8", "idempotent-replayed": "true" },
    body: gunzipSync(Buffer.concat([body, ...parts.map((part) => part!.bytes)])).toString("utf8"),
  };
}

// The sites that the caller is limited to, and the user or API key, are part of the fingerprint:
// two callers may send identical requests, and nobody gets the response of another.
async function fingerprint(
  route: Route,
  { userId, keyId, siteIds }: Identity,
  request: ApiRequest,
): Promise<string> {
  const { path, queryString, rawBody } = request;
  const sender = keyId === undefined ? `member ${userId}` : `key ${keyId}`;
  const hash = createHash("sha256").update(
    `${route.method} ${path}?${queryString} ${siteIds?.join() ?? ""} ${sender}\n`,
  );
  for (const part of (await formParts(request)) ?? [rawBody]) hash.update(part);
  return hash.digest("hex");
}

/**
 * The parts of a multipart body without its boundary, which differs between attempts. Undefined for
 * any other body.
 */
async function formParts({
  headers,
  rawBody,
}: ApiRequest): Promise<(string | Uint8Array)[] | undefined> {
  const form = /^multipart\/form-data\b/i.test(headers["content-type"] ?? "")
    ? await formDataOf({ headers, rawBody })
    : undefined;
  if (!form) return undefined;
  const parts = [...form].map(async ([name, value]) => {
    if (typeof value === "string") return [JSON.stringify([name, value])];
    return [JSON.stringify([name, value.name, value.type, value.size]), await value.bytes()];
  });
  return (await Promise.all(parts)).flat();
}
