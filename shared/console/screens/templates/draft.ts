// What is edited of a template before it is saved.

import type { Contact, ContactField, Template } from "pennymail";
import { t } from "../../language/translate.ts";
import { variableOf } from "../../parts/contact-field-types.ts";
import type { InsertOption } from "../../parts/insert-menu.tsx";
import type { TranslationDrafts } from "./translation-draft.ts";

export interface Draft {
  name: string;
  subject: string;
  html: string | null;
  /** Null: made from the HTML when the email is sent. */
  text: string | null;
  previewText: string | null;
  /** The language of these texts (BCP 47). */
  locale: string | null;
  translations: TranslationDrafts;
}

export const draftOf = (template: Template): Draft => {
  const { name, subject, html, text, previewText, locale, translations } = template;
  return { name, subject, html, text, previewText, locale, translations };
};

export const isSame = (a: Draft, b: Draft): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What the panels beside an editor show. */
export interface ShownDraft {
  template: Template;
  draft: Pick<Draft, "subject" | "html" | "text"> & {
    previewText?: string | null;
    locale?: string | null;
  };
  contact: Contact | undefined;
}

/** The fields of a contact under the names that campaigns give them. */
export function variablesOf(contact: Contact | undefined): Record<string, unknown> {
  if (!contact) return {};
  const { email, firstName, lastName, phone, company, timezone, locale, customFields } = contact;
  const name = [firstName, lastName].filter(Boolean).join(" ");
  const own = Object.entries({
    email,
    name,
    firstName,
    lastName,
    phone,
    company,
    timezone,
    locale,
  });
  // Names with spaces are read from `customFields` itself.
  return { ...customFields, customFields, ...Object.fromEntries(own.filter(([, value]) => value)) };
}

const contactFields: readonly [name: string, label: string][] = [
  ["firstName", t("First name")],
  ["lastName", t("Last name")],
  ["email", t("Email address")],
  ["company", t("Company")],
  ["phone", t("Phone")],
];
const links: readonly [name: string, label: string][] = [
  ["unsubscribeUrl", t("Link to unsubscribe")],
  ["preferencesUrl", t("Link to choose topics")],
  ["browserUrl", t("Link to view in browser")],
];

/** What can be inserted: fields of contacts, those of the site, links and the sender. */
export function insertOptions(fields: readonly ContactField[]): Record<string, InsertOption[]> {
  const own = fields.filter(({ custom }) => custom);
  return {
    [t("Contact")]: contactFields.map(([name, label]) => ({
      label,
      text: name === "firstName" ? t('{{ firstName | default: "there" }}') : `{{ ${name} }}`,
    })),
    [t("Own fields")]: own.map(({ label, name }) => ({ label, text: variableOf(name) })),
    [t("Links")]: links.map(([name, label]) => ({ label, text: `{{ ${name} }}` })),
    [t("Sender")]: [{ label: t("Postal address"), text: "{{ postalAddress }}" }],
  };
}
