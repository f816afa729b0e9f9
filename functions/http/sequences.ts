import * as z from "zod";
import { detail, SequenceDetail } from "../../shared/domain/sequences/detail.ts";
import { Enrollment, enrollmentStatuses } from "../../shared/domain/sequences/enrollment.ts";
import * as enrollments from "../../shared/domain/sequences/enrollments.ts";
import { NewSequence, Sequence, SequenceChanges, statuses } from "../../shared/domain/sequences/record.ts";
import { NewSteps, Step, StepChanges } from "../../shared/domain/sequences/step.ts";
import * as steps from "../../shared/domain/sequences/steps.ts";
import * as webhooks from "../../shared/domain/sequences/webhooks.ts";
import * as sequence from "../../shared/domain/sequences.ts";
import { invalid } from "../../shared/errors.ts";
import { Deleted, PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

const Id = z.int().positive();
const QueryId = z.coerce.number().int().positive();

const Enrolling = z
  .object({
    contactIds: z.array(Id).min(1).max(enrollments.mostAtOnce).optional(),
    contactId: Id.optional().describe("Or one"),
    startAtStep: z.int().min(1).optional().describe("The order of the step to begin with; absent: the first"),
  })
  .refine(({ contactIds, contactId }) => (contactIds === undefined) !== (contactId === undefined), {
    message: "give contactIds or contactId, one of the two",
    path: ["contactIds"],
  })
  .meta({ examples: [{ contactIds: [1, 2] }] });

const Which = z
  .object({ enrollmentId: Id.optional(), contactId: Id.optional() })
  .describe("One of the two")
  .meta({ examples: [{ contactId: 1 }] });

const conflicts = { 409: "The sequence is archived (`sequence_archived`)" };

export const sequences = group("sequences", [
  route("GET /sequences", "List sequences, newest first", {
    level: "site",
    query: PageQuery.extend({ siteId: QueryId.optional(), status: z.enum(statuses).optional() }),
    returns: paged("sequences", Sequence),
    handle: async ({ caller, query: { siteId, status, ...page } }) => {
      const { items, pagination } = await sequence.list(caller, page, { siteId, status });
      return { sequences: items, pagination };
    },
  }),
  route("POST /sequences", "Create a sequence; it has no steps yet", {
    level: "site",
    body: NewSequence,
    returns: Sequence,
    status: 201,
    errors: { 404: "There is no such site, sending config, tag or list" },
    handle: ({ caller, body }) => sequence.create(caller, body),
  }),
  route("GET /sequences/:id", "One sequence", {
    level: "site",
    returns: Sequence,
    handle: ({ caller, params }) => sequence.find(caller, params.id),
  }),
  route("PUT /sequences/:id", "Change a sequence; start and pause it by its status", {
    level: "site",
    body: SequenceChanges,
    returns: Sequence,
    errors: { 409: "20 active sequences wait for the same already (`too_many_sequences`)" },
    handle: ({ caller, params, body }) => sequence.change(caller, params.id, body),
  }),
  route("DELETE /sequences/:id", "Delete a sequence; everyone leaves it, and mail of it that is not sent yet will not be", {
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await sequence.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("GET /sequences/:id/detail", "A sequence with its steps, who is in it, and what came of it", {
    level: "site",
    returns: SequenceDetail,
    handle: ({ caller, params }) => detail(caller, params.id),
  }),
  route("POST /sequences/:id/enroll", "Enroll up to 100 contacts; who is in it already stays as it is", {
    level: "site",
    body: Enrolling,
    returns: enrollments.Entered,
    errors: conflicts,
    handle: ({ caller, params, body: { contactIds, contactId, startAtStep } }) =>
      enrollments.enroll(caller, params.id, contactIds ?? [contactId!], startAtStep),
  }),
  route("GET /sequences/:id/enrollments", "Who is in a sequence, the newest contact first; then who was, the latest first", {
    level: "site",
    query: PageQuery.extend({ status: z.enum(enrollmentStatuses).optional() }),
    returns: paged("enrollments", Enrollment),
    handle: async ({ caller, params, query: { status, ...page } }) => {
      const { items, pagination } = await enrollments.list(caller, params.id, page, { status });
      return { enrollments: items, pagination };
    },
  }),
  route("POST /sequences/:id/enrollments", "The same as POST /sequences/:id/enroll", {
    level: "site",
    body: Enrolling,
    returns: enrollments.Entered,
    status: 201,
    errors: conflicts,
    handle: ({ caller, params, body: { contactIds, contactId, startAtStep } }) =>
      enrollments.enroll(caller, params.id, contactIds ?? [contactId!], startAtStep),
  }),
  route("DELETE /sequences/:id/enrollments", "Cancel an enrollment; it is named in the body or the query", {
    level: "site",
    query: z.object({ enrollmentId: QueryId.optional(), contactId: QueryId.optional() }),
    body: Which,
    returns: Enrollment,
    errors: { 404: "There is no such sequence, or no such active enrollment" },
    handle: ({ caller, params, query, body }) => {
      const { enrollmentId, contactId } = { ...query, ...body };
      if ((enrollmentId === undefined) === (contactId === undefined))
        throw invalid("Exactly one of enrollmentId and contactId is needed", {
          details: [{ path: "enrollmentId", message: "one of the two is needed" }],
        });
      return enrollments.cancel(caller, params.id, { enrollmentId, contactId });
    },
  }),
  route("POST /sequences/:id/webhook/rotate", "Another webhookUrl; the old one is worthless at once", {
    level: "site",
    returns: Sequence,
    handle: ({ caller, params }) => sequence.rotateWebhook(caller, params.id),
  }),
  route("GET /sequences/:id/steps", "The steps of a sequence, in order", {
    level: "site",
    returns: z.object({ steps: z.array(Step) }),
    handle: async ({ caller, params }) => ({ steps: await sequence.steps(caller, params.id) }),
  }),
  route("POST /sequences/:id/steps", "Add up to 200 steps, all or none of them", {
    level: "site",
    body: NewSteps,
    returns: z.object({ steps: z.array(Step).describe("Those that were added, in order") }),
    status: 201,
    handle: async ({ caller, params, body }) => ({ steps: await steps.add(caller, params.id, body) }),
  }),
  route("PUT /sequences/:id/steps/:stepId", "Change a step; who is at it does it as it then is", {
    level: "site",
    body: StepChanges,
    returns: Step,
    handle: ({ caller, params, body }) => steps.change(caller, params.id, params.stepId, body),
  }),
  route("DELETE /sequences/:id/steps/:stepId", "Remove a step; who is at it goes on to the next", {
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id, stepId } }) => {
      await steps.remove(caller, id, stepId);
      return { id: stepId, deleted: true as const };
    },
  }),
  route("POST /wh/sq/:secret", "Enroll or cancel a contact by its address; who is not known yet becomes a contact", {
    auth: "public",
    limit: "address",
    body: webhooks.Told,
    returns: webhooks.Heard,
    errors: { 404: "The URL is not, or no longer, that of a sequence", ...conflicts },
    handle: ({ params, body }) => webhooks.hear(params.secret, body),
  }),
]);
export const { handler } = sequences;
