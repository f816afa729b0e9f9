// Renders and encrypts secure messages when they are accepted. The plain text is stored nowhere.
// The recipient gets a notice with a link.

import { put, type Write } from "../../../adapters/dynamodb/table.ts";
import * as objects from "../../../adapters/s3/objects.ts";
import { addSeconds, nextTurn } from "../../../clock.ts";
import { toBrandLook } from "../../../email/brand/look.ts";
import * as liquid from "../../../email/liquid.ts";
import { limitExceeded, Problem } from "../../../errors.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { dueShardOf, indexAttributes, indexes, keys } from "../../../keys.ts";
import * as passwords from "../../identity/passwords.ts";
import { type AttachmentFile, readAttachment } from "../accept/attachments.ts";
import { fromOf, type IntakeContext } from "../accept/intake.ts";
import type { MessageFields } from "../accept/message-fields.ts";
import { mergeVariables } from "../rendering/compose.ts";
import { type LiquidSources, loadLiquidSources } from "../rendering/mail-content.ts";
import { encrypt, encryptBody } from "./cipher.ts";
import { buildNotice } from "./notice.ts";
import {
  blobKeyOf,
  fileBlobKeyOf,
  noticeVariables,
  type SecureFile,
  type SecureMessageItem,
} from "./secure-message-item.ts";

interface SecureRecipient {
  /** Id of the send. */
  id: number;
  to: string;
  name?: string | undefined;
  variables?: Record<string, unknown> | undefined;
  /** The language that the recipient reads. */
  locale?: string | undefined;
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
/** The response of a Lambda function can have at most 6 MB, and the file is base64 in it. */
const maxSecureFileBytes = 4_000_000;

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
  const { brand, template, pinned: snippets } = context;
  const { subject: givenSubject, html: givenHtml, text: givenText } = message;
  const locales = [...new Set([message.locale, ...recipients.map(({ locale }) => locale)])];
  const sourcesOf = async (locale: string | undefined) =>
    loadLiquidSources(
      orgId,
      { template, locale, subject: givenSubject, html: givenHtml, text: givenText, snippets },
      brand && toBrandLook(brand),
    );
  const [sources, passphrase] = await Promise.all([
    Promise.all(locales.map(sourcesOf)),
    message.securePassphrase === undefined
      ? undefined
      : passwords.hashPassword(message.securePassphrase),
  ]);
  const files = await loadSecureFiles(context.files, recipients.length);
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
    ...(files.length && { files: files.length }),
  };
  const fileList = files.map(({ filename, type, size }) => ({ filename, type, size }));
  const fields = sources[0]!;
  const mails = new Map(locales.map((locale, i) => [locale, sources[i]!]));
  const render = createRenderer(mails, { ...message, brand }, at);
  const encrypted = await inParallel(16, recipients, async ({ id, to, ...recipient }) => {
    await nextTurn();
    const rendered = render({ id, to, ...recipient });
    if ("error" in rendered)
      return { subject: fields.subject.slice(0, 300), error: rendered.error };
    const { subject, ...body } = rendered;
    await storeFiles(orgId, id, files);
    const content = { ...body, ...(files.length && { files: fileList }) };
    await objects.put(blobKeyOf(orgId, id), await encryptBody(orgId, id, content));
    return { subject, write: putMessageWrite({ ...shared, id, toEmail: to, subject, views: 0 }) };
  });
  const { html, text, subject } = buildNotice({
    html: fields.html,
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
    context: { ...context, template: undefined, brand: undefined, files: [] },
    recipients: encrypted.map(({ subject, error }) => ({
      subject,
      ...(error !== undefined && { error }),
    })),
    writes: encrypted.flatMap(({ write }) => (write ? [write] : [])),
  };
}

type FileWithBytes = SecureFile & { bytes: Uint8Array };

/**
 * Throws 400 for a file that its page could not deliver, and when the copies for all recipients
 * together are too large.
 */
async function loadSecureFiles(
  files: AttachmentFile[],
  recipientCount: number,
): Promise<FileWithBytes[]> {
  for (const [i, { size }] of files.entries())
    if (size > maxSecureFileBytes)
      throw limitExceeded(
        `attachments.${i}`,
        `attachments.${i}: a file of a secure message can have at most 4 MB`,
      );
  const bytesOfAll = files.reduce((sum, { size }) => sum + size, 0) * recipientCount;
  if (bytesOfAll > maxCharacters) throw tooLarge();
  return Promise.all(
    files.map(async (file) => {
      const { filename, type, size } = file;
      return { filename, type, size, bytes: await readAttachment(file) };
    }),
  );
}

/** Each recipient has copies of their own, so that they can be deleted with the message. */
async function storeFiles(orgId: number, id: number, files: FileWithBytes[]): Promise<void> {
  for (const [file, { bytes }] of files.entries())
    await objects.put(fileBlobKeyOf(orgId, id, file), await encrypt({ orgId, id, file }, bytes));
}

const putMessageWrite = (item: SecureMessageItem): Write =>
  put(keys.secureMessage(item.orgId, item.id), {
    ...item,
    ...indexAttributes(indexes.due("SECURE", dueShardOf(item.id)), item.expiresAt),
  });

type Part = Exclude<keyof LiquidSources, "snippets" | "locale">;
type RenderResult = LiquidSources | { error: string };

function compileParts(fields: LiquidSources) {
  const parse = (field: Part) =>
    fields[field] === undefined
      ? undefined
      : liquid.compile(fields[field], {
          ...{ escape: field === "html", field },
          snippets: field === "subject" ? undefined : (fields.snippets ?? {}),
        });
  return { subject: parse("subject"), html: parse("html"), text: parse("text") };
}

/**
 * Returns an error for a recipient whose message cannot be rendered. Throws 400 when all messages
 * together are too large.
 */
function createRenderer(
  sources: ReadonlyMap<string | undefined, LiquidSources>,
  message: Pick<MessageFields, "variables"> & Pick<IntakeContext, "brand">,
  now: Date,
): (recipient: SecureRecipient) => RenderResult {
  const mails = new Map([...sources].map(([locale, fields]) => [locale, compileParts(fields)]));
  const pool = liquid.newPool();
  let characters = 0;
  return (recipient) => {
    const budget = new liquid.Budget({ pool });
    const rendered = tryRender(() => {
      const compiled = mails.get(recipient.locale)!;
      const variables = mergeVariables(message, recipient);
      const renderField = (field: Part) =>
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
