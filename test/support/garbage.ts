// Bodies that no provider sends: garbage, and samples spoiled with garbage.
import fc from "fast-check";
import type { Notice } from "../../shared/providers/inbound/inbound.ts";
import { calls, noticeFor, now, samplesOf } from "./notices.ts";

type Json = unknown;
type Row = Record<string, unknown>;

const nonsense = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    "constructor",
    "__proto__",
    "x".repeat(100_000),
    `${"a".repeat(2000)}@example.net`,
    `https://example.net/${"é".repeat(5000)}`,
  ),
  fc.constantFrom("\ud800".repeat(1500), 1e308, -1, 0.5, 253_402_300_800, "2026-99-99T00:00:00Z", "0", "<".repeat(3000), [[]], {}, null),
);

/** Garbage, and samples of which one value was replaced by garbage, also within the JSON that some of them carry as text. */
export function bodies(key: string): fc.Arbitrary<Notice> {
  const call = calls[key]!;
  const spoiled = fc
    .tuple(fc.constantFrom(...samplesOf(key)), fc.nat(), nonsense, fc.boolean())
    .map(([{ body, contentType }, n, value, inner]) => call(replaced(structuredClone(body), n, value, inner), now, contentType));
  const garbage = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.json({ maxDepth: 4 }).map((text) => Buffer.from(text)),
    fc.jsonValue().map((value) => Buffer.from(new URLSearchParams({ mandrill_events: JSON.stringify(value) }).toString())),
  );
  return fc.oneof({ weight: 3, arbitrary: spoiled }, { weight: 1, arbitrary: garbage.map((rawBody) => noticeFor(key, { rawBody })) });
}

function replaced(body: Json, n: number, value: Json, inner: boolean): Json {
  const places = placesIn(body);
  const place = places[n % places.length];
  if (!place) return value;
  const [holder, name] = place;
  const parsed = inner && jsonObjectIn(holder[name]);
  holder[name] = parsed ? JSON.stringify(replaced(parsed, n >> 4, value, false)) : value;
  return body;
}

function placesIn(value: Json): [Row, string][] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Row;
  return Object.keys(holder)
    .filter((name) => name !== "signature")
    .flatMap((name) => [[holder, name] as [Row, string], ...placesIn(holder[name])]);
}

function jsonObjectIn(value: Json): Json {
  try {
    return typeof value === "string" && value.startsWith("{") ? JSON.parse(value) : undefined;
  } catch {
    return undefined;
  }
}
