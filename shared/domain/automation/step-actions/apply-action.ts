// The contact as an action would leave it. Stores nothing, and starts nothing.
import { missing } from "../../../errors.ts";
import * as records from "../../../kernel/records.ts";
import { type ContactItem, groupAttribute } from "../../audience/contacts/contact-schema.ts";
import { applyChanges } from "../../audience/contacts/contact-writes.ts";
import { listOfSite } from "../../audience/topics/site-topics.ts";
import { applyChoices } from "../../audience/topics/topic-choices.ts";
import { getFieldValue } from "../contact-field-values.ts";
import type { ActionConfig, StepActionName } from "./action-config.ts";
import { addValue, setField } from "./field-changes.ts";

type Preview = (contact: ContactItem, config: ActionConfig) => Promise<ContactItem>;

/** Throws a problem if the action is not possible. */
export const applyAction: Preview = (contact, config) => previews[config.action](contact, config);

const changeGroup =
  (kind: "TAG" | "LIST", joins: boolean): Preview =>
  async (contact, { tagId, listId }) => {
    const id = (kind === "TAG" ? tagId : listId)!;
    await records.find(kind, contact, id);
    const name = groupAttribute(kind);
    return { ...contact, [name]: changeSet(contact[name], id, joins) };
  };

const changeTopic =
  (subscribed: boolean): Preview =>
  async (contact, { topicId }) => {
    const topics = await listOfSite(contact.orgId, contact.siteId);
    const topic = topics.find(({ id }) => id === topicId);
    if (!topic) throw missing("The topic does not exist");
    return { ...contact, ...applyChoices(contact, [{ topic, subscribed }]).stored };
  };

const changeSequence =
  (joins: boolean): Preview =>
  async (contact, { sequenceId = 0 }) => {
    await records.find("SEQUENCE", contact, sequenceId);
    return { ...contact, sequences: changeSet(contact.sequences, sequenceId, joins) };
  };

const changeSet = (ids: Set<number> = new Set(), id: number, joins: boolean): Set<number> =>
  joins ? new Set([...ids, id]) : new Set([...ids].filter((one) => one !== id));

const previews: Record<StepActionName, Preview> = {
  add_tag: changeGroup("TAG", true),
  remove_tag: changeGroup("TAG", false),
  add_to_list: changeGroup("LIST", true),
  remove_from_list: changeGroup("LIST", false),
  join_topic: changeTopic(true),
  leave_topic: changeTopic(false),
  set_field: async (contact, { field = "", value = null }) =>
    applyChanges(contact, setField(field, value)),
  add_to_field: async (contact, { field = "", value }) => {
    const added = addValue(getFieldValue(contact, field), value!, field);
    return added === undefined ? contact : applyChanges(contact, setField(field, added));
  },
  clear_field: async (contact, { field = "" }) => applyChanges(contact, setField(field, null)),
  adjust_score: async (contact, { delta = 0 }) => ({
    ...contact,
    score: (contact.score ?? 0) + delta,
  }),
  enroll: changeSequence(true),
  leave_sequence: changeSequence(false),
  unsubscribe: async (contact) => applyChanges(contact, { status: "unsubscribed" }),
  notify: async (contact) => contact,
  call_url: async (contact) => contact,
};
