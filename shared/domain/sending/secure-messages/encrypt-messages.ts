// Renders and encrypts secure messages when they are accepted. The plain text is stored nowhere.
// The recipient gets a notice with a link.

import { put, type Write } from "../../../adapters/dynamodb/table.ts";
import * as blobs from "../../../adapters/s3/objects.ts";
import { addSeconds, nextTurn } from "../../../clock.ts";
import * as liquid from "../../../email/liquid.ts";
import { limitExceeded, Problem } from "../../../errors.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { dueShardOf, indexAttributes, indexes, keys } from "../../../keys.ts";
import * as passwords from "../../identity/passwords.ts";
import { fromOf, type IntakeContext } from "../intake/intake.ts";
import type { MessageFields } from "../intake/message.ts";
import { mergeVariables } from "../rendering/compose.ts";
import { type LiquidSources, loadLiquidParts } from "../rendering/mail-content.ts";
import { encryptBody } from "./cipher.ts";
import { buildNotice } from "./notice.ts";
import { blobKeyOf, noticeVariables, type SecureMessageItem } from "./secure-message-item.ts";

interface SecureRecipient {
  /** Id of the send. */
  id: number;
  to: string;
  name?: string | undefined;
  variables?: Record<string, unknown> | undefined;
}

interface SecureMail<M> {
  orgId: number;
  message: M;
  context: IntakeContext;
  recipients: SecureRecipient[];
  at: Date;
  scheduledAt?: string | undefined;
}

interface EncryptedMessages<M> {
  /** The notice that replaces the message. */
  message: M;
  context: IntakeContext;
  /** In the order given. `error`: why the message cannot be rendered for this recipient. */
  recipients: { subject: string; error?: string }[];
  /** For the transaction of the sends, or before it. */
  writes: Write[];
}

const defaultExpiryDays = 30;
// Keeps a request within 29 seconds and the memory of a function.
const maxCharacters = 100_000_000;

/**
 * Encrypts the message for each recipient and stores it in S3. Safe to repeat: it encrypts the same
 * text again.
 */
export async function encryptMessages<M extends MessageFields>({
  orgId,
  message,
  context,
  recipients,
  at,
  scheduledAt = at.toISOString(),
}: SecureMail<M>): Promise<EncryptedMessages<M>> {
  const [parts, passphrase] = await Promise.all([
    loadLiquidParts(orgId, {
      template: context.template,
      subject: message.subject,
      html: message.html,
      text: message.text,
    }),
    message.securePassphrase === undefined
      ? undefined
      : passwords.hashPassword(message.securePassphrase),
  ]);
  const from = fromOf(message, context.config);
  const expiresAt = addSeconds(
    (message.secureExpiresInDays ?? defaultExpiryDays) * 24 * 3600,
    new Date(scheduledAt),
  ).toISOString();
  const shared = {
    orgId,
    siteId: context.siteId,
    sender: from.name ?? from.email,
    passphrase,
    createdAt: at.toISOString(),
    expiresAt,
  };
  const render = createRenderer(parts, message, at);
  const encrypted = await inParallel(16, recipients, async ({ id, to, ...recipient }) => {
    await nextTurn();
    const rendered = render({ id, to, ...recipient });
    if ("error" in rendered) return { subject: parts.subject.slice(0, 300), error: rendered.error };
    const { subject, ...body } = rendered;
    await blobs.put(blobKeyOf(orgId, id), await encryptBody(orgId, id, body));
    return { subject, write: putMessageWrite({ ...shared, id, toEmail: to, subject, views: 0 }) };
  });
  const { html, text, subject } = buildNotice({
    html: parts.html,
    expiresAt,
    withPassphrase: passphrase !== undefined,
  });
  return {
    // Click tracking would pass the link through the provider.
    message: {
      ...message,
      subject,
      html,
      text,
      variables: { [noticeVariables.sender]: shared.sender },
      trackClicks: false,
    },
    context: { ...context, template: undefined },
    recipients: encrypted.map(({ subject, error }) => ({
      subject,
      ...(error !== undefined && { error }),
    })),
    writes: encrypted.flatMap(({ write }) => (write ? [write] : [])),
  };
}

const putMessageWrite = (item: SecureMessageItem): Write =>
  put(keys.secureMessage(item.orgId, item.id), {
    ...item,
    ...indexAttributes(indexes.due("SECURE", dueShardOf(item.id)), item.expiresAt),
  });

type RenderResult = LiquidSources | { error: string };

/**
 * Returns an error for a recipient whose message cannot be rendered. Throws 400 when all messages
 * together are too large.
 */
function createRenderer(
  parts: LiquidSources,
  message: MessageFields,
  now: Date,
): (recipient: SecureRecipient) => RenderResult {
  const parse = (field: keyof LiquidSources) =>
    parts[field] === undefined
      ? undefined
      : liquid.compile(parts[field], { escape: field === "html", field });
  const compiled = { subject: parse("subject"), html: parse("html"), text: parse("text") };
  const pool = liquid.newPool();
  let characters = 0;
  return (recipient) => {
    const budget = new liquid.Budget({ pool });
    const rendered = tryRender(() => {
      const variables = mergeVariables(message, recipient);
      const renderField = (field: keyof LiquidSources) =>
        compiled[field] && liquid.render(compiled[field], variables, { now, budget }).text;
      return {
        subject: renderField("subject")!.replace(/\s+/g, " ").slice(0, 300),
        html: renderField("html"),
        text: renderField("text"),
      };
    });
    if ("subject" in rendered)
      characters += (rendered.html?.length ?? 0) + (rendered.text?.length ?? 0);
    if (characters > maxCharacters) throw tooLarge();
    return rendered;
  };
}

function tryRender(render: () => LiquidSources): RenderResult {
  try {
    return render();
  } catch (error) {
    if (error instanceof Problem && error.kind === "invalid")
      return { error: error.message.slice(0, 150) };
    throw error;
  }
}

const tooLarge = () =>
  limitExceeded(
    "recipients",
    "recipients: the secure messages are too large for one request: split it into several",
  );
