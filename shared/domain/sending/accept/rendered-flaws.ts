import * as liquid from "../../../email/liquid.ts";
import { Problem } from "../../../errors.ts";
import { toSingleLine } from "../../../kernel/email-fields.ts";
import { type Flaw, subjectFlaw } from "../../../providers/limits.ts";
import { traitsOf } from "../../../providers/traits.ts";
import { subjectFor } from "../../content/template-translations.ts";
import { mergeVariables } from "../rendering/compose.ts";
import type { IntakeContext } from "./intake.ts";
import type { VariableSource } from "./intake-warnings.ts";
import type { MessageFields } from "./message-fields.ts";

// Rendering blocks other requests. Recipients that are not checked within this time are checked at
// hand-over.
const checkingMs = 200;

/**
 * Checks the rendered mail for what the provider would refuse: an empty subject or body, or a
 * subject that is too long. A field with fixed text is never empty, so it is not rendered. The body
 * of a template is checked at hand-over only.
 */
export function renderedFlaws(
  message: MessageFields,
  { config, template, brand, localeOf, snippets = {} }: IntakeContext,
  at: Date,
): (recipient: CheckedRecipient) => Flaw | undefined {
  const traits = traitsOf(config.provider);
  const compiledSubjects = new Map<string, RenderedField>();
  const compileSubject = (recipient: CheckedRecipient): RenderedField => {
    const ofTemplate = template && subjectFor(template, localeOf(recipient));
    const source = message.subject ?? ofTemplate ?? "";
    const compiled = compiledSubjects.get(source) ?? compileField(source, "subject");
    compiledSubjects.set(source, compiled);
    return compiled;
  };
  compileSubject({ to: "" });
  const bodies = template
    ? []
    : [compileField(message.html, "html", snippets), compileField(message.text, "text", snippets)];
  const isBlank = (field: RenderedField, variables: liquid.LiquidVariables) =>
    !field.hasFixedText && !/\S/.test(field.render(variables, at));
  const flawOf = (recipient: CheckedRecipient): Flaw | undefined => {
    const subject = compileSubject(recipient);
    const variables = mergeVariables(
      { ...message, brand },
      {
        to: recipient.to,
        name: recipient.toName,
        variables: recipient.variables,
      },
    );
    if (isBlank(subject, variables)) return { path: "subject", message: "renders empty" };
    if (bodies.length && bodies.every((body) => isBlank(body, variables)))
      return { path: "html", message: "renders empty" };
    return traits.limits?.subjectCharacters
      ? subjectFlaw(traits, toSingleLine(subject.render(variables, at)))
      : undefined;
  };
  let leftMs = checkingMs;
  return (recipient) => {
    if (leftMs <= 0) return undefined;
    const started = performance.now();
    try {
      return flawOf(recipient);
    } catch (error) {
      // A mail that cannot be rendered fails at hand-over, with the reason.
      if (error instanceof Problem && error.kind === "invalid") return undefined;
      throw error;
    } finally {
      leftMs -= performance.now() - started;
    }
  };
}

type CheckedRecipient = VariableSource & { to: string; locale?: string | undefined };

type RenderedField = ReturnType<typeof compileField>;

/** A field with fixed text is never empty, whatever the variables are. */
function compileField(
  source: string | undefined,
  field: "subject" | "html" | "text",
  snippets?: liquid.Snippets,
) {
  const { pieces, values } = liquid.toSubstitutions(
    liquid.compile(source ?? "", { escape: field === "html", field, snippets }),
  );
  return {
    hasFixedText: pieces.some((piece) => typeof piece === "string" && /\S/.test(piece)),
    render: (variables: liquid.LiquidVariables, now: Date): string => {
      const filled = values(variables, { now, budget: liquid.Budget.forSubject() });
      return pieces
        .map((piece) => (typeof piece === "string" ? piece : (filled[piece] ?? "")))
        .join("");
    },
  };
}
