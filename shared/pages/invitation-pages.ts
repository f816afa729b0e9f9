// The pages of an invitation to an organization. They work without script.

import { minPasswordLength } from "../domain/identity/passwords.ts";
import type { Language } from "../email/languages.ts";
import { type InvitationWording, invitationWording } from "../email/wording/by-topic.ts";
import { html } from "../kernel/html.ts";
import { renderPage } from "./page-layout.ts";
import { renderWayOn } from "./way-on.ts";

interface OpenInvitation {
  email: string;
  organizationName: string;
  invitedBy: string;
  hasAccount: boolean;
  requiresSso: boolean;
  /** Where a new user can join with single sign-on. */
  ssoUrl: string | null;
}

/** Why the form is shown again. */
export type Refusal = "wrongPassword" | "tooShort" | "weak" | "tooMany" | "wrongCode";

const refusalLine = (wording: InvitationWording, refusal: Refusal | undefined) =>
  refusal !== undefined && html`<p class="bad" role="alert" id="refused">${wording[refusal]}</p>`;
const invalidMark = (refusal: Refusal | undefined) =>
  refusal !== undefined && html` aria-invalid="true"`;

/** Asks for the password of the account, or for that of a new one. */
export function renderInvitationPage(
  lang: Language,
  token: string,
  { refusal, ...invitation }: OpenInvitation & { refusal?: Refusal | undefined },
): string {
  const wording = invitationWording[lang];
  const { email, organizationName, invitedBy, hasAccount, requiresSso, ssoUrl } = invitation;
  const invalid = invalidMark(refusal);
  const accountFields = html`<label for="password">${wording.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password"
  required maxlength="200"${invalid}>
<p class="faint"><a href="/reset-password">${wording.forgot}</a></p>`;
  const newUserFields = html`<label for="name">${wording.name}</label>
<input id="name" name="name" autocomplete="name" maxlength="200">
<label for="password">${wording.newPassword}</label>
<input id="password" name="password" type="password" autocomplete="new-password"
  required minlength="${minPasswordLength}" maxlength="200" aria-describedby="rule"${invalid}>
<p class="faint" id="rule">${wording.passwordRule}</p>`;
  const passwordForm = html`<form method="post" action="/accept-invitation">
<input type="hidden" name="token" value="${token}">
${refusalLine(wording, refusal)}
${hasAccount ? accountFields : newUserFields}
<button>${wording.join}</button>
</form>`;
  // An account must be proven by its password once, because somebody else may have made it.
  const body = html`<p>${wording.invited(invitedBy, email)}</p>
${hasAccount && html`<p>${wording.hasAccount}</p>`}
${!hasAccount && ssoUrl !== null && html`<p><a href="${ssoUrl}">${wording.joinWithSso}</a></p>`}
${(hasAccount || !requiresSso) && passwordForm}`;
  return renderPage({ lang, title: wording.title(organizationName), body });
}

interface CodePage {
  token: string;
  mfaToken: string;
  /** Whether the code was mailed. Otherwise it comes from an app. */
  mailed: boolean;
  refusal?: Refusal | undefined;
}

/** Asks for the second factor. */
export function renderInvitationCodePage(
  lang: Language,
  { token, mfaToken, mailed, refusal }: CodePage,
): string {
  const wording = invitationWording[lang];
  const body = html`<p>${mailed ? wording.codeFromMail : wording.codeFromApp}</p>
<form method="post" action="/accept-invitation">
<input type="hidden" name="token" value="${token}">
<input type="hidden" name="mfaToken" value="${mfaToken}">
<input type="hidden" name="mailed" value="${mailed ? "yes" : ""}">
${refusalLine(wording, refusal)}
<label for="code">${wording.code}</label>
<input id="code" name="code" autocomplete="one-time-code" required
  maxlength="50"${invalidMark(refusal)}>
<button>${wording.join}</button>
</form>`;
  return renderPage({ lang, title: wording.codeTitle, body });
}

/** `ssoUrl`: the organization takes no password of the user, who logs in there. */
export function renderInvitationAcceptedPage(
  lang: Language,
  organizationName: string,
  ssoUrl?: string,
): string {
  const { doneTitle, done, logInWithSso } = invitationWording[lang];
  const body =
    ssoUrl === undefined
      ? html`<p role="status">${done}</p>
${renderWayOn(lang, "openConsole")}`
      : html`<p><a href="${ssoUrl}">${logInWithSso}</a></p>`;
  return renderPage({ lang, title: doneTitle(organizationName), body });
}

/** `invalid`: the link does not work; `already`: the user is a member. */
export function renderInvitationRefusedPage(lang: Language, why: "invalid" | "already"): string {
  const wording = invitationWording[lang];
  const title = why === "invalid" ? wording.invalidTitle : wording.alreadyTitle;
  const body = html`<p role="status">${wording[why]}</p>
${renderWayOn(lang, "openConsole")}`;
  return renderPage({ lang, title, body });
}
