import * as domainsOf from "../../shared/domain/senders/domains/domains.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";

export const domains = routeGroup("domains", [
  route("GET /domains", "List sender domains", {
    description: "Returns domains of every status, newest first.",
    query: PageQuery,
    returns: pagedSchema("domains", domainsOf.Domain),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await domainsOf.list(caller, query);
      return { domains: items, pagination };
    },
  }),
  route("POST /domains", "Add a sender domain", {
    auditedValues: ["name"],
    description:
      "Returns the DNS records to publish. DNS is checked at once, then at growing intervals " +
      "for 30 days. Adding a domain that exists checks it again.",
    body: domainsOf.NewDomain,
    returns: domainsOf.DomainDetail,
    status: 201,
    errors: { 409: "Another organization has verified this domain (`domain_taken`)." },
    handle: ({ caller, body }) => domainsOf.add(caller, body),
  }),
  route("GET /domains/:id", "Get a sender domain", {
    description: "Returns the domain with the DNS records to publish and what DNS has of them.",
    returns: domainsOf.DomainDetail,
    handle: ({ caller, params }) => domainsOf.findDetail(caller, params.id),
  }),
  route("PATCH /domains/:id", "Update the tracking settings of a domain", {
    description:
      "Updates the given fields. Applies to email that is accepted a minute later or after.",
    body: domainsOf.DomainChanges,
    returns: domainsOf.DomainDetail,
    handle: ({ caller, params, body }) => domainsOf.change(caller, params.id, body),
  }),
  route("DELETE /domains/:id", "Delete a sender domain", {
    description: "Its sending configs stay.",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await domainsOf.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
]);
export const { handler } = domains;
