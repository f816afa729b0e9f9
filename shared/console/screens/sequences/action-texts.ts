// Actions of steps: their names, what each needs, and what each does as a sentence.
import { t } from "../../language/translate.ts";
import type { StepAction } from "./step-draft.ts";

/** Names of records that actions refer to, by id. */
export interface ActionRecordNames {
  tag(id: unknown): string;
  list(id: unknown): string;
  topic(id: unknown): string;
  sequence(id: unknown): string;
}

export const actionGroups: { group: string; items: { value: string; label: string }[] }[] = [
  {
    group: t("Tags and lists"),
    items: [
      { value: "add_tag", label: t("Add a tag") },
      { value: "remove_tag", label: t("Remove a tag") },
      { value: "add_to_list", label: t("Add to a list") },
      { value: "remove_from_list", label: t("Remove from a list") },
    ],
  },
  {
    group: t("Fields and score"),
    items: [
      { value: "set_field", label: t("Set a field") },
      { value: "add_to_field", label: t("Add to a field") },
      { value: "clear_field", label: t("Clear a field") },
      { value: "adjust_score", label: t("Change the lead score") },
    ],
  },
  {
    group: t("Subscription"),
    items: [
      { value: "join_topic", label: t("Subscribe to a topic") },
      { value: "leave_topic", label: t("Unsubscribe from a topic") },
      { value: "unsubscribe", label: t("Unsubscribe from everything") },
    ],
  },
  {
    group: t("Sequences"),
    items: [
      { value: "enroll", label: t("Start another sequence") },
      { value: "leave_sequence", label: t("End another sequence") },
    ],
  },
  {
    group: t("Your team and systems"),
    items: [
      { value: "notify", label: t("Email your team") },
      { value: "call_url", label: t("Call a URL") },
    ],
  },
];

/** The record that an action is about. */
export const recordOfAction: Record<string, { field: string; kind: ActionRecordKind }> = {
  add_tag: { field: "tagId", kind: "tags" },
  remove_tag: { field: "tagId", kind: "tags" },
  add_to_list: { field: "listId", kind: "lists" },
  remove_from_list: { field: "listId", kind: "lists" },
  join_topic: { field: "topicId", kind: "topics" },
  leave_topic: { field: "topicId", kind: "topics" },
  enroll: { field: "sequenceId", kind: "sequences" },
  leave_sequence: { field: "sequenceId", kind: "sequences" },
};
export type ActionRecordKind = "tags" | "lists" | "topics" | "sequences";

const chooseTexts: Record<ActionRecordKind, string> = {
  tags: t("Choose a tag."),
  lists: t("Choose a list."),
  topics: t("Choose a topic."),
  sequences: t("Choose a sequence."),
};

/** What is missing before the sequence can be active. */
export function problemsOfAction(given: StepAction | null): string[] {
  if (!given) return [t("Choose an action.")];
  const { action, field, value, delta } = given;
  const record = recordOfAction[action];
  if (record) {
    const isNamed = action === "add_tag" && Boolean(given.tagName);
    return given[record.field] === undefined && !isNamed ? [chooseTexts[record.kind]] : [];
  }
  if (action === "notify") return given.message ? [] : [t("Write the text.")];
  if (action === "call_url") return problemsOfCall(given);
  if (action === "adjust_score") return delta ? [] : [t("Say how many points.")];
  if (!/field$/.test(action)) return [];
  if (!field) return [t("Choose a field.")];
  const isEmpty = value === undefined || value === "" || (Array.isArray(value) && !value.length);
  return action !== "clear_field" && isEmpty ? [t("Give the value.")] : [];
}

function problemsOfCall({ url, saveResponse = [] }: StepAction): string[] {
  if (!url) return [t("Give the URL.")];
  const saved = saveResponse as { path: string; field: string }[];
  return saved.every(({ path, field }) => path && field) ? [] : [t("Say what is stored where.")];
}

export function actionText(given: StepAction | null, names: ActionRecordNames): string {
  if (!given) return t("No action yet");
  const { action, tagId, tagName, listId, topicId, sequenceId, delta } = given;
  const tag = tagName ? String(tagName) : nameOr(tagId, names.tag);
  const field = String(given.field ?? "…").replace(/^customFields\./, "");
  const value = given.value === undefined ? "…" : [given.value].flat().map(String).join(", ");
  const points = Number(delta ?? 0);
  const texts: Record<string, string> = {
    add_tag: t("Add the tag {tag}", { tag }),
    remove_tag: t("Remove the tag {tag}", { tag }),
    add_to_list: t("Add to the list {list}", { list: nameOr(listId, names.list) }),
    remove_from_list: t("Remove from the list {list}", { list: nameOr(listId, names.list) }),
    join_topic: t("Subscribe to the topic {topic}", { topic: nameOr(topicId, names.topic) }),
    leave_topic: t("Unsubscribe from the topic {topic}", {
      topic: nameOr(topicId, names.topic),
    }),
    set_field: t("Set {field} to {value}", { field, value }),
    add_to_field: t("Add {value} to {field}", { value, field }),
    clear_field: t("Clear {field}", { field }),
    adjust_score:
      points < 0
        ? t("Take {points} points", { points: -points })
        : t("Add {points} points", { points }),
    enroll: t("Start the sequence {sequence}", {
      sequence: nameOr(sequenceId, names.sequence),
    }),
    leave_sequence: t("End the sequence {sequence}", {
      sequence: nameOr(sequenceId, names.sequence),
    }),
    unsubscribe: t("Unsubscribe from everything"),
    notify: given.subject
      ? t("Email your team: {subject}", { subject: String(given.subject) })
      : t("Email your team"),
    call_url: t("Call {url}", { url: String(given.url ?? "…").replace(/^https?:\/\//, "") }),
  };
  return texts[action] ?? action;
}

const nameOr = (id: unknown, nameOf: (id: unknown) => string): string =>
  id === undefined ? "…" : nameOf(id);
