// The pages behind the unsubscribe link of marketing mail, one for each state of the subscription.
import type {
  TopicSubscription,
  UnsubscribeStatus,
} from "../domain/delivery-events/unsubscribes.ts";
import type { Language } from "../email/wording/subscriber-pages.ts";
import { unsubscribePageWording } from "../email/wording/unsubscribe-pages.ts";
import { type Html, html } from "../kernel/html.ts";
import { renderPage } from "./page-layout.ts";

/** What the contact has just done on the page. */
type PageAction =
  | "unsubscribe"
  | "unsubscribe_site"
  | "unsubscribe_all"
  | "choose_topics"
  | "resubscribe";

interface Visit {
  /** Token of the link that opened the page. */
  token: string;
  action?: PageAction | undefined;
}

/** After an action, the title says what happened. */
export function renderUnsubscribePage(
  lang: Language,
  subscription: UnsubscribeStatus,
  visit: Visit,
): string {
  const { state, topics } = subscription;
  if (state === "subscribed" && topics.length)
    return renderPreferencePage(lang, subscription, visit);
  if (state === "subscribed" && visit.action === "resubscribe")
    return renderResubscribedPage(lang, subscription);
  return pageByState[state](lang, subscription, visit);
}

export function renderInvalidLinkPage(lang: Language): string {
  const { invalidTitle: title, invalid: why } = unsubscribePageWording[lang];
  return renderPage({ lang, title, body: html`<p>${why}</p>` });
}

type PageRenderer = (lang: Language, subscription: UnsubscribeStatus, visit: Visit) => string;

const pageByState: Record<UnsubscribeStatus["state"], PageRenderer> = {
  subscribed: (lang, { email, siteName }, { token }) => {
    const { askTitle: title, unsubscribeQuestion, unsubscribe } = unsubscribePageWording[lang];
    return renderPage({
      lang,
      title,
      body: [
        html`<p>${unsubscribeQuestion(email, siteName)}</p>`,
        postForm(token, html`<button>${unsubscribe}</button>`),
      ],
    });
  },
  unsubscribed: (lang, { email, siteName, everything }, { token }) => {
    const {
      unsubscribedTitle: title,
      unsubscribed,
      outAll,
      all,
      allWhy,
      resubscribe,
      resubscribeHint,
    } = unsubscribePageWording[lang];
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
        ...(everything ? [] : [postForm(token, more)]),
        postForm(token, resubscribeButton),
      ],
    });
  },
  suppressed: (lang, { email, siteName }) => {
    const { suppressedTitle: title, suppressed } = unsubscribePageWording[lang];
    return renderPage({ lang, title, body: html`<p>${suppressed(email, siteName)}</p>` });
  },
};

function renderResubscribedPage(lang: Language, { email, siteName }: UnsubscribeStatus): string {
  const { resubscribedTitle: title, resubscribed } = unsubscribePageWording[lang];
  return renderPage({ lang, title, body: html`<p>${resubscribed(email, siteName)}</p>` });
}

function renderPreferencePage(
  lang: Language,
  subscription: UnsubscribeStatus,
  { token, action }: Visit,
): string {
  const { email, siteName, topics } = subscription;
  const wording = unsubscribePageWording[lang];
  const topic = topics.find(({ id }) => id === subscription.topicId);
  const leaves = topic?.subscribed && !action;
  const saveClass = leaves && html` class="quiet"`;
  return renderPage({
    lang,
    title: titleOfPreferences(lang, topic, action),
    body: [
      html`<p>${wording.preferences(email, siteName)}</p>`,
      ...(leaves
        ? [postForm(token, html`<button>${wording.leaveTopic(topic.name)}</button>`)]
        : []),
      postForm(
        token,
        html`<fieldset>
<legend>${wording.topics}</legend>
${topics.map(topicChoice)}
</fieldset>
<button${saveClass} name="action" value="choose_topics">${wording.save}</button>`,
      ),
      html`<hr>`,
      postForm(
        token,
        html`<p class="faint">${wording.leaveSiteHint(siteName)}</p>
<button class="quiet" name="action" value="unsubscribe_site">${wording.leaveSite}</button>`,
      ),
    ],
  });
}

function titleOfPreferences(
  lang: Language,
  topic: TopicSubscription | undefined,
  action: PageAction | undefined,
): string {
  const wording = unsubscribePageWording[lang];
  if (action === "choose_topics") return wording.savedTitle;
  if (action === "resubscribe") return wording.resubscribedTitle;
  return action && topic ? wording.leftTopicTitle(topic.name) : wording.preferencesTitle;
}

const topicChoice = ({ id, name, description, subscribed }: TopicSubscription): Html => html`
<input type="hidden" name="shown" value="${id}">
<label for="topic-${id}"><input type="checkbox" id="topic-${id}" name="topic" value="${id}"${
  subscribed && html` checked`
}${description !== null && html` aria-describedby="about-${id}"`}>${name}</label>
${description !== null && html`<p class="hint" id="about-${id}">${description}</p>`}`;

/** Names its address, because a POST to the URL of the header is a one-click unsubscribe. */
const postForm = (token: string, content: Html): Html =>
  html`<form method="post" action="/api/v1/unsubscribe/${token}">${content}</form>`;
