import * as z from "zod";
import type { Caller } from "../../shared/caller.ts";
import { findDetail, SendDetail } from "../../shared/domain/delivery-events/send-history.ts";
import * as acceptBatch from "../../shared/domain/sending/accept/accept-batch.ts";
import { acceptMessages } from "../../shared/domain/sending/accept/accept-messages.ts";
import { acceptSingle } from "../../shared/domain/sending/accept/accept-single.ts";
import * as attachments from "../../shared/domain/sending/accept/attachments.ts";
import { BatchMessage } from "../../shared/domain/sending/accept/batch-message.ts";
import { BatchPreview, previewBatch } from "../../shared/domain/sending/accept/batch-preview.ts";
import { loadIntake, prefetchIntake } from "../../shared/domain/sending/accept/intake.ts";
import { Tag } from "../../shared/domain/sending/accept/message-fields.ts";
import {
  addressesOf,
  MessageList,
  SingleMessage,
} from "../../shared/domain/sending/accept/single-message.ts";
import { cancelSend } from "../../shared/domain/sending/cancel-send.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { encryptMessages } from "../../shared/domain/sending/secure-messages/encrypt-messages.ts";
import { Send, sendStatuses } from "../../shared/domain/sending/send-schema.ts";
import { invalid, Problem, type ProblemDetail } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { validate } from "../../shared/http/validate.ts";
import { QueryId, SiteFilter } from "../../shared/kernel/digits.ts";
import { EmailAddress, singleLineText } from "../../shared/kernel/email-fields.ts";
import { Count, QueryTime, RecordId, Timestamp } from "../../shared/kernel/record-fields.ts";
import { createUpload, maxPictureBytes } from "../../shared/kernel/uploads.ts";

const BatchResult = z.object({
  index: Count.describe("Position of the recipient in the request, from 0."),
  to: z.string().describe("Email address of the recipient, as given."),
  id: RecordId.nullable().describe("Id of the send, for GET /sends/:id. `null` if there is none."),
  status: z
    .enum(["queued", "scheduled", "failed", "rejected"])
    .describe(
      "`rejected`: the recipient is not valid or repeated, and there is no send. `failed`: " +
        "the email address is suppressed.",
    ),
  error: z
    .string()
    .nullable()
    .describe(
      "Why there is no email, in words; `duplicate`: the address is in the batch already; " +
        "`suppressed`. `null`: there is one.",
    ),
});

const MessageResult = z.object({
  index: z.int().min(0).max(99).describe("Position in `messages`, from 0."),
  id: RecordId.nullable().describe("Id of the send, or `null` if the email was rejected."),
  status: z
    .enum(["queued", "scheduled", "failed", "rejected"])
    .describe(
      "`rejected`: there is no send, and `error` says why. `failed`: the email address is " +
        "suppressed, and nothing is sent.",
    ),
  error: z.string().nullable().describe("Why the email was rejected, in one sentence, or `null`."),
  warnings: z.array(z.string()).describe("What is accepted but may not be meant, in sentences."),
});

function parseMessage(given: unknown): SingleMessage | Problem {
  try {
    return validate(SingleMessage, given) as SingleMessage;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** The first 20 details of the problems, with the position of each email. */
const prefixDetails = (problems: (SingleMessage | Problem)[]): ProblemDetail[] =>
  problems
    .flatMap((problem, i) =>
      problem instanceof Problem
        ? (problem.details ?? []).map(({ path = "", message }) => ({
            path: ["messages", i, path].filter((part) => part !== "").join("."),
            message,
          }))
        : [],
    )
    .slice(0, 20);

const errors = {
  402:
    "The plan's emails and the credits are not enough: `error` says how many emails are left. " +
    "Nothing was accepted.",
  404: "The template or the sending config does not exist.",
};

const intakeOptions = { withSiteBcc: true, canFailOver: true };

async function checkBatch(caller: Caller, message: BatchMessage) {
  const checked = acceptBatch.validateRecipients(message);
  const emails = checked.flatMap(({ recipient }) => (recipient ? [recipient.to] : []));
  const context = await loadIntake(caller, message, { emails, ...intakeOptions });
  return { batch: { message, checked }, context };
}

export const send = routeGroup("send", [
  route("POST /send", "Send an email", {
    audit: "counted",
    operationId: "sendEmail",
    description:
      "Sends one transactional email, at once or at `scheduledAt`. Give `templateId`, or " +
      "`html` and `subject`. Give `fromEmail` or `sendingConfigId`. The email counts against " +
      "the plan when it is accepted, once for each address of `to`, `cc` and `bcc`. Suppressed " +
      "addresses are left out, with a warning.",
    level: "site",
    rateLimit: "send",
    body: SingleMessage,
    status: 202,
    returns: z.object({
      id: RecordId.describe("Id of the send: read it with GET /sends/:id."),
      status: z
        .enum(["queued", "scheduled", "failed"])
        .describe(
          "`queued`: about to be sent. `scheduled`: waits for `scheduledAt`. `failed`: the " +
            "email address is suppressed, and nothing is sent; `warnings` says so.",
        ),
    }),
    errors,
    prefetch: ({ identity, body }) =>
      prefetchIntake(identity, body, { emails: addressesOf(body), ...intakeOptions }),
    handle: async ({ caller, body, reply }) => {
      const emails = addressesOf(body);
      const sendContext = await loadIntake(caller, body, { emails, ...intakeOptions });
      const { warnings, ...accepted } = await acceptSingle(caller, body, {
        context: sendContext,
        encrypt: encryptMessages,
      });
      reply.warnings.push(...warnings);
      return accepted;
    },
  }),
  route("POST /send/batch", "Send an email to up to 1,000 recipients", {
    audit: "counted",
    operationId: "sendEmailBatch",
    description:
      "Sends the same content to each recipient, with variables per recipient. A recipient " +
      "that is not valid, repeated or suppressed is rejected alone. The batch counts as one " +
      "request.",
    level: "site",
    body: BatchMessage,
    status: 202,
    returns: z.object({
      batchId: RecordId.describe("Id of the batch: list its sends with GET /sends?batchId=."),
      accepted: Count.describe("Number of emails accepted."),
      rejected: Count.describe(
        "Number of recipients that were not valid, repeated or suppressed. accepted + " +
          "rejected = recipients.",
      ),
      results: z
        .array(BatchResult)
        .describe("One entry per recipient, in the order of the request."),
    }),
    errors,
    handle: async ({ caller, body, reply }) => {
      const { batch, context } = await checkBatch(caller, body);
      const { warnings, ...accepted } = await acceptBatch.acceptBatch(caller, batch, context);
      reply.warnings.push(...warnings);
      return accepted;
    },
  }),
  route("POST /send/batch/preview", "Preview a batch", {
    operationId: "previewEmailBatch",
    description:
      "Takes the body of POST /send/batch. Counts who would get the email and who would not, and " +
      "why. Sends nothing.",
    level: "site",
    preview: true,
    body: BatchMessage,
    returns: BatchPreview,
    errors,
    handle: async ({ caller, body, reply }) => {
      const { batch, context } = await checkBatch(caller, body);
      const { warnings, ...preview } = await previewBatch(caller, batch, context);
      reply.warnings.push(...warnings);
      return preview;
    },
  }),
  route("POST /send/messages", "Send up to 100 different emails", {
    audit: "counted",
    operationId: "sendEmailList",
    description:
      "Sends each email of the list as POST /send does, with content, sender and time of its " +
      "own. An email that is not valid or that the plan and the credits do not cover is " +
      "rejected alone. The list counts as one request.",
    level: "site",
    body: MessageList,
    status: 202,
    returns: z.object({
      accepted: Count.describe("Number of emails accepted."),
      rejected: Count.describe("Number of emails rejected. accepted + rejected = messages."),
      results: z.array(MessageResult).describe("One entry per email, in the order of the request."),
    }),
    errors: { 400: "None of the emails is valid. Nothing was accepted." },
    handle: async ({ caller, body: { messages } }) => {
      const checked = messages.map(parseMessage);
      const [first] = checked;
      if (first instanceof Problem && checked.every((one) => one instanceof Problem))
        throw invalid(`None of the emails is valid: messages.0: ${first.message}`, {
          details: prefixDetails(checked),
        });
      const results = await acceptMessages(caller, checked, intakeOptions);
      const rejected = results.filter(({ status }) => status === "rejected").length;
      return { accepted: results.length - rejected, rejected, results };
    },
  }),
  route("POST /attachments", "Create an upload for a large file", {
    audit: "counted",
    operationId: "createUpload",
    description:
      "Returns a URL for one file: PUT the file there with the given type and size, then " +
      "name its `uploadId` in an email, an import or a new picture.",
    level: "site",
    body: z
      .object({
        filename: singleLineText(200).min(1).describe("Name of the file."),
        type: z
          .string()
          .regex(/^[\w.+-]+\/[\w.+-]+$/, "must be a content type such as application/pdf")
          .max(100)
          .describe("Content type of the file. The PUT request must use the same one."),
        size: z
          .int()
          .min(1)
          .max(attachments.maxImportBytes)
          .describe(
            "Size of the file in bytes. The PUT request must have exactly this size. At most " +
              "10 MB for an attachment, 5 MB for a picture and 1 GB for an import.",
          ),
        purpose: z
          .enum(["attachment", "import", "picture"])
          .default("attachment")
          .describe(
            "What the file is for. An attachment or a picture of the media library can be used " +
              "for 1 hour, an import for 24 hours.",
          ),
      })
      .refine(({ size, purpose }) => purpose === "import" || size <= attachments.maxFileBytes, {
        path: ["size"],
        message: "must be at most 10 MB for an attachment",
      })
      .refine(({ size, purpose }) => purpose !== "picture" || size <= maxPictureBytes, {
        path: ["size"],
        message: "must be at most 5 MB for a picture",
      })
      .meta({ examples: [{ filename: "invoice.pdf", type: "application/pdf", size: 48_213 }] }),
    status: 201,
    returns: z.object({
      uploadId: z.string().describe("Id of the upload, to name the file by once it is there."),
      uploadUrl: z
        .string()
        .describe("URL for one PUT request with the file, without further credentials."),
      expiresAt: Timestamp.describe("When the URL expires."),
    }),
    handle: ({ caller, body }) => createUpload(caller, body),
  }),
  route("GET /sends", "List sends", {
    description:
      "Returns sends, newest first. With a filter other than `siteId`, a page may have fewer " +
      "items than `limit` and still a `nextCursor`.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
      status: z
        .enum(sendStatuses)
        .optional()
        .describe(
          "Only items with this status. `uncertain` with a `to` of 72 hours ago: emails that the " +
            "provider neither reported nor found, to be sent again or closed.",
        ),
      contactId: QueryId.optional().describe(
        "Only items of this contact, and of contacts that were merged into it.",
      ),
      campaignId: QueryId.optional().describe("Only sends of this campaign."),
      sequenceId: QueryId.optional().describe("Only sends of this sequence."),
      stepId: QueryId.optional().describe("Only sends of this step of a sequence."),
      batchId: QueryId.optional().describe("Only sends of this batch."),
      templateId: QueryId.optional().describe("Only sends of this template."),
      email: EmailAddress.optional().describe(
        "Only sends of the last 90 days to this email address, in `to`, `cc` or `bcc`, ignoring " +
          "case. An index finds them, whether or not the address is a contact. A page ends after " +
          "200 sends were looked at: continue with its `nextCursor`.",
      ),
      from: QueryTime.optional().describe("Only sends that were accepted at this time or later."),
      to: QueryTime.optional().describe("Only sends that were accepted before this time."),
      subject: z
        .string()
        .min(1)
        .max(300)
        .optional()
        .describe("Only sends whose subject contains this text, ignoring case."),
      tag: Tag.optional().describe("Only sends with this tag."),
      opened: z
        .enum(["true", "false"])
        .optional()
        .describe(
          "`true`: only sends that a person has opened or clicked. `false`: only the others.",
        ),
      clicked: z
        .enum(["true", "false"])
        .optional()
        .describe("`true`: only sends in which a person clicked a link. `false`: only the others."),
      messageId: z
        .string()
        .min(1)
        .max(1000)
        .optional()
        .describe(
          "Only sends with this `providerMessageId`, at any provider. With `email` the send is " +
            "found at once; alone, a page ends after 2,000 sends were looked at.",
        ),
      toEmail: EmailAddress.optional().describe(
        "Only sends to this email address as the first one of `to`, ignoring case. Looks through " +
          "all sends, also those of more than 90 days ago. A page ends after 2,000 sends were " +
          "looked at: continue with its `nextCursor`.",
      ),
    }),
    returns: pagedSchema("sends", Send),
    handle: ({ caller, query: { page, limit, cursor, ...filter } }) =>
      listSends(caller, { page, limit, cursor }, filter),
  }),
  route("GET /sends/:id", "Get a send", {
    description: "Returns the send with its events.",
    level: "site",
    returns: SendDetail,
    handle: ({ caller, params }) => findDetail(caller, params.id),
  }),
  route("POST /sends/:id/cancel", "Cancel a scheduled send", {
    level: "site",
    returns: Send,
    errors: { 409: "The send is no longer scheduled." },
    handle: ({ caller, params }) => cancelSend(caller, params.id),
  }),
]);
export const { handler } = send;
