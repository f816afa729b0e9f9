// Looks at what DNS has of the records that a domain should have.
import { type LookUpOptions, lookUp, NoRecords } from "../../doors/dns-records.ts";
import * as dmarc from "../validation/dmarc.ts";
import * as spf from "../validation/spf.ts";
import type { Purpose, Wanted } from "./dns.ts";

export const states = ["pending", "found", "wrong"] as const;
export type State = (typeof states)[number];

export interface Seen {
  state: State;
  /** What stands there instead, or beside it. */
  found: string[];
}
/** undefined: DNS did not answer, which says nothing. */
export type Sight = Seen | undefined;

/** Names a record among those of its domain. */
export const keyOf = ({ purpose, type, name }: Wanted): string => `${purpose} ${type} ${name}`;

/** Asked anew, whatever was found before. Where DNS does not answer, what was seen last stays. */
export async function look(
  domain: string,
  all: Wanted[],
  before: Record<string, Seen>,
): Promise<{ seen: Record<string, Seen>; ownership: Sight }> {
  const named = all.filter(({ name }) => name !== null);
  const sights = await Promise.all(named.map((wanted) => sight(domain, wanted)));
  const seen: Record<string, Seen> = {};
  for (const [i, wanted] of named.entries()) {
    const now = sights[i] ?? before[keyOf(wanted)];
    if (now) seen[keyOf(wanted)] = now;
  }
  return { seen, ownership: sights[named.findIndex(({ purpose }) => purpose === "ownership")] };
}

async function sight(domain: string, wanted: Wanted): Promise<Sight> {
  try {
    return await lookers[wanted.purpose](wanted, domain);
  } catch (error) {
    if (error instanceof NoRecords) return undefined;
    throw error;
  }
}

const options: LookUpOptions = { fresh: true };
const pending: Seen = { state: "pending", found: [] };
const found = (...records: string[]): Seen => ({ state: "found", found: shown(records) });
const wrong = (...records: string[]): Seen => ({ state: "wrong", found: shown(records) });
/** Records may be long, and many. */
const shown = (records: string[]): string[] => records.slice(0, 5).map((record) => record.slice(0, 500));

const texts = async (name: string): Promise<string[]> => (await lookUp("TXT", name, options)).records;

const lookers: Record<Purpose, (wanted: Wanted, domain: string) => Promise<Seen>> = {
  ownership: async ({ name, value }) => {
    const records = await texts(name!);
    if (records.some((text) => text.trim() === value)) return found(value!);
    return records.length ? wrong(...records) : pending;
  },
  dkim: async (wanted) => (wanted.type === "CNAME" ? alias(wanted, () => key(wanted)) : key(wanted)),
  spf: async ({ name, value }) => {
    const records = (await texts(name!)).filter(spf.isSpf);
    const [record] = records;
    if (record === undefined) return pending;
    return records.length > 1 || lacking(record, value!).length ? wrong(...records) : found(record);
  },
  dmarc: async (_, domain) => {
    const nearest = await dmarc.nearest(domain, options);
    if (!nearest) return pending;
    const holds = nearest.texts.length === 1 && typeof dmarc.parse(nearest.texts[0]!) === "object";
    return holds ? found(...nearest.texts) : wrong(...nearest.texts);
  },
  return_path: async (wanted) => (wanted.type === "MX" ? exchangers(wanted) : alias(wanted, async () => pending)),
};

/** A DKIM key (RFC 6376, 3.6.1), wherever an alias leads. An empty one was taken back. */
async function key({ name, value }: Wanted): Promise<Seen> {
  const records = await texts(name!);
  if (!records.length) return pending;
  const keys = records.filter((text) => /(^|;)\s*p\s*=\s*[A-Za-z0-9+/]/.test(text));
  // The provider's own alias was asked for: a key in its place does not change with the provider's.
  return keys.length && value === null ? found(...keys) : wrong(...records);
}

async function alias({ name, value, also }: Wanted, otherwise: () => Promise<Seen>): Promise<Seen> {
  const [target] = (await lookUp("CNAME", name!, options)).records;
  if (target === undefined) return otherwise();
  if (target === value || also?.test(target)) return found(target);
  return value === null && !also ? found(target) : wrong(target);
}

async function exchangers({ name, value, also }: Wanted): Promise<Seen> {
  const hosts = (await lookUp("MX", name!, options)).records.map(({ exchange }) => exchange);
  const right = hosts.filter((host) => host === value || also?.test(host));
  if (right.length) return found(...right);
  return hosts.length ? wrong(...hosts) : pending;
}

/** Includes that the record should have and has not; the record itself when it cannot be read. */
function lacking(record: string, value: string): string[] {
  const [has, should] = [spf.parse(record), spf.parse(value)];
  if (typeof has === "string" || typeof should === "string") return [record];
  const included = ({ mechanisms }: spf.Policy) =>
    mechanisms.flatMap(({ name, value }) => (name === "include" && value ? [value.toLowerCase()] : []));
  return included(should).filter((one) => !included(has).includes(one));
}
