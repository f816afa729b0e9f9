// The pages of a password reset. They work without script.
import { passwordResetWording } from "../email/wording/password-reset.ts";
import type { Language } from "../email/wording/subscriber-pages.ts";
import { html } from "../kernel/html.ts";
import { invalidIf, renderPage } from "./page-layout.ts";

type PasswordRefusal = "tooShort" | "common";

/** Asks for the new password. */
export function renderNewPasswordPage(
  lang: Language,
  token: string,
  refusal?: PasswordRefusal,
): string {
  const wording = passwordResetWording[lang];
  const body = html`<form method="post" action="/reset-password">
<input type="hidden" name="token" value="${token}">
${refusal !== undefined && html`<p class="bad" role="alert" id="refused">${wording[refusal]}</p>`}
<label for="password">${wording.newPassword}</label>
<input id="password" name="password" type="password" autocomplete="new-password"
 required minlength="8" maxlength="200" aria-describedby="rule"${invalidIf(refusal !== undefined)}>
<p class="faint" id="rule">${wording.passwordRule}</p>
<button>${wording.save}</button>
</form>`;
  return renderPage({ lang, title: wording.resetTitle, body });
}

export function renderPasswordSetPage(lang: Language): string {
  const { doneTitle, passwordSet } = passwordResetWording[lang];
  return renderPage({ lang, title: doneTitle, body: html`<p role="status">${passwordSet}</p>` });
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
  return renderPage({ lang, title: sentTitle, body: html`<p role="status">${linkSent}</p>` });
}
