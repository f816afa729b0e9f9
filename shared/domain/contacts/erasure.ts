// Erasing a person: its sends and events stay and are counted, and tell no more whose they were. Of the address a hash remains, on the
// suppression list, so that nobody mails it again. Dead on the way, it is ended by doing it again: the contact goes last.
import { type Packed, packed, unpacked } from "../../bodies.ts";
import type { Caller } from "../../caller.ts";
import { equals } from "../../conditions.ts";
import { claim, get, getMany, put, query, queryAll, remove, updateMany, writeMany } from "../../doors/table.ts";
import { type Address, blockOf, idsPerBlock, keys, ranges } from "../../keys.ts";
import { chunked, inParallel } from "../../parallel.ts";
import * as contacts from "../contacts.ts";
import type { Entry } from "../events/timeline.ts";
import type { FurtherEntry, TimelineItem } from "../events/timeline-item.ts";
import * as submissions from "../forms/submissions.ts";
import * as secureMessages from "../secure-messages/due.ts";
import { type Line, linesPerChunk } from "../sending/chunks.ts";
import * as suppressions from "../suppressions.ts";
import { sendsOf } from "./person.ts";

/** In place of an address; a name under `.invalid` reaches nobody (RFC 6761). */
export const erasedEmail = "erased@erased.invalid";
const erasedText = "(erased)";

/** Throws 404. */
export async function erase(who: Pick<Caller, "orgId" | "siteId">, id: number): Promise<void> {
  const { orgId } = who;
  const contact = await contacts.item(who, id);
  await suppressions.hide(orgId, contact.sk);
  const sendIds = await sendsOf(orgId, contact);
  for (const some of chunked(sendIds, 100)) {
    await anonymize(orgId, some);
    await inParallel(4, [...Map.groupBy(some, chunkOf).values()], (ids) => blankLines(orgId, ids));
  }
  await forgetSubmissions(orgId, id);
  await contacts.remove(who, id);
}

/** What it submitted to forms. */
async function forgetSubmissions(orgId: number, contactId: number): Promise<void> {
  let after: string | undefined;
  do {
    const page = await query<submissions.LogLine>(ranges.contactLog(orgId, contactId, submissions.logPrefix), { limit: 500, after });
    const found = await getMany<submissions.SubmissionItem>(
      page.items.map(({ formId, place }) => keys.submission(orgId, formId, place)),
      { consistent: true },
    );
    await inParallel(8, found, async (one) => one && submissions.remove(one));
    after = page.next;
  } while (after !== undefined);
}

const mostTries = 8;

async function anonymize(orgId: number, sendIds: number[]): Promise<void> {
  let open = sendIds;
  for (let tries = 1; open.length; tries++) {
    if (tries > mostTries) throw new Error("Sends kept changing while they were erased");
    const found = await getMany<TimelineItem & Address>(
      open.map((id) => keys.send(orgId, id)),
      { consistent: true },
    );
    const sends = found.flatMap((send) => send ?? []);
    await inParallel(8, sends, (send) => blankFurther(orgId, send));
    const secure = sends.filter((send) => send.secure);
    await inParallel(8, secure, ({ id }) => secureMessages.forget(orgId, id, { toEmail: erasedEmail, subject: erasedText }));
    const made = await updateMany(
      sends.map((send) => ({ address: keys.send(orgId, send.id), set: blank(send), while: ["v", send.v] as const })),
    );
    open = sends.filter((_, i) => !made[i]).map(({ id }) => id);
  }
  await writeMany(sendIds.map((id) => remove(keys.singleContent(orgId, id))));
}

const blank = ({ contactId, metadata, error, events, v }: TimelineItem): Partial<TimelineItem> => ({
  toEmail: erasedEmail,
  subject: erasedText,
  ...(contactId && { contactId: null }),
  ...(metadata && { metadata: null }),
  ...(error && { error: erasedText }),
  ...(events && { events: events.map(blankEntry) }),
  v: v + 1,
});

/** What happened and when; not from where, with what, and where to. */
const blankEntry = <E extends Entry>({ ip: _, data, ...entry }: E) => ({
  ...entry,
  ...(data?.bounceType && { data: { bounceType: data.bounceType } }),
});

async function blankFurther(orgId: number, send: TimelineItem): Promise<void> {
  const beside = await queryAll<FurtherEntry & Address>(ranges.sendEvents(orgId, send.id), { consistent: true });
  await writeMany(beside.map((entry) => put({ pk: entry.pk, sk: entry.sk }, blankEntry(entry))));
}

const chunkOf = (sendId: number): string => `${blockOf(sendId)}/${Math.floor((sendId % idsPerBlock) / linesPerChunk)}`;

/** What a bulk send was before it had an item of its own. */
async function blankLines(orgId: number, sendIds: number[]): Promise<void> {
  const [block, chunk] = chunkOf(sendIds[0]!).split("/").map(Number) as [number, number];
  const address = keys.chunk(orgId, block, chunk);
  for (let tries = 1; ; tries++) {
    const item = await get<Packed & Address>(address);
    if (!item) return;
    const value = await unpacked<{ lines: Line[] }>(item);
    const mine = new Set(sendIds);
    const lines = value.lines.map((line) => (mine.has(block * idsPerBlock + line.i) ? blankLine(line) : line));
    const { gz, blob, ...rest } = item;
    const same = blob === undefined ? equals("gz", gz) : equals("blob", blob);
    if (await claim(put(address, { ...rest, ...(await packed(address, { ...value, lines })) }, { if: same }))) return;
    if (tries >= mostTries) throw new Error("A chunk kept changing while it was erased");
  }
}

const blankLine = ({ i, opens, clicks, error }: Line): Line => ({ i, to: erasedEmail, opens, clicks, error });
