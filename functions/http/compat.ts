import "../../shared/domain/reactions.ts";
import * as postmark from "../../shared/http/compat/postmark.ts";
import * as resend from "../../shared/http/compat/resend.ts";
import * as sendgrid from "../../shared/http/compat/sendgrid.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { route } from "../../shared/http/route.ts";

const sending = {
  audit: "counted",
  level: "site",
  scopeGroup: "send",
  right: "sending:write",
} as const;
const asSend = "is accepted as POST /send accepts it, with the same limits.";
const asMessages = "as POST /send/messages accepts them, with the same limits.";
const refusesUnknown = "A field that is not listed here is refused, with an error that names it.";

// The APIs of other services, so that their official libraries need no change but address and key.
export const compat = routeGroup("compat", [
  route("POST /compat/resend/emails", "Send an email with Resend's API", {
    ...sending,
    operationId: "receiveResendEmail",
    description: `The email ${asSend} ${refusesUnknown}`,
    rateLimit: "send",
    wireFormat: resend.resendFormat,
    body: resend.ResendEmail,
    returns: resend.ResendAccepted,
    handle: ({ caller, body }) => resend.acceptEmail(caller, body),
  }),
  route("POST /compat/resend/emails/batch", "Send up to 100 emails with Resend's API", {
    ...sending,
    operationId: "receiveResendBatch",
    description:
      `Accepts all emails or none, ${asMessages} With the header \`X-Batch-Validation: ` +
      `permissive\`, an email that is not valid is rejected alone. ${refusesUnknown}`,
    wireFormat: resend.resendFormat,
    body: resend.ResendBatch,
    returns: resend.ResendBatchAccepted,
    handle: ({ caller, body, request }) =>
      resend.acceptBatch(caller, body, {
        permissive: request.headers["x-batch-validation"] === "permissive",
      }),
  }),
  route("GET /compat/resend/emails/:id", "Get a send with Resend's API", {
    operationId: "getResendEmail",
    description: "Returns the send of an email, and its content while it is stored.",
    level: "site",
    scopeGroup: "sends",
    right: "sending:read",
    wireFormat: resend.resendFormat,
    returns: resend.ResendStatus,
    handle: ({ caller, params }) => resend.findEmail(caller, params.id),
  }),
  route("POST /compat/postmark/email", "Send an email with Postmark's API", {
    ...sending,
    operationId: "receivePostmarkEmail",
    description: `The email ${asSend} ${refusesUnknown}`,
    rateLimit: "send",
    wireFormat: postmark.postmarkFormat,
    body: postmark.PostmarkEmail,
    returns: postmark.PostmarkAccepted,
    handle: ({ caller, body }) => postmark.acceptEmail(caller, body),
  }),
  route("POST /compat/postmark/email/batch", "Send up to 100 emails with Postmark's API", {
    ...sending,
    operationId: "receivePostmarkBatch",
    description: `Accepts each email alone, ${asMessages} ${refusesUnknown}`,
    wireFormat: postmark.postmarkFormat,
    body: postmark.PostmarkBatch,
    returns: postmark.PostmarkBatchAccepted,
    handle: ({ caller, body }) => postmark.acceptBatch(caller, body),
  }),
  route("POST /compat/postmark/email/withTemplate", "Send a template with Postmark's API", {
    ...sending,
    operationId: "receivePostmarkTemplateEmail",
    description: `The email ${asSend} ${refusesUnknown}`,
    rateLimit: "send",
    wireFormat: postmark.postmarkFormat,
    body: postmark.PostmarkTemplateEmail,
    returns: postmark.PostmarkAccepted,
    handle: ({ caller, body }) => postmark.acceptTemplateEmail(caller, body),
  }),
  route(
    "POST /compat/postmark/email/batchWithTemplates",
    "Send up to 100 templates with Postmark's API",
    {
      ...sending,
      operationId: "receivePostmarkTemplateBatch",
      description: `Accepts each email alone, ${asMessages} ${refusesUnknown}`,
      wireFormat: postmark.postmarkFormat,
      body: postmark.PostmarkTemplateBatch,
      returns: postmark.PostmarkBatchAccepted,
      handle: ({ caller, body }) => postmark.acceptTemplateBatch(caller, body.Messages),
    },
  ),
  route("POST /compat/sendgrid/v3/mail/send", "Send email with SendGrid's API", {
    ...sending,
    operationId: "receiveSendgridMail",
    description:
      `Accepts an email for each personalization, or none, ${asMessages} The header ` +
      "`X-Message-Id` of the response is the id of the first send, or that of the batch with " +
      `more than 100 personalizations. ${refusesUnknown}`,
    wireFormat: sendgrid.sendgridFormat,
    body: sendgrid.SendgridMail,
    status: 202,
    handle: async ({ caller, body, reply }) => {
      reply.headers["x-message-id"] = await sendgrid.acceptMails(caller, body);
      return null;
    },
  }),
]);
export const { handler } = compat;
