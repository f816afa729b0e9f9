// The pages behind the unsubscribe link of marketing mail, one for each state of the subscription.
import type {
  TopicSubscription,
  UnsubscribeStatus,
} from "../domain/delivery-events/unsubscribes.ts";
import type { Language } from "../email/languages.ts";
import {
  emailFooterWording,
  invalidLinkWording,
  unsubscribePageWording,
} from "../email/wording/by-topic.ts";
import { type Html, html } from "../kernel/html.ts";
import { renderPage } from "./page-layout.ts";
import { type FieldRefusal, fieldForm, reasonForm, snoozeForm } from "./preference-forms.ts";

/** What the contact has just done on the page. */
type PageAction =
  | "unsubscribe"
  | "unsubscribe_site"
  | "unsubscribe_all"
  | "choose_topics"
  | "change_fields"
  | "snooze"
  | "end_snooze"
  | "give_reason"
  | "resubscribe";

export type PageView = "unsubscribe" | "preferences";

interface Visit {
  /** Token of the link that opened the page. */
  token: string;
  /** `unsubscribe` asks for one confirmation. `preferences` shows all choices. */
  view: PageView;
  action?: PageAction | undefined;
  /** Set if the value of a field was refused. */
  refusal?: FieldRefusal | undefined;
}

/** After an action, the title says what happened. */
export function renderUnsubscribePage(
  lang: Language,
  subscription: UnsubscribeStatus,
  visit: Visit,
): string {
  return pageByState[subscription.state](lang, subscription, visit);
}

export function renderInvalidLinkPage(lang: Language): string {
  const { invalidTitle: title, invalid: why } = invalidLinkWording[lang];
  return renderPage({ lang, title, body: html`<p>${why}</p>` });
}

type PageRenderer = (lang: Language, subscription: UnsubscribeStatus, visit: Visit) => string;

const pageByState: Record<UnsubscribeStatus["state"], PageRenderer> = {
  subscribed: (lang, subscription, visit) => {
    const { topics } = subscription;
    const { action, view } = visit;
    if (action === "resubscribe" && !topics.length)
      return renderResubscribedPage(lang, subscription);
    const topic = topicOf(subscription);
    const hasLeft = topic !== undefined && !topic.subscribed;
    return action || view === "preferences" || hasLeft
      ? renderPreferencePage(lang, subscription, visit)
      : renderConfirmationPage(lang, subscription, visit);
  },
  unsubscribed: (lang, subscription, { token, action }) => {
    const { email, siteName, brand, everything, asksLeaveReason } = subscription;
    const {
      unsubscribedTitle: title,
      unsubscribed,
      outAll,
      all,
      allWhy,
      resubscribe,
      resubscribeHint,
      thanksForReason,
    } = unsubscribePageWording[lang];
    const more = html`<p class="faint">${allWhy}</p>
<button class="quiet" name="action" value="unsubscribe_all">${all}</button>`;
    const resubscribeButton = html`<p class="faint">${resubscribeHint}</p>
<button class="quiet" name="action" value="resubscribe">${resubscribe}</button>`;
    const what = everything ? outAll(email) : unsubscribed(email, siteName);
    return renderPage({
      lang,
      brand,
      title,
      body: [
        html`<p>${what}</p>`,
        ...(action === "give_reason" ? [html`<p role="status">${thanksForReason}</p>`] : []),
        ...(asksLeaveReason ? [postForm(token, reasonForm(lang)), html`<hr>`] : []),
        ...(everything ? [] : [postForm(token, more)]),
        postForm(token, resubscribeButton),
      ],
    });
  },
  suppressed: (lang, { email, siteName, brand }) => {
    const { suppressedTitle: title, suppressed } = unsubscribePageWording[lang];
    return renderPage({ lang, brand, title, body: html`<p>${suppressed(email, siteName)}</p>` });
  },
};

function renderResubscribedPage(
  lang: Language,
  { email, siteName, brand }: UnsubscribeStatus,
): string {
  const { resubscribedTitle: title, resubscribed } = unsubscribePageWording[lang];
  return renderPage({ lang, brand, title, body: html`<p>${resubscribed(email, siteName)}</p>` });
}

/** The topic of the email with the link. */
const topicOf = ({ topics, topicId }: UnsubscribeStatus): TopicSubscription | undefined =>
  topics.find(({ id }) => id === topicId);

function renderConfirmationPage(
  lang: Language,
  subscription: UnsubscribeStatus,
  { token }: Visit,
): string {
  const { email, siteName, brand, topics, fields, canSnooze } = subscription;
  const wording = unsubscribePageWording[lang];
  const topic = topicOf(subscription);
  const question = topic
    ? wording.leaveTopicQuestion(email, topic.name, siteName)
    : wording.unsubscribeQuestion(email, siteName);
  const button = topic ? wording.leaveTopic(topic.name) : emailFooterWording[lang].unsubscribe;
  const preferences = html`<p><a href="/api/v1/unsubscribe/${token}?view=preferences">
${wording.preferencesTitle}</a></p>`;
  return renderPage({
    lang,
    brand,
    title: wording.askTitle,
    body: [
      html`<p>${question}</p>`,
      postForm(token, html`<button name="action" value="unsubscribe">${button}</button>`),
      ...(topics.length || fields.length || canSnooze ? [preferences] : []),
    ],
  });
}

function renderPreferencePage(
  lang: Language,
  subscription: UnsubscribeStatus,
  { token, action, refusal }: Visit,
): string {
  const { email, siteName, brand, topics, fields, canSnooze, snoozedUntil } = subscription;
  const wording = unsubscribePageWording[lang];
  const topic = topicOf(subscription);
  const leaves = topic?.subscribed && !action;
  const saveClass = leaves && html` class="quiet"`;
  return renderPage({
    lang,
    brand,
    title: titleOfPreferences(lang, topic, refusal ? undefined : action),
    body: [
      ...(snoozedUntil ? [renderPause(lang, subscription, { token, until: snoozedUntil })] : []),
      ...(topics.length ? [html`<p>${wording.preferences(email, siteName)}</p>`] : []),
      ...(leaves
        ? [
            postForm(
              token,
              html`<button name="action" value="unsubscribe">
${wording.leaveTopic(topic.name)}</button>`,
            ),
          ]
        : []),
      ...(topics.length
        ? [
            postForm(
              token,
              html`<fieldset>
<legend>${wording.topics}</legend>
${topics.map(topicChoice)}
</fieldset>
<button${saveClass} name="action" value="choose_topics">${wording.save}</button>`,
            ),
            html`<hr>`,
          ]
        : []),
      ...(fields.length ? [postForm(token, fieldForm(lang, fields, refusal)), html`<hr>`] : []),
      ...(canSnooze && !snoozedUntil
        ? [postForm(token, snoozeForm(lang, siteName)), html`<hr>`]
        : []),
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
  if (action === "change_fields") return wording.detailsSavedTitle;
  if (action === "snooze") return wording.snoozedTitle;
  if (action === "resubscribe" || action === "end_snooze") return wording.resubscribedTitle;
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

const renderPause = (
  lang: Language,
  { email, siteName }: UnsubscribeStatus,
  { token, until }: { token: string; until: string },
): Html => {
  const { snoozed, endSnooze } = unsubscribePageWording[lang];
  const format = new Intl.DateTimeFormat(lang, { dateStyle: "long", timeZone: "UTC" });
  const button = html`<button class="quiet" name="action" value="end_snooze">${endSnooze}</button>`;
  return html`<p>${snoozed(email, siteName, format.format(new Date(until)))}</p>
${postForm(token, button)}
<hr>`;
};
