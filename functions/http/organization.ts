import * as z from "zod";
import * as limits from "../../shared/http/rate-limit.ts";
import { route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { planKeys } from "../../shared/plans.ts";

const Window = z.object({
  limit: z.int(),
  used: z.int(),
  remaining: z.int(),
  resetAt: z.int().describe("Unix seconds"),
});

export const organization = group("organization", [
  route("GET /rate-limit", "How much of the rate limits is used; does not count itself", {
    limit: "none",
    level: "site",
    returns: z.object({ plan: z.enum(planKeys), general: Window, send: Window, windowSeconds: z.int() }),
    handle: async ({ caller: { orgId, plan } }) => {
      const [general, send] = await Promise.all([limits.peek(orgId, "general"), limits.peek(orgId, "send")]);
      return {
        plan,
        general: limits.windowOf(plan, "general", general),
        send: limits.windowOf(plan, "send", send),
        windowSeconds: limits.windowSeconds,
      };
    },
  }),
]);
export const { handler } = organization;
