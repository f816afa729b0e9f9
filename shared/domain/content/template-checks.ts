// Checks a template, or a draft of it, as a mail program would see it.
import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { checkMail } from "../../email/mail-checks.ts";
import { Count } from "../../kernel/record-fields.ts";
import { bodyFields, parseVariables } from "./template-bodies.ts";
import * as templates from "./templates.ts";

/** The parts of a draft that is not saved yet. */
export const templateDraftFields = {
  subject: bodyFields.subject.optional(),
  html: bodyFields.html.optional(),
  text: bodyFields.text.optional(),
};

const MailFinding = z
  .object({
    code: z.string().describe("What was found, such as `link_without_scheme`."),
    severity: z
      .enum(["error", "warning", "hint"])
      .describe(
        "`error`: recipients see something broken. `warning`: some mail programs show it badly. " +
          "`hint`: worth a look.",
      ),
    message: z.string().describe("What was found and what follows from it, as a sentence."),
    count: Count.describe("How often it is in the email."),
    examples: z.array(z.string()).describe("Up to five of the links, images, words or variables."),
  })
  .meta({ id: "MailFinding" });

export const TemplateCheck = z
  .object({
    passed: z.boolean().describe("Whether there is no finding with severity `error`."),
    htmlBytes: Count.describe(
      "Size of the rendered HTML. Gmail hides what comes after 104,448 bytes. The footer of " +
        "campaigns and sequences comes on top.",
    ),
    textBytes: Count.describe("Size of the plain text part."),
    findings: z.array(MailFinding).describe("What was found, errors first."),
  })
  .meta({ id: "TemplateCheck" });
export type TemplateCheck = z.output<typeof TemplateCheck>;

/** Links that the service fills in. They differ per recipient. */
const exampleUrls = {
  unsubscribeUrl: "https://mail.example/unsubscribe/example",
  preferencesUrl: "https://mail.example/preferences/example",
  contactToken: "example",
};

/** Throws 400 if a part is not valid Liquid. */
export async function check(
  caller: CallerScope,
  id: number,
  { variables, ...draft }: templates.DraftToRender,
): Promise<TemplateCheck> {
  const body = await templates.findWithDraft(caller, id, draft);
  const { variables: names } = parseVariables({ ...body, designJson: null });
  const rendered = templates.renderBody(body, { ...exampleUrls, ...variables });
  const findings = checkMail({
    ...rendered,
    isTextMade: body.text === null,
    hasUnsubscribeLink: names.some((name) => /^(unsubscribe|preferences)Url$/.test(name)),
  });
  return {
    passed: !findings.some(({ severity }) => severity === "error"),
    htmlBytes: Buffer.byteLength(rendered.html ?? ""),
    textBytes: Buffer.byteLength(rendered.text),
    findings,
  };
}
