// The pages of single sign-on. They work without script.
import type { Language } from "../email/languages.ts";
import { ssoWording } from "../email/wording/by-topic.ts";
import { html } from "../kernel/html.ts";
import { renderPage } from "./page-layout.ts";
import { renderWayOn } from "./way-on.ts";

/**
 * Names the organization before a login that another site started, so that nobody is logged in to
 * an organization of somebody else without noticing.
 */
export function renderSsoStartPage(
  lang: Language,
  { organizationName, url }: { organizationName: string; url: string },
): string {
  const wording = ssoWording[lang];
  const body = html`<p><a href="${url}">${wording.start}</a></p>`;
  return renderPage({ lang, title: wording.startTitle(organizationName), body });
}

/** `reason` is one sentence in English. `againUrl`: starts the login again. */
export function renderSsoFailedPage(
  lang: Language,
  { reason, againUrl }: { reason: string; againUrl: string | undefined },
): string {
  const wording = ssoWording[lang];
  const again = againUrl !== undefined && html`<p><a href="${againUrl}">${wording.again}</a></p>`;
  const body = html`<p role="alert">${wording.reason}: ${reason}</p>
${again || renderWayOn(lang, "logIn")}`;
  return renderPage({ lang, title: wording.failedTitle, body });
}
