import * as rules from "../../shared/domain/audience/scoring/scoring-rules.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";
import { QueryId } from "../../shared/kernel/digits.ts";

export const scoring = routeGroup("scoring", [
  route("GET /scoring/rules", "List scoring rules", {
    description: "Returns scoring rules, newest first.",
    level: "site",
    query: PageQuery.extend({
      siteId: QueryId.optional().describe(
        "Only items of this site. Defaults to the site of the API key, else to all sites of " +
          "the organization.",
      ),
    }),
    returns: pagedSchema("rules", rules.ScoringRule),
    handle: async ({ caller, query: { siteId, ...page } }) => {
      const { items, pagination } = await rules.list(caller, page, siteId);
      return { rules: items, pagination };
    },
  }),
  route("POST /scoring/rules", "Create a scoring rule", {
    description: "The rule applies to events from now on. A site can have up to 80 rules.",
    level: "site",
    body: rules.NewScoringRule,
    returns: rules.ScoringRule,
    status: 201,
    errors: { 409: `The site has ${rules.maxRules} scoring rules already (\`too_many_rules\`).` },
    handle: ({ caller, body }) => rules.create(caller, body),
  }),
  route("GET /scoring/rules/:id", "Get a scoring rule", {
    level: "site",
    returns: rules.ScoringRule,
    handle: ({ caller, params }) => rules.find(caller, params.id),
  }),
  route("PUT /scoring/rules/:id", "Update a scoring rule", {
    description: "Updates the given fields. Points that the rule has already given stay.",
    level: "site",
    body: rules.ScoringRuleChanges,
    returns: rules.ScoringRule,
    handle: ({ caller, params, body }) => rules.change(caller, params.id, body),
  }),
  route("DELETE /scoring/rules/:id", "Delete a scoring rule", {
    description: "Points that the rule has given stay.",
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await rules.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
]);
export const { handler } = scoring;
