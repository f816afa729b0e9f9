import * as z from "zod";
import * as senderChecks from "../../shared/domain/sender-checks.ts";
import { freePerMonth, Usage } from "../../shared/domain/validation/metering.ts";
import * as validations from "../../shared/domain/validations.ts";
import { route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

// An address that is wrong is answered, not refused; longer than this it is not one.
const email = z.string().min(1).max(1000);
const Asked = z
  .object({ email: email.optional(), emails: z.array(email).min(1).max(validations.mostEmails).optional() })
  .refine(({ email, emails }) => (email === undefined) !== (emails === undefined), "must have either email or emails")
  .meta({ examples: [{ email: "ada@example.com" }, { emails: ["ada@example.com", "info@exmaple.com"] }] });

const paid = `The credits do not suffice: ${freePerMonth} a month are free, each further one costs 1 cent. Nothing was looked at`;
const answering = <One extends z.ZodType, Sum extends z.ZodType>(one: One, summary: Sum) =>
  z.union([
    (one as unknown as z.ZodObject).extend({ usage: Usage }).describe("For `email`"),
    z.object({ results: z.array(one).describe("In the order given"), summary, usage: Usage }).describe("For `emails`"),
  ]);

export const validation = group("validation", [
  route(
    "POST /validate",
    "Check whether mail to an address can arrive, or to up to 100: form, mail servers, disposable domains, role accounts, typos. Results that stay `unknown`, because DNS did not answer, are not charged",
    {
      body: Asked,
      returns: answering(validations.Validation, validations.Summary),
      errors: { 402: paid },
      handle: async ({ caller, body }) => {
        const { results, summary, usage } = await validations.validate(caller, body.emails ?? [body.email!]);
        return body.emails ? { results, summary, usage } : { ...results[0]!, usage };
      },
    },
  ),
  route(
    "POST /sender-check",
    "Check whether senders are who they seem to be, one or up to 100: known senders, lookalikes, SPF, DMARC, age of the domain. Shares the free ones and the price of POST /validate; what stays `unknown` is not charged",
    {
      body: Asked,
      returns: answering(senderChecks.SenderCheck, senderChecks.Summary),
      errors: { 402: paid },
      handle: async ({ caller, body }) => {
        const { results, summary, usage } = await senderChecks.check(caller, body.emails ?? [body.email!]);
        return body.emails ? { results, summary, usage } : { ...results[0]!, usage };
      },
    },
  ),
]);
export const { handler } = validation;
