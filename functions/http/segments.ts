import * as z from "zod";
import { now } from "../../shared/clock.ts";
import { Contact } from "../../shared/domain/contacts/contact.ts";
import { GivenRules } from "../../shared/domain/segments/grammar.ts";
import * as segment from "../../shared/domain/segments.ts";
import { Deleted, PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

const { Segment, NewSegment, SegmentChanges } = segment;

const counted = {
  contactCount: z.int().describe("Exact, counted for this answer"),
  countedAt: z.string(),
};
const Details = Segment.extend(counted).meta({ id: "SegmentDetails" });
const Count = z.object(counted);
const siteId = z.int().positive().optional();
const wrongRules = "The rules do not fit: `details` names the place, such as `rules.conditions.1.operator`";

type Explained = z.output<typeof Explained>;
const Explained = z
  .object({
    matched: z.boolean(),
    match: z.enum(["all", "any"]).optional(),
    get conditions(): z.ZodOptional<z.ZodArray<z.ZodType>> {
      return z
        .array(z.lazy((): z.ZodType => Explained))
        .optional()
        .describe("Of nested rules, in their order");
    },
    field: z.string().optional(),
    operator: z.string().optional(),
    value: z.unknown().optional(),
    actual: z.unknown().optional().describe("What the contact carries; null for nothing. Of tags and lists the ids"),
    actualNames: z.array(z.string()).optional().describe("Their names, in the same order"),
  })
  .meta({ id: "SegmentExplanation" });

const count = async (counting: Promise<number>) => ({ countedAt: now().toISOString(), contactCount: await counting });

export const segments = group("segments", [
  route("GET /segments", "List segments", {
    level: "site",
    query: PageQuery.extend({ siteId: z.coerce.number().int().positive().optional() }),
    returns: paged("segments", Segment),
    handle: async ({ caller, query: { siteId: site, ...page } }) => {
      const { items, pagination } = await segment.list(caller, page, site);
      return { segments: items, pagination };
    },
  }),
  route("POST /segments", "Create a segment", {
    level: "site",
    body: NewSegment,
    returns: Segment,
    status: 201,
    errors: { 400: wrongRules },
    handle: ({ caller, body }) => segment.create(caller, body),
  }),
  route("POST /segments/preview-count", "How many contacts rules match, without a segment", {
    level: "site",
    body: z.object({ siteId, rules: GivenRules }),
    returns: Count,
    errors: { 400: wrongRules },
    handle: ({ caller, body }) => count(segment.preview(caller, body)),
  }),
  route("GET /segments/:id", "One segment, with the number of contacts it has right now", {
    level: "site",
    returns: Details,
    handle: async ({ caller, params }) => {
      const found = await segment.find(caller, params.id);
      return { ...found, ...(await count(segment.countIn(caller.orgId, found.siteId, found.rules))) };
    },
  }),
  route("PUT /segments/:id", "Change a segment; fields that are not given stay", {
    level: "site",
    body: SegmentChanges,
    returns: Segment,
    errors: { 400: wrongRules },
    handle: ({ caller, params, body }) => segment.change(caller, params.id, body),
  }),
  route("DELETE /segments/:id", "Delete a segment; its contacts stay", {
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await segment.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("GET /segments/:id/contacts", "Contacts that match the rules right now, by address", {
    level: "site",
    query: PageQuery,
    returns: paged("contacts", Contact),
    handle: async ({ caller, params, query }) => {
      const { items, pagination } = await segment.members(caller, params.id, query);
      return { contacts: items, pagination };
    },
  }),
  route("GET /segments/:id/contacts/:contactId", "Why a contact does or does not belong: each condition, and what the contact carries", {
    level: "site",
    returns: Explained,
    errors: { 404: "There is no such segment, or no such contact in its site" },
    handle: async ({ caller, params: { id, contactId } }) => (await segment.explain(caller, id, contactId)) as Explained,
  }),
  route("POST /segments/:id/count", "How many contacts rules match; without rules, those of the segment", {
    level: "site",
    body: z.object({ rules: GivenRules.optional() }),
    returns: Count,
    errors: { 400: wrongRules },
    handle: ({ caller, params, body }) => count(segment.count(caller, params.id, body.rules)),
  }),
]);
export const { handler } = segments;
