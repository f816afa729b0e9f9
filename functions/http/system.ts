import * as systemHealth from "../../shared/domain/analytics/system-health.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { route } from "../../shared/http/route.ts";

export const system = routeGroup("system", [
  route("GET /system/health", "Get the health of the installation", {
    operationId: "getSystemHealth",
    description:
      "For operators of the service: users whom the setting `OPERATORS` names, with a session. " +
      "Returns how many messages wait or failed for good, stored work that is late, email that " +
      "waits for a provider, the last runs of the schedules, and what somebody should look at. " +
      "Covers all organizations, but none of their data.",
    auth: "session",
    level: "site",
    returns: systemHealth.SystemHealth,
    errors: { 404: "The user does not operate the service." },
    handle: ({ caller }) => systemHealth.getSystemHealth(caller),
  }),
]);
export const { handler } = system;
