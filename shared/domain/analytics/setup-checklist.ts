// What an organization still needs before its first campaign.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { RecordId } from "../../kernel/record-fields.ts";
import { hasWebhooks } from "../../providers/provider-keys.ts";
import { getCompliance } from "../identity/compliance.ts";
import { countSends } from "../identity/site-send-counts.ts";
import * as sites from "../identity/sites.ts";
import * as domains from "../senders/domains/domains.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";

const setupSteps = [
  "site",
  "sending_config",
  "domain",
  "verified_sender",
  "provider_reports",
  "postal_address",
  "first_send",
] as const;

export const SetupChecklist = z
  .object({
    complete: z.boolean().describe("Whether all required steps are done."),
    steps: z
      .array(
        z.object({
          key: z
            .enum(setupSteps)
            .describe(
              "`site`: a site exists. `sending_config`: an account at a provider is stored. " +
                "`domain`: the ownership record of a domain was found. `verified_sender`: a " +
                "provider accepted a test email. `provider_reports`: the provider has reported " +
                "events. `postal_address`: the footer of marketing email " +
                "has an address. `first_send`: an email was accepted.",
            ),
          done: z.boolean().describe("Whether nothing is left to do."),
          required: z
            .boolean()
            .describe(
              "Whether campaigns need it. They are sent without a domain and without reports.",
            ),
          recordId: RecordId.nullable().describe(
            "The site, sending config or domain that the step is about, such as the first that " +
              "still waits. `null`: there is none.",
          ),
        }),
      )
      .describe("The steps in the order in which they are done best."),
  })
  .meta({ id: "SetupChecklist" });
export type SetupChecklist = z.output<typeof SetupChecklist>;

const maxRecords = 20;

/** Looks at the newest 20 sites, sending configs and domains. */
export async function getChecklist(caller: Caller): Promise<SetupChecklist> {
  const page = { page: 1, limit: maxRecords };
  const [siteList, configList, domainList, compliance] = await Promise.all([
    sites.list(caller, page),
    sendingConfigs.list(caller, page),
    domains.list(caller, page),
    getCompliance(caller.orgId),
  ]);
  const siteIds = siteList.items.map(({ id }) => id);
  const sends = await countSends(caller.orgId, siteIds);
  const verifiedConfig = configList.items.find(({ verified }) => verified);
  const reportingConfig = configList.items.find(({ firstEventAt }) => firstEventAt);
  const verifiedDomain = domainList.items.find(({ status }) => status === "verified");
  const hasAddress =
    Boolean(compliance.physicalAddress) ||
    siteList.items.some(({ physicalAddress }) => physicalAddress);
  const first = siteList.items.at(-1);
  const steps: SetupChecklist["steps"] = [
    { key: "site", done: siteList.items.length > 0, ...about(first) },
    { key: "sending_config", done: configList.items.length > 0, ...about(configList.items.at(-1)) },
    {
      key: "domain",
      done: verifiedDomain !== undefined,
      ...about(verifiedDomain ?? domainList.items[0]),
      required: false,
    },
    {
      key: "verified_sender",
      done: verifiedConfig !== undefined,
      ...about(verifiedConfig ?? configList.items[0]),
    },
    {
      key: "provider_reports",
      done: reportingConfig !== undefined || areSilent(configList.items),
      ...about(reportingConfig ?? verifiedConfig ?? configList.items[0]),
      required: false,
    },
    { key: "postal_address", done: hasAddress, ...about(first) },
    { key: "first_send", done: sends > 0, ...about(undefined) },
  ];
  return { complete: steps.every(({ done, required }) => done || !required), steps };
}

/** SMTP servers report nothing. */
const areSilent = (configs: { provider: string }[]): boolean =>
  configs.length > 0 && !configs.some(({ provider }) => hasWebhooks(provider));

const about = (record: { id: number } | undefined) => ({
  required: true,
  recordId: record?.id ?? null,
});
