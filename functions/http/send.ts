import * as z from "zod";
import { secured } from "../../shared/domain/secure-messages/acceptance.ts";
import { gather } from "../../shared/domain/sending/accept.ts";
import * as batches from "../../shared/domain/sending/accept-batch.ts";
import { single } from "../../shared/domain/sending/accept-single.ts";
import * as attachments from "../../shared/domain/sending/attachments.ts";
import { BatchMessage, SingleMessage } from "../../shared/domain/sending/message.ts";
import * as sends from "../../shared/domain/sends.ts";
import { oneLine } from "../../shared/email.ts";
import { PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

const Row = z.object({
  index: z.int(),
  to: z.string(),
  id: z.int().nullable(),
  status: z.enum(["queued", "scheduled", "failed", "rejected"]),
  error: z.string().nullable(),
});

const errors = {
  402: "Plan and credits do not suffice: `error` tells how many mails are left. Nothing was accepted",
  404: "No such template or sending config",
};

export const send = group("send", [
  route("POST /send", "Send one mail, now or at scheduledAt (at most 30 days ahead)", {
    level: "site",
    limit: "send",
    body: SingleMessage,
    status: 202,
    returns: z.object({
      id: z.int(),
      status: z
        .enum(["queued", "scheduled", "failed"])
        .describe("`failed`: the address is suppressed, and nothing goes out; `warnings` beside `data` says so"),
    }),
    errors,
    prepare: ({ caller, body }) => gather(caller, body, [body.to], { copied: true }),
    handle: async ({ caller, body, prepared, reply }) => {
      const { warnings, ...accepted } = await single(caller, body, prepared, secured);
      reply.warnings.push(...warnings);
      return accepted;
    },
  }),
  route("POST /send/batch", "Send one content to up to 1,000 recipients, each with variables of their own", {
    level: "site",
    body: BatchMessage,
    status: 202,
    returns: z.object({ batchId: z.int(), accepted: z.int(), rejected: z.int(), results: z.array(Row) }),
    errors,
    prepare: async ({ caller, body }) => {
      const rows = batches.sorted(body);
      const emails = rows.flatMap(({ recipient }) => (recipient ? [recipient.to] : []));
      return { rows, gathered: await gather(caller, body, emails, { copied: true }) };
    },
    handle: async ({ caller, body, prepared: { rows, gathered }, reply }) => {
      const { warnings, ...accepted } = await batches.accept(caller, body, rows, gathered);
      reply.warnings.push(...warnings);
      return accepted;
    },
  }),
  route("POST /attachments", "A place to PUT one file that is too big for the request; then name its uploadId when sending or importing", {
    level: "site",
    body: z
      .object({
        filename: oneLine(200).min(1),
        type: z
          .string()
          .regex(/^[\w.+-]+\/[\w.+-]+$/, "must be a content type such as application/pdf")
          .max(100),
        size: z
          .int()
          .min(1)
          .max(attachments.maxImportBytes)
          .describe("Bytes; the upload must have exactly as many. Attachments: at most 10 MB, imports: 1 GB"),
        purpose: z.enum(["attachment", "import"]).default("attachment"),
      })
      .refine(({ size, purpose }) => purpose === "import" || size <= attachments.maxFileBytes, {
        path: ["size"],
        message: "an attachment may have at most 10 MB",
      })
      .meta({ examples: [{ filename: "invoice.pdf", type: "application/pdf", size: 48_213 }] }),
    status: 201,
    returns: z.object({ uploadId: z.string(), uploadUrl: z.string(), expiresAt: z.string() }),
    handle: ({ caller, body }) => attachments.prepareUpload(caller, body),
  }),
  route("GET /sends", "Sent mail, newest first", {
    level: "site",
    query: PageQuery.extend({
      siteId: z.coerce.number().int().positive().optional(),
      status: z.enum(sends.sendStatuses).optional(),
      contactId: z.coerce.number().int().positive().optional(),
      campaignId: z.coerce.number().int().positive().optional(),
      batchId: z.coerce.number().int().positive().optional(),
    }),
    returns: paged("sends", sends.Send),
    handle: ({ caller, query: { page, limit, cursor, ...filter } }) => sends.list(caller, { page, limit, cursor }, filter),
  }),
  route("GET /sends/:id", "One send, with all that happened to it", {
    level: "site",
    returns: sends.SendDetail,
    handle: ({ caller, params }) => sends.detail(caller, params.id),
  }),
  route("POST /sends/:id/cancel", "Cancel a scheduled send", {
    level: "site",
    returns: sends.Send,
    errors: { 409: "It is not scheduled any more" },
    handle: ({ caller, params }) => sends.cancel(caller, params.id),
  }),
]);
export const { handler } = send;
