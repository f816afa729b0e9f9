// The pages behind the unsubscribe link of marketing mail, one for each state of the subscription.
import type { UnsubscribeStatus } from "../domain/delivery-events/unsubscribes.ts";
import { type Language, subscriberPageWording } from "../email/wording/subscriber-pages.ts";
import { type Html, html } from "../kernel/html.ts";
import { renderPage } from "./page-layout.ts";

/**
 * `back`: the contact has just subscribed again, so the page does not ask whether to unsubscribe.
 */
export const renderUnsubscribePage = (
  lang: Language,
  subscription: UnsubscribeStatus,
  { back: justResubscribed = false } = {},
): string =>
  (justResubscribed && subscription.state === "subscribed"
    ? renderResubscribedPage
    : pageByState[subscription.state])(lang, subscription);

export function renderInvalidLinkPage(lang: Language): string {
  const { invalidTitle: title, invalid: why } = subscriberPageWording[lang];
  return renderPage({ lang, title, body: html`<p>${why}</p>` });
}

type PageRenderer = (lang: Language, subscription: UnsubscribeStatus) => string;

const pageByState: Record<UnsubscribeStatus["state"], PageRenderer> = {
  subscribed: (lang, { email, siteName }) => {
    const { askTitle: title, unsubscribeQuestion, unsubscribe } = subscriberPageWording[lang];
    return renderPage({
      lang,
      title,
      body: [
        html`<p>${unsubscribeQuestion(email, siteName)}</p>`,
        postForm(html`<button>${unsubscribe}</button>`),
      ],
    });
  },
  unsubscribed: (lang, { email, siteName, everything }) => {
    const {
      unsubscribedTitle: title,
      unsubscribed,
      outAll,
      all,
      allWhy,
      resubscribe,
      resubscribeHint,
    } = subscriberPageWording[lang];
    const more = html`<p class="faint">${allWhy}</p>
<button class="quiet" name="action" value="unsubscribe_all">${all}</button>`;
    const resubscribeButton = html`<p class="faint">${resubscribeHint}</p>
<button class="quiet" name="action" value="resubscribe">${resubscribe}</button>`;
    const what = everything ? outAll(email) : unsubscribed(email, siteName);
    return renderPage({
      lang,
      title,
      body: [
        html`<p>${what}</p>`,
        ...(everything ? [] : [postForm(more)]),
        postForm(resubscribeButton),
      ],
    });
  },
  suppressed: (lang, { email, siteName }) => {
    const { suppressedTitle: title, suppressed } = subscriberPageWording[lang];
    return renderPage({ lang, title, body: html`<p>${suppressed(email, siteName)}</p>` });
  },
};

function renderResubscribedPage(lang: Language, { email, siteName }: UnsubscribeStatus): string {
  const { resubscribedTitle: title, resubscribed } = subscriberPageWording[lang];
  return renderPage({ lang, title, body: html`<p>${resubscribed(email, siteName)}</p>` });
}

/** To the page's own address: the token stands there and nowhere else. */
const postForm = (content: Html): Html => html`<form method="post">${content}</form>`;
