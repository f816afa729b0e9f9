// Finds the send of events that lack our send id and have the provider's message id: notifications
// of an SES identity, SMTP2GO without the header X-Send-Id, bounces of SMTP servers that replace
// the message id. The recipient index finds the sends to the address, so no mail needs an entry by
// message id, which would cost a write unit each. Such an event costs about 6 read units more, and
// a read for each further send to the address.
import { addSeconds } from "../../clock.ts";
import { inParallel } from "../../kernel/parallel.ts";
import type { ProviderEventsMessage, QueuedEvent } from "../../queues.ts";
import { getSends } from "../sending/read-sends.ts";
import { isRecipient, readSendsTo } from "../sending/recipient-index/sends-to-address.ts";
import type { SendItem } from "../sending/send-schema.ts";

/** Sets the `sendId` of events whose send is found. Leaves the others as they are. */
export async function identifySends<
  M extends { body: Pick<ProviderEventsMessage, "provider" | "events"> },
>(orgId: number, messages: M[]): Promise<M[]> {
  const unknown = messages.flatMap(({ body: { provider, events } }) =>
    events.filter(isWithoutSendId).map((event) => ({ provider, event })),
  );
  if (!unknown.length) return messages;
  const keyOf = ({ email, providerMessageId }: QueuedEvent) => `${email} ${providerMessageId}`;
  const distinct = [...Map.groupBy(unknown, ({ event }) => keyOf(event))];
  const found = await inParallel(8, distinct, async ([key, [first]]) => {
    const { provider, event } = first!;
    const send = await findSendOfMessage(orgId, { provider, ...event });
    return [key, send?.id] as const;
  });
  const sendIds = new Map(found);
  const identify = (event: QueuedEvent): QueuedEvent => {
    const sendId = isWithoutSendId(event) ? sendIds.get(keyOf(event)) : undefined;
    return sendId === undefined ? event : { ...event, sendId };
  };
  return messages.map((message) => ({
    ...message,
    body: { ...message.body, events: message.body.events.map(identify) },
  }));
}

const isWithoutSendId = ({ sendId, providerMessageId }: QueuedEvent): boolean =>
  sendId === undefined && providerMessageId !== undefined;

// An event is about one of the latest mails to its address.
const maxSends = 200;
const sendsPerRead = 20;
/** The clock of the provider may be behind ours. */
const clockToleranceSeconds = 300;

interface ReportedMessage extends Pick<QueuedEvent, "email" | "providerMessageId" | "timestamp"> {
  provider: string;
}

/** The send to this address with this message id, before this time. */
export async function findSendOfMessage(
  orgId: number,
  { provider, email, providerMessageId, timestamp }: ReportedMessage,
): Promise<SendItem | undefined> {
  const before = addSeconds(clockToleranceSeconds, new Date(timestamp)).toISOString();
  let scanned = 0;
  let waiting: number[] = [];
  const findAmongWaiting = async () => {
    const sends = await getSends(orgId, waiting);
    waiting = [];
    return sends.find(
      (send) =>
        send?.provider === provider &&
        send.providerMessageId === providerMessageId &&
        isRecipient(send, email),
    );
  };
  for await (const { id } of readSendsTo({ orgId, email, before })) {
    waiting.push(id);
    scanned++;
    if (waiting.length < sendsPerRead && scanned < maxSends) continue;
    const found = await findAmongWaiting();
    if (found !== undefined || scanned >= maxSends) return found;
  }
  return waiting.length ? findAmongWaiting() : undefined;
}
