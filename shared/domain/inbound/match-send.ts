// Finds the send that a mail answers: by message ids that it refers to, by a return address that it
// went to, else the newest send to its sender. The recipient index has the sends of 90 days.
import {
  addressesOf,
  messageIdsOf,
  type ReceivedMail,
} from "../../providers/inbound-mail/received-mail.ts";
import { getSends } from "../sending/read-sends.ts";
import { isRecipient, readSendsTo } from "../sending/recipient-index/sends-to-address.ts";
import type { SendItem } from "../sending/send-schema.ts";
import type { MatchedBy } from "./inbound-email.ts";

export interface FoundSend {
  send: SendItem;
  matchedBy: MatchedBy;
}

interface Site {
  orgId: number;
  siteId: number;
}

export async function findAnsweredSend(
  site: Site,
  mail: ReceivedMail,
  from: string,
): Promise<FoundSend | undefined> {
  const references = messageIdsOf(mail, "in-reply-to", "references");
  const addresses = [
    ...mail.envelopeTo,
    ...addressesOf(mail, "to", "cc", "delivered-to").map(({ email }) => email),
  ];
  const [ofReference, ofAddress] = await Promise.all([
    findByOwnIds(site, references.map(localPartOf), from),
    findByOwnIds(site, addresses.map(tagOf), from),
  ]);
  if (ofReference) return { send: ofReference, matchedBy: "reference" };
  if (ofAddress) return { send: ofAddress, matchedBy: "address" };
  return findAmongSendsTo(site, from, new Set(references));
}

export const localPartOf = (id: string): string => id.slice(0, id.lastIndexOf("@")) || id;
/** What is between the + and the @ of an address. */
export const tagOf = (address: string): string =>
  localPartOf(address).split("+").slice(1).join("+");

/** An id of providers/smtp.ts: the id of the send, and a proof that only its mail contains. */
export const ownId = /^(\d{1,15})\.[0-9a-f]{20}$/;
const maxOwnIds = 20;
/** Each once, the last ones. */
export const ownIdsAmong = (ids: string[]): string[] =>
  [...new Set(ids)].filter((id) => ownId.test(id)).slice(-maxOwnIds);

/** The proof is the one in the stored message id, or the mail comes from the recipient. */
async function findByOwnIds(
  { orgId, siteId }: Site,
  ids: string[],
  from: string,
): Promise<SendItem | undefined> {
  const own = ownIdsAmong(ids);
  const sends = await getSends(
    orgId,
    own.map((id) => Number(ownId.exec(id)![1])),
  );
  return sends.find(
    (send, i) =>
      send?.siteId === siteId &&
      (isRecipient(send, from) || localPartOf(send.providerMessageId ?? "") === own[i]),
  );
}

const maxSends = 200;
const sendsPerRead = 20;

/** A send to the address with a message id that is referred to, else the newest. */
async function findAmongSendsTo(
  { orgId, siteId }: Site,
  email: string,
  references: Set<string>,
): Promise<FoundSend | undefined> {
  const local = new Set([...references].flatMap((id) => [id, ...partsOf(id)]));
  let newest: SendItem | undefined;
  let scanned = 0;
  let waiting: number[] = [];
  const read = async (): Promise<SendItem | undefined> => {
    const sends = await getSends(orgId, waiting);
    waiting = [];
    const own = sends.filter(
      (send) => send?.siteId === siteId && send.sentAt && isRecipient(send, email),
    );
    newest ??= own[0];
    return own.find((send) => send?.providerMessageId && local.has(send.providerMessageId));
  };
  for await (const { id } of readSendsTo({ orgId, email })) {
    waiting.push(id);
    scanned++;
    if (waiting.length < sendsPerRead && scanned < maxSends) continue;
    const found = await read();
    if (found) return { send: found, matchedBy: "reference" };
    if ((newest && !references.size) || scanned >= maxSends) break;
  }
  const found = waiting.length ? await read() : undefined;
  if (found) return { send: found, matchedBy: "reference" };
  return newest && { send: newest, matchedBy: "sender" };
}

/**
 * Providers put their id into the message id: the part before the @, or before its first dot
 * (SendGrid).
 */
const partsOf = (id: string): string[] => {
  const local = localPartOf(id);
  return [local, local.split(".")[0]!, `<${id}>`];
};
