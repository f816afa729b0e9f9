import { Button, MultiSelect, Select, TagsInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Contact, ContactField } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { fieldQueries } from "../../data/field-queries.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatTime } from "../../format.ts";
import { type ContactFieldValue, describeValue, yesOrNo } from "../../parts/contact-field-types.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FieldList } from "../../parts/field-list.tsx";
import { recordOptions } from "../../parts/filters.tsx";
import { Form } from "../../parts/form.tsx";

interface ContactPartProps {
  contact: Contact;
  mayWrite: boolean;
}

/** The fields, tags and lists of a contact. */
export function ContactFields({ contact, mayWrite }: ContactPartProps) {
  const [isEditing, setEditing] = useState(false);
  const known = useQuery(fieldQueries.list(contact.siteId)).data?.fields;
  if (isEditing && known)
    return <FieldForm contact={contact} known={known} onDone={() => setEditing(false)} />;
  return (
    <>
      <div className="stack pad">
        <TagsAndLists contact={contact} mayWrite={mayWrite} />
      </div>
      <Fields contact={contact} />
      {mayWrite && (
        <div className="buttons pad">
          <Button variant="default" size="xs" loading={isEditing} onClick={() => setEditing(true)}>
            Edit fields
          </Button>
        </div>
      )}
    </>
  );
}

function Fields({ contact }: { contact: Contact }) {
  const { timezone } = useMe().organization;
  const known = useQuery(fieldQueries.list(contact.siteId)).data?.fields ?? [];
  const fields: [string, string | null][] = [
    ["Source", contact.source],
    ["Added", formatTime(contact.createdAt, timezone)],
    ["Phone", contact.phone],
    ["Company", contact.company],
    ["Time zone", contact.timezone],
    ...Object.entries(contact.customFields).map(([name, value]): [string, string | null] => [
      known.find(({ key }) => key === `customFields.${name}`)?.label ?? name,
      describeValue(value),
    ]),
    ["Id", String(contact.id)],
  ];
  return <FieldList fields={fields} />;
}

/** Each change is saved at once. */
function TagsAndLists({ contact, mayWrite }: ContactPartProps) {
  const { id, siteId, tags, lists } = contact;
  const knownTags = useQuery(queries.names("tags", siteId)).data ?? [];
  const knownLists = useQuery(queries.names("lists", siteId)).data ?? [];
  const tagging = useChange({
    run: async (names: string[]) => {
      for (const name of names)
        if (!tags.some((tag) => tag.name === name)) await api.contacts.applyTag(id, { name });
      for (const tag of tags)
        if (!names.includes(tag.name)) await api.contacts.removeTag(id, tag.id);
    },
    refreshes: ["contacts", "tags"],
  });
  const listing = useChange({
    run: async (ids: number[]) => {
      for (const listId of ids)
        if (!lists.some((list) => list.id === listId))
          await api.lists.addContacts(listId, { contactId: id });
      for (const list of lists)
        if (!ids.includes(list.id)) await api.lists.removeContacts(list.id, { contactId: id });
    },
    refreshes: ["contacts", "lists"],
  });
  return (
    <>
      <TagsInput
        label="Tags"
        {...(tags.length === 0 && { placeholder: mayWrite ? "Add a tag" : "None" })}
        disabled={!mayWrite || tagging.isPending}
        maxLength={100}
        data={knownTags.map(({ name }) => name)}
        value={tagging.isPending ? tagging.variables : tags.map(({ name }) => name)}
        onChange={(names) => tagging.mutate(names)}
      />
      <MultiSelect
        label="Lists"
        {...(lists.length === 0 && { placeholder: mayWrite ? "Add to a list" : "None" })}
        disabled={!mayWrite || listing.isPending}
        data={recordOptions(knownLists.length > 0 ? knownLists : lists)}
        value={(listing.isPending ? listing.variables : lists.map((list) => list.id)).map(String)}
        onChange={(ids) => listing.mutate(ids.map(Number))}
      />
      <ErrorNote error={tagging.error ?? listing.error} />
    </>
  );
}

const textFields = {
  email: "Email",
  firstName: "First name",
  lastName: "Last name",
  phone: "Phone",
  company: "Company",
  timezone: "Time zone",
  source: "Source",
} as const;
type TextField = keyof typeof textFields;

interface CustomField {
  name: string;
  text: string;
  /** Undefined for a field that is added here. */
  known: ContactField | undefined;
}

/** The fields that the contact has, and further ones that the site has a type for. */
function toCustomFields(contact: Contact, known: ContactField[]): CustomField[] {
  const values = contact.customFields;
  const own = Object.keys(values);
  const others = known.filter(({ declared, name }) => declared && !own.includes(name));
  return [...own, ...others.map(({ name }) => name)].map((name) => ({
    name,
    text: String(values[name] ?? ""),
    known: known.find(({ key }) => key === `customFields.${name}`),
  }));
}

interface FieldFormProps {
  contact: Contact;
  known: ContactField[];
  onDone(): void;
}

function FieldForm({ contact, known, onDone }: FieldFormProps) {
  const names = Object.keys(textFields) as TextField[];
  const [texts, setTexts] = useState(
    () => Object.fromEntries(names.map((name) => [name, contact[name] ?? ""])) as Texts,
  );
  const [custom, setCustom] = useState(() => toCustomFields(contact, known));
  const saving = useChange({
    run: () => api.contacts.update(contact.id, changesOf(contact, texts, custom)),
    refreshes: ["contacts", "contactFields"],
    onDone,
  });
  const changeCustom = (index: number, changes: Partial<CustomField>) =>
    setCustom(custom.with(index, { ...custom[index]!, ...changes }));
  return (
    <Form
      className="stack pad"
      action="Save contact"
      submission={saving}
      buttons={
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
      }
    >
      {names.map((name) => (
        <TextInput
          key={name}
          label={textFields[name]}
          type={name === "email" ? "email" : "text"}
          required={name === "email"}
          {...(name === "timezone" && { placeholder: "Europe/Berlin" })}
          value={texts[name]}
          onChange={(event) => setTexts({ ...texts, [name]: event.currentTarget.value })}
        />
      ))}
      {custom.map((field, index) =>
        field.known ? (
          <TypedInput
            key={field.name}
            field={field.known}
            text={field.text}
            onChange={(text) => changeCustom(index, { text })}
          />
        ) : (
          <div key={index} className="rule">
            <TextInput
              aria-label="Name of the custom field"
              placeholder="Name"
              maxLength={100}
              value={field.name}
              onChange={(event) => changeCustom(index, { name: event.currentTarget.value })}
            />
            <TextInput
              aria-label={`Value of ${field.name || "the custom field"}`}
              placeholder="Value"
              maxLength={2000}
              value={field.text}
              onChange={(event) => changeCustom(index, { text: event.currentTarget.value })}
            />
          </div>
        ),
      )}
      <div className="buttons">
        <Button
          variant="subtle"
          size="xs"
          onClick={() => setCustom([...custom, { name: "", text: "", known: undefined }])}
        >
          Add custom field
        </Button>
      </div>
    </Form>
  );
}

type Texts = Record<TextField, string>;

/** Only what differs, so that a change made elsewhere meanwhile stays. */
function changesOf(contact: Contact, texts: Texts, custom: CustomField[]) {
  const changed = Object.entries(texts)
    .filter(([name, text]) => text !== (contact[name as TextField] ?? ""))
    .map(([name, text]) => [name, text || null]);
  const old = contact.customFields;
  const kept = custom.filter(({ name }) => name.trim());
  const customFields = {
    ...Object.fromEntries(Object.keys(old).map((name) => [name, null])),
    ...Object.fromEntries(kept.map((field) => [field.name.trim(), toValue(field, old)])),
  };
  const changedCustom = Object.entries(customFields).filter(
    ([name, value]) => value !== (old[name] ?? null),
  );
  return {
    ...Object.fromEntries(changed),
    ...(changedCustom.length > 0 && { customFields: Object.fromEntries(changedCustom) }),
  };
}

/** A text that was not changed keeps its value. Another gets the type of the field. */
function toValue(
  { name, text, known }: CustomField,
  old: Contact["customFields"],
): ContactFieldValue {
  if (text === "") return null;
  if (text === String(old[name])) return old[name]!;
  if (known?.type === "number" && Number.isFinite(Number(text))) return Number(text);
  const isTruthValue = known?.type === "boolean" && ["true", "false"].includes(text);
  return isTruthValue ? text === "true" : text;
}

interface TypedInputProps {
  field: ContactField;
  text: string;
  onChange(text: string): void;
}

/** The input for a field of the site: a number, yes or no, or a text. */
function TypedInput({ field: { label, type }, text, onChange }: TypedInputProps) {
  const isYesOrNo = type === "boolean" && ["", "true", "false"].includes(text);
  if (isYesOrNo)
    return (
      <Select
        label={label}
        clearable
        placeholder="Not known"
        data={yesOrNo}
        value={text || null}
        onChange={(value) => onChange(value ?? "")}
      />
    );
  const isNumber = type === "number" && Number.isFinite(Number(text));
  return (
    <TextInput
      label={label}
      maxLength={2000}
      {...(isNumber && { type: "number", step: "any" })}
      value={text}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
