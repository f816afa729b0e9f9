// The health check for load balancers and uptime monitors.

import { authenticate } from "../../shared/http/authenticate.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { type ApiRequest, route } from "../../shared/http/route.ts";
import {
  checkDependencies,
  ServiceHealth,
  withinDeadline,
} from "../../shared/kernel/service-health.ts";
import { version } from "../../shared/version.ts";

export const health = routeGroup("health", [
  route("GET /health", "Get the health of the service", {
    auth: "public",
    description: `For load balancers and uptime monitors. Checks the table and a queue, and
responds within about 2 seconds; the result is cached for 2 seconds. The status is 200 if both
checks succeed, otherwise 503. The public response has only \`status\`. With a valid API key or
session, it also has the version and the result of each check. While the table fails, credentials
cannot be checked.`,
    returns: ServiceHealth,
    otherStatuses: { 503: "The table or a queue cannot be reached: `status` is `degraded`." },
    handle: async ({ request, reply }) => {
      const [checks, isCaller] = await Promise.all([checkDependencies(), isAuthenticated(request)]);
      const isOk = checks.table.status === "ok" && checks.queue.status === "ok";
      if (!isOk) reply.status = 503;
      return {
        status: isOk ? ("ok" as const) : ("degraded" as const),
        ...(isCaller && { version, checks }),
      };
    },
  }),
]);
export const { handler } = health;

function isAuthenticated(request: ApiRequest): Promise<boolean> {
  const authenticated = authenticate(request, "GET").then(
    () => true,
    () => false,
  );
  return withinDeadline(authenticated, false);
}
