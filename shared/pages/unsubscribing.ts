// The page behind the link in the footer of marketing mail, in each of its states.
import type { Standing } from "../domain/unsubscribes.ts";
import { type Html, html } from "../http/html.ts";
import { page } from "./page.ts";
import { type Language, words } from "./words.ts";

/** `back`: the person has just come back, and need not be asked at once whether to leave. */
export const unsubscribing = (lang: Language, standing: Standing, { back = false } = {}): string =>
  (back && standing.state === "subscribed" ? welcome : states[standing.state])(lang, standing);

export function invalid(lang: Language): string {
  const { invalidTitle: title, invalid: why } = words[lang];
  return page({ lang, title, body: html`<p>${why}</p>` });
}

type State = (lang: Language, standing: Standing) => string;

const states: Record<Standing["state"], State> = {
  subscribed: (lang, { email, siteName }) => {
    const { askTitle: title, ask, unsubscribe } = words[lang];
    return page({ lang, title, body: [html`<p>${ask(email, siteName)}</p>`, form(html`<button>${unsubscribe}</button>`)] });
  },
  unsubscribed: (lang, { email, siteName }) => {
    const { outTitle: title, out, back, backWhy } = words[lang];
    const again = html`<p class="faint">${backWhy}</p><button class="quiet" name="action" value="resubscribe">${back}</button>`;
    return page({ lang, title, body: [html`<p>${out(email, siteName)}</p>`, form(again)] });
  },
  suppressed: (lang, { email, siteName }) => {
    const { suppressedTitle: title, suppressed } = words[lang];
    return page({ lang, title, body: html`<p>${suppressed(email, siteName)}</p>` });
  },
};

function welcome(lang: Language, { email, siteName }: Standing): string {
  const { backTitle: title, backDone } = words[lang];
  return page({ lang, title, body: html`<p>${backDone(email, siteName)}</p>` });
}

/** To the page's own address: the token stands there and nowhere else. */
const form = (content: Html): Html => html`<form method="post">${content}</form>`;
