// What is edited of a template before it is saved.
import type { Contact, ContactField, Template } from "pennymail";
import { variableOf } from "../../parts/contact-field-types.ts";
import type { InsertOption } from "../../parts/insert-menu.tsx";

export interface Draft {
  name: string;
  subject: string;
  html: string | null;
  /** Null: made from the HTML when the email is sent. */
  text: string | null;
}

export const draftOf = ({ name, subject, html, text }: Template): Draft => ({
  name,
  subject,
  html,
  text,
});

export const isSame = (a: Draft, b: Draft): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What the panels beside an editor show. */
export interface ShownDraft {
  template: Template;
  draft: Pick<Draft, "subject" | "html" | "text">;
  contact: Contact | undefined;
}

/** The fields of a contact under the names that campaigns give them. */
export function variablesOf(contact: Contact | undefined): Record<string, unknown> {
  if (!contact) return {};
  const { email, firstName, lastName, phone, company, timezone, customFields } = contact;
  const name = [firstName, lastName].filter(Boolean).join(" ");
  const own = Object.entries({ email, name, firstName, lastName, phone, company, timezone });
  return { ...customFields, ...Object.fromEntries(own.filter(([, value]) => value)) };
}

const contactFields: readonly [name: string, label: string][] = [
  ["firstName", "First name"],
  ["lastName", "Last name"],
  ["email", "Email address"],
  ["company", "Company"],
  ["phone", "Phone"],
];
const links: readonly [name: string, label: string][] = [
  ["unsubscribeUrl", "Link to unsubscribe"],
  ["preferencesUrl", "Link to choose topics"],
];

/** What can be inserted: fields of contacts, those of the site, and links. */
export function insertOptions(fields: readonly ContactField[]): Record<string, InsertOption[]> {
  const own = fields.filter(({ custom }) => custom);
  return {
    Contact: contactFields.map(([name, label]) => ({
      label,
      text: name === "firstName" ? '{{ firstName | default: "there" }}' : `{{ ${name} }}`,
    })),
    "Own fields": own.map(({ label, name }) => ({ label, text: variableOf(name) })),
    Links: links.map(([name, label]) => ({ label, text: `{{ ${name} }}` })),
  };
}
