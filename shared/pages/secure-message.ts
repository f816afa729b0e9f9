// The page behind the link of a secure message. What the message holds is anybody's html: it stands in a frame where nothing runs.
import type { Cover } from "../domain/secure-messages.ts";
import { type Html, html } from "../http/html.ts";
import { page } from "./page.ts";
import { secureWords } from "./secure-words.ts";
import type { Language } from "./words.ts";

/** Before anything is shown: programs that open links see no more than this, and use nothing up. */
export function cover(lang: Language, { sender, subject, expiresAt, asksPassphrase }: Cover, refused?: "wrong" | "tooMany"): string {
  const words = secureWords[lang];
  const passphrase = html`<label for="passphrase">${words.passphrase}</label>
<input id="passphrase" name="passphrase" type="password" autocomplete="off" required maxlength="200" aria-describedby="hint"${refused !== undefined && html` aria-invalid="true"`}>
<p class="faint" id="hint">${words.passphraseHint}</p>`;
  const body = html`<p>${words.from(sender)}</p>
<p><strong>${subject}</strong></p>
<form method="post">
${refused !== undefined && html`<p class="bad" role="alert">${words[refused]}</p>`}
${asksPassphrase && passphrase}
<button>${words.show}</button>
</form>
<p class="faint">${words.until(dateOf(lang, expiresAt))}</p>`;
  return page({ lang, title: words.title, body });
}

export function shown(
  lang: Language,
  { sender, subject, expiresAt }: Cover,
  said: { html?: string | undefined; text?: string | undefined },
): string {
  const words = secureWords[lang];
  const told = html`<p class="faint">${words.sentBy(sender)} ${words.until(dateOf(lang, expiresAt))}</p>`;
  const body = said.html === undefined ? html`${told}<p class="text">${said.text ?? ""}</p>` : html`${told}${framed(lang, said.html)}`;
  return page({ lang, title: subject, body, wide: true });
}

function framed(lang: Language, inner: string): Html {
  // Links leave for pages of their own, which learn nothing of where they were.
  const content = `<!doctype html><base target="_blank"><meta name="referrer" content="no-referrer">${inner}`;
  return html`<iframe title="${secureWords[lang].frame}" style="height:${heightOf(inner)}" sandbox="allow-popups allow-popups-to-escape-sandbox" referrerpolicy="no-referrer" srcdoc="${content}"></iframe>`;
}

/**
 * Nothing runs in the frame, so it cannot say how tall its content is. A few lines get about their height on a phone, and can be scrolled
 * where that is too little; what may be of any height gets most of the window.
 */
function heightOf(inner: string): string {
  const most = "75vh";
  if (inner.length > 4000 || /<(img|table|svg|style|link|form|pre)\b|\b(height|margin|padding|font-size)\s*:/i.test(inner)) return most;
  const blocks = inner.split(/<(?:p|br|div|li|h\d|blockquote)\b/i).map((block) => block.replace(/<[^>]*>/g, "").trim().length);
  const lines = blocks.reduce((sum, length) => sum + (length ? Math.ceil(length / phoneColumns) + 1 : 0), 0);
  return `min(${most}, ${4 + 1.6 * lines}rem)`;
}

const phoneColumns = 38;

export function gone(lang: Language): string {
  const { goneTitle: title, gone } = secureWords[lang];
  return page({ lang, title, body: html`<p>${gone}</p>` });
}

export function invalid(lang: Language): string {
  const { invalidTitle: title, invalid: why } = secureWords[lang];
  return page({ lang, title, body: html`<p>${why}</p>` });
}

const dateOf = (lang: Language, at: string): string =>
  new Intl.DateTimeFormat(lang, { dateStyle: "long", timeZone: "UTC" }).format(new Date(at));
