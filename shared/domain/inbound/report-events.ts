// Delivery events from reports of mail servers. A report counts only with a proof that it is about
// a mail of ours: its return address or the message id of the returned mail, which nobody can
// guess. Anyone could write a report otherwise, and suppress an address.
import { createHash } from "node:crypto";
import { get } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { keys } from "../../keys.ts";
import type { ProviderEvent } from "../../providers/inbound/inbound-adapter.ts";
import type { ReportedRecipient, ServerReport } from "../../providers/inbound-mail/mail-report.ts";
import {
  addressesOf,
  messageIdsOf,
  type ReceivedMail,
} from "../../providers/inbound-mail/received-mail.ts";
import { mailIdOf } from "../../providers/smtp-mail-id.ts";
import { enqueueProviderEvents } from "../delivery-events/enqueue-provider-events.ts";
import { findSendOfMessage } from "../delivery-events/match-by-message.ts";
import { decryptCredentials } from "../senders/config-secrets.ts";
import type { SendingConfig } from "../senders/sending-config-schema.ts";
import { getSends } from "../sending/read-sends.ts";
import { isRecipient } from "../sending/recipient-index/sends-to-address.ts";
import type { SendItem } from "../sending/send-schema.ts";
import { localPartOf, ownId, ownIdsAmong, tagOf } from "./match-send.ts";

/** The send that a report is about. Undefined without a proof. */
export async function findReportedSend(
  orgId: number,
  mail: ReceivedMail,
  { recipients, original }: ServerReport,
): Promise<SendItem | undefined> {
  const addresses = [
    ...mail.envelopeTo,
    ...addressesOf(mail, "to", "delivered-to", "x-original-to").map(({ email }) => email),
  ];
  const returned = messageIdsOf({ headers: original }, "message-id");
  const returnPaths = addressesOf({ headers: original }, "return-path").map(({ email }) => email);
  const ids = ownIdsAmong([
    ...[...addresses, ...returnPaths].map(tagOf),
    ...returned.map(localPartOf),
  ]);
  const sends = await getSends(
    orgId,
    ids.map((id) => Number(ownId.exec(id)![1])),
  );
  for (const [i, send] of sends.entries())
    if (send && (await isProven(orgId, send, ids[i]!))) return send;
  return findByServerId(orgId, recipients, returned);
}

const maxSearches = 4;

/**
 * Servers of Microsoft 365 and Amazon SES replace our message id with their own, which nobody can
 * guess either.
 */
async function findByServerId(
  orgId: number,
  recipients: ReportedRecipient[],
  messageIds: string[],
): Promise<SendItem | undefined> {
  const timestamp = now().toISOString();
  const searches = recipients.flatMap(({ email }) =>
    email === undefined
      ? []
      : messageIds.map((providerMessageId) => ({ email, providerMessageId, timestamp })),
  );
  for (const search of searches.slice(0, maxSearches)) {
    const send = await findSendOfMessage(orgId, { provider: "smtp", ...search });
    if (send) return send;
  }
  return undefined;
}

/** The server may have replaced the stored id; then the proof is made again. */
async function isProven(orgId: number, send: SendItem, id: string): Promise<boolean> {
  if (localPartOf(send.providerMessageId ?? "") === id) return true;
  if (send.provider !== "smtp") return false;
  const config = await get<SendingConfig>(keys.record(orgId, "CONFIG", send.sendingConfigId));
  if (config?.provider !== "smtp") return false;
  const credentials = await decryptCredentials(orgId, config);
  const mail = `${config.id} ${send.id}`;
  return id === mailIdOf(mail, { sendId: send.id, to: send.toEmail }, credentials);
}

/** Queues one event for each recipient of the report. Safe to repeat: its ids are those before. */
export async function enqueueReport(
  orgId: number,
  send: SendItem,
  { report, identity }: { report: ServerReport; identity: string },
): Promise<void> {
  const timestamp = now().toISOString();
  const events = report.recipients.map((recipient) =>
    toEvent(send, recipient, { identity, timestamp }),
  );
  await enqueueProviderEvents({ orgId, provider: send.provider }, events);
}

function toEvent(
  send: SendItem,
  { email, details, reason }: ReportedRecipient,
  { identity, timestamp }: { identity: string; timestamp: string },
): ProviderEvent {
  // A mailbox can pass mail on to an address that we do not know.
  const address = email !== undefined && isRecipient(send, email) ? email : send.toEmail;
  const key = JSON.stringify(["report", identity, address, details.type]);
  const { type, ...more } = details;
  return {
    type,
    email: address,
    sendId: send.id,
    providerEventId: createHash("sha256").update(key).digest("hex"),
    timestamp,
    data: { ...more, ...(reason && { reason: reason.slice(0, 1000).toWellFormed() }) },
  };
}
