import * as z from "zod";
import type { Caller } from "../../shared/caller.ts";
import * as bulk from "../../shared/domain/contacts/bulk.ts";
import { Contact, ContactChanges, ContactRow, GroupName, NewContact } from "../../shared/domain/contacts/contact.ts";
import * as erasure from "../../shared/domain/contacts/erasure.ts";
import * as groups from "../../shared/domain/contacts/groups.ts";
import * as pages from "../../shared/domain/contacts/pages.ts";
import * as person from "../../shared/domain/contacts/person.ts";
import * as scores from "../../shared/domain/contacts/scores.ts";
import * as contact from "../../shared/domain/contacts.ts";
import { formats } from "../../shared/domain/exports/formats.ts";
import { Export } from "../../shared/domain/exports.ts";
import * as scoring from "../../shared/domain/scoring.ts";
import { Exported, exporting } from "../../shared/http/exporting.ts";
import { Deleted, PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { unread } from "../../shared/http/validate.ts";

const Id = z.int().positive();

const Bulk = z
  .object({
    siteId: Id.optional(),
    site_id: Id.optional().describe("The same as siteId"),
    site: Id.optional().describe("The same as siteId"),
    contacts: z
      .array(z.unknown().meta({ documentedAs: ContactRow }))
      .min(1)
      .max(bulk.maxRows)
      .describe("Each as in POST /contacts, without siteId"),
    resubscribe: z
      .boolean()
      .default(false)
      .describe("Subscribes again who unsubscribed, and takes addresses off the suppression list; without it nobody who left comes back"),
  })
  .meta({
    examples: [
      {
        contacts: [
          { email: "ann@example.com", firstName: "Ann" },
          { email: "bob@example.com", tags: ["customer"] },
        ],
      },
    ],
  });

const Saved = z.object({
  created: z.int(),
  updated: z.int(),
  failed: z.int(),
  results: z.array(bulk.BulkResult).describe("One for each row, in the order given"),
});

const TagGiven = z
  .union([z.object({ name: GroupName.describe("A tag that is not there yet is made") }), z.object({ tagId: Id })])
  .meta({ examples: [{ name: "customer" }] });
const Named = z.object({ id: z.int(), name: z.string() });

async function tagOf(caller: Caller, siteId: number, given: z.output<typeof TagGiven>): Promise<groups.Group> {
  const id = "tagId" in given ? given.tagId : (await groups.tagsNamed(caller, siteId, [given.name])).get(given.name)!;
  return groups.ofSite("TAG", caller, id, siteId);
}

const Scored = z.object({
  score: z.number(),
  log: z.array(scores.ScoreEntry).describe("Newest first"),
  nextCursor: z.string().nullable().describe("For the older entries of the log"),
});

export const contacts = group("contacts", [
  route("GET /contacts", "List contacts: newest first; by tag or list alone the highest id first; with any other filter by address", {
    level: "site",
    query: PageQuery.extend(pages.Filter.shape),
    returns: paged("contacts", Contact),
    handle: async ({ caller, query: { page, limit, cursor, ...filter } }) => {
      const { items, pagination } = await pages.list(caller, { page, limit, cursor }, filter);
      return { contacts: items, pagination };
    },
  }),
  route("POST /contacts", "Create a contact", {
    level: "site",
    body: NewContact,
    returns: Contact,
    status: 201,
    errors: { 404: "There is no such site or list", 409: "The site has a contact with this email" },
    handle: ({ caller, body }) => contact.create(caller, body),
  }),
  route("GET /contacts/export", "Contacts as CSV or JSON, by any filter; more than 10,000 are written to a file by and by", {
    level: "site",
    query: z.object({ format: z.enum(formats).default("csv"), ...pages.Filter.shape }),
    returns: Exported,
    type: "text/csv; charset=utf-8",
    later: Export,
    handle: ({ caller, query: { format, ...filter }, request, reply }) =>
      exporting(caller, { type: "contacts", format, filter }, request, reply),
  }),
  route("POST /contacts/bulk", "Create or update up to 100 contacts; a bad row fails alone", {
    level: "site",
    body: Bulk,
    returns: Saved,
    handle: async ({ caller, body: { siteId, site_id, site, contacts: rows, resubscribe }, reply }) => {
      const bound = resubscribe && caller.siteId !== undefined;
      if (bound) reply.warnings.push("A key that is bound to a site takes no address off the suppression list");
      const { rows: taken, ...saved } = await bulk.save(caller, siteId ?? site_id ?? site, rows, { resubscribe });
      const ignored = unread({ contacts: rows }, { contacts: taken });
      if (ignored.length) reply.warnings.push(`Ignored fields: ${ignored.join(", ")}`);
      return saved;
    },
  }),
  route("GET /contacts/:id", "One contact", {
    level: "site",
    returns: Contact,
    handle: ({ caller, params }) => contact.find(caller, params.id),
  }),
  route("PUT /contacts/:id", "Change a contact; null empties a field", {
    level: "site",
    body: ContactChanges,
    returns: Contact,
    errors: { 409: "The site has another contact with this email" },
    handle: ({ caller, params, body }) => contact.change(caller, params.id, body),
  }),
  route("GET /contacts/:id/export", "All that is kept of one person", {
    level: "site",
    returns: person.Person,
    handle: ({ caller, params, reply }) => {
      reply.headers["content-disposition"] = `attachment; filename="contact-${params.id}.json"`;
      return person.dossier(caller, params.id);
    },
  }),
  route("DELETE /contacts/:id", "Delete a contact; with `erase=true` its sends and events tell no more whose they were", {
    level: "site",
    query: z.object({
      erase: z
        .enum(["true", "false"])
        .default("false")
        .describe(
          "Anonymizes its sends and their events, and revokes the secure messages among them. Of the address a hash is kept, suppressed in the whole organization",
        ),
    }),
    returns: Deleted,
    handle: async ({ caller, params: { id }, query: { erase } }) => {
      await (erase === "true" ? erasure.erase(caller, id) : contact.remove(caller, id));
      return { id, deleted: true as const };
    },
  }),
  route("POST /contacts/:id/tags", "Apply a tag, found or made by its name; `applied` says whether it was the first time", {
    level: "site",
    body: TagGiven,
    returns: z.object({ tag: Named, applied: z.boolean() }),
    handle: async ({ caller, params: { id }, body }) => {
      const { siteId } = await contact.item(caller, id);
      const tag = await tagOf(caller, siteId, body);
      const { applied } = await scoring.applyTag(caller, id, tag);
      return { tag, applied };
    },
  }),
  route("DELETE /contacts/:id/tags/:tagId", "Take a tag away; the same whether or not it was there", {
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id, tagId } }) => {
      await contact.part(caller, id, "TAG", tagId);
      return { id: tagId, deleted: true as const };
    },
  }),
  route("GET /contacts/:id/score", "The lead score of a contact, and how it came about", {
    level: "site",
    query: PageQuery.pick({ limit: true, cursor: true }),
    returns: Scored,
    handle: ({ caller, params, query }) => scores.log(caller, params.id, query),
  }),
  route("POST /contacts/:id/score", "Change the lead score by hand: by `delta`, or to `score`", {
    level: "site",
    body: scores.Adjustment,
    returns: Scored,
    handle: async ({ caller, params, body }) => {
      await scores.change(caller, params.id, body);
      return scores.log(caller, params.id, { limit: 50 });
    },
  }),
]);
export const { handler } = contacts;
