import * as z from "zod";
import { now } from "../../shared/clock.ts";
import * as domainAdvice from "../../shared/domain/analytics/domain-advice.ts";
import { AnalyticsPeriod, periodEndingOn } from "../../shared/domain/analytics/periods.ts";
import * as readReports from "../../shared/domain/senders/domain-reports/read-reports.ts";
import * as domainsOf from "../../shared/domain/senders/domains/domains.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { Deleted, PageQuery, pagedSchema, route } from "../../shared/http/route.ts";

const ReportQuery = z.object({
  period: AnalyticsPeriod.describe("Number of days (UTC), ending today."),
});
const spanOf = ({ period }: z.output<typeof ReportQuery>) =>
  periodEndingOn(period, now().toISOString().slice(0, 10));

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
  route("GET /domains/:id/advice", "Check a domain against the rules of mailbox providers", {
    operationId: "getDomainAdvice",
    description:
      "Returns what Gmail and Yahoo require of senders and whether the domain has it, with a " +
      "warning before their limits are reached, and which optional standards the domain uses: " +
      "BIMI, MTA-STS and TLS reports. DNS is looked at with each check of the domain; POST " +
      "/domains checks it again.",
    returns: domainAdvice.DomainAdvice,
    handle: ({ caller, params }) => domainAdvice.getAdvice(caller, params.id),
  }),
  route("GET /domains/:id/dmarc-reports", "Get the DMARC reports of a domain", {
    operationId: "getDmarcReports",
    description:
      "Returns who sent email with the domain in From, and whether it passed DMARC, as mailbox " +
      "providers report it. Reports are read from inbound email: publish the address of a site " +
      "as `rua` of the DMARC record. They are kept for 100 days.",
    query: ReportQuery,
    returns: readReports.DmarcReports,
    handle: ({ caller, params, query }) =>
      readReports.getDmarcReports(caller, params.id, spanOf(query)),
  }),
  route("GET /domains/:id/tls-reports", "Get the TLS reports of a domain", {
    operationId: "getTlsReports",
    description:
      "Returns whether other servers could connect to the mail servers of the domain with " +
      "encryption, as they report it (RFC 8460). Reports are read from inbound email: publish " +
      "the address of a site in the record `_smtp._tls`. They are kept for 100 days.",
    query: ReportQuery,
    returns: readReports.TlsReports,
    handle: ({ caller, params, query }) =>
      readReports.getTlsReports(caller, params.id, spanOf(query)),
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
