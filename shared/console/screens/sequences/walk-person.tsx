import { MultiSelect, SegmentedControl, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Contact, SequenceDetail } from "pennymail";
import { useState } from "react";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { instantOf } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ContactSelect } from "../../parts/contact-select.tsx";
import { Form } from "../../parts/form.tsx";
import type { WalkInput } from "./walk-panel.tsx";

interface PersonProps {
  sequence: SequenceDetail;
  isPending: boolean;
  error: unknown;
  onWalk(input: WalkInput): void;
}

type Kind = "contact" | "person";

/** Asks for the contact who is walked through the sequence, and for what starts it. */
export function WalkPerson({ sequence, isPending, error, onWalk }: PersonProps) {
  const { timezone } = useMe().organization;
  const [kind, setKind] = useState<Kind>("contact");
  const [contact, setContact] = useState<Contact>();
  const [email, setEmail] = useState("someone@example.com");
  const [firstName, setFirstName] = useState("");
  const [tags, setTags] = useState<string[]>([]);
  const [fields, setFields] = useState<Readonly<Record<string, string>>>({});
  const [start, setStart] = useState("");
  const [properties, setProperties] = useState("");
  const isOfEvent = sequence.triggerType === "custom_event";
  const event = isOfEvent && properties.trim() ? parseProperties(properties) : undefined;
  const isWrong = event === null;
  const customFields = Object.fromEntries(Object.entries(fields).filter(([, value]) => value));
  const walk = () =>
    onWalk({
      ...(kind === "contact"
        ? { contactId: contact?.id ?? 0 }
        : { contact: { email, ...(firstName && { firstName }), tags, customFields } }),
      ...(start && { startsAt: instantOf(start, timezone) }),
      ...(event && { event: { properties: event } }),
    });
  return (
    <Form
      action={t("Walk through")}
      submission={{ mutate: walk, isPending, error }}
      isDisabled={isWrong || (kind === "contact" && !contact)}
    >
      <SegmentedControl
        aria-label={t("Who is walked through")}
        value={kind}
        onChange={(next) => setKind(next as Kind)}
        data={[
          { value: "contact", label: t("A contact") },
          { value: "person", label: t("A made-up person") },
        ]}
      />
      {kind === "contact" ? (
        <ContactSelect
          siteId={sequence.siteId}
          label={t("Contact")}
          value={contact}
          onChange={setContact}
        />
      ) : (
        <>
          <TextInput
            label={t("Email address")}
            type="email"
            required
            value={email}
            onChange={({ currentTarget }) => setEmail(currentTarget.value)}
          />
          <TextInput
            label={t("First name")}
            maxLength={200}
            value={firstName}
            onChange={({ currentTarget }) => setFirstName(currentTarget.value)}
          />
          <TagSelect siteId={sequence.siteId} value={tags} onChange={setTags} />
          {fieldsNamedBy(sequence).map((name) => (
            <TextInput
              key={name}
              label={name}
              description={t("The sequence reads this field.")}
              maxLength={2000}
              value={fields[name] ?? ""}
              onChange={({ currentTarget: { value } }) => setFields({ ...fields, [name]: value })}
            />
          ))}
        </>
      )}
      {isOfEvent && (
        <PropertiesInput
          label={
            sequence.triggerConfig?.eventName
              ? t("Properties of “{event}”", { event: sequence.triggerConfig.eventName })
              : t("Properties of “the event”")
          }
          value={properties}
          onChange={setProperties}
        />
      )}
      <TextInput
        type="datetime-local"
        label={t("Starts (optional)")}
        description={t("Without a time it starts now.")}
        value={start}
        onChange={({ currentTarget }) => setStart(currentTarget.value)}
      />
    </Form>
  );
}

interface TagProps {
  siteId: number;
  value: string[];
  onChange(tags: string[]): void;
}

function TagSelect({ siteId, value, onChange }: TagProps) {
  const { data = [] } = useQuery(queries.names("tags", siteId));
  if (data.length === 0) return null;
  return (
    <MultiSelect
      label={t("Tags")}
      searchable
      maxValues={20}
      data={data.map(({ name }) => name)}
      value={value}
      onChange={onChange}
    />
  );
}

interface PropertiesProps {
  label: string;
  value: string;
  onChange(text: string): void;
}

export function PropertiesInput({ label, value, onChange }: PropertiesProps) {
  return (
    <Textarea
      label={label}
      description={t("As JSON.")}
      placeholder='{"total": 49.9}'
      autosize
      minRows={2}
      maxLength={8000}
      error={
        value.trim() && parseProperties(value) === null ? t("This is no JSON object.") : undefined
      }
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

/** Null if the text is no JSON object. */
export function parseProperties(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && !Array.isArray(value)
      ? (value as Record<string, unknown> | null)
      : null;
  } catch {
    return null;
  }
}

/** The custom fields in rules and dates of the sequence. */
function fieldsNamedBy({ steps, goals, exits, triggerConfig }: SequenceDetail): string[] {
  const named = JSON.stringify([steps, goals, exits, triggerConfig?.filter ?? null]);
  const found = named.matchAll(/"field":"customFields\.([^"\\]+)"/g);
  return [...new Set([...found].map(([, name]) => name!))].toSorted();
}
