import { checkPreferenceFields } from "../../shared/domain/audience/contacts/preference-fields.ts";
import { checkTemplate } from "../../shared/domain/forms/confirmation-templates.ts";
import { removeSite } from "../../shared/domain/identity/remove-site.ts";
import * as site from "../../shared/domain/identity/sites.ts";
import { assignTrackingDomain } from "../../shared/domain/sending/tracking-domains/assign.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";

export const sites = routeGroup("sites", [
  route("GET /sites", "List sites", {
    description:
      "Returns the sites of the organization, newest first. An API key that is bound to a " +
      "site sees only that site.",
    level: "site",
    query: PageQuery,
    returns: pagedSchema("sites", site.Site),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await site.list(caller, query);
      return { sites: items.map(site.toApi), pagination };
    },
  }),
  route("POST /sites", "Create a site", {
    auditedValues: ["name"],
    body: site.NewSite,
    returns: site.Site,
    status: 201,
    handle: async ({ caller, body }) => site.toApi(await site.create(caller, body)),
  }),
  route("GET /sites/:id", "Get a site", {
    level: "site",
    returns: site.Site,
    errors: {
      410:
        "The site was deleted and its data is being erased (`site_deleted`): `contacts` is how " +
        "many it had, `contactsErased` and `itemsErased` are the progress. Once everything is " +
        "erased, the status is 404.",
    },
    handle: async ({ caller, params }) => site.toApi(await site.show(caller, params.id)),
  }),
  route("PUT /sites/:id", "Update a site", {
    auditedValues: ["name", "trackingDomain"],
    description: "Updates the given fields.",
    level: "site",
    body: site.SiteChanges,
    returns: site.Site,
    errors: {
      404: "The site or the template does not exist.",
      409:
        "`trackingDomain` is that of another site, or no verified domain of the organization is " +
        "the domain or above it (`domain_not_verified`).",
    },
    handle: async ({ caller, params, body: { trackingDomain, ...body } }) => {
      await site.find(caller, params.id);
      await checkTemplate(caller, params.id, body);
      if (body.preferencePage)
        await checkPreferenceFields(caller, params.id, body.preferencePage.fields);
      if (trackingDomain !== undefined)
        await assignTrackingDomain(caller, params.id, trackingDomain);
      return site.toApi(await site.change(caller, params.id, body));
    },
  }),
  route("DELETE /sites/:id", "Delete a site", {
    description:
      "Deletes the site with everything in it, and revokes the API keys that are bound to " +
      "it. Its records are not found from then on, and its public pages, forms, tracking and " +
      "webhooks are closed (within 3 seconds if several servers share the work). A " +
      "background job erases the data. A site that has sends cannot be deleted.",
    level: "site",
    returns: Deleted,
    errors: { 409: "The site has sends, so it cannot be deleted (`site_has_sends`)." },
    handle: async ({ caller, params: { id } }) => {
      await removeSite(caller, id);
      return { id, deleted: true as const };
    },
  }),
]);
export const { handler } = sites;
