// The pages of a secure message. Its HTML comes from the sender, so it is shown in a frame that
// runs no scripts.
import type {
  OpenedMessage,
  SecureMessageCover,
} from "../domain/sending/secure-messages/secure-messages.ts";
import type { Brand } from "../email/brand/brand.ts";
import type { Language } from "../email/languages.ts";
import { secureMessageWording } from "../email/wording/by-topic.ts";
import { type Html, html } from "../kernel/html.ts";
import { invalidIf, renderPage } from "./page-layout.ts";

/** How a page looks. Without a brand, as the service does. */
export interface SecurePageLook {
  lang: Language;
  brand: Brand | null;
}

/**
 * The page before the message is shown. Link scanners see only this page and do not use up the
 * message.
 */
export function renderCoverPage(
  { lang, brand }: SecurePageLook,
  { sender, subject, expiresAt, needsPassphrase }: SecureMessageCover,
  refusal?: "wrong" | "tooMany",
): string {
  const words = secureMessageWording[lang];
  const passphrase = html`<label for="passphrase">${words.passphrase}</label>
<input id="passphrase" name="passphrase" type="password" autocomplete="off" required
 maxlength="200" aria-describedby="hint"${invalidIf(refusal !== undefined)}>
<p class="faint" id="hint">${words.passphraseHint}</p>`;
  const body = html`<p>${words.from(sender)}</p>
<p><strong>${subject}</strong></p>
<form method="post">
${refusal !== undefined && html`<p class="bad" role="alert">${words[refusal]}</p>`}
${needsPassphrase && passphrase}
<button>${words.show}</button>
</form>
<p class="faint">${words.expiryNote(formatDate(lang, expiresAt))}</p>`;
  return renderPage({ lang, brand, title: words.title, body });
}

export function renderMessagePage(
  { lang, brand }: SecurePageLook,
  { cover: { sender, subject, expiresAt }, said: message, files }: OpenedMessage,
): string {
  const words = secureMessageWording[lang];
  const expiry = words.expiryNote(formatDate(lang, expiresAt));
  const senderLine = html`<p class="faint">${words.sentBy(sender)} ${expiry}</p>`;
  const body =
    message.html === undefined
      ? html`${senderLine}${fileList(lang, files)}<p class="text">${message.text ?? ""}</p>`
      : html`${senderLine}${fileList(lang, files)}${messageFrame(lang, message.html)}`;
  return renderPage({ lang, brand, title: subject, body, wide: true });
}

function fileList(lang: Language, files: OpenedMessage["files"]): Html | false {
  if (!files.length) return false;
  const words = secureMessageWording[lang];
  const items = files.map(
    ({ filename, size, url }) =>
      html`<li><a href="${url}" download>${filename}</a>
<span class="faint">${formatSize(lang, size)}</span></li>`,
  );
  return html`<h2>${words.files}</h2>
<ul>${items}</ul>
<p class="faint">${words.filesHint}</p>`;
}

/** Formats a size, such as "812 kB". */
function formatSize(lang: Language, bytes: number): string {
  const [value, unit] =
    bytes < 1_000_000 ? [Math.max(1, bytes / 1000), "kilobyte"] : [bytes / 1e6, "megabyte"];
  const maximumFractionDigits = value < 10 ? 1 : 0;
  const format = { style: "unit", unit, unitDisplay: "short", maximumFractionDigits } as const;
  return new Intl.NumberFormat(lang, format).format(value);
}

function messageFrame(lang: Language, inner: string): Html {
  // Links open in a new tab, without a referrer.
  const head = '<base target="_blank"><meta name="referrer" content="no-referrer">';
  const content = `<!doctype html>${head}${inner}`;
  const { frameTitle } = secureMessageWording[lang];
  return html`<iframe title="${frameTitle}" style="height:${frameHeight(inner)}"
 sandbox="allow-popups allow-popups-to-escape-sandbox" referrerpolicy="no-referrer"
 srcdoc="${content}"></iframe>`;
}

/**
 * Estimates the height of the frame, because a frame without scripts cannot report its content's
 * height. Short texts get about their height on a phone and can be scrolled. Other content gets
 * most of the window.
 */
function frameHeight(html: string): string {
  const maxHeight = "75vh";
  if (
    html.length > 4000 ||
    /<(img|table|svg|style|link|form|pre)\b|\b(height|margin|padding|font-size)\s*:/i.test(html)
  )
    return maxHeight;
  const blocks = html
    .split(/<(?:p|br|div|li|h\d|blockquote)\b/i)
    .map((block) => block.replace(/<[^<>]*>/g, "").trim().length);
  const lines = blocks.reduce(
    (sum, length) => sum + (length ? Math.ceil(length / charsPerPhoneLine) + 1 : 0),
    0,
  );
  return `min(${maxHeight}, ${4 + 1.6 * lines}rem)`;
}

const charsPerPhoneLine = 38;

export function renderExpiredPage({ lang, brand }: SecurePageLook): string {
  const { goneTitle: title, gone } = secureMessageWording[lang];
  return renderPage({ lang, brand, title, body: html`<p>${gone}</p>` });
}

export function renderInvalidLinkPage({ lang, brand }: SecurePageLook): string {
  const { invalidTitle: title, invalid: why } = secureMessageWording[lang];
  return renderPage({ lang, brand, title, body: html`<p>${why}</p>` });
}

const formatDate = (lang: Language, at: string): string =>
  new Intl.DateTimeFormat(lang, { dateStyle: "long", timeZone: "UTC" }).format(new Date(at));
