// shared/items.md describes every kind of item, and names nothing that does not exist.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keys } from "../../shared/keys.ts";

const shared = join(import.meta.dirname, "../../shared");
const textOf = (file: string): string => readFileSync(join(shared, file), "utf8");
const sorted = (names: Iterable<string>): string[] => [...names].toSorted();
const namesIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name]) => name!);
/** The text between two markers of a source. */
const between = (text: string, start: string, end: string): string =>
  text.split(start)[1]?.split(end)[0] ?? "";

const [kinds = "", records = "", send = ""] = textOf("items.md").split(
  /^## (?:Records|The attributes of a send)$/m,
);

test("each kind of item has one row, in the order of its key", () => {
  expect(namesIn(kinds, /^\| `(\w+)` \|/gm)).toEqual(Object.keys(keys));
});

test("each kind of record has one row", () => {
  const type = between(textOf("keys.ts"), "export type RecordKind =", ";");
  expect(namesIn(records, /^\| `(\w+)` \|/gm)).toEqual(namesIn(type, /"(\w+)"/g));
});

test("each owner is a folder", () => {
  const owners = namesIn(kinds + records, /^\| `\w+` \| `([\w-]+)` \|/gm);
  expect(owners.length).toBeGreaterThan(Object.keys(keys).length);
  const isFolder = (owner: string) =>
    existsSync(join(shared, owner)) || existsSync(join(shared, "domain", owner));
  expect(owners.filter((owner) => !isFolder(owner))).toEqual([]);
});

test("each attribute of a send is described once, and no other", () => {
  const sends = textOf("domain/sending/send-schema.ts");
  const single = textOf("domain/sending/single/single-send-item.ts");
  const events = textOf("domain/delivery-events/send-events.ts");
  const api = namesIn(between(sends, "export const Send = z\n", "\n  .meta("), /^ {4}(\w+):/gm);
  const stored = [
    between(sends, "[Field in Exclude<keyof Send", "\n};"),
    between(single, "export interface SingleSendItem", "\n}"),
    between(events, "export type SendWithEvents", "\n};"),
  ].map((type) => namesIn(type, /^ {2}(\w+)\??:/gm));
  expect([api, ...stored].every(({ length }) => length > 1)).toBe(true);
  const attributes = new Set([...api.filter((name) => name !== "cost"), ...stored.flat()]);
  const rows = namesIn(send, /^\| (`.*?) \|/gm);
  expect(sorted(rows.flatMap((row) => namesIn(row, /`(\w+)`/g)))).toEqual(sorted(attributes));
});
