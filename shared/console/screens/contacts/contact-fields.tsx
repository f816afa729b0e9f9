import { Button, Select, TagsInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Contact, ContactField } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { fieldQueries } from "../../data/field-queries.ts";
import { useMe } from "../../data/session.ts";
import { formatTime, instantOf, localTimeOf } from "../../format.ts";
import { t } from "../../language/translate.ts";
import {
  type ContactFieldValue,
  describeValue,
  standardFieldLabels,
  yesOrNo,
} from "../../parts/contact-field-types.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FieldList } from "../../parts/field-list.tsx";
import { Form } from "../../parts/form.tsx";
import { languageName } from "../../parts/language-name.ts";
import { RecordMultiSelect, TagNamesInput } from "../../parts/record-select.tsx";

interface ContactPartProps {
  contact: Contact;
  mayWrite: boolean;
}

interface ContactFieldsProps extends ContactPartProps {
  isEditing: boolean;
  onEdit(isEditing: boolean): void;
}

/** The fields, tags and lists of a contact. */
export function ContactFields({ contact, mayWrite, isEditing, onEdit }: ContactFieldsProps) {
  const known = useQuery(fieldQueries.list(contact.siteId)).data?.fields;
  if (isEditing && known)
    return <FieldForm contact={contact} known={known} onDone={() => onEdit(false)} />;
  return (
    <>
      <div className="stack pad">
        <TagsAndLists contact={contact} mayWrite={mayWrite} />
      </div>
      <Fields contact={contact} />
      {mayWrite && (
        <div className="buttons pad">
          <Button variant="default" size="xs" loading={isEditing} onClick={() => onEdit(true)}>
            {t("Edit fields")}
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
    [t("Source"), contact.source],
    [t("Added"), formatTime(contact.createdAt, timezone)],
    [t("Phone"), contact.phone],
    [t("Company"), contact.company],
    [t("Time zone"), contact.timezone],
    [t("Language"), contact.locale && languageName(contact.locale)],
    [t("External id"), contact.externalId],
    ...Object.entries(contact.customFields).map(([name, value]): [string, string | null] => [
      known.find(({ key }) => key === `customFields.${name}`)?.label ?? name,
      describeValue(value),
    ]),
    [t("Id"), String(contact.id)],
  ];
  return <FieldList fields={fields} />;
}

/** Each change is saved at once. */
function TagsAndLists({ contact, mayWrite }: ContactPartProps) {
  const { id, siteId, tags, lists } = contact;
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
      <TagNamesInput
        siteId={siteId}
        label={t("Tags")}
        {...(tags.length === 0 && { placeholder: mayWrite ? t("Add a tag") : t("None") })}
        disabled={!mayWrite || tagging.isPending}
        value={tagging.isPending ? tagging.variables : tags.map(({ name }) => name)}
        onChange={(names) => tagging.mutate(names)}
      />
      <RecordMultiSelect
        group="lists"
        siteId={siteId}
        label={t("Lists")}
        {...(lists.length === 0 && { placeholder: mayWrite ? t("Add to a list") : t("None") })}
        disabled={!mayWrite || listing.isPending}
        value={listing.isPending ? listing.variables : lists.map((list) => list.id)}
        onChange={(ids) => listing.mutate(ids)}
      />
      <ErrorNote error={tagging.error ?? listing.error} />
    </>
  );
}

type TextField = keyof typeof standardFieldLabels;
const examples: Partial<Record<TextField, string>> = {
  timezone: "Europe/Berlin",
  locale: t("de or pt-BR"),
};

interface CustomField {
  name: string;
  /** The entries of a list are JSON. */
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
    text: textOf(values[name]),
    known: known.find(({ key }) => key === `customFields.${name}`),
  }));
}

const textOf = (value: ContactFieldValue | undefined): string =>
  Array.isArray(value) ? JSON.stringify(value) : String(value ?? "");

interface FieldFormProps {
  contact: Contact;
  known: ContactField[];
  onDone(): void;
}

function FieldForm({ contact, known, onDone }: FieldFormProps) {
  const names = Object.keys(standardFieldLabels) as TextField[];
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
      action={t("Save contact")}
      submission={saving}
      buttons={
        <Button variant="default" onClick={onDone}>
          {t("Cancel")}
        </Button>
      }
    >
      {names.map((name) => (
        <TextInput
          key={name}
          label={standardFieldLabels[name]}
          type={name === "email" ? "email" : "text"}
          required={name === "email"}
          placeholder={examples[name]}
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
              aria-label={t("Name of the custom field")}
              placeholder={t("Name")}
              maxLength={100}
              value={field.name}
              onChange={(event) => changeCustom(index, { name: event.currentTarget.value })}
            />
            <TextInput
              aria-label={
                field.name
                  ? t("Value of {name}", { name: field.name })
                  : t("Value of the custom field")
              }
              placeholder={t("Value")}
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
          {t("Add custom field")}
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
  if (text === textOf(old[name])) return old[name]!;
  if (known?.type === "list") return parseList(text) ?? text;
  if (known?.type === "number" && Number.isFinite(Number(text))) return Number(text);
  const isTruthValue = known?.type === "boolean" && ["true", "false"].includes(text);
  return isTruthValue ? text === "true" : text;
}

/** Undefined for a text that is not a list. */
function parseList(text: string): string[] | undefined {
  if (!text.startsWith("[")) return text ? undefined : [];
  try {
    return (JSON.parse(text) as unknown[]).map(String);
  } catch {
    return undefined;
  }
}

interface TypedInputProps {
  field: ContactField;
  text: string;
  onChange(text: string): void;
}

/** The input for a field of the site. A value that does not fit the type is shown as a text. */
function TypedInput({ field: { label, type }, text, onChange }: TypedInputProps) {
  const { timezone } = useMe().organization;
  const isYesOrNo = type === "boolean" && ["", "true", "false"].includes(text);
  if (isYesOrNo)
    return (
      <Select
        label={label}
        clearable
        placeholder={t("Not known")}
        data={yesOrNo}
        value={text || null}
        onChange={(value) => onChange(value ?? "")}
      />
    );
  const entries = type === "list" ? parseList(text) : undefined;
  if (entries)
    return (
      <TagsInput
        label={label}
        maxTags={100}
        maxLength={200}
        {...(entries.length === 0 && { placeholder: t("Enter after each") })}
        value={entries}
        onChange={(next) => onChange(next.length > 0 ? JSON.stringify(next) : "")}
      />
    );
  if (type === "datetime" && (!text || isTime(text)))
    return (
      <TextInput
        label={label}
        description={t("In the time zone {timezone}", { timezone })}
        type="datetime-local"
        value={text && localTimeOf(text, timezone)}
        onChange={({ currentTarget: { value } }) => onChange(value && instantOf(value, timezone))}
      />
    );
  return (
    <TextInput
      label={label}
      maxLength={2000}
      {...attributesOf(type, text)}
      value={text}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text);

/** The native input of a type, unless it cannot show the text. */
function attributesOf(type: ContactField["type"], text: string): { type?: string; step?: string } {
  if (type === "number" && Number.isFinite(Number(text))) return { type: "number", step: "any" };
  if (type === "date" && /^(\d{4}-\d\d-\d\d)?$/.test(text)) return { type: "date" };
  return type === "url" ? { type: "url" } : {};
}
