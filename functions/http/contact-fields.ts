import * as z from "zod";
import * as contactField from "../../shared/domain/audience/contacts/contact-fields.ts";
import { CustomFieldName } from "../../shared/domain/audience/contacts/custom-fields.ts";
import * as fieldConversions from "../../shared/domain/audience/contacts/field-conversions.ts";
import { FieldConversion } from "../../shared/domain/audience/contacts/field-conversions.ts";
import * as fieldUsages from "../../shared/domain/campaigns/field-usages.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, route } from "../../shared/http/route.ts";
import { validate } from "../../shared/http/validate.ts";
import { QueryId } from "../../shared/kernel/digits.ts";

const SiteQuery = z.object({
  siteId: QueryId.optional().describe(
    "Site of the contacts. Defaults to the site of the API key, else to the organization's only " +
      "site.",
  ),
});

export const contactFields = routeGroup("contact-fields", [
  route("GET /contact-fields", "List the fields of contacts", {
    description:
      "Returns the fields that forms, segments, templates and imports can use: the standard " +
      "ones, declared custom fields, and those that contacts of the site have had.",
    level: "site",
    query: SiteQuery,
    returns: contactField.ContactFields,
    handle: ({ caller, query: { siteId } }) => contactField.list(caller, siteId),
  }),
  route("PUT /contact-fields/:fieldName", "Declare or change a custom field", {
    operationId: "updateContactField",
    description:
      "Stores the label and the type of the custom field, or changes them. The name stays, and " +
      "letter case does not count: if contacts have it in another spelling, that is used. If " +
      "the type changes and contacts may have the field, a job converts what they have: values " +
      "that cannot be read as the new type stay, no rule on the type matches them, and the " +
      "conversion lists them.",
    level: "site",
    body: contactField.FieldDeclaration,
    returns: contactField.DeclaredContactField,
    errors: { 409: "The site has 100 declared fields (`too_many`)." },
    handle: ({ caller, params: { fieldName }, body }) => {
      validate(z.object({ fieldName: CustomFieldName }), { fieldName });
      return contactField.declare(caller, fieldName, body);
    },
  }),
  route("GET /contact-fields/:fieldName/uses", "List what uses a custom field", {
    operationId: "listContactFieldUses",
    description:
      "Returns the segments, sequences, templates, campaigns, forms and running imports of the " +
      "site that use the field, up to 100. Archived sequences and campaigns that have been sent " +
      "do not count. A template that reads a variable of the same name counts, although a " +
      "program may give it. Rules of lead scoring ask for no fields.",
    level: "site",
    query: SiteQuery,
    returns: fieldUsages.FieldUses,
    handle: ({ caller, params: { fieldName }, query: { siteId } }) => {
      validate(z.object({ fieldName: CustomFieldName }), { fieldName });
      return fieldUsages.listUses(caller, fieldName, siteId);
    },
  }),
  route("GET /contact-fields/:fieldName/conversion", "Get the conversion of a custom field", {
    operationId: "getContactFieldConversion",
    description:
      "Returns how far the job is that converts what contacts have in the field after its type " +
      "has changed, and the contacts whose values it could not read. Kept for 30 days.",
    level: "site",
    query: SiteQuery,
    returns: FieldConversion,
    errors: { 404: "The type of the field has not changed within the last 30 days." },
    handle: ({ caller, params: { fieldName }, query: { siteId } }) => {
      validate(z.object({ fieldName: CustomFieldName }), { fieldName });
      return fieldConversions.find(caller, fieldName, siteId);
    },
  }),
  route("DELETE /contact-fields/:fieldName", "Delete the declaration of a custom field", {
    operationId: "deleteContactField",
    description: "Contacts keep their values, and the field stays in the list while it is known.",
    level: "site",
    query: SiteQuery,
    returns: Deleted,
    errors: { 404: "The field is not declared." },
    handle: async ({ caller, params: { fieldName }, query: { siteId } }) => {
      await contactField.remove(caller, fieldName, siteId);
      return { id: fieldName, deleted: true as const };
    },
  }),
]);
export const { handler } = contactFields;
