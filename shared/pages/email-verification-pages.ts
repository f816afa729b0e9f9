// The pages that verify the email address of a sign-up. They work without script.
import type { Language } from "../email/languages.ts";
import { emailVerificationWording } from "../email/wording/by-topic.ts";
import { html } from "../kernel/html.ts";
import { renderPage } from "./page-layout.ts";
import { renderWayOn } from "./way-on.ts";

/** Asks for a click, because mail scanners open links. */
export function renderVerifyPage(lang: Language, token: string, email: string): string {
  const { title, question, verify } = emailVerificationWording[lang];
  const body = html`<p>${question(email)}</p>
<form method="post" action="/verify-email">
<input type="hidden" name="token" value="${token}">
<button>${verify}</button>
</form>`;
  return renderPage({ lang, title, body });
}

export function renderVerifiedPage(lang: Language, outcome: "done" | "invalid"): string {
  const wording = emailVerificationWording[lang];
  const title = outcome === "done" ? wording.doneTitle : wording.invalidTitle;
  const body = html`<p role="status">${wording[outcome]}</p>
${renderWayOn(lang, "openConsole")}`;
  return renderPage({ lang, title, body });
}
