import * as z from "zod";
import * as reports from "../../shared/domain/billing/reports.ts";
import * as branding from "../../shared/domain/branding.ts";
import * as health from "../../shared/domain/health.ts";
import * as limits from "../../shared/http/rate-limit.ts";
import { route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { planKeys } from "../../shared/plans.ts";

export const organization = group("organization", [
  route("GET /rate-limit", "How much of the rate limits is used; does not count itself", {
    limit: "none",
    level: "site",
    returns: z.object({ plan: z.enum(planKeys), ...limits.Windows.shape, windowSeconds: z.int() }),
    handle: async ({ caller }) => ({ plan: caller.plan, ...(await limits.windowsOf(caller)), windowSeconds: limits.windowSeconds }),
  }),
  route("GET /org/health", "How mail fared in the last 30 days: bounces, complaints, trust level, and the limits that hold", {
    returns: health.Health.extend({
      limits: z.object({ plan: z.enum(planKeys), mails: reports.Mails, ...limits.Windows.shape, windowSeconds: z.int() }),
    }),
    handle: async ({ caller }) => {
      const [state, { mails }, windows] = await Promise.all([health.of(caller), reports.usage(caller.orgId), limits.windowsOf(caller)]);
      return { ...state, limits: { plan: caller.plan, mails, ...windows, windowSeconds: limits.windowSeconds } };
    },
  }),
  route("GET /org/branding", "Whether mails end with a line that says what they were sent with, and what that saves", {
    returns: branding.Branding,
    handle: ({ caller }) => branding.find(caller.orgId),
  }),
  route("PUT /org/branding", "Enable or disable the branding footer: 15 % off mails beyond the plan", {
    body: branding.BrandingChange,
    returns: branding.Branding,
    handle: ({ caller, body }) => branding.change(caller, body),
  }),
]);
export const { handler } = organization;
