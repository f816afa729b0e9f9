import "../../shared/domain/reactions.ts";
import * as z from "zod";
import { now } from "../../shared/clock.ts";
import { Contact } from "../../shared/domain/audience/contacts/contact-schema.ts";
import {
  PropertyCondition,
  SegmentRulesInput,
} from "../../shared/domain/audience/segments/segment-rules.ts";
import * as segment from "../../shared/domain/audience/segments/segments.ts";
import { deleteWithUses } from "../../shared/http/delete-with-uses.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import {
  Deleted,
  deletesUsed,
  IfUnused,
  inUse,
  NameSearch,
  PageQuery,
  pagedSchema,
  route,
} from "../../shared/http/route.ts";
import { SiteFilter } from "../../shared/kernel/digits.ts";
import { Count, Id, Missing, NewSiteId, Timestamp } from "../../shared/kernel/record-fields.ts";

const { Segment, NewSegment, SegmentChanges } = segment;

const countFields = {
  contactCount: Count.describe("Exact number of contacts that match, counted for this response."),
  countedAt: Timestamp.describe("When the contacts were counted."),
};
const SegmentDetails = Segment.extend({ ...countFields, missing: Missing }).meta({
  id: "SegmentDetails",
});
const SegmentCount = z.object(countFields).meta({ id: "SegmentCount" });
const rulesError =
  "The rules are not valid. `details` names the place, such as `rules.conditions.1.operator`.";

type SegmentExplanation = z.output<typeof SegmentExplanation>;
const SegmentExplanation = z
  .object({
    matched: z.boolean().describe("Whether the contact matches this condition or these rules."),
    match: z
      .enum(["all", "any"])
      .optional()
      .describe("For rules: whether `all` conditions must be true, or `any` of them."),
    get conditions(): z.ZodOptional<z.ZodArray<z.ZodType>> {
      return z
        .array(z.lazy((): z.ZodType => SegmentExplanation))
        .optional()
        .describe("Results of nested conditions, in their order.");
    },
    field: z.string().optional().describe("For a condition: the field that is compared."),
    operator: z.string().optional().describe("For a condition: how it is compared."),
    value: z.unknown().optional().describe("For a condition: the value to compare with."),
    inLastDays: z.number().optional().describe("For a condition: it counts events so old."),
    where: z
      .array(PropertyCondition)
      .optional()
      .describe("For a condition: it counts events whose properties meet these conditions."),
    property: z
      .string()
      .optional()
      .describe("For a condition on the latest event: the property that is compared."),
    actual: z
      .unknown()
      .optional()
      .describe(
        "Value that the contact has, or `null`. For tags and lists: their ids. For a count of " +
          "events: how many match.",
      ),
    actualNames: z
      .array(z.string())
      .optional()
      .describe("Names of the tags or lists in `actual`, in the same order."),
  })
  .meta({ id: "SegmentExplanation" });

const withCountedAt = async (counting: Promise<number>) => ({
  countedAt: now().toISOString(),
  contactCount: await counting,
});

export const segments = routeGroup("segments", [
  route("GET /segments", "List segments", {
    description: "Returns segments, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
      search: NameSearch,
    }),
    returns: pagedSchema("segments", Segment),
    handle: async ({ caller, query: { siteId: site, ...page } }) => {
      const { items, pagination } = await segment.list(caller, page, site);
      return { segments: items, pagination };
    },
  }),
  route("POST /segments", "Create a segment", {
    description:
      "A segment is a set of rules, not a stored list: its contacts are looked up whenever " +
      "it is read or sent to.",
    level: "site",
    body: NewSegment,
    returns: Segment,
    status: 201,
    errors: { 400: rulesError },
    handle: ({ caller, body }) => segment.create(caller, body),
  }),
  route("POST /segments/preview-count", "Count contacts by rules", {
    right: "audience:read",
    operationId: "previewSegmentCount",
    description: "Counts the contacts of a site that match the given rules. Creates nothing.",
    level: "site",
    preview: true,
    body: z.object({
      siteId: NewSiteId.describe(
        "Site whose contacts are counted. Defaults to the site of the API key, else to the " +
          "organization's only site.",
      ),
      rules: SegmentRulesInput.describe("Rules that a contact must match."),
    }),
    returns: SegmentCount,
    errors: { 400: rulesError },
    handle: ({ caller, body }) => withCountedAt(segment.countPreview(caller, body)),
  }),
  route("POST /segments/why", "Explain why a contact matches rules", {
    right: "audience:read",
    operationId: "explainRules",
    description:
      "Returns the result of each condition together with the value that the contact has, for " +
      "rules that are not stored. Tags and lists are those of the contact's site. Creates nothing.",
    level: "site",
    preview: true,
    body: z.object({
      contactId: Id.describe("Id of the contact to compare with the rules."),
      rules: SegmentRulesInput.describe("Rules that the contact may match."),
    }),
    returns: SegmentExplanation,
    errors: { 400: rulesError, 404: "The contact does not exist." },
    handle: async ({ caller, body }) =>
      (await segment.explainPreview(caller, body)) as SegmentExplanation,
  }),
  route("GET /segments/:id", "Get a segment", {
    description:
      "Counts the contacts that match now, so it takes longer the more contacts the site has.",
    level: "site",
    returns: SegmentDetails,
    handle: async ({ caller, params }) => {
      const found = await segment.find(caller, params.id);
      const [counted, missing] = await Promise.all([
        withCountedAt(segment.countMatching(caller.orgId, found.siteId, found.rules)),
        segment.listMissing(caller, found),
      ]);
      return { ...found, ...counted, missing };
    },
  }),
  route("PUT /segments/:id", "Update a segment", {
    description: "Updates the given fields.",
    level: "site",
    body: SegmentChanges,
    returns: Segment,
    errors: { 400: rulesError },
    handle: ({ caller, params, body }) => segment.change(caller, params.id, body),
  }),
  route("DELETE /segments/:id", "Delete a segment", {
    description: `Its contacts stay. ${deletesUsed}`,
    level: "site",
    query: IfUnused,
    returns: Deleted,
    errors: { 409: inUse },
    handle: (input) => deleteWithUses("SEGMENT", input, segment.remove),
  }),
  route("GET /segments/:id/contacts", "List the contacts of a segment", {
    description: "Returns the contacts that match the rules now, ordered by email address.",
    level: "site",
    query: PageQuery,
    returns: pagedSchema("contacts", Contact),
    handle: async ({ caller, params, query }) => {
      const { items, pagination } = await segment.members(caller, params.id, query);
      return { contacts: items, pagination };
    },
  }),
  route("GET /segments/:id/contacts/:contactId", "Explain why a contact matches a segment", {
    operationId: "explainSegmentMatch",
    description:
      "Returns the result of each condition together with the value that the contact has.",
    level: "site",
    returns: SegmentExplanation,
    errors: { 404: "The segment does not exist, or the contact does not exist in its site." },
    handle: async ({ caller, params: { id, contactId } }) =>
      (await segment.explain(caller, id, contactId)) as SegmentExplanation,
  }),
  route("POST /segments/:id/count", "Count the contacts of a segment", {
    right: "audience:read",
    operationId: "countSegmentContacts",
    description:
      "Counts the contacts that match now. With `rules`, counts by these rules instead, for " +
      "the segment's site, and stores nothing.",
    level: "site",
    preview: true,
    body: z.object({
      rules: SegmentRulesInput.optional().describe(
        "Rules to count by. Defaults to the rules of the segment.",
      ),
    }),
    returns: SegmentCount,
    errors: { 400: rulesError },
    handle: ({ caller, params, body }) =>
      withCountedAt(segment.count(caller, params.id, body.rules)),
  }),
]);
export const { handler } = segments;
