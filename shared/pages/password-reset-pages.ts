// The pages of a password reset. They work without script.

import { minPasswordLength } from "../domain/identity/passwords.ts";
import type { Language } from "../email/languages.ts";
import { passwordResetWording } from "../email/wording/by-topic.ts";
import { html } from "../kernel/html.ts";
import { invalidIf, renderPage } from "./page-layout.ts";
import { renderWayOn } from "./way-on.ts";

export type PasswordRefusal = "tooShort" | "weak";

interface NewPasswordPage {
  /** The API keys that the user created. */
  apiKeys: { name: string; prefix: string }[];
  refusal?: PasswordRefusal | undefined;
}

/** Asks for the new password, and whether to revoke the user's API keys. */
export function renderNewPasswordPage(
  lang: Language,
  token: string,
  { apiKeys, refusal }: NewPasswordPage,
): string {
  const wording = passwordResetWording[lang];
  const keyLines = apiKeys
    .slice(0, maxKeysShown)
    .map(({ name, prefix }) => html`<li>${name}: <code>${prefix}…</code></li>`);
  const keyChoice =
    apiKeys.length > 0 &&
    html`<p>${wording.apiKeys(apiKeys.length)}</p>
<ul>${keyLines}</ul>
<label><input type="checkbox" name="revokeApiKeys" value="yes"> ${wording.revokeApiKeys}</label>`;
  const body = html`<form method="post" action="/reset-password">
<input type="hidden" name="token" value="${token}">
${refusal !== undefined && html`<p class="bad" role="alert" id="refused">${wording[refusal]}</p>`}
<label for="password">${wording.newPassword}</label>
<input id="password" name="password" type="password" autocomplete="new-password"
 required minlength="${minPasswordLength}" maxlength="200"
 aria-describedby="rule"${invalidIf(refusal !== undefined)}>
<p class="faint" id="rule">${wording.passwordRule}</p>
${keyChoice}
<button>${wording.save}</button>
</form>`;
  return renderPage({ lang, title: wording.resetTitle, body });
}

const maxKeysShown = 10;

export function renderPasswordSetPage(lang: Language): string {
  const { doneTitle, passwordSet } = passwordResetWording[lang];
  const body = html`<p role="status">${passwordSet}</p>
${renderWayOn(lang, "logIn")}`;
  return renderPage({ lang, title: doneTitle, body });
}

/** Asks for the address to mail a link to. `invalid`: the previous link does not work. */
export function renderResetRequestPage(
  lang: Language,
  reason: "invalid" | "ask",
  badEmail = false,
): string {
  const wording = passwordResetWording[lang];
  const body = html`<p>${wording[reason]}</p>
<form method="post" action="/reset-password">
${badEmail && html`<p class="bad" role="alert">${wording.invalidEmail}</p>`}
<label for="email">${wording.email}</label>
<input id="email" name="email" type="email" autocomplete="email" required
 maxlength="254"${invalidIf(badEmail)}>
<button>${wording.send}</button>
</form>`;
  return renderPage({
    lang,
    title: reason === "ask" ? wording.askTitle : wording.invalidTitle,
    body,
  });
}

export function renderLinkSentPage(lang: Language): string {
  const { sentTitle, linkSent } = passwordResetWording[lang];
  const body = html`<p role="status">${linkSent}</p>
${renderWayOn(lang, "logIn")}`;
  return renderPage({ lang, title: sentTitle, body });
}
