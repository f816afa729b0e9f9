import { enqueue, maxDelaySeconds } from "../../../adapters/sqs/enqueue.ts";
import type { Caller } from "../../../caller.ts";
import { addSeconds, now } from "../../../clock.ts";
import * as liquid from "../../../email/liquid.ts";
import * as ids from "../../../ids.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import type { Mailbox } from "../../../providers/provider-adapter.ts";
import { queues } from "../../../queues.ts";
import { subjectFor } from "../../content/template-translations.ts";
import { hashCopyAddress } from "../copy-hashes.ts";
import { mergeVariables } from "../rendering/compose.ts";
import type { SendItem } from "../send-schema.ts";
import { graceSeconds } from "../single/claim.ts";
import { fromOf, type IntakeContext, parseSchedule, refuse, toSharedSendFields } from "./intake.ts";
import { listIntakeWarnings, requireVariables } from "./intake-warnings.ts";
import { renderedFlaws } from "./rendered-flaws.ts";
import { addressesOf, type SingleMessage } from "./single-message.ts";
import {
  acceptAffordable,
  type EncryptMessages,
  findSend,
  insertSuppressed,
  listAddresses,
  type MailToStore,
} from "./store-single.ts";

interface AcceptOptions {
  context: IntakeContext;
  encrypt?: EncryptMessages;
  /** The id of the send, if it is reserved already. */
  id?: number;
}

/**
 * Accepts one mail: stores, lists and charges it, then enqueues it. Returns its id and status. For
 * a suppressed address it records a send with the status `failed`. After a crash before the
 * enqueue, the sweep of its window finds the send. Throws 402.
 */
export async function acceptSingle(
  { orgId }: Pick<Caller, "orgId">,
  given: SingleMessage & Pick<SendItem, "system">,
  { context, encrypt, id: reservedId }: AcceptOptions,
) {
  if (given.secure && !encrypt)
    throw new Error("A secure message must be encrypted before it is accepted");
  const at = now();
  const scheduledAt = parseSchedule(given);
  const { message: reachable, copies, leftOut } = leaveOutSuppressed(given, context.suppressed);
  const message = { ...reachable, locale: context.localeOf(reachable) };
  requireVariables(context, message, [{ toName: message.toName }]);
  refuse(renderedFlaws(message, context, at)(message));
  const isSuppressed = leftOut.includes(message.to);
  const id = reservedId ?? (await ids.nextSendId());
  const acceptedStatus = scheduledAt ? "scheduled" : "queued";
  const send: SendItem = {
    id,
    ...toSharedSendFields(context, message, {
      from: fromOf(message, context.config),
      at,
      scheduledAt,
    }),
    contactId: context.contactId,
    toEmail: message.to,
    subject: renderSubject(message, context, at),
    status: isSuppressed ? "failed" : acceptedStatus,
    error: isSuppressed ? "suppressed" : undefined,
    metadata: message.metadata,
    ...(copies && { copies: listAddresses(copies).map(hashCopyAddress) }),
    ...(message.system && { system: true }),
    v: 0,
  };
  const { isQueuedNow, delaySeconds, due } = planTiming(scheduledAt, at);
  const accepted: MailToStore = { orgId, send, message, copies, context, due };
  const stored = await (isSuppressed
    ? insertSuppressed(orgId, send)
    : acceptAffordable(accepted, encrypt)
  ).catch(
    // An earlier try of the same request may have spent the credits that are missing now.
    (error: unknown) => findSend(orgId, id, error),
  );
  if (isPending(stored) && isQueuedNow)
    await enqueue(queues.send, [{ orgId, sendId: id }], { group: orgId, delaySeconds });
  return {
    id,
    status: toAcceptedStatus(stored),
    warnings: isRecordedAsSuppressed(stored)
      ? [suppressedWarning(message.to)]
      : [
          ...(isSuppressed ? [] : leftOut.map(leftOutWarning)),
          ...listIntakeWarnings(context, message, [{ toName: message.toName }]),
        ],
  };
}

/**
 * Removes the suppressed addresses. The first of `to` that is left becomes the recipient. If none
 * is left, nobody gets the mail.
 */
function leaveOutSuppressed<M extends SingleMessage>(message: M, suppressed: Set<string>) {
  const { to, toName, alsoTo = [], cc = [], bcc = [] } = message;
  const isReachable = ({ email }: Mailbox) => !suppressed.has(normalizeEmail(email));
  const [first = { email: to, name: toName }, ...others] = [
    { email: to, name: toName },
    ...alsoTo,
  ].filter(isReachable);
  const copies = { to: others, cc: cc.filter(isReachable), bcc: bcc.filter(isReachable) };
  return {
    message: { ...message, to: first.email, toName: first.name },
    copies: listAddresses(copies).length ? copies : undefined,
    leftOut: addressesOf(message).filter((email) => !isReachable({ email })),
  };
}

const leftOutWarning = (email: string): string =>
  `${email} is suppressed and left out: GET /suppressions/check/:email shows the reason`;

const suppressedWarning = (to: string): string =>
  `${to} is suppressed, so nothing is sent and the send is recorded as failed: GET ` +
  "/suppressions/check/:email shows the reason";

const isPending = ({ status }: SendItem): boolean => status === "queued" || status === "scheduled";

const isRecordedAsSuppressed = ({ status, error }: SendItem): boolean =>
  status === "failed" && error === "suppressed";

/**
 * A repeated request may find the mail sent, or bounced and its address suppressed since. It still
 * returns `queued`.
 */
const toAcceptedStatus = (stored: SendItem): "failed" | "scheduled" | "queued" => {
  if (isRecordedAsSuppressed(stored)) return "failed";
  return stored.status === "scheduled" ? "scheduled" : "queued";
};

// Mail due within 15 minutes uses the delay of the queue. Later mail waits on the due index, which
// may be a minute late.
function planTiming(scheduledAt: string | undefined, at: Date) {
  const delaySeconds = scheduledAt ? Math.ceil((Date.parse(scheduledAt) - at.getTime()) / 1000) : 0;
  const isQueuedNow = delaySeconds <= maxDelaySeconds;
  return {
    isQueuedNow,
    delaySeconds,
    due: isQueuedNow ? addSeconds(delaySeconds + graceSeconds, at) : new Date(scheduledAt!),
  };
}

/** The rendered subject for lists: one line of at most 300 characters. */
function renderSubject(
  message: SingleMessage,
  { template, brand }: IntakeContext,
  at: Date,
): string {
  const ofTemplate = template && subjectFor(template, message.locale);
  const compiled = liquid.compile(message.subject ?? ofTemplate ?? "", {
    escape: false,
    field: "subject",
  });
  const { text } = liquid.render(
    compiled,
    mergeVariables(
      { variables: message.variables, brand },
      { to: message.to, name: message.toName },
    ),
    { now: at, budget: liquid.Budget.forSubject() },
  );
  return text.replace(/\s+/g, " ").slice(0, 300);
}
