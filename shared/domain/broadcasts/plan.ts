// What was decided when a campaign or holiday started: it stands, whatever is changed or deleted meanwhile.
import { type Packed, packed, unpacked } from "../../bodies.ts";
import { contains, present } from "../../conditions.ts";
import { get, put, type Write } from "../../doors/table.ts";
import { keys, sha256 } from "../../keys.ts";
import type { AbTest } from "../campaigns/campaign.ts";
import type * as reader from "../contacts/reader.ts";
import type { Rules } from "../segments/grammar.ts";
import * as segments from "../segments.ts";
import type { Key } from "./broadcast.ts";

export interface Plan {
  siteId: number;
  configId: number;
  audience: Audience;
  /** At least one. */
  parts: Part[];
  test?: AbTest;
  /** The start (ISO 8601). */
  at: string;
}

/** Members of a list or tag, who fulfils rules, who is active in a sequence of the site. */
export type Audience = { listId: number } | { tagId: number } | { siteId: number; rules: Rules } | { enrolled: true };

/** What one share of the audience gets. */
export interface Part {
  /** Of the variant, if it is one. */
  id?: number | undefined;
  weight: number;
  subject?: string | undefined;
  /** `subject` as the template has it. */
  template?: { id: number; version: number; subject: string } | undefined;
  /** Instead of a template. */
  htmlVersion?: number | undefined;
}

const addressOf = ({ orgId, kind, id }: Key) => keys.fanOutPlan(orgId, kind, id);

export async function keeping(key: Key, plan: Plan): Promise<Write> {
  const address = addressOf(key);
  return put(address, await packed(address, plan));
}

export async function read(key: Key): Promise<Plan> {
  const item = await get<Packed>(addressOf(key), { consistent: false });
  return unpacked<Plan>(item ?? (await get<Packed>(addressOf(key))) ?? {});
}

/** Whom the reader of contacts is to look for; times in rules are meant as of the start. */
export async function wantedOf(orgId: number, { siteId, audience, at }: Pick<Plan, "siteId" | "audience" | "at">): Promise<reader.Wanted> {
  if ("listId" in audience) return { filter: contains("lists", audience.listId) };
  if ("tagId" in audience) return { filter: contains("tags", audience.tagId) };
  if ("rules" in audience) return segments.wantedBy(orgId, siteId, audience.rules, new Date(at));
  return { filter: present("sequences") };
}

const steps = 10_000;

/**
 * The part that a contact belongs to, always the same one: undefined for those who wait for the winner of the test. By a hash of
 * both, so that two campaigns cut the same people differently.
 */
export function partFor(
  { kind, id }: Pick<Key, "kind" | "id">,
  { parts, test }: Pick<Plan, "parts" | "test">,
  contactId: number,
): Part | undefined {
  const digest = sha256(`${kind}/${id}/${contactId}`);
  const place = Number.parseInt(digest.slice(0, 8), 16) % steps;
  if (test && place >= (test.testPercent * steps) / 100) return undefined;
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  let left = Number.parseInt(digest.slice(8, 16), 16) % total;
  for (const part of parts) {
    left -= part.weight;
    if (left < 0) return part;
  }
  return parts.at(-1);
}
