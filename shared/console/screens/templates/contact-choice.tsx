import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Contact } from "pennymail";
import { useState } from "react";
import { queries } from "../../data/queries.ts";

export interface SampleContact {
  contacts: Contact[];
  contact: Contact | undefined;
  choose(id: number): void;
}

/** The contact whose fields fill a template that is previewed. */
export function useSampleContact(siteId: number): SampleContact {
  const contacts = useQuery(queries.sampleContacts(siteId)).data?.contacts ?? [];
  const [chosen, choose] = useState<number>();
  return { contacts, contact: contacts.find(({ id }) => id === chosen) ?? contacts[0], choose };
}

export function ContactChoice({ contacts, contact, choose }: SampleContact) {
  return (
    <Select
      label="As it looks for"
      data={contacts.map(({ id, email }) => ({ value: String(id), label: email }))}
      placeholder="There is no contact yet"
      value={contact ? String(contact.id) : null}
      allowDeselect={false}
      searchable
      onChange={(value) => choose(Number(value))}
    />
  );
}
