import { useQuery } from "@tanstack/react-query";
import type { Contact } from "pennymail";
import { useState } from "react";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { ContactSelect } from "../../parts/contact-select.tsx";

export interface SampleContact {
  siteId: number;
  /** The latest contacts of the site. */
  contacts: readonly Contact[];
  contact: Contact | undefined;
  choose(contact: Contact | undefined): void;
}

/** The contact whose fields fill a template that is previewed. */
export function useSampleContact(siteId: number): SampleContact {
  const contacts = useQuery(queries.sampleContacts(siteId)).data?.contacts ?? [];
  const [chosen, choose] = useState<Contact>();
  return { siteId, contacts, contact: chosen ?? contacts[0], choose };
}

export function ContactChoice({ siteId, contacts, contact, choose }: SampleContact) {
  return (
    <ContactSelect
      siteId={siteId}
      label={t("As it looks for")}
      value={contact}
      onChange={choose}
      suggestions={contacts}
    />
  );
}
