// One sentence for each entry of a timeline.
import type { TimelineDetails, TimelineEvent, TimelineType } from "./timeline-event.ts";

interface Entry extends Pick<TimelineEvent, "type" | "at"> {
  record: { type: string; id: number; name: string | null } | null;
  send: { id: number; subject: string } | null;
  details: TimelineDetails;
}

export const summarize = (entry: Entry): string => sentences[entry.type](entry);

const quoted = (text: string): string => `“${text}”`;
const nameOf = ({ record }: Entry): string =>
  record?.name ? quoted(record.name) : "that was deleted";
const because = ({ details: { reason } }: Entry): string => (reason ? `: ${reason}` : "");
const subjectOf = ({ send }: Entry): string =>
  send?.subject ? `email ${quoted(send.subject)}` : "email";
const subjectOfReply = ({ details: { subject } }: Entry): string =>
  subject ? `: ${quoted(subject)}` : "";
const personOrMachine = ({ details: { automated } }: Entry): string =>
  automated ? "A machine" : "The contact";

const sentences: Record<TimelineType, (entry: Entry) => string> = {
  created: ({ details: { source } }) => `Created${source ? ` from ${quoted(source)}` : ""}`,
  tag_added: (entry) => `Got the tag ${nameOf(entry)}`,
  list_joined: (entry) => `Joined the list ${nameOf(entry)}`,
  contact_merged: ({ details: { email } }) => `The contact ${email} was merged into this one`,
  consent_changed: summarizeConsent,
  suppressed: (entry) => `The address was suppressed${because(entry)}`,
  form_submitted: (entry) => `Submitted the form ${nameOf(entry)}`,
  form_confirmed: (entry) => `Confirmed the form ${nameOf(entry)}`,
  custom_event: ({ details: { name } }) => `Event ${quoted(name ?? "")}`,
  page_view: ({ details: { url } }) => (url ? `Viewed ${url}` : "Viewed a page"),
  score_changed: summarizeScore,
  sequence_entered: (entry) => `Entered the sequence ${nameOf(entry)}`,
  sequence_left: summarizeSequenceEnd,
  email_accepted: (entry) => `The ${subjectOf(entry)} waits to be sent`,
  email_sent: (entry) => `The ${subjectOf(entry)} was sent`,
  email_failed: (entry) => `The ${subjectOf(entry)} failed${because(entry)}`,
  email_cancelled: (entry) => `The ${subjectOf(entry)} was cancelled`,
  email_replied: (entry) => `The contact replied${subjectOfReply(entry)}`,
  email_received: (entry) => `${personOrMachine(entry)} sent an email${subjectOfReply(entry)}`,
  email_delivered: (entry) => `The ${subjectOf(entry)} was delivered`,
  email_open: (entry) => `${personOrMachine(entry)} opened the ${subjectOf(entry)}`,
  email_click: (entry) =>
    `${personOrMachine(entry)} clicked ${entry.details.url ?? "a link"} in the ${subjectOf(entry)}`,
  email_bounce: (entry) => `The ${subjectOf(entry)} bounced${because(entry)}`,
  email_spam_report: (entry) => `The contact reported the ${subjectOf(entry)} as spam`,
  email_unsubscribe: (entry) => `The contact unsubscribed from the ${subjectOf(entry)}`,
  email_dropped: (entry) => `The provider dropped the ${subjectOf(entry)}${because(entry)}`,
  email_deferred: (entry) => `The ${subjectOf(entry)} was deferred${because(entry)}`,
};

const consentSources: Record<string, string> = {
  api: "by your organization",
  preference_page: "on the preference page",
  one_click: "in the mail program",
  form: "by a form",
  provider: "reported by the provider",
  merge: "taken over from a merged contact",
  confirmation: "by the link of a confirmation email",
};

function summarizeConsent({ at, details }: Entry): string {
  const { status, topics = [], source = "", reason, comment, snoozedUntil } = details;
  const parts = [
    ...(reason
      ? [`Said why: ${reason.replaceAll("_", " ")}${comment ? `, “${comment}”` : ""}`]
      : []),
    ...(snoozedUntil ? [summarizePause(at, snoozedUntil)] : []),
    ...(status === "subscribed" ? ["Subscribed"] : []),
    ...(status === "unsubscribed" ? ["Unsubscribed"] : []),
    ...topics.map(
      ({ name, subscribed }) => `${subscribed ? "Joined" : "Left"} the topic ${quoted(name)}`,
    ),
  ];
  const change = parts.length ? parts.join(", ") : "Consent changed";
  return [change, consentSources[source]].filter(Boolean).join(" ");
}

const summarizePause = (at: string, until: string): string =>
  until > at ? `Paused marketing email until ${until.slice(0, 10)}` : "Ended the pause";

function summarizeScore({ record, details: { points = 0, reason } }: Entry): string {
  const number = points < 0 ? `${points}` : `+${points}`;
  const cause = record?.name ?? reason;
  return `Score ${number}${cause ? `: ${cause}` : ""}`;
}

function summarizeSequenceEnd(entry: Entry): string {
  const { status, reason } = entry.details;
  if (status === "completed") return `Completed the sequence ${nameOf(entry)}`;
  return `Left the sequence ${nameOf(entry)}${reason ? `: ${reason.replaceAll("_", " ")}` : ""}`;
}
