import * as z from "zod";
import { now } from "../../shared/clock.ts";
import * as domainAdvice from "../../shared/domain/analytics/domain-advice.ts";
import { AnalyticsPeriod, periodEndingOn } from "../../shared/domain/analytics/periods.ts";
import * as readReports from "../../shared/domain/senders/domain-reports/read-reports.ts";
import * as domainsOf from "../../shared/domain/senders/domains/domains.ts";
import {
  getPostmasterStats,
  PostmasterStats,
} from "../../shared/domain/senders/postmaster-tools/read-figures.ts";
import * as postmasterTools from "../../shared/domain/senders/postmaster-tools/settings.ts";
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
  route("GET /domains/:id/postmaster-stats", "Get what Gmail says about a domain", {
    operationId: "getPostmasterStats",
    description:
      "Returns the figures of Google Postmaster Tools: how much email users report as spam, and " +
      "how much is authenticated, encrypted and refused. They are pulled daily with the key of " +
      "PUT /postmaster-tools; the last days are pulled again, because Gmail completes them late. " +
      "They are kept for 100 days.",
    query: ReportQuery,
    returns: PostmasterStats,
    handle: ({ caller, params, query }) => getPostmasterStats(caller, params.id, spanOf(query)),
  }),
  route("DELETE /domains/:id", "Delete a sender domain", {
    description: "Its sending configs stay.",
    returns: Deleted,
    handle: async ({ caller, params: { id } }) => {
      await domainsOf.remove(caller, id);
      return { id, deleted: true as const };
    },
  }),
  route("GET /postmaster-tools", "Get the access to Google Postmaster Tools", {
    operationId: "getPostmasterTools",
    description: "Returns the service account and the state of its pulls, without its key.",
    returns: z.object({
      postmasterTools: postmasterTools.PostmasterTools.nullable().describe(
        "The access, or `null` if none is set.",
      ),
    }),
    handle: async ({ caller }) => ({ postmasterTools: await postmasterTools.findAccess(caller) }),
  }),
  route("PUT /postmaster-tools", "Set the access to Google Postmaster Tools", {
    operationId: "updatePostmasterTools",
    needsVerifiedEmail: true,
    auditedValues: ["delegatedUser"],
    description:
      "Logs in to Google with the key of a service account, lists the domains that it may read, " +
      "and stores the key if that works. Figures of the organization's domains are then pulled " +
      "at once and every day. Omit the key to check the stored one and pull at once.",
    body: postmasterTools.PostmasterAccess,
    returns: postmasterTools.PostmasterTools,
    errors: {
      400: "The key is not valid, or Google refuses it.",
      409: "Someone else changed the access at the same time: read it and try again.",
      502: "Google does not respond, or limits the requests. Try again later.",
    },
    handle: ({ caller, body }) => postmasterTools.setAccess(caller, body),
  }),
  route("DELETE /postmaster-tools", "Remove the access to Google Postmaster Tools", {
    operationId: "deletePostmasterTools",
    description:
      "Deletes the key and ends the pulls. Figures that were pulled stay until they expire.",
    returns: Deleted,
    handle: async ({ caller }) => {
      await postmasterTools.removeAccess(caller);
      return { id: caller.orgId, deleted: true as const };
    },
  }),
]);
export const { handler } = domains;
