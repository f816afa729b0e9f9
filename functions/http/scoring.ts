import * as z from "zod";
import * as rules from "../../shared/domain/scoring-rules.ts";
import { Deleted, PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

export const scoring = group("scoring", [
  route("GET /scoring/rules", "List scoring rules", {
    level: "site",
    query: PageQuery.extend({ siteId: z.coerce.number().int().positive().optional() }),
    returns: paged("rules", rules.ScoringRule),
    handle: async ({ caller, query: { siteId, ...page } }) => {
      const { items, pagination } = await rules.list(caller, page, siteId);
      return { rules: items, pagination };
    },
  }),
  route("POST /scoring/rules", "Create a scoring rule; it holds for what happens from now on", {
    level: "site",
    body: rules.NewScoringRule,
    returns: rules.ScoringRule,
    status: 201,
    errors: { 409: `The site has ${rules.maxRules} scoring rules already (\`too_many_rules\`)` },
    handle: ({ caller, body }) => rules.create(caller, body),
  }),
  route("GET /scoring/rules/:id", "One scoring rule", {
    level: "site",
    returns: rules.ScoringRule,
    handle: ({ caller, params }) => rules.find(caller, params.id),
  }),
  route("PUT /scoring/rules/:id", "Change a scoring rule; scores it gave stay", {
    level: "site",
    body: rules.ScoringRuleChanges,
    returns: rules.ScoringRule,
    handle: ({ caller, params, body }) => rules.change(caller, params.id, body),
  }),
  route("DELETE /scoring/rules/:id", "Delete a scoring rule; scores it gave stay", {
    level: "site",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await rules.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
]);
export const { handler } = scoring;
