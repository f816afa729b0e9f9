import "../../shared/domain/reactions.ts";
import * as z from "zod";
import type { Caller } from "../../shared/caller.ts";
import * as enrollmentListing from "../../shared/domain/automation/enrollment-listing.ts";
import {
  Enrollment,
  enrollmentStatuses,
  ListedEnrollment,
} from "../../shared/domain/automation/enrollment-schema.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { getDetail, SequenceDetail } from "../../shared/domain/automation/sequence-detail.ts";
import {
  NewSequence,
  Sequence,
  SequenceChanges,
  sequenceStatuses,
} from "../../shared/domain/automation/sequence-schema.ts";
import * as sequence from "../../shared/domain/automation/sequences.ts";
import * as stepDrafts from "../../shared/domain/automation/step-drafts.ts";
import {
  AddStepsRequest,
  ReplaceStepsRequest,
  SequenceStep,
  SequenceStepChanges,
  SequenceSteps,
} from "../../shared/domain/automation/step-schema.ts";
import * as steps from "../../shared/domain/automation/steps.ts";
import { walk } from "../../shared/domain/automation/walk.ts";
import { Walk, WalkRequest } from "../../shared/domain/automation/walk-schema.ts";
import { invalid } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, NameSearch, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { QueryId, SiteFilter } from "../../shared/kernel/digits.ts";
import { exactlyOneOf } from "../../shared/kernel/either-or.ts";
import { permits } from "../../shared/rights.ts";

const Id = z.int().positive();

const EnrollRequest = exactlyOneOf(
  z.object({
    contactIds: z
      .array(Id)
      .min(1)
      .max(enrollments.maxPerRequest)
      .optional()
      .describe("Up to 100 contacts of the sequence's site. Give either this or `contactId`."),
    contactId: Id.optional().describe("One contact. Give either this or `contactIds`."),
    startAtStep: z
      .int()
      .min(1)
      .optional()
      .describe("`stepOrder` of the step to start with. Defaults to the first step."),
  }),
  ["contactIds", "contactId"],
).meta({ id: "EnrollmentRequest", examples: [{ contactIds: [1, 2] }] });

const EnrollmentReferenceFields = z.object({
  enrollmentId: Id.optional().describe("Enrollment to cancel. Give either this or `contactId`."),
  contactId: Id.optional().describe(
    "Contact whose active enrollment is cancelled. Give either this or `enrollmentId`.",
  ),
});
/** The fields can also be in the query. */
const EnrollmentReference = EnrollmentReferenceFields.meta({
  documentedAs: exactlyOneOf(EnrollmentReferenceFields, ["enrollmentId", "contactId"])
    .describe("Give one of the two fields.")
    .meta({ examples: [{ contactId: 1 }] }),
});

const archivedError = { 409: "The sequence is archived (`sequence_archived`)." };

/** The URL enrolls contacts without a credential, so callers who may not enroll do not see it. */
const hideSecrets = <S extends Pick<Sequence, "webhookUrl" | "callSecret">>(
  caller: Caller,
  shown: S,
): S =>
  permits(caller.scopes, { right: "marketing:write", scope: "sequences:write" })
    ? shown
    : { ...shown, webhookUrl: null, callSecret: null };

export const sequences = routeGroup("sequences", [
  route("GET /sequences", "List sequences", {
    description: "Returns sequences, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
      search: NameSearch,
      status: z.enum(sequenceStatuses).optional().describe("Only items with this status."),
    }),
    returns: pagedSchema("sequences", Sequence),
    handle: async ({ caller, query: { siteId, status, ...page } }) => {
      const { items, pagination } = await sequence.list(caller, page, { siteId, status });
      return { sequences: items.map((item) => hideSecrets(caller, item)), pagination };
    },
  }),
  route("POST /sequences", "Create a sequence", {
    description:
      "Creates a sequence without steps. Add steps with POST /sequences/:id/steps, then set " +
      "the status to `active`.",
    level: "site",
    body: NewSequence,
    returns: Sequence,
    status: 201,
    errors: { 404: "The site, sending config, tag or list does not exist." },
    handle: ({ caller, body }) => sequence.create(caller, body),
  }),
  route("GET /sequences/:id", "Get a sequence", {
    level: "site",
    returns: Sequence,
    handle: async ({ caller, params }) =>
      hideSecrets(caller, await sequence.find(caller, params.id)),
  }),
  route("PUT /sequences/:id", "Update a sequence", {
    description: "Updates the given fields. Start, pause and archive a sequence by its `status`.",
    level: "site",
    body: SequenceChanges,
    returns: Sequence,
    errors: { 409: "20 active sequences already share this trigger (`too_many_sequences`)." },
    handle: ({ caller, params, body }) => sequence.change(caller, params.id, body),
  }),
  route("DELETE /sequences/:id", "Delete a sequence", {
    description:
      "Ends every enrollment. Email of the sequence that has not been handed to a provider " +
      "is not sent.",
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await sequence.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("GET /sequences/:id/detail", "Get a sequence with steps and stats", {
    description: "Returns the sequence with its steps, up to 50 enrollments, and stats per step.",
    level: "site",
    returns: SequenceDetail,
    handle: async ({ caller, params }) => hideSecrets(caller, await getDetail(caller, params.id)),
  }),
  route("POST /sequences/:id/enroll", "Enroll contacts in a sequence", {
    audit: "counted",
    operationId: "enrollSequenceContacts",
    description:
      "Takes one `contactId` or up to 100 `contactIds` of the sequence's site. Contacts that " +
      "are active in the sequence are counted in `unchanged`.",
    level: "site",
    body: EnrollRequest,
    returns: enrollments.EnrollResult,
    errors: archivedError,
    handle: ({ caller, params, body: { contactIds, contactId, startAtStep } }) =>
      enrollments.enroll(caller, params.id, {
        contactIds: contactIds ?? [contactId!],
        startAtStep,
      }),
  }),
  route("GET /sequences/:id/enrollments", "List the enrollments of a sequence", {
    description:
      "Active enrollments first, highest contact id first; then finished enrollments, latest " +
      "end first. With `stepId`, a page reads up to 10,000 enrollments: it can have fewer items " +
      "than `limit`, and `nextCursor` continues.",
    level: "site",
    query: PageQuery.extend({
      status: z.enum(enrollmentStatuses).optional().describe("Only items with this status."),
      stepId: QueryId.optional().describe(
        "Only items whose `currentStepId` is this step. With `status=active`, `total` is the " +
          "number of contacts that are at the step.",
      ),
    }),
    returns: pagedSchema("enrollments", ListedEnrollment),
    handle: async ({ caller, params, query: { status, stepId, ...page } }) => {
      const { items, pagination } = await enrollmentListing.list(caller, page, {
        sequenceId: params.id,
        status,
        stepId,
      });
      return { enrollments: items, pagination };
    },
  }),
  route("POST /sequences/:id/enrollments", "Create enrollments in a sequence", {
    audit: "counted",
    description: "Does the same as POST /sequences/:id/enroll, with status 201.",
    level: "site",
    body: EnrollRequest,
    returns: enrollments.EnrollResult,
    status: 201,
    errors: archivedError,
    handle: ({ caller, params, body: { contactIds, contactId, startAtStep } }) =>
      enrollments.enroll(caller, params.id, {
        contactIds: contactIds ?? [contactId!],
        startAtStep,
      }),
  }),
  route("DELETE /sequences/:id/enrollments", "Cancel an enrollment", {
    audit: "counted",
    operationId: "cancelSequenceEnrollment",
    description: "Give `enrollmentId` or `contactId`, in the body or in the query.",
    level: "site",
    query: z.object({
      enrollmentId: QueryId.optional().describe(
        "Enrollment to cancel. Give either this or `contactId`, here or in the body.",
      ),
      contactId: QueryId.optional().describe(
        "Contact whose active enrollment is cancelled. Give either this or `enrollmentId`, " +
          "here or in the body.",
      ),
    }),
    body: EnrollmentReference,
    returns: Enrollment,
    errors: { 404: "The sequence or the active enrollment does not exist." },
    handle: ({ caller, params, query, body }) => {
      const { enrollmentId, contactId } = { ...query, ...body };
      if ((enrollmentId === undefined) === (contactId === undefined))
        throw invalid("Exactly one of enrollmentId and contactId is required", {
          details: [
            {
              path: "enrollmentId",
              message: "exactly one of enrollmentId and contactId is required",
            },
          ],
        });
      return enrollments.cancel(caller, params.id, { enrollmentId, contactId });
    },
  }),
  route("POST /sequences/:id/webhook/rotate", "Rotate the webhook URL of a sequence", {
    operationId: "rotateSequenceWebhookUrl",
    description:
      "Returns the sequence with a new `webhookUrl` and `callSecret`. The old ones stop working " +
      "at once.",
    level: "site",
    returns: Sequence,
    handle: ({ caller, params }) => sequence.rotateWebhook(caller, params.id),
  }),
  route("POST /sequences/:id/walk", "Walk one contact through a sequence", {
    right: "marketing:read",
    operationId: "walkSequence",
    description:
      "Returns the steps that a contact, or a made-up person, would go through, with the times " +
      "and decisions of real enrollments. It takes the steps as they are saved, whatever the " +
      "status of the sequence. Awaited events do not come, and emails are not opened, unless " +
      "`outcomes` say so. Sends and stores nothing, and uses no quota. Rules about events with " +
      "properties read only those that the contact has.",
    level: "site",
    preview: true,
    body: WalkRequest,
    returns: Walk,
    errors: { 404: "The sequence does not exist, or the contact or a list in its site." },
    handle: ({ caller, params, body }) => walk(caller, params.id, body),
  }),
  route("GET /sequences/:id/steps", "List the steps of a sequence", {
    description: "Returns the steps by `stepOrder`.",
    level: "site",
    returns: SequenceSteps,
    handle: ({ caller, params }) => sequence.listSteps(caller, params.id),
  }),
  route("PUT /sequences/:id/steps", "Replace the steps of a sequence", {
    operationId: "replaceSequenceSteps",
    description:
      "Saves all steps at once, all or none. Steps with an `id` keep it, and contacts stay at " +
      "them; PUT /sequences/:id/steps/:stepId tells what a change of such a step does. Contacts " +
      "at a deleted step go on within about a minute: with the next step that stays, or to the " +
      "end of the sequence if none follows. An enrollment that has not started yet starts at " +
      "the `stepOrder` that its request gave. Every jump must lead to a later step of the list. " +
      "While the sequence is active, every step must be complete. Errors name each step and " +
      "field, such as `steps.2.templateId`. Safe to repeat.",
    level: "site",
    body: ReplaceStepsRequest,
    returns: SequenceSteps,
    errors: { 409: "Somebody has changed the steps since `stepsVersion` (`steps_changed`)." },
    handle: ({ caller, params, body }) => steps.replace(caller, params.id, body),
  }),
  route("GET /sequences/:id/draft", "Get the draft of a sequence's steps", {
    description:
      "A draft is edited while contacts run through the current steps. `effects` tells what " +
      "publishing it does to them.",
    level: "site",
    returns: stepDrafts.StepDraft,
    errors: { 404: "The sequence does not exist or has no draft." },
    handle: ({ caller, params }) => stepDrafts.find(caller, params.id),
  }),
  route("PUT /sequences/:id/draft", "Save a draft of a sequence's steps", {
    description:
      "Takes the steps as PUT /sequences/:id/steps does. They may be incomplete. No contact is " +
      "affected until the draft is published.",
    level: "site",
    body: stepDrafts.StepDraftRequest,
    returns: stepDrafts.StepDraft,
    errors: {
      409: "Somebody has changed the draft since `draftVersion` (`draft_changed`).",
    },
    handle: ({ caller, params, body }) => stepDrafts.save(caller, params.id, body),
  }),
  route("DELETE /sequences/:id/draft", "Discard the draft of a sequence's steps", {
    level: "site",
    returns: Deleted,
    errors: { 404: "The sequence does not exist or has no draft." },
    handle: async ({ caller, params: { id } }) => {
      await stepDrafts.discard(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("POST /sequences/:id/draft/publish", "Publish the draft of a sequence's steps", {
    description:
      "Puts the draft in place of the steps and deletes it. What this does to contacts stands in " +
      "`effects` of the draft and at PUT /sequences/:id/steps.",
    level: "site",
    body: stepDrafts.PublishRequest,
    returns: SequenceSteps,
    errors: {
      404: "The sequence does not exist or has no draft.",
      409:
        "Somebody has changed the steps since the draft was made (`steps_changed`), or the draft " +
        "while it was published (`draft_changed`).",
    },
    handle: ({ caller, params, body }) => stepDrafts.publish(caller, params.id, body),
  }),
  route("POST /sequences/:id/steps", "Add steps to a sequence", {
    operationId: "createSequenceSteps",
    description: "Adds up to 200 steps, all or none. A sequence can have up to 500 steps.",
    level: "site",
    body: AddStepsRequest,
    returns: z.object({ steps: z.array(SequenceStep).describe("The added steps, in order.") }),
    status: 201,
    handle: async ({ caller, params, body }) => ({
      steps: await steps.add(caller, params.id, body),
    }),
  }),
  route("PUT /sequences/:id/steps/:stepId", "Update a step of a sequence", {
    level: "site",
    description:
      "Updates the given fields. Contacts that are at the step continue with its new " +
      "content. A new `delayMinutes` also moves the contacts that wait at the step: they " +
      "continue at the start of their wait plus the new delay, or at once if that has " +
      "passed. A worker does this in the background: it starts within seconds and moves " +
      "several hundred contacts per second. A contact that is just arriving at the step " +
      "follows after about ten minutes. No contact continues before a longer delay is over. " +
      "While the sequence is not active, the contacts move when it is active again.",
    body: SequenceStepChanges,
    returns: SequenceStep,
    handle: ({ caller, params, body }) =>
      steps.change(caller, { sequenceId: params.id, stepId: params.stepId }, body),
  }),
  route("DELETE /sequences/:id/steps/:stepId", "Delete a step of a sequence", {
    description: "Contacts that are at the step go on to the next one within about a minute.",
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id, stepId } }) => {
      await steps.remove(caller, id, stepId);
      return { id: stepId, deleted: true as const };
    },
  }),
]);
export const { handler } = sequences;
