import * as z from "zod";
import * as attention from "../../shared/domain/analytics/attention.ts";
import * as jobs from "../../shared/domain/analytics/jobs.ts";
import * as mailHealth from "../../shared/domain/analytics/mail-health.ts";
import * as setupChecklist from "../../shared/domain/analytics/setup-checklist.ts";
import * as branding from "../../shared/domain/billing/branding.ts";
import * as reports from "../../shared/domain/billing/usage.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import * as rateLimit from "../../shared/http/rate-limit.ts";
import { PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { QueryId } from "../../shared/kernel/digits.ts";
import { jobStatuses } from "../../shared/kernel/job-index.ts";
import { Count } from "../../shared/kernel/record-fields.ts";
import { planKeys } from "../../shared/plans.ts";

export const organization = routeGroup("organization", [
  route("GET /rate-limit", "Get rate limit usage", {
    rateLimit: "none",
    level: "site",
    description:
      "Does not count against the rate limits. A plan upgrade takes effect at once, even if " +
      "the old limit of the current minute is used up.",
    returns: z.object({
      plan: z.enum(planKeys).describe("Plan of the organization, which sets the limits."),
      ...rateLimit.RateLimitWindows.shape,
      windowSeconds: Count.describe("Length of a window in seconds."),
    }),
    handle: async ({ caller }) => ({
      plan: caller.plan,
      ...(await rateLimit.getWindows(caller)),
      windowSeconds: rateLimit.windowSeconds,
    }),
  }),
  route("GET /org/health", "Get sending health", {
    operationId: "getOrganizationHealth",
    description:
      "Returns bounces, complaints and the trust level of the last 30 days, and the current " +
      "limits.",
    returns: mailHealth.MailHealth.extend({
      limits: z
        .object({
          plan: z.enum(planKeys).describe("Plan of the organization, which sets the limits."),
          mails: reports.MailUsage,
          ...rateLimit.RateLimitWindows.shape,
          windowSeconds: Count.describe("Length of a window of the rate limit in seconds."),
        })
        .describe("Limits of the plan, and how much of them is used."),
    }),
    handle: async ({ caller }) => {
      const [state, { mails }, windows] = await Promise.all([
        mailHealth.getHealth(caller),
        reports.getUsage(caller.orgId),
        rateLimit.getWindows(caller),
      ]);
      return {
        ...state,
        limits: { plan: caller.plan, mails, ...windows, windowSeconds: rateLimit.windowSeconds },
      };
    },
  }),
  route("GET /org/setup", "Get the setup checklist", {
    operationId: "getOrganizationSetup",
    description:
      "Returns what is done and what is left before the first campaign. Looks at the newest 20 " +
      "sites, sending configs and domains.",
    returns: setupChecklist.SetupChecklist,
    handle: ({ caller }) => setupChecklist.getChecklist(caller),
  }),
  route("GET /attention", "List what needs attention", {
    operationId: "getAttention",
    description:
      "Returns problems that somebody should look at: providers that accept no email, lost " +
      "domains, a plan that is nearly used up, webhook endpoints that fail, failed imports, " +
      "campaigns and sequences that the service stopped, emails whose fate is unknown. Looks at " +
      "the newest 50 records of each kind. Callers see the problems of records that they may read.",
    level: "site",
    returns: attention.Attention,
    handle: ({ caller }) => attention.getAttention(caller),
  }),
  route("GET /jobs", "List jobs", {
    description:
      "Returns long work with its progress: imports, exports, changes of many contacts, audits " +
      "of campaigns, erasures of deleted sites. Running jobs come first, then the newest. One " +
      "request answers for all of them: poll it while something runs, and less often the longer " +
      "it takes. Callers see the jobs that they may read one by one. A change of many contacts " +
      "is listed for 30 days, an erasure while it runs, an audit until the next one of its " +
      "campaign.",
    level: "site",
    query: PageQuery.extend({
      siteId: QueryId.optional().describe(
        "Only jobs of this site. Defaults to all jobs that the caller may read.",
      ),
      status: z.enum(jobStatuses).optional().describe("Only jobs with this status."),
    }),
    returns: pagedSchema("jobs", jobs.ListedJob),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await jobs.list(caller, query);
      return { jobs: items, pagination };
    },
  }),
  route("GET /org/branding", "Get the branding footer", {
    operationId: "getBranding",
    description:
      'Returns whether emails end with the line "Sent with Pennymail", and the discount for it.',
    returns: branding.Branding,
    handle: ({ caller }) => branding.getBranding(caller.orgId),
  }),
  route("PUT /org/branding", "Turn the branding footer on or off", {
    auditedValues: ["enabled"],
    operationId: "updateBranding",
    description: "While the footer is on, emails beyond the plan cost 15 % less.",
    body: branding.BrandingChange,
    returns: branding.Branding,
    handle: ({ caller, body }) => branding.change(caller, body),
  }),
]);
export const { handler } = organization;
