import * as site from "../../shared/domain/sites.ts";
import { Deleted, PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

export const sites = group("sites", [
  route("GET /sites", "List sites", {
    level: "site",
    query: PageQuery,
    returns: paged("sites", site.Site),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await site.list(caller, query);
      return { sites: items, pagination };
    },
  }),
  route("POST /sites", "Create a site", {
    body: site.NewSite,
    returns: site.Site,
    status: 201,
    handle: ({ caller, body }) => site.create(caller, body),
  }),
  route("GET /sites/:id", "One site", {
    level: "site",
    returns: site.Site,
    handle: ({ caller, params }) => site.find(caller, params.id),
  }),
  route("PUT /sites/:id", "Change a site", {
    level: "site",
    body: site.SiteChanges,
    returns: site.Site,
    handle: ({ caller, params, body }) => site.change(caller, params.id, body),
  }),
  route("DELETE /sites/:id", "Delete a site, and the API keys bound to it", {
    level: "site",
    returns: Deleted,
    errors: { 409: "The site has sends" },
    handle: async ({ caller, params: { id } }) => {
      await site.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
]);
export const { handler } = sites;
