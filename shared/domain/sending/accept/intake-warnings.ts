// What acceptance says about variables without a value and about the sender: warnings, or an error
// if the message is strict.
import * as liquid from "../../../email/liquid.ts";
import { invalid } from "../../../errors.ts";
import * as sendingConfigs from "../../senders/sending-configs.ts";
import { mergeVariables } from "../rendering/compose.ts";
import type { BatchRecipient } from "./batch-message.ts";
import type { IntakeContext } from "./intake.ts";
import type { MessageFields } from "./message-fields.ts";

function listSenderWarnings({ config, failedOverFrom }: IntakeContext): string[] {
  if (failedOverFrom)
    return [
      `The provider of sending config ${failedOverFrom} fails, so its fallback takes this ` +
        `mail: sending config ${config.id}`,
    ];
  return config.verified ? [] : [sendingConfigs.unverifiedWarning(config.id)];
}

export type VariableSource = Partial<Pick<BatchRecipient, "toName" | "variables">>;

/** Warnings about mail that is accepted nevertheless. */
export const listIntakeWarnings = (
  context: IntakeContext,
  { variables }: MessageFields,
  recipients: VariableSource[],
): string[] => [
  ...listSenderWarnings(context),
  ...listVariableWarnings(context, variables, recipients),
];

const maxCheckedVariables = 200;

/** Warns about variables without a value, because they render empty. */
function listVariableWarnings(
  context: IntakeContext,
  sharedVariables: MessageFields["variables"],
  recipients: VariableSource[],
): string[] {
  const names = context.requiredVariables.slice(0, maxCheckedVariables);
  const missing = listMissing(names, sharedVariables, recipients);
  return missing.length ? [describeMissing(missing)] : [];
}

/** Throws 400 that names the variables, if the message is strict. */
export function requireVariables(
  { requiredVariables }: IntakeContext,
  { strict, variables }: MessageFields,
  recipients: VariableSource[],
): void {
  const missing = strict ? listMissing(requiredVariables, variables, recipients) : [];
  if (!missing.length) return;
  const details = missing
    .slice(0, 20)
    .map((name) => ({ path: `variables.${name}`, message: "has no value" }));
  throw invalid(describeMissing(missing), { code: "variables_missing", details });
}

const describeMissing = (names: string[]): string =>
  `These variables have no value: ${names.slice(0, 20).join(", ")}`;

/** Uses the same names as the preview of a template. */
function listMissing(
  names: string[],
  sharedVariables: MessageFields["variables"],
  recipients: VariableSource[],
): string[] {
  const values = recipients.map(({ toName: name, variables }) =>
    mergeVariables({ variables: sharedVariables }, { to: "", name, variables }),
  );
  return [...new Set(names)].filter((path) =>
    values.some((recipientValues) => !liquid.hasVariable(recipientValues, path)),
  );
}
