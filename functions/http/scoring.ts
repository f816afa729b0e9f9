import * as scoringRules from "../../shared/domain/audience/scoring/scoring-rules.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { SiteFilter } from "../../shared/kernel/digits.ts";

export const scoring = routeGroup("scoring", [
  route("GET /scoring/rules", "List scoring rules", {
    description: "Returns scoring rules, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: SiteFilter,
    }),
    returns: pagedSchema("rules", scoringRules.ScoringRule),
    handle: async ({ caller, query: { siteId, ...page } }) => {
      const { items, pagination } = await scoringRules.list(caller, page, siteId);
      return { rules: items, pagination };
    },
  }),
  route("POST /scoring/rules", "Create a scoring rule", {
    description: "The rule applies to events from now on. A site can have up to 80 rules.",
    level: "site",
    body: scoringRules.NewScoringRule,
    returns: scoringRules.ScoringRule,
    status: 201,
    errors: {
      409: `The site has ${scoringRules.maxRules} scoring rules already (\`too_many_rules\`).`,
    },
    handle: ({ caller, body }) => scoringRules.create(caller, body),
  }),
  route("GET /scoring/rules/:id", "Get a scoring rule", {
    level: "site",
    returns: scoringRules.ScoringRule,
    handle: ({ caller, params }) => scoringRules.show(caller, params.id),
  }),
  route("PUT /scoring/rules/:id", "Update a scoring rule", {
    description: "Updates the given fields. Points that the rule has already given stay.",
    level: "site",
    body: scoringRules.ScoringRuleChanges,
    returns: scoringRules.ScoringRule,
    handle: ({ caller, params, body }) => scoringRules.change(caller, params.id, body),
  }),
  route("DELETE /scoring/rules/:id", "Delete a scoring rule", {
    description: "Points that the rule has given stay.",
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await scoringRules.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
]);
export const { handler } = scoring;
