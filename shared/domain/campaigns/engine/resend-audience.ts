// The audience of a resend: the recipients of an earlier campaign whose mail failed, or who have
// not opened it. The fan-out log of the earlier campaign names each recipient once, so each shard
// of the resend reads the same shard of that log, whatever address the contact has now.
import { emailShards, zeroPad } from "../../../keys.ts";
import type { ContactItem } from "../../audience/contacts/contact-schema.ts";
import * as contacts from "../../audience/contacts/contacts.ts";
import * as chunks from "../../sending/bulk/chunks.ts";
import * as readSends from "../../sending/read-sends.ts";
import type { SendItem } from "../../sending/send-schema.ts";
import type { ResendTarget } from "../campaign-schema.ts";
import { movedShard } from "./fan-out-cursors.ts";
import * as fanOutLog from "./fan-out-log.ts";

export interface ResendAudience {
  /** Id of the earlier campaign. */
  resendOf: number;
  to: ResendTarget;
}

/**
 * The opens of machines do not count. Mail that a provider may have accepted counts neither as
 * failed nor as unopened.
 */
const matchesTarget: Record<ResendTarget, (send: SendItem) => boolean> = {
  failed: ({ status }) => status === "failed",
  unopened: ({ status, openedAt, clickedAt }) =>
    (status === "sent" || status === "delivered") && !openedAt && !clickedAt,
};

/** All shards of a log. */
export const logShards: string[] = [...emailShards, movedShard];

export interface RecipientPage {
  items: ContactItem[];
  /** Where to continue after this contact. */
  positionOf(contact: ContactItem): string;
  /** Undefined at the end. */
  next?: string | undefined;
}

// Sorts after every contact id.
const endOfEntry = "~";

/** One page for each entry of the log, in the order of the contact ids. */
export async function* readRecipients(
  orgId: number,
  { resendOf, to }: ResendAudience,
  { shard, after }: { shard: string; after?: string | undefined },
): AsyncGenerator<RecipientPage> {
  const ref = { orgId, kind: "campaign" as const, id: resendOf };
  const [startEntry, startContact = ""] = after?.split(" ") ?? [];
  for await (const entry of readEntries(ref, shard, startEntry)) {
    const wanted = await listWantedContactIds(orgId, entry, matchesTarget[to]);
    const positionOfId = (id: number | string) => `${entry.sk} ${id}`;
    const remaining = wanted
      .map(zeroPad)
      .filter((id) => entry.sk !== startEntry || id > startContact)
      .toSorted();
    yield {
      items: await contacts.getByIds(orgId, remaining.map(Number), { consistent: true }),
      positionOf: ({ id }) => positionOfId(zeroPad(id)),
      next: positionOfId(endOfEntry),
    };
  }
}

/** Begins with the entry `start` again, because its contacts may be read only in part. */
async function* readEntries(
  ref: Parameters<typeof fanOutLog.listLogEntries>[0],
  shard: string,
  start: string | undefined,
): AsyncGenerator<fanOutLog.FanOutLogEntry> {
  const first = start === undefined ? undefined : await fanOutLog.findLogEntry(ref, start);
  if (first) yield first;
  let after = start;
  do {
    const { items, next } = await fanOutLog.listLogEntries(ref, shard, after);
    yield* items;
    after = next;
  } while (after !== undefined);
}

async function listWantedContactIds(
  orgId: number,
  { blocks }: fanOutLog.FanOutLogEntry,
  isWanted: (send: SendItem) => boolean,
): Promise<number[]> {
  const ids = blocks.flatMap(([block, n]) => chunks.listSendIds(block, n));
  const sends = await readSends.getSends(orgId, ids);
  return sends.flatMap((send) => (send?.contactId && isWanted(send) ? send.contactId : []));
}
