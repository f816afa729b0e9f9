import * as z from "zod";
import { freePerMonth, Usage } from "../../shared/domain/senders/validation/metering.ts";
import * as senderChecks from "../../shared/domain/senders/validation/sender-checks.ts";
import * as validations from "../../shared/domain/senders/validation/validations.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { route } from "../../shared/http/route.ts";
import { exactlyOneOf } from "../../shared/kernel/either-or.ts";

// An address that is not valid gets a verdict, not an error. Only longer text is rejected.
const email = z.string().min(1).max(1000);
const AddressesToCheck = exactlyOneOf(
  z.object({
    email: email.optional().describe("Email address to check. Give either this or `emails`."),
    emails: z
      .array(email)
      .min(1)
      .max(validations.maxEmails)
      .optional()
      .describe("1 to 100 email addresses to check. Give either this or `email`."),
  }),
  ["email", "emails"],
).meta({
  id: "AddressesToCheck",
  examples: [{ email: "ada@example.com" }, { emails: ["ada@example.com", "info@exmaple.com"] }],
});

const creditsError =
  `The credits are not enough: ${freePerMonth} results per month are free, each further one ` +
  "costs 1 US cent. Nothing was checked.";
const checkResponse = <One extends z.ZodType, Sum extends z.ZodType>(one: One, summary: Sum) =>
  z.union([
    (one as unknown as z.ZodObject).extend({ usage: Usage }).describe("For `email`"),
    z
      .object({
        results: z.array(one).describe("Results in the order of the request."),
        summary,
        usage: Usage,
      })
      .describe("For `emails`"),
  ]);

export const validation = routeGroup("validation", [
  route("POST /validate", "Validate email addresses", {
    audit: "counted",
    operationId: "validateEmails",
    description:
      "Checks syntax, mail servers, disposable domains, role accounts and typos, for one " +
      "address or up to 100. The first 100 results per month are free, then 1 US cent each. " +
      "Results that stay `unknown` are not charged.",
    body: AddressesToCheck,
    returns: checkResponse(validations.Validation, validations.ValidationSummary),
    errors: { 402: creditsError },
    handle: async ({ caller, body }) => {
      const { results, summary, usage } = await validations.validate(
        caller,
        body.emails ?? [body.email!],
      );
      return body.emails ? { results, summary, usage } : { ...results[0]!, usage };
    },
  }),
  route("POST /sender-check", "Check senders for impersonation", {
    audit: "counted",
    operationId: "checkSenders",
    description:
      "Checks known senders, lookalike domains, SPF, DMARC and the age of the domain, for " +
      "one address or up to 100. Shares the free results and the price of POST /validate. " +
      "Results that stay `unknown` are not charged.",
    body: AddressesToCheck,
    returns: checkResponse(senderChecks.SenderCheck, senderChecks.SenderCheckSummary),
    errors: { 402: creditsError },
    handle: async ({ caller, body }) => {
      const { results, summary, usage } = await senderChecks.checkSenders(
        caller,
        body.emails ?? [body.email!],
      );
      return body.emails ? { results, summary, usage } : { ...results[0]!, usage };
    },
  }),
]);
export const { handler } = validation;
