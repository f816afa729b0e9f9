// Forwards mail of people with its files to one address of the site, as an email of its own. It has
// reserved its send id, so a repeat after a crash is the same email. Four things end loops: mail
// that was forwarded has a header of ours, and `Auto-Submitted`, so it is never forwarded again;
// and mail that passed many servers, or is from one of the two addresses itself, is left out.

import { get } from "../../adapters/dynamodb/table.ts";
import { htmlToText } from "../../email/plain-text.ts";
import { renderSimpleEmail } from "../../email/simple-email.ts";
import { isTransient, Problem } from "../../errors.ts";
import { decompress } from "../../kernel/compressed-values.ts";
import { normalizeEmail, toSingleLine } from "../../kernel/email-fields.ts";
import * as log from "../../kernel/log.ts";
import { keys } from "../../keys.ts";
import { attachmentsFlaw } from "../../providers/limits.ts";
import { traitsOf } from "../../providers/traits.ts";
import * as attemptLimits from "../identity/attempt-limits.ts";
import * as sites from "../identity/sites.ts";
import { findDefault } from "../senders/choose-config.ts";
import type { SendingConfig } from "../senders/sending-config-schema.ts";
import { acceptSingle } from "../sending/accept/accept-single.ts";
import { type AttachmentFile, maxFileBytes, maxTotalBytes } from "../sending/accept/attachments.ts";
import { loadIntake } from "../sending/accept/intake.ts";
import { maxAttachments } from "../sending/accept/message-fields.ts";
import { SingleMessage } from "../sending/accept/single-message.ts";
import type { InboundContent, InboundEmailItem, InboundFile } from "./inbound-email.ts";

/** A mail that a program of ours forwarded has it. */
const forwardedHeader = "X-Pennymail-Forwarded";

/** Servers that a mail passes on its way: usually below ten. */
const maxHops = 25;

const canForward = (item: InboundEmailItem, mail: InboundContent): boolean =>
  item.isSpam !== true &&
  !mail.headers.some(({ name }) => name === forwardedHeader.toLowerCase()) &&
  mail.headers.filter(({ name }) => name === "received").length <= maxHops;

const perHour = (siteId: number): attemptLimits.AttemptLimit => ({
  name: `forwarded mail of site ${siteId}`,
  limit: 500,
  seconds: 3600,
});

export async function forwardMail(orgId: number, id: number, sendId: number): Promise<void> {
  const item = await get<InboundEmailItem>(keys.inboundEmail(orgId, id));
  // Its site or its sender was erased.
  if (!item) return;
  const { siteId } = item;
  const mail = await decompress<InboundContent>(item);
  const site = await sites.find({ orgId }, siteId);
  const forwardTo = site.inbound?.forwardTo;
  if (forwardTo === undefined || !canForward(item, mail)) return;
  const isOwn = (address = "") => normalizeEmail(address) === normalizeEmail(item.from);
  if (isOwn(forwardTo) || isOwn(site.inbound?.address)) return;
  try {
    await attemptLimits.countFailure(perHour(siteId));
    await accept({ item, mail, site }, forwardTo, sendId);
  } catch (error) {
    // No sending config is verified, the credits are used up, or the limit of the hour is reached.
    // A retry would not help.
    const isFinal = error instanceof Problem && (!isTransient(error) || error.kind === "limited");
    if (!isFinal) throw error;
    log.warn("inbound mail is not forwarded", { orgId, inboundEmailId: id, code: error.code });
  }
}

const maxTextLength = 100_000;

interface ForwardedMail {
  item: InboundEmailItem;
  mail: InboundContent;
  site: sites.Site;
}

async function accept({ item, mail, site }: ForwardedMail, to: string, id: number): Promise<void> {
  const { orgId, siteId, from, fromName, subject } = item;
  const sender = await findDefault(orgId);
  const message = SingleMessage.parse({
    to,
    siteId,
    sendingConfigId: sender.id,
    fromName: toSingleLine(`${fromName ?? from} (${sites.displayNameOf(site)})`).slice(0, 100),
    ...(from.endsWith(".invalid") ? {} : { replyTo: from }),
    // The content comes in variables, because words of strangers must not run as Liquid.
    subject: "{{ subject }}",
    html: "{{ html | raw }}",
    text: "{{ text }}",
    trackOpens: false,
    trackClicks: false,
    headers: { [forwardedHeader]: String(siteId), "Auto-Submitted": "auto-generated" },
    metadata: { inboundEmailId: item.id },
  });
  const files = selectFiles(item, sender);
  const text = (mail.text ?? htmlToText(mail.html ?? "")).slice(0, maxTextLength);
  const note = noteOf(item, files);
  const blocks = [{ note }, ...text.split(/\r?\n\r?\n/).filter((part) => part.trim())];
  // Set after the parse, because callers cannot send system mail.
  const mailWithVariables = {
    ...message,
    system: true as const,
    variables: {
      subject: subject || "(no subject)",
      ...renderSimpleEmail({ sender: sites.displayNameOf(site), blocks }),
    },
  };
  const intake = await loadIntake({ orgId }, mailWithVariables, { emails: [to] });
  const context = { ...intake, files: files.map(toAttachmentFile) };
  await acceptSingle({ orgId }, mailWithVariables, { context, id });
}

/** The files, in their order, that an email of the sender can carry together. */
function selectFiles({ files }: InboundEmailItem, sender: SendingConfig): InboundFile[] {
  const provider = traitsOf(sender.provider);
  const selected: InboundFile[] = [];
  let bytes = 0;
  for (const file of files) {
    const total = bytes + file.size;
    const attachments = [...selected, file].map(({ filename, size }) => ({ filename, size }));
    if (file.size === 0 || file.size > maxFileBytes || total > maxTotalBytes) continue;
    if (attachments.length > maxAttachments || attachmentsFlaw(provider, attachments)) continue;
    selected.push(file);
    bytes = total;
  }
  return selected;
}

/** The HTML of the author is not forwarded, so its pictures are files like the others. */
const toAttachmentFile = ({ filename, type, size, blob }: InboundFile): AttachmentFile => ({
  filename,
  type,
  size,
  upload: { blob },
});

function noteOf({ from, fromName, files }: InboundEmailItem, forwarded: InboundFile[]): string {
  const author = fromName ? `${fromName} <${from}>` : from;
  const left = files.filter((file) => !forwarded.includes(file));
  if (!left.length) return `From ${author}`;
  const names = left.map(({ filename, size }) => `${filename} (${sizeText(size)})`);
  return `From ${author}. Files that are not forwarded: ${names.join(", ")}`;
}

const sizeText = (bytes: number): string => {
  if (bytes >= 1_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
  return bytes >= 1000 ? `${Math.round(bytes / 1000)} kB` : `${bytes} bytes`;
};
