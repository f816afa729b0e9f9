// Webhook bodies that no provider sends: garbage, and samples with replaced values.

import type { InboundRequest } from "../../shared/providers/inbound/inbound-adapter.ts";
import fc from "./fast-check.ts";
import {
  createNotice,
  readSamples,
  sampleTime,
  signByProvider,
} from "./signed-provider-webhooks.ts";

type Json = unknown;
type Row = Record<string, unknown>;

const arbitraryGarbage = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    "constructor",
    "__proto__",
    "x".repeat(100_000),
    `${"a".repeat(2000)}@example.net`,
    `https://example.net/${"é".repeat(5000)}`,
  ),
  fc.constantFrom(
    "\ud800".repeat(1500),
    1e308,
    -1,
    0.5,
    253_402_300_800,
    "2026-99-99T00:00:00Z",
    "0",
    "<".repeat(3000),
    [[]],
    {},
    null,
  ),
);

/**
 * Generates garbage, and samples in which one value is replaced by garbage, also within JSON that
 * is a text of the sample.
 */
export function malformedBodies(key: string): fc.Arbitrary<InboundRequest> {
  const call = signByProvider[key]!;
  const damagedSamples = fc
    .tuple(fc.constantFrom(...readSamples(key)), fc.nat(), arbitraryGarbage, fc.boolean())
    .map(([{ body, contentType }, n, value, inner]) =>
      call(replaceField(structuredClone(body), n, value, inner), sampleTime, contentType),
    );
  const garbage = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.json({ maxDepth: 4 }).map((text) => Buffer.from(text)),
    fc
      .jsonValue()
      .map((value) =>
        Buffer.from(new URLSearchParams({ mandrill_events: JSON.stringify(value) }).toString()),
      ),
  );
  return fc.oneof(
    { weight: 3, arbitrary: damagedSamples },
    { weight: 1, arbitrary: garbage.map((rawBody) => createNotice(key, { rawBody })) },
  );
}

function replaceField(body: Json, n: number, value: Json, inner: boolean): Json {
  const places = listFields(body);
  const place = places[n % places.length];
  if (!place) return value;
  const [parent, name] = place;
  const parsed = inner && parseJsonObject(parent[name]);
  parent[name] = parsed ? JSON.stringify(replaceField(parsed, n >> 4, value, false)) : value;
  return body;
}

function listFields(value: Json): [Row, string][] {
  if (typeof value !== "object" || value === null) return [];
  const parent = value as Row;
  return Object.keys(parent)
    .filter((name) => name !== "signature")
    .flatMap((name) => [[parent, name] as [Row, string], ...listFields(parent[name])]);
}

function parseJsonObject(value: Json): Json {
  try {
    return typeof value === "string" && value.startsWith("{") ? JSON.parse(value) : undefined;
  } catch {
    return undefined;
  }
}
