// Playbooks: whole sequences with their mails written out, to begin with. Making one of them is one transaction: sequence, steps and
// templates, or nothing at all.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { oneLine } from "../email.ts";
import { missing } from "../errors.ts";
import * as ids from "../ids.ts";
import * as flow from "./sequences/flow.ts";
import { onboarding, trialEnding, welcome } from "./sequences/playbooks/beginnings.ts";
import { type House, written } from "./sequences/playbooks/layout.ts";
import type { Mail, Playbook as Written, PlaybookStep as WrittenStep } from "./sequences/playbooks/playbook.ts";
import { eventFollowUp, reEngagement } from "./sequences/playbooks/relations.ts";
import { abandonedCart, postPurchase, winBack } from "./sequences/playbooks/shopping.ts";
import { Sequence, TriggerConfig, told, triggerTypes } from "./sequences/record.ts";
import { type NewStep, Step, stepTypes } from "./sequences/step.ts";
import * as sequences from "./sequences.ts";
import * as sites from "./sites.ts";
import * as templates from "./templates.ts";

const all: Written[] = [welcome, onboarding, trialEnding, abandonedCart, postPurchase, winBack, reEngagement, eventFollowUp];

export const Playbook = z
  .object({
    id: z.int(),
    key: z.string().describe("The same for good, and readable"),
    name: z.string(),
    description: z.string(),
    triggerType: z.enum(triggerTypes).describe("What it is made with; change it as you like"),
    triggerConfig: TriggerConfig.nullable(),
    variables: z
      .array(z.object({ name: z.string(), purpose: z.string() }))
      .describe("Custom fields that its mails speak of, beside the contact's own; all of them may be missing"),
    emails: z.int(),
    days: z.number().describe("How long it takes at most"),
    steps: z.array(
      z.object({
        stepOrder: z.int(),
        type: z.enum(stepTypes),
        subject: z.string().nullable(),
        delayMinutes: z.int().nullable(),
        nextStepOrder: Step.shape.nextStepOrder,
        trueBranchStepOrder: Step.shape.trueBranchStepOrder,
        falseBranchStepOrder: Step.shape.falseBranchStepOrder,
        conditionConfig: Step.shape.conditionConfig,
      }),
    ),
  })
  .meta({ id: "Playbook" });
export type Playbook = z.output<typeof Playbook>;

export const list = (): Playbook[] => all.map(shown);

function shown({ steps, ...playbook }: Written): Playbook {
  const numbered = steps.map((step, i) => {
    const { conditionConfig = null, delayMinutes = null, ...given } = stepOf(step, undefined);
    return {
      ...given,
      stepOrder: i + 1,
      subject: "mail" in step ? step.mail.subject.replaceAll("[[company]]", "your company") : null,
      delayMinutes,
      conditionConfig,
    };
  });
  const minutes = numbered.reduce((sum, { delayMinutes }) => sum + (delayMinutes ?? 0), 0);
  return {
    ...playbook,
    emails: steps.filter((step) => "mail" in step).length,
    days: Math.round((minutes / (24 * 60)) * 10) / 10,
    steps: numbered,
  };
}

const dayMinutes = 24 * 60;

/** As POST /sequences/:id/steps takes it. */
function stepOf(step: WrittenStep, templateId: number | undefined): NewStep {
  if ("waitDays" in step) return { type: "delay", delayMinutes: step.waitDays * dayMinutes };
  if ("waitHours" in step) return { type: "delay", delayMinutes: step.waitHours * 60 };
  if ("when" in step) {
    const { when: conditionConfig, ...branches } = step;
    return { type: "condition", conditionConfig, ...branches };
  }
  return { type: "email", templateId, ...(step.nextStepOrder !== undefined && { nextStepOrder: step.nextStepOrder }) };
}

export const NewFromPlaybook = z
  .object({
    siteId: z.int().positive().optional(),
    name: oneLine(200).trim().min(1).optional().describe("Of the sequence; absent: the playbook's"),
    companyName: oneLine(200).trim().min(1).optional().describe("As the mails name you; absent: the site's"),
    url: z
      .url({ protocol: /^https?$/ })
      .max(1000)
      .optional()
      .describe("Where its buttons lead; absent: the site's domain"),
    sendingConfigId: z.int().positive().nullable().default(null),
  })
  .meta({ examples: [{ url: "https://shop.example" }] });
export type NewFromPlaybook = z.output<typeof NewFromPlaybook>;

export const Made = z.object({ sequence: Sequence, steps: z.array(Step), templates: z.array(templates.TemplateMeta) });
export type Made = z.output<typeof Made>;

/** A draft: its texts are to be looked at before it goes to anybody. 404 when there is no such playbook. */
export async function create(
  who: Pick<Caller, "orgId" | "siteId">,
  playbookId: number,
  given: NewFromPlaybook,
): Promise<Made & { warnings: string[] }> {
  const playbook = all.find(({ id }) => id === playbookId);
  if (!playbook) throw missing("There is no such playbook");
  const siteId = await sites.resolve(who, given.siteId);
  const { house, warnings } = houseOf(await sites.find(who, siteId), given);
  const mails = playbook.steps.flatMap((step) => ("mail" in step ? [step.mail] : []));
  const made = await templates.inserting(who, siteId, mails.map(templateOf(house)));
  const idOf = new Map(mails.map((mail, i) => [mail, made.templates[i]!.id]));
  const [first, at] = [await ids.take("STEP", playbook.steps.length), made.templates[0]!.createdAt];
  const way = flow.added(
    flow.empty,
    playbook.steps.map((step) => stepOf(step, "mail" in step ? idOf.get(step.mail) : undefined)),
    playbook.steps.map((_, i) => ({ id: first + i, createdAt: at, updatedAt: at })),
  );
  const { triggerType, triggerConfig, name } = playbook;
  const record = { siteId, name: given.name ?? name, status: "draft" as const, triggerType, triggerConfig };
  const sequence = await sequences.insert(
    who,
    { ...record, sendingConfigId: given.sendingConfigId, autoBcc: null, sendWindow: null },
    way,
    ...made.writes,
  );
  return { sequence: await told(who.orgId, sequence), steps: way.steps, templates: made.templates, warnings };
}

const templateOf = (house: House) => (mail: Mail) => ({ name: mail.name, ...written(mail, house) });

function houseOf(site: sites.Site, { companyName, url }: NewFromPlaybook): { house: House; warnings: string[] } {
  const known = url ?? (site.domain ? `https://${site.domain}` : undefined);
  // Liquid has it between such quotes.
  const address = (known ?? "https://example.com").replaceAll("'", "%27").replace(/\/+$/, "");
  const warnings = known ? [] : ["The site has no domain and no url was given: the buttons lead to https://example.com"];
  return { house: { company: companyName ?? sites.nameOf(site), url: address }, warnings };
}
