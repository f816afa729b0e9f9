// What a marketing template can read of a contact. In a file of its own, because the staging of
// mail is too large for the function that sends campaigns.
import type { ContactItem } from "../audience/contacts/contact-schema.ts";

/** First and last name. Undefined without both. */
export const nameOfContact = ({
  firstName,
  lastName,
}: Pick<ContactItem, "firstName" | "lastName">): string | undefined =>
  [firstName, lastName].filter(Boolean).join(" ") || undefined;

/**
 * The variables of a marketing template: the contact's fields at staging time. Built-in fields
 * override custom fields of the same name.
 */
export const toContactVariables = ({
  customFields,
  firstName,
  lastName,
  phone,
  company,
  timezone,
  locale,
}: ContactItem): Record<string, unknown> => ({
  ...customFields,
  ...Object.fromEntries(
    Object.entries({ firstName, lastName, phone, company, timezone, locale }).filter(
      ([, value]) => value != null,
    ),
  ),
  ...(customFields && { customFields }),
});
