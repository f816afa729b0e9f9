import { html } from "../http/html.ts";
import { type FailureWords, failureWords } from "./failure-words.ts";
import { page } from "./page.ts";
import { languageOf } from "./words.ts";

/** For who has sent a form, or followed a link, and cannot be served: what to do now, and what to name when asking for help. */
export function failure(status: number, requestId: string, acceptLanguage: string | undefined): string {
  const lang = languageOf(acceptLanguage);
  const said = failureWords[lang];
  const what = kinds[status] ?? (status >= 500 ? "ours" : "wrong");
  return page({
    lang,
    title: said[`${what}Title`],
    body: html`<p>${said[what]}</p>\n<p class="faint">${said.reference}: ${requestId}</p>`,
  });
}

type Kind = Exclude<{ [Word in keyof FailureWords]: Word extends `${infer Kind}Title` ? Kind : never }[keyof FailureWords], never>;

const kinds: Record<number, Kind> = { 404: "gone", 410: "gone", 413: "large", 429: "busy", 503: "busy" };
