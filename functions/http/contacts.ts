import "../../shared/domain/reactions.ts";
import * as z from "zod";
import type { Caller } from "../../shared/caller.ts";
import * as bulkUpsert from "../../shared/domain/audience/contacts/bulk-upsert.ts";
import { Confirmation } from "../../shared/domain/audience/contacts/confirmation-schema.ts";
import * as confirmations from "../../shared/domain/audience/contacts/confirmations.ts";
import * as contactListing from "../../shared/domain/audience/contacts/contact-listing.ts";
import { ContactOrder } from "../../shared/domain/audience/contacts/contact-order.ts";
import {
  Contact,
  ContactChanges,
  ContactRow,
  GroupName,
  NamedRecord,
  NewContact,
} from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contact from "../../shared/domain/audience/contacts/contacts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import * as tags from "../../shared/domain/audience/groups/tags.ts";
import * as leadScores from "../../shared/domain/audience/scoring/lead-scores.ts";
import * as erasure from "../../shared/domain/privacy/erasure.ts";
import { MergeRequest, mergeContacts } from "../../shared/domain/privacy/merge-contacts.ts";
import { requireVerifiedEmail } from "../../shared/http/authenticate.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { ignoredFields, validateEmailParam } from "../../shared/http/validate.ts";
import { Count, Id } from "../../shared/kernel/record-fields.ts";

const BulkRequest = z
  .object({
    siteId: Id.optional().describe(
      "Site of the contacts. Defaults to the site of the API key, else to the organization's " +
        "only site.",
    ),
    site_id: Id.optional().describe("Alias of `siteId`."),
    site: Id.optional().describe("Alias of `siteId`."),
    contacts: z
      .array(z.unknown().meta({ documentedAs: ContactRow }))
      .min(1)
      .max(bulkUpsert.maxRows)
      .describe("1 to 100 contacts, each with the fields of POST /contacts except `siteId`."),
    resubscribe: z
      .boolean()
      .default(false)
      .describe(
        "Whether to subscribe unsubscribed contacts again, also to topics that they left, and " +
          "to remove their addresses from the suppression list. With false, contacts that " +
          "unsubscribed or left a topic stay so. A key that is bound to a site removes no " +
          "suppressions.",
      ),
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

const BulkResponse = z.object({
  created: Count.describe("Number of contacts created."),
  updated: Count.describe(
    "Number of contacts updated, including those that had nothing to change.",
  ),
  failed: Count.describe("Number of rows that failed. created + updated + failed = rows."),
  results: z
    .array(bulkUpsert.BulkResult)
    .describe("One entry per row, in the order of the request."),
});

const asksToConfirm = (row: unknown): boolean =>
  (row as { sendConfirmation?: unknown } | null)?.sendConfirmation === true;

const TagReference = z
  .union([
    z.object({
      name: GroupName.describe("Name of the tag. A tag that does not exist yet is created."),
    }),
    z.object({ tagId: Id.describe("Id of a tag of the contact's site.") }),
  ])
  .meta({ examples: [{ name: "customer" }] });

async function findOrCreateTag(
  caller: Caller,
  siteId: number,
  reference: z.output<typeof TagReference>,
): Promise<groups.Group> {
  const id =
    "tagId" in reference
      ? reference.tagId
      : (await groups.getOrCreateTags(caller, siteId, [reference.name])).get(reference.name)!;
  return groups.findOfSite("TAG", caller, { id, siteId });
}

const ScoreWithLog = z
  .object({
    score: z.number().describe("Current lead score."),
    log: z.array(leadScores.ScoreEntry).describe("Changes of the score, newest first."),
    nextCursor: z
      .string()
      .nullable()
      .describe("Pass it as `cursor` to get older entries. `null` at the end of the log."),
  })
  .meta({ id: "ContactScore" });

export const contacts = routeGroup("contacts", [
  route("GET /contacts", "List contacts, site by site", {
    description:
      "Without filters: newest first, or in the order of `sort`. With only `tagId` or only " +
      "`listId`: highest contact id first. With only `externalId`: the contact that has it. With " +
      "any other filter: by email address, and `total` is `null`. A cursor continues in the " +
      "order in which it was given.",
    level: "site",
    query: PageQuery.extend({ ...contactListing.ContactFilter.shape, ...ContactOrder.shape }),
    returns: pagedSchema("contacts", Contact),
    handle: async ({ caller, query: { page, limit, cursor, sort, order, ...filter } }) => {
      const { items, pagination } = await contactListing.list(
        caller,
        { page, limit, cursor, sort, order },
        filter,
      );
      return { contacts: items, pagination };
    },
  }),
  route("POST /contacts", "Create a contact", {
    audit: "counted",
    description:
      "The email address must be new in its site. If it is on the suppression list, the " +
      "contact is created with the status `suppressed`.",
    level: "site",
    body: NewContact,
    returns: Contact,
    status: 201,
    errors: {
      404: "The site or one of the lists does not exist.",
      409:
        "A contact of the site has this email address (`email_exists`) or `externalId` " +
        "(`external_id_exists`).",
    },
    handle: ({ caller, body }) => {
      requireVerifiedEmail(caller, { needsVerifiedEmail: body.sendConfirmation });
      return contact.create(caller, body);
    },
  }),
  route("POST /contacts/bulk", "Create or update up to 100 contacts", {
    audit: "counted",
    operationId: "upsertContacts",
    description:
      "Each row creates a contact, or updates the contact that has its email address. A row " +
      "that is not valid fails alone; `results` has one entry per row. Unsubscribed contacts " +
      "stay unsubscribed, and nobody joins a topic again, unless `resubscribe` is true. Tags " +
      "and lists given here start the sequences that they trigger and earn no points.",
    level: "site",
    body: BulkRequest,
    returns: BulkResponse,
    handle: async ({
      caller,
      body: { siteId, site_id, site, contacts: rows, resubscribe },
      reply,
    }) => {
      requireVerifiedEmail(caller, { needsVerifiedEmail: rows.some(asksToConfirm) });
      const hasSiteKey = resubscribe && caller.siteIds !== undefined;
      if (hasSiteKey)
        reply.warnings.push(
          "resubscribe did not remove addresses from the suppression list: this API key or " +
            "member is limited to sites",
        );
      const { rows: taken, ...saved } = await bulkUpsert.save(
        { caller, siteId: siteId ?? site_id ?? site },
        rows,
        {
          resubscribe,
        },
      );
      const ignored = ignoredFields({ contacts: rows }, { contacts: taken });
      if (ignored.length) reply.warnings.push(`Ignored fields: ${ignored.join(", ")}`);
      return saved;
    },
  }),
  route("GET /contacts/:id", "Get a contact", {
    level: "site",
    returns: Contact,
    errors: {
      404:
        "The contact does not exist, or it was merged into the contact `mergedInto` " +
        "(`contact_merged`).",
    },
    handle: ({ caller, params }) => contact.find(caller, params.id),
  }),
  route("PUT /contacts/:id", "Update a contact", {
    audit: "counted",
    description:
      "Updates the given fields. `null` clears a field. Custom fields that are not named stay.",
    level: "site",
    body: ContactChanges,
    returns: Contact,
    errors: { 409: "Another contact of the site has this email address (`email_exists`)." },
    handle: ({ caller, params, body }) => contact.change(caller, params.id, body),
  }),
  route("POST /contacts/:id/confirmation", "Ask a pending contact to confirm", {
    operationId: "requestConfirmation",
    needsVerifiedEmail: true,
    description:
      "Sends the email with the link that subscribes the contact (double opt-in), also again. An " +
      "address gets at most one such email per hour; if it is too early, `error` of the " +
      "confirmation says so: see `confirmation` of GET /contacts/:id/topics.",
    level: "site",
    returns: Confirmation,
    status: 202,
    errors: {
      400: "The organization has no verified sending config (`no_sending_config`).",
      409: "The contact is not pending (`not_pending`).",
    },
    handle: async ({ caller, params }) =>
      confirmations.requestAgain(
        await contact.findItem(caller, params.id),
        confirmations.sourceOf(caller),
      ),
  }),
  route("DELETE /contacts/:id", "Delete a contact", {
    description:
      "Keeps the sends of the contact. With `erase=true`, anonymizes its sends and events, also " +
      "those to its address from before it existed, revokes its secure messages and suppresses " +
      "its email address by a hash.",
    level: "site",
    query: z.object({
      erase: z
        .enum(["true", "false"])
        .default("false")
        .describe(
          "`true`: erases the person. Sends and events become anonymous, secure messages are " +
            "revoked, and a hash of the email address is suppressed for the whole " +
            "organization. API keys that are bound to a site get 403.",
        ),
    }),
    returns: Deleted,
    handle: async ({ caller, params: { id }, query: { erase } }) => {
      await (erase === "true" ? erasure.erase(caller, id) : contact.remove(caller, id));
      return { id, deleted: true as const };
    },
  }),
  route("POST /contacts/:id/merge", "Merge a contact into another one", {
    audit: "counted",
    operationId: "mergeContact",
    description:
      "Both are the same person, and of the same site. The contact `into` stays: it keeps its " +
      "email address and its own fields, and takes those that it lacks. Lists, tags, events, " +
      "scores, counts, consent and form submissions of both end in it, each counted once, and " +
      "active enrollments move: one whose sequence `into` is in is cancelled. If one of both " +
      "unsubscribed or left a topic, `into` has; a bounce blocks its own address only. This " +
      "cannot be undone.\n\n" +
      "The other contact ends at once: requests with its id get 404 `contact_merged`, except " +
      "that events still count for `into`, as do opens, clicks and unsubscribes of its earlier " +
      "email. Its email address is free again, and so is its `externalId` unless `into` had " +
      "none. Its history follows within seconds; until then `into` cannot be deleted or merged " +
      "again (409 `merge_in_progress`). Starts no sequences. Safe to repeat.",
    level: "site",
    body: MergeRequest,
    returns: Contact,
    errors: {
      400:
        "`into` is the same contact or is of another site, 50 contacts were merged into the two " +
        "(`limit_exceeded`), or there is no room for the fields of both.",
      404: "One of the contacts does not exist.",
      409: "An earlier merge is under way (`merge_in_progress`).",
    },
    handle: ({ caller, params: { id }, body }) => mergeContacts(caller, id, body.into),
  }),
  route("DELETE /contacts/by-email/:email", "Erase a person by email address", {
    operationId: "deletePerson",
    description:
      "For a person who may have no contact, such as a recipient of POST /send. Erases all " +
      "contacts with the address like DELETE /contacts/:id with `erase=true`, and anonymizes " +
      "all sends to the address in the last 90 days with their events. Scheduled sends are " +
      "cancelled. A hash of the address is suppressed for the whole organization. Safe to repeat.",
    returns: erasure.ErasedPerson,
    errors: { 400: "The email address is not valid." },
    handle: ({ caller, params }) => erasure.erasePerson(caller, validateEmailParam(params)),
  }),
  route("POST /contacts/:id/tags", "Add a tag to a contact", {
    audit: "counted",
    operationId: "applyContactTag",
    description:
      "Takes the name or the id of a tag. A name that does not exist yet creates the tag. " +
      "Starts the sequences with the trigger `tag_add` and applies scoring rules. Safe to " +
      "repeat: `applied` is false if the contact had the tag before.",
    level: "site",
    body: TagReference,
    returns: z.object({
      tag: NamedRecord.describe("The tag that the contact has now."),
      applied: z.boolean().describe("false if the contact had the tag before."),
    }),
    handle: async ({ caller, params: { id }, body }) => {
      const { siteId } = await contact.findItem(caller, id);
      const tag = await findOrCreateTag(caller, siteId, body);
      const applied = await tags.applyTag(caller, id, tag);
      return { tag, applied };
    },
  }),
  route("DELETE /contacts/:id/tags/:tagId", "Remove a tag from a contact", {
    audit: "counted",
    operationId: "removeContactTag",
    description: "Safe to repeat: the response is the same whether or not the contact had the tag.",
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id, tagId } }) => {
      await tags.removeTag(caller, id, tagId);
      return { id: tagId, deleted: true as const };
    },
  }),
  route("GET /contacts/:id/score", "Get a contact's lead score", {
    description: "Returns the score and the log of its changes, newest first.",
    level: "site",
    query: PageQuery.pick({ limit: true, cursor: true }),
    returns: ScoreWithLog,
    handle: ({ caller, params, query }) => leadScores.listLog(caller, params.id, query),
  }),
  route("POST /contacts/:id/score", "Adjust a contact's lead score", {
    audit: "counted",
    operationId: "adjustContactScore",
    description:
      "Give `delta` to add points or `score` to set the score, and optionally a `reason` for " +
      "the log.",
    level: "site",
    body: leadScores.ScoreAdjustment,
    returns: ScoreWithLog,
    handle: async ({ caller, params, body }) => {
      await leadScores.changeByHand(caller, params.id, body);
      return leadScores.listLog(caller, params.id, { limit: 50 });
    },
  }),
]);
export const { handler } = contacts;
