import { preferredLanguage } from "../email/languages.ts";
import { type ErrorPageWording, errorPageWording } from "../email/wording/by-topic.ts";
import { html } from "../kernel/html.ts";
import { renderPage } from "./page-layout.ts";

/** The page for a failed form or link: what to do now, and the reference for support. */
export function renderErrorPage(
  status: number,
  requestId: string,
  acceptLanguage: string | undefined,
): string {
  const lang = preferredLanguage(acceptLanguage);
  const wording = errorPageWording[lang];
  const kind = kindByStatus[status] ?? (status >= 500 ? "ours" : "wrong");
  return renderPage({
    lang,
    title: wording[`${kind}Title`],
    body: html`<p>${wording[kind]}</p>\n<p class="faint">${wording.reference}: ${requestId}</p>`,
  });
}

type ErrorPageKind = Exclude<
  {
    [Word in keyof ErrorPageWording]: Word extends `${infer Kind}Title` ? Kind : never;
  }[keyof ErrorPageWording],
  never
>;

const kindByStatus: Record<number, ErrorPageKind> = {
  404: "gone",
  410: "gone",
  413: "large",
  429: "busy",
  503: "busy",
};
