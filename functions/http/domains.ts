import * as domainsOf from "../../shared/domain/domains.ts";
import { Deleted, PageQuery, paged, route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

export const domains = group("domains", [
  route("GET /domains", "List domains, verified and pending", {
    query: PageQuery,
    returns: paged("domains", domainsOf.Domain),
    handle: async ({ caller, query }) => {
      const { items, pagination } = await domainsOf.list(caller, query);
      return { domains: items, pagination };
    },
  }),
  route(
    "POST /domains",
    "Add a domain and start its verification: publish `dnsRecords`, and DNS is looked at now, then less and less often for 30 days. A domain that is there already is looked at again",
    {
      body: domainsOf.NewDomain,
      returns: domainsOf.DomainDetail,
      status: 201,
      errors: { 409: "Another organization has verified the domain (`domain_taken`)" },
      handle: ({ caller, body }) => domainsOf.add(caller, body),
    },
  ),
  route("GET /domains/:id", "One domain, with the DNS records to publish and what DNS has of them", {
    returns: domainsOf.DomainDetail,
    handle: ({ caller, params }) => domainsOf.detail(caller, params.id),
  }),
  route("PATCH /domains/:id", "Change what of a domain's mail is tracked; holds for mail accepted from a minute later on", {
    body: domainsOf.DomainChanges,
    returns: domainsOf.DomainDetail,
    handle: ({ caller, params, body }) => domainsOf.change(caller, params.id, body),
  }),
  route("DELETE /domains/:id", "Remove a domain; its sending configs stay", {
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await domainsOf.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
]);
export const { handler } = domains;
