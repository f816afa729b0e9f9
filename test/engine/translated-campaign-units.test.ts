// DynamoDB request units of a campaign in three languages, compared with the same in one.
import { beforeAll, expect, test } from "vitest";
import type { ConsumedUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { grantPlan, OperatorGrant } from "../../shared/domain/billing/operator-grants.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  insertListMembers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { measureUnits } from "../support/request-units.ts";

beforeAll(useVirtualQueues);

const contacts = 10_000;
const paragraph = "<p>Some words that everybody reads.</p>".repeat(100);
const textsIn = (word: string) => ({
  subject: `${word} {{ firstName }}`,
  html: `<h1>${word} {{ firstName }}</h1>${paragraph}`,
});
const translations = { de: textsIn("Hallo"), fr: textsIn("Bonjour") };

async function measureCampaign(sender: CampaignSender, fields: object) {
  const { caller, siteId, provider } = sender;
  const given = NewTemplate.parse({ siteId, name: "News", ...textsIn("Hello"), ...fields });
  const { id: templateId } = await templates.create(caller, given);
  const { id } = await createDraft(sender, { templateId });
  const [mailsBefore, callsBefore] = [provider.mails.length, provider.calls.length];
  const startedAt = performance.now();
  const { usage } = await measureUnits(async () => {
    await actions.sendNow(caller, id);
    await runWorkers({ forSeconds: 7200 });
  });
  expect(provider.mails).toHaveLength(mailsBefore + contacts);
  return {
    ...usage,
    providerCalls: provider.calls.length - callsBefore,
    seconds: (performance.now() - startedAt) / 1000,
  };
}

/** In read units. A write unit costs as much as five of them. */
const priceOf = ({ writeUnits, readUnits }: ConsumedUnits) => 5 * writeUnits + readUnits;

test("a campaign in three languages costs at most 1.2 times of one in a single language", async () => {
  const sender = await createCampaignSender();
  const organizationId = sender.caller.orgId;
  await grantPlan(OperatorGrant.parse({ organizationId, plan: "unlimited", credits: 0 }));
  const locales = ["en", "de-AT", "fr"];
  await insertListMembers(sender, contacts, (i) => ({ locale: locales[i % 3]! }));
  const one = await measureCampaign(sender, {});
  const three = await measureCampaign(sender, { locale: "en", translations });
  const languages = new Set(sender.provider.mails.slice(contacts).map((mail) => mail.subject[1]));
  expect(languages).toEqual(new Set(["e", "a", "o"]));
  console.info(JSON.stringify({ one, three }));
  expect(priceOf(three) / priceOf(one)).toBeLessThanOrEqual(1.2);
  await sender.provider.stop();
});
