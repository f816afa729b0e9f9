// What uses a custom field of contacts.
import { expect, test } from "vitest";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import { NewSequence } from "../../shared/domain/automation/sequence-schema.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import { AddStepsRequest } from "../../shared/domain/automation/step-schema.ts";
import * as steps from "../../shared/domain/automation/steps.ts";
import { NewCampaign } from "../../shared/domain/campaigns/campaign-schema.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import { listUses } from "../../shared/domain/campaigns/field-usages.ts";
import { NewVariant } from "../../shared/domain/campaigns/variant-schema.ts";
import * as variants from "../../shared/domain/campaigns/variants.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import { NewForm } from "../../shared/domain/forms/form-schema.ts";
import * as forms from "../../shared/domain/forms/forms.ts";
import { createContact, createTestSite, type TestSite } from "../support/contacts.ts";

const rules = (field: string) =>
  segments.NewSegment.shape.rules.parse({
    match: "all",
    conditions: [
      { match: "any", conditions: [{ field, operator: "equals", value: "gold" }] },
      { field: "status", operator: "equals", value: "subscribed" },
    ],
  });

async function createUsers({ caller, siteId }: TestSite, field: string) {
  await segments.create(
    caller,
    segments.NewSegment.parse({ siteId, name: "Gold", rules: rules(`customFields.${field}`) }),
  );
  const sequence = await sequences.create(
    caller,
    NewSequence.parse({ siteId, name: "Welcome", triggerType: "manual" }),
  );
  await steps.add(
    caller,
    sequence.id,
    AddStepsRequest.parse({
      steps: [{ type: "condition", conditionConfig: rules(`customFields.${field}`) }],
    }),
  );
  await templates.create(
    caller,
    NewTemplate.parse({
      siteId,
      name: "News",
      subject: "News",
      html: `<p>{{ customFields["${field}"] }}</p>`,
    }),
  );
  const campaign = await campaigns.create(
    caller,
    NewCampaign.parse({ siteId, name: "Sale", subject: "Sale" }),
  );
  await variants.create(
    caller,
    campaign.id,
    NewVariant.parse({ subject: "A", html: `<p>{{ customFields["${field}"] }}</p>` }),
  );
  await forms.create(
    caller,
    NewForm.parse({ siteId, name: "Sign-up", designJson: { fields: [{ name: field }] } }),
  );
}

test("triggers, goals and actions of sequences that use a field are found", async () => {
  const { caller, siteId } = await createTestSite();
  const field = "customFields.tier";
  const make = async (name: string, more: object) =>
    (await sequences.create(caller, NewSequence.parse({ siteId, name, ...more }))).id;
  await make("Trigger", { triggerType: "field_changed", triggerConfig: { field } });
  await make("Goal", { goals: [{ rules: rules(field) }] });
  const acting = await make("Action", {});
  const actionConfig = { action: "set_field", field, value: "gold" };
  await steps.add(caller, acting, AddStepsRequest.parse({ type: "action", actionConfig }));
  await make("Other", { goals: [{ rules: rules("customFields.tier2") }] });
  const { uses } = await listUses(caller, "tier", siteId);
  expect(uses.map(({ name, message }) => [name, message])).toEqual([
    ["Action", "An action changes it."],
    ["Goal", "A goal or an exit asks for it."],
    ["Trigger", "Its trigger watches it."],
  ]);
});

test("records that use a field are found, with how, and those with another field are not", async () => {
  const site = await createTestSite();
  await createContact(site, "ann@example.com", { customFields: { Tier: "gold", size: 1 } });
  await createUsers(site, "Tier");
  const find = (name: string) => listUses(site.caller, name, site.siteId);
  expect(await find("tier")).toMatchObject({
    complete: true,
    uses: [
      { kind: "segment", name: "Gold", message: "Its rules ask for it." },
      { kind: "sequence", name: "Welcome", message: "A condition asks for it." },
      { kind: "template", name: "News", message: "Its text has it." },
      { kind: "campaign", name: "Sale", message: "The text of a variant has it." },
      { kind: "form", name: "Sign-up", message: "It asks for it." },
    ],
  });
  expect(await find("size")).toEqual({ complete: true, uses: [] });
  expect(await find("Tier2")).toEqual({ complete: true, uses: [] });
});
