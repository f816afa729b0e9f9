// Marketing mail on its way into a lane: what it says and whom it is for is stored first, under ids that were reserved, and lets
// nobody send anything. It counts from the transaction on in which its maker puts the writes that stand here, together with
// whatever says that these people are dealt with. Ids of a maker who died in between are a gap.
import { packed } from "../../bodies.ts";
import { epochSeconds } from "../../clock.ts";
import { get, insertMany, put, type Write } from "../../doors/table.ts";
import * as ids from "../../ids.ts";
import { idsPerBlock, keys } from "../../keys.ts";
import type { Account } from "../allowance.ts";
import type { ContactItem } from "../contacts/contact.ts";
import { trackingOf } from "../domains/names.ts";
import type { SendingConfig } from "../sending-configs.ts";
import type { Site } from "../sites.ts";
import { keepSeconds } from "./accept.ts";
import * as chunks from "./chunks.ts";
import type { Content } from "./content.ts";
import * as feed from "./feed.ts";
import * as lanes from "./lanes.ts";
import { marketingOf } from "./marketing.ts";
import { type Counted, counting, type Source } from "./sources.ts";

/** One thing to say to many. */
export interface Mailshot {
  orgId: number;
  site: Site;
  config: SendingConfig;
  source: Source;
  /** `subject` as the template has it; that of the mailshot goes over it. */
  template?: { id: number; version: number; subject: string } | undefined;
  subject?: string | undefined;
  html?: string | undefined;
  text?: string | undefined;
  /** Gets blind copies, in place of whom the site names. */
  bcc?: string | undefined;
  /** What it is, for Liquid and for lists: every chunk of a campaign says the same. */
  at: Date;
}

export interface Staged {
  /** By contact. */
  sendIds: Map<number, number>;
  /**
   * Into the lane, or held back; listed; counted as accepted by their source (for the site and the plan: `allowance.spend`). Afterwards
   * `lanes.arrived`, by whoever takes up after a death too.
   */
  writes: Write[];
}

export const mostRecipients = chunks.linesPerChunk;

export interface Batch {
  shot: Mailshot;
  /** At most `mostRecipients`, each at most once. */
  contacts: ContactItem[];
  /** Not into the lane but beside its source, until `held.release`. */
  held: boolean;
  /** What those of its mails cost that the plan does not include, from the `from`-th on. */
  charge?: chunks.ChunkHead["charge"];
}

/** The batches with what they cost: the first `free` mails of all are included. */
export function charged(batches: Batch[], cost: { free: number; each: number } | undefined): Batch[] {
  let before = 0;
  return batches.map((batch) => {
    const from = Math.max(0, (cost?.free ?? 0) - before);
    before += batch.contacts.length;
    return cost && from < batch.contacts.length ? { ...batch, charge: { from, each: cost.each } } : batch;
  });
}

/**
 * Several of one source, for one transaction: what counts them is written once for all. `further`: what else is to be counted. (A
 * transaction cannot write a counter twice, and `counting` of another write may hit the same.) Throws 400 `physical_address_missing`
 * (see compliance).
 */
export async function stagedTogether(batches: Batch[], further: Counted[] = []): Promise<Staged & { blocks: number[] }> {
  const stored = await Promise.all(batches.map(stage));
  const [first] = batches;
  const [block = 0] = stored.map((one) => one.block);
  if (!first) return { blocks: [], sendIds: new Map(), writes: [] };
  const { orgId } = first.shot;
  const accepted = batches.map(({ shot: { source }, contacts }) => ({ source, tallies: { accepted: contacts.length } }));
  return {
    blocks: stored.map((one) => one.block),
    sendIds: new Map(stored.flatMap(({ sendIds }) => sendIds)),
    writes: [...stored.flatMap(({ writes }) => writes), ...counting(orgId, block, [...accepted, ...further])],
  };
}

/** Content and lines under ids of their own. The writes let them in and list them, and count nothing. */
async function stage({ shot, contacts, held, charge }: Batch): Promise<{ block: number; sendIds: [number, number][]; writes: Write[] }> {
  const { orgId, site, config, source, at } = shot;
  const [block, content] = await Promise.all([ids.takeBlock(), contentOf(shot)]);
  const lines = contacts.map(lineOf);
  const address = keys.content(orgId, block);
  const expires = epochSeconds() + keepSeconds;
  const payloads = await chunks.items(orgId, block, { ...headOf(shot, block), ...(charge && { charge }) }, lines);
  await insertMany([{ address, item: { ...(await packed(address, content)), expires } }, ...payloads]);
  const waiting = { block, chunk: 0, n: lines.length, siteId: site.id, at: at.toISOString(), source, configId: config.id };
  const place = held ? keys.held(orgId, source.kind, source.id, lanes.sortOf(waiting)) : lanes.placeOf(orgId, config.id, waiting);
  const listed = feed.listing(orgId, site.id, at.toISOString(), block * idsPerBlock, lines.length);
  return {
    block,
    sendIds: contacts.map((contact, i) => [contact.id, block * idsPerBlock + i]),
    writes: [put(place, waiting, { new: true }), listed],
  };
}

export async function contentOf(shot: Mailshot): Promise<Content> {
  const { orgId, site, config, template, subject, html, text, at } = shot;
  const [marketing, tracking, account] = await Promise.all([
    marketingOf(orgId, site),
    trackingOf(orgId, config.fromEmail),
    get<Account>(keys.account(orgId), { consistent: false }),
  ]);
  return {
    from: { email: config.fromEmail, name: config.fromName ?? undefined },
    bcc: bccOf(shot),
    headers: {},
    tags: [],
    template: template && { id: template.id, version: template.version },
    subject,
    ...(!template && { html, text }),
    variables: {},
    attachments: [],
    ...tracking,
    ...(account?.branded && { branded: true as const }),
    marketing,
    at: at.toISOString(),
  };
}

const bccOf = ({ bcc, site }: Pick<Mailshot, "bcc" | "site">): string | undefined => bcc ?? site.autoBcc ?? undefined;

export const headOf = ({ site, config, source, template, subject, bcc, at }: Mailshot, block: number): chunks.ChunkHead => ({
  siteId: site.id,
  sendingConfigId: config.id,
  provider: config.provider,
  batchId: block,
  templateId: template?.id,
  fromEmail: config.fromEmail,
  fromName: config.fromName ?? undefined,
  bcc: bccOf({ bcc, site }),
  subject: subject ?? template?.subject ?? "",
  variables: {},
  createdAt: at.toISOString(),
  source,
  capDays: site.sendFrequencyCapDays || undefined,
});

export const lineOf = (contact: ContactItem, i: number): chunks.Line => ({
  i,
  to: contact.email,
  contactId: contact.id,
  name: [contact.firstName, contact.lastName].filter(Boolean).join(" ") || undefined,
  variables: variablesOf(contact),
});

/** What templates of marketing mail may speak of: the contact as it was when the mail was made ready for it. Its own fields go over custom ones of their name. */
const variablesOf = ({ customFields, firstName, lastName, phone, company, timezone }: ContactItem): Record<string, unknown> => ({
  ...customFields,
  ...Object.fromEntries(Object.entries({ firstName, lastName, phone, company, timezone }).filter(([, value]) => value != null)),
  ...(customFields && { customFields }),
});
