// The page that a reset mail leads to. It works without script: its forms come back as pages.
import { html } from "../http/html.ts";
import { accountWords } from "./account-words.ts";
import { page } from "./page.ts";
import type { Language } from "./words.ts";

type Refusal = "tooShort" | "common";

/** Asks for the new password. */
export function form(lang: Language, token: string, refused?: Refusal): string {
  const words = accountWords[lang];
  const body = html`<form method="post" action="/reset-password">
<input type="hidden" name="token" value="${token}">
${refused !== undefined && html`<p class="bad" role="alert" id="refused">${words[refused]}</p>`}
<label for="password">${words.newPassword}</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="8" maxlength="200" aria-describedby="rule"${refused !== undefined && html` aria-invalid="true"`}>
<p class="faint" id="rule">${words.rule}</p>
<button>${words.save}</button>
</form>`;
  return page({ lang, title: words.resetTitle, body });
}

export function done(lang: Language): string {
  const { doneTitle, done } = accountWords[lang];
  return page({ lang, title: doneTitle, body: html`<p role="status">${done}</p>` });
}

/** Asks where to mail a link; with `why: "invalid"` since the last one does not work. */
export function request(lang: Language, why: "invalid" | "ask", badEmail = false): string {
  const words = accountWords[lang];
  const body = html`<p>${words[why]}</p>
<form method="post" action="/reset-password">
${badEmail && html`<p class="bad" role="alert">${words.badEmail}</p>`}
<label for="email">${words.email}</label>
<input id="email" name="email" type="email" autocomplete="email" required maxlength="254"${badEmail && html` aria-invalid="true"`}>
<button>${words.send}</button>
</form>`;
  return page({ lang, title: why === "ask" ? words.askTitle : words.invalidTitle, body });
}

export function sent(lang: Language): string {
  const { sentTitle, sent } = accountWords[lang];
  return page({ lang, title: sentTitle, body: html`<p role="status">${sent}</p>` });
}
