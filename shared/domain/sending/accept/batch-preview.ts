// Preview of a batch: how many recipients would get an email now, and why the others would not.
import * as z from "zod";
import type { Caller } from "../../../caller.ts";
import { Count } from "../../../kernel/record-fields.ts";
import { sha256 } from "../../../keys.ts";
import { requireAffordable } from "../../billing/quota.ts";
import { type CheckedBatch, prepareRecipients } from "./accept-batch.ts";
import type { BatchMessage } from "./batch-message.ts";
import { fromOf, type IntakeContext, parseSchedule } from "./intake.ts";
import { listIntakeWarnings } from "./intake-warnings.ts";

const maxProblems = 20;

export const BatchPreview = z
  .object({
    recipients: Count.describe("Recipients in the request."),
    wouldReceive: Count.describe("Recipients who would get the email."),
    suppressed: Count.describe("Recipients whose address is suppressed."),
    duplicates: Count.describe("Recipients whose address comes earlier in the request."),
    invalid: z
      .int()
      .describe("Recipients that are not valid, or whose email the provider would refuse."),
    problems: z
      .array(
        z.object({
          index: Count.describe("Position in the request, from 0."),
          to: z.string().describe("Email address, as in the request."),
          error: z.string().describe("Why this recipient would get no email."),
        }),
      )
      .describe(`The first ${maxProblems} recipients who would get no email.`),
    fingerprint: z
      .string()
      .describe("Changes when the template or the sender changes. The request is not part of it."),
  })
  .meta({ id: "BatchPreview" });
type BatchPreview = z.output<typeof BatchPreview>;

/** Throws what the batch itself would throw: 400, and 402 if the plan does not cover it. */
export async function previewBatch(
  { orgId }: Caller,
  batch: CheckedBatch,
  context: IntakeContext,
): Promise<BatchPreview & { warnings: string[] }> {
  const { message } = batch;
  parseSchedule(message);
  const { rows, validRecipients, lines } = prepareRecipients(batch, context);
  const suppressed = lines.filter(({ error }) => error).length;
  const wouldReceive = lines.length - suppressed;
  await requireAffordable(orgId, wouldReceive, context.quota);
  const rejected = rows.filter(({ recipient }) => !recipient);
  const duplicates = rejected.filter(({ error }) => error === "duplicate").length;
  const problems = [
    ...rejected.map(({ index, to, error = "" }) => ({ index, to, error })),
    ...lines.flatMap(({ error }, i) => {
      const { index, to } = validRecipients[i]!;
      return error ? [{ index, to, error }] : [];
    }),
  ];
  return {
    recipients: rows.length,
    wouldReceive,
    suppressed,
    duplicates,
    invalid: rejected.length - duplicates,
    problems: problems.sort((a, b) => a.index - b.index).slice(0, maxProblems),
    fingerprint: fingerprintOf(message, context),
    warnings: listIntakeWarnings(context, message, validRecipients),
  };
}

const fingerprintOf = (message: BatchMessage, { config, template }: IntakeContext): string =>
  sha256(JSON.stringify([fromOf(message, config), config.id, template?.id, template?.version]));
