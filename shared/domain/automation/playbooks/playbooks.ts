// Playbooks: ready-made sequences with their mail. One transaction creates the sequence, its steps
// and its templates.
import * as z from "zod";
import type { CallerScope } from "../../../caller.ts";
import { missing } from "../../../errors.ts";
import * as ids from "../../../ids.ts";
import { singleLineText } from "../../../kernel/email-fields.ts";
import { Count, NewSiteId, RecordId } from "../../../kernel/record-fields.ts";
import { TemplateMeta } from "../../content/template-schema.ts";
import * as templates from "../../content/templates.ts";
import * as sites from "../../identity/sites.ts";
import { goalFields } from "../sequence-goals.ts";
import { Sequence, toApi as sequenceToApi } from "../sequence-schema.ts";
import * as sequences from "../sequences.ts";
import { emptyGraph } from "../step-graph.ts";
import { addSteps } from "../step-graph-changes.ts";
import { type NewSequenceStep, SequenceStep } from "../step-schema.ts";
import { SequenceTriggerConfig, triggerTypes } from "../trigger-schema.ts";
import { birthday, renewal } from "./date-playbooks.ts";
import { type PlaybookCompany, renderMail } from "./playbook-mail.ts";
import type { PlaybookMail, PlaybookSource, PlaybookSourceStep } from "./playbook-source.ts";
import { eventFollowUp, reEngagement } from "./retention-playbooks.ts";
import { abandonedCart, postPurchase, winBack } from "./shop-playbooks.ts";
import { onboarding, trialEnding, welcome } from "./welcome-playbooks.ts";

const playbooks: PlaybookSource[] = [
  welcome,
  onboarding,
  trialEnding,
  abandonedCart,
  postPurchase,
  winBack,
  reEngagement,
  eventFollowUp,
  birthday,
  renewal,
];

export const Playbook = z
  .object({
    id: RecordId.describe("Id of the playbook, for POST /sequences/playbooks/:playbookId/create."),
    key: z.string().describe("Permanent readable key, such as `welcome`."),
    name: z.string().describe("Name of the playbook, in English."),
    description: z.string().describe("What the sequence is for, in English."),
    triggerType: z
      .enum(triggerTypes)
      .describe("Trigger of the sequence. You can change it afterwards."),
    triggerConfig: SequenceTriggerConfig.nullable().describe("Details of the trigger, or `null`."),
    goals: goalFields.goals,
    variables: z
      .array(
        z.object({
          name: z
            .string()
            .describe(
              "Name of the custom field, or with `event.`, of a property of the event that " +
                "starts the sequence.",
            ),
          purpose: z.string().describe("What the emails use it for, in English."),
        }),
      )
      .describe("What the emails read in addition to contact fields. All are optional."),
    emails: Count.describe("Number of emails."),
    days: z.number().describe("Longest duration in days."),
    steps: z
      .array(
        z.object({
          stepOrder: Count.describe("Position of the step, from 1."),
          type: SequenceStep.shape.type,
          subject: z.string().nullable().describe("For `email`: subject line. `null` otherwise."),
          delayMinutes: SequenceStep.shape.delayMinutes,
          nextStepOrder: SequenceStep.shape.nextStepOrder,
          trueBranchStepOrder: SequenceStep.shape.trueBranchStepOrder,
          falseBranchStepOrder: SequenceStep.shape.falseBranchStepOrder,
          splitConfig: SequenceStep.shape.splitConfig,
          waitConfig: SequenceStep.shape.waitConfig,
          actionConfig: SequenceStep.shape.actionConfig,
          timeoutStepOrder: SequenceStep.shape.timeoutStepOrder,
          conditionConfig: SequenceStep.shape.conditionConfig.describe(
            "For `condition`: the segment rules. `null` otherwise.",
          ),
        }),
      )
      .describe("Steps of the sequence, by `stepOrder`."),
  })
  .meta({ id: "Playbook" });
export type Playbook = z.output<typeof Playbook>;

export const list = (): Playbook[] => playbooks.map(toApi);

function toApi({ steps, goals = [], ...playbook }: PlaybookSource): Playbook {
  const numbered = steps.map((step, i) => {
    const {
      conditionConfig = null,
      delayMinutes = null,
      splitConfig = null,
      waitConfig = null,
      actionConfig = null,
      ...fields
    } = toNewStep(step, undefined);
    return {
      ...fields,
      stepOrder: i + 1,
      subject: "mail" in step ? step.mail.subject.replaceAll("[[company]]", "your company") : null,
      delayMinutes,
      conditionConfig,
      splitConfig,
      waitConfig,
      actionConfig,
    };
  });
  const minutes = numbered.reduce(
    (sum, { delayMinutes, waitConfig }) => sum + (delayMinutes ?? waitConfig?.timeoutMinutes ?? 0),
    0,
  );
  return {
    ...playbook,
    goals,
    emails: steps.filter((step) => "mail" in step).length,
    days: Math.round((minutes / (24 * 60)) * 10) / 10,
    steps: numbered,
  };
}

const dayMinutes = 24 * 60;

/** The step as POST /sequences/:id/steps takes it. */
function toNewStep(step: PlaybookSourceStep, templateId: number | undefined): NewSequenceStep {
  if ("waitDays" in step) return { type: "delay", delayMinutes: step.waitDays * dayMinutes };
  if ("waitHours" in step) return { type: "delay", delayMinutes: step.waitHours * 60 };
  if ("waitUntil" in step) {
    const { waitUntil: waitConfig, ...branches } = step;
    return { type: "wait_until", waitConfig, ...branches };
  }
  if ("when" in step) {
    const { when: conditionConfig, ...branches } = step;
    return { type: "condition", conditionConfig, ...branches };
  }
  return {
    type: "email",
    templateId,
    ...(step.nextStepOrder !== undefined && { nextStepOrder: step.nextStepOrder }),
  };
}

export const NewFromPlaybook = z
  .object({
    siteId: NewSiteId,
    name: singleLineText(200)
      .trim()
      .min(1)
      .optional()
      .describe("Name of the sequence. Defaults to the name of the playbook."),
    companyName: singleLineText(200)
      .trim()
      .min(1)
      .optional()
      .describe(
        "Company name in the emails. Defaults to the company name of the site, else its name.",
      ),
    url: z
      .url({ protocol: /^https?$/ })
      .max(1000)
      .optional()
      .describe("Link of the buttons in the emails. Defaults to the domain of the site."),
    sendingConfigId: z
      .int()
      .positive()
      .nullable()
      .default(null)
      .describe(
        "Sending config of every email of the sequence. `null`: the organization's oldest " +
          "verified one.",
      ),
  })
  .meta({ examples: [{ url: "https://shop.example" }] });
export type NewFromPlaybook = z.output<typeof NewFromPlaybook>;

export const PlaybookResult = z.object({
  sequence: Sequence.describe("The new sequence, as a draft."),
  steps: z.array(SequenceStep).describe("Its steps, by `stepOrder`."),
  templates: z.array(TemplateMeta).describe("Templates of its emails."),
});
export type PlaybookResult = z.output<typeof PlaybookResult>;

/**
 * Creates a draft sequence, so that its texts can be reviewed before it sends. 404 when the
 * playbook does not exist.
 */
export async function create(
  caller: CallerScope,
  playbookId: number,
  input: NewFromPlaybook,
): Promise<PlaybookResult & { warnings: string[] }> {
  const playbook = playbooks.find(({ id }) => id === playbookId);
  if (!playbook) throw missing("The playbook does not exist");
  const siteId = await sites.resolveSiteId(caller, input.siteId);
  const { company, warnings } = companyOf(await sites.find(caller, siteId), input);
  const mails = playbook.steps.flatMap((step) => ("mail" in step ? [step.mail] : []));
  const created = await templates.insertWrites(caller, siteId, mails.map(toTemplate(company)));
  const templateIdOf = new Map(mails.map((mail, i) => [mail, created.templates[i]!.id]));
  const firstStepId = await ids.nextId("STEP", playbook.steps.length);
  const createdAt = created.templates[0]!.createdAt;
  const graph = addSteps(emptyGraph, {
    input: playbook.steps.map((step) =>
      toNewStep(step, "mail" in step ? templateIdOf.get(step.mail) : undefined),
    ),
    stamps: playbook.steps.map((_, i) => ({
      id: firstStepId + i,
      createdAt,
      updatedAt: createdAt,
    })),
  });
  const { triggerType, triggerConfig, name } = playbook;
  const record = {
    siteId,
    name: input.name ?? name,
    status: "draft" as const,
    triggerType,
    triggerConfig,
  };
  const sequence = await sequences.insertSequence(
    caller,
    {
      ...record,
      sendingConfigId: input.sendingConfigId,
      ...{ fromEmail: null, fromName: null, replyTo: null },
      topicId: null,
      utm: null,
      autoBcc: null,
      sendWindow: null,
      goals: playbook.goals ?? [],
      exits: [],
    },
    { graph, extraWrites: created.writes },
  );
  return {
    sequence: await sequenceToApi(caller.orgId, sequence),
    steps: graph.steps,
    templates: created.templates,
    warnings,
  };
}

const toTemplate = (company: PlaybookCompany) => (mail: PlaybookMail) => ({
  name: mail.name,
  ...renderMail(mail, company),
});

function companyOf(
  site: sites.Site,
  { companyName, url }: NewFromPlaybook,
): { company: PlaybookCompany; warnings: string[] } {
  const knownUrl = url ?? (site.domain ? `https://${site.domain}` : undefined);
  // The mail has the URL inside single quotes in Liquid.
  const linkUrl = (knownUrl ?? "https://example.com")
    .replaceAll("'", "%27")
    .replace(/(?<!\/)\/+$/, "");
  const warnings = knownUrl
    ? []
    : ["The site has no domain and no url was given, so the buttons link to https://example.com"];
  return { company: { company: companyName ?? sites.displayNameOf(site), url: linkUrl }, warnings };
}
