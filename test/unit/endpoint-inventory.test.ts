// Compares the routes with the promised endpoints (test/fixtures/endpoints.json).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { groups } from "../../functions/route-groups.ts";
import { shortPath } from "../../shared/http/operation-id.ts";
import { inboundMailProviders } from "../../shared/providers/inbound-mail/provider-keys.ts";
import { apiProviders } from "../support/api-providers.ts";

/** Promised endpoints that do not exist yet, by the name of the work that adds them. */
const missingByIssue: Record<string, string[]> = {};

/** Endpoints besides the promised ones. */
const extras = [
  "GET /openapi.json",
  "GET /docs",
  "GET /docs/errors",
  "GET /docs/{script}",
  "GET /health",
  "GET /", // pages at the root
  "GET /app", // the console
  "GET /app/preview",
  "GET /app/{screen}",
  "GET /app/{screen}/{record}",
  "GET /app/{screen}/{record}/{part}",
  "GET /app/assets/{file}",
  "GET /system/health", // for operators of the installation
  "GET /attention", // problems that somebody should look at
  "GET /jobs", // the progress of all long work
  "GET /org/setup", // what is left before the first campaign
  "GET /stock-photos/status", // whether there is a key for them
  "GET /reset-password",
  "POST /reset-password",
  "GET /accept-invitation",
  "POST /accept-invitation",
  "GET /unsubscribe", // the page, at the URL of the List-Unsubscribe header
  ...["GET /campaign-series", "POST /campaign-series"], // recurring campaigns
  ...["GET", "PUT", "DELETE"].map((method) => `${method} /campaign-series/{id}`),
  ...["POST /campaign-series/{id}/pause", "POST /campaign-series/{id}/resume"],
  "GET /campaign-series/{id}/runs",
  ...["POST /campaign-series/preview", "POST /campaign-series/{id}/preview"],
  "GET /view/{token}", // an email in a browser
  "GET /t/{token}/{link}", // tracked links and pixels of emails
  ...["GET /archive/{id}", "GET /archive/{id}/feed.xml", "GET /archive/{id}/{campaignId}"],
  "PUT /campaigns/{id}/archive",
  "POST /contacts/{id}/confirmation", // double opt-in of a contact, also again
  "GET /secure/{token}",
  "POST /secure/{token}",
  "GET /secure/files/{file}",
  // what mailbox providers ask and report
  "GET /domains/{id}/advice",
  "GET /domains/{id}/postmaster-stats",
  ...["GET", "PUT", "DELETE"].map((method) => `${method} /postmaster-tools`),
  ...["GET /domains/{id}/dmarc-reports", "GET /domains/{id}/tls-reports"],
  ...["GET /inbound-emails", "GET /inbound-emails/{id}"], // email that people sent
  ...["GET /inbound-settings/{siteId}", "PUT /inbound-settings/{siteId}"],
  ...inboundMailProviders.map((key) => `POST /inbound/${key}`),
  "POST /attachments", // uploads that are too large for a request
  "POST /send/messages", // different emails in one request
  "POST /sends/{id}/cancel",
  "POST /sends/{id}/resolve",
  "GET /sends/{id}/content", // what was sent
  "GET /contacts/by-email/{email}/export", // a person who may have no contact
  "DELETE /contacts/by-email/{email}",
  "GET /events/unmatched", // events whose send was not found
  "GET /why", // why an email did not arrive
  "PUT /sequences/{id}/steps", // all steps at once
  "GET /sequences/{id}/draft", // steps that are edited beside those that run
  "PUT /sequences/{id}/draft",
  "DELETE /sequences/{id}/draft",
  "POST /sequences/{id}/draft/publish",
  "POST /sequences/{id}/walk", // each step for one contact, sending nothing
  "GET /templates/{id}/versions",
  "GET /templates/{id}/versions/{versionId}",
  "POST /templates/{id}/restore",
  "GET /snippets",
  "POST /snippets",
  "GET /snippets/{id}",
  "PUT /snippets/{id}",
  "DELETE /snippets/{id}",
  "GET /snippets/{id}/uses",
  "GET /templates/{id}/uses",
  "POST /snippets/{id}/render",
  "POST /snippets/{id}/restore",
  "POST /templates/{id}/check", // links, images, size
  "POST /templates/{id}/test", // test mails
  "POST /sending-configs/check-credentials", // before a typed key is stored
  "POST /sending-configs/{id}/connect", // webhook and domain at the provider
  // a mailbox that is read by IMAP
  ...["GET", "PUT", "DELETE"].map((method) => `${method} /sending-configs/{id}/bounce-mailbox`),
  "GET /sending-configs/{id}",
  "GET /webhooks/{id}/deliveries",
  "POST /webhooks/{id}/deliveries/{deliveryId}/redeliver",
  "POST /webhooks/{id}/rotate-secret",
  "POST /webhooks/{id}/test",
  "POST /auth/switch", // members of organizations, roles and invitations
  "GET /auth/signup", // whether it is open
  "GET /auth/sessions",
  "DELETE /auth/sessions/{session}",
  "POST /auth/verify-email",
  "POST /auth/verify-email/resend",
  "GET /verify-email",
  "POST /verify-email",
  "POST /auth/leave",
  "GET /audit-log", // who changed what, and the requests of API keys
  "GET /audit-log/verify",
  "GET /audit-log/export",
  "GET /request-log",
  "GET /roles",
  "GET /members",
  "GET /members/{id}",
  "PUT /members/{id}",
  "DELETE /members/{id}",
  "GET /invitations",
  "POST /invitations",
  "GET /invitations/{id}",
  "DELETE /invitations/{id}",
  "POST /invitations/{id}/resend",
  "POST /invitations/accept",
  "POST /invitations/preview",
  "GET /sso", // single sign-on
  "PUT /sso",
  "DELETE /sso",
  "POST /sso/test",
  "DELETE /sso/links/{memberId}",
  "GET /auth/sso/start",
  "GET /auth/sso/callback/{organizationId}",
  "GET /contacts/{id}/export", // one person's data
  "GET /forms/{id}/embed", // the form in a page of the customer
  "GET /forms/{id}/page", // the form on our page
  "GET /forms/confirm/{token}", // double opt-in
  "POST /forms/confirm/{token}",
  "POST /segment/v1/identify", // as Segment's API
  "POST /segment/v1/track",
  "POST /segment/v1/page",
  "POST /segment/v1/screen",
  "POST /segment/v1/group",
  "POST /segment/v1/alias",
  "POST /segment/v1/batch",
  "POST /segment/v1/import",
  "POST /compat/resend/emails", // as Resend's, Postmark's and SendGrid's APIs
  "POST /compat/resend/emails/batch",
  "GET /compat/resend/emails/{id}",
  "POST /compat/postmark/email",
  "POST /compat/postmark/email/batch",
  "POST /compat/postmark/email/withTemplate",
  "POST /compat/postmark/email/batchWithTemplates",
  "POST /compat/sendgrid/v3/mail/send",
  "DELETE /events/custom/names/{eventName}", // makes room for another of the 1,000 names
  "POST /exports", // exports that are too long for a response
  "GET /exports/{id}",
  "POST /imports/preview", // columns and first rows
  "GET /imports/{id}/errors", // all of them, as a file
  "GET /campaigns/{id}/attachments/{attachmentId}",
  "POST /campaigns/{id}/unschedule",
  "POST /campaigns/{id}/cancel",
  "POST /campaigns/{id}/pause",
  "POST /campaigns/{id}/resume",
  "GET /campaigns/{id}/audience", // how many get it, and why others do not
  "GET /campaigns/{id}/audit", // what became of each candidate
  "POST /campaigns/{id}/audit", // reads all rows again
  "POST /campaigns/{id}/preview", // dry run
  "POST /campaigns/{id}/test", // proofs
  "GET /campaigns/{id}/links", // clicked links
  "GET /campaigns/{id}/timeline", // opens and clicks by hour and day
  "POST /campaigns/{id}/resend",
  "POST /send/batch/preview", // dry run
  "POST /mcp", // for agents
  // the media library
  ...["GET /media", "POST /media", "GET /media/{id}", "PATCH /media/{id}", "DELETE /media/{id}"],
  "GET /media/{orgId}/{file}", // a picture, as mails show it
  "GET /photos/{orgId}/{name}", // a saved stock photo, as mails show it
  "GET /segments/{id}/contacts/{contactId}", // which conditions match
  "POST /segments/why", // the same for rules that are not stored
  "POST /mfa/recovery-codes",
  // kinds of email that contacts leave and join one by one
  ...["GET /topics", "POST /topics", "GET /topics/{id}", "PUT /topics/{id}", "DELETE /topics/{id}"],
  "GET /analytics/leave-reasons",
  "GET /analytics/topics",
  "GET /contacts/{id}/topics",
  "PUT /contacts/{id}/topics",
  "GET /contact-fields", // labels and types of custom fields
  "PUT /contact-fields/{fieldName}",
  "DELETE /contact-fields/{fieldName}",
  "GET /contact-fields/{fieldName}/conversion", // progress of a change of the type
  "GET /contact-fields/{fieldName}/uses", // what a deletion concerns
  "POST /contact-actions", // changes of many contacts
  "POST /contact-actions/preview",
  "GET /contact-actions",
  "GET /contact-actions/{id}",
  "POST /contact-actions/{id}/cancel",
  "POST /contacts/{id}/merge",
  "GET /contacts/{id}/timeline", // what happened to a contact
  // one endpoint per provider, which the fixture does not list
  ...apiProviders.map(({ key }) => `POST /webhooks/${key}`),
];

const promised = (
  JSON.parse(readFileSync(join(import.meta.dirname, "../fixtures/endpoints.json"), "utf8")) as [
    string,
    string,
  ][]
).map(([method, path]) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
const existing = groups.flatMap(({ routes }) =>
  routes.map(({ method, path }) => `${method} ${shortPath(path)}`),
);
const under = (prefix: string) => (endpoint: string) =>
  `${endpoint.split(" ")[1]}/`.startsWith(`${prefix}/`);
const missing = promised.filter((endpoint) => !existing.includes(endpoint));

test("every route is a promised endpoint or a listed extra, and exists once", () => {
  expect(
    existing.filter((endpoint) => !promised.includes(endpoint) && !extras.includes(endpoint)),
  ).toEqual([]);
  expect(existing.filter((endpoint, i) => existing.indexOf(endpoint) !== i)).toEqual([]);
});

test("the send limit applies to exactly these endpoints", () => {
  const limited = groups.flatMap(({ routes }) =>
    routes.filter(({ rateLimit }) => rateLimit === "send"),
  );
  expect(limited.map(({ method, path }) => `${method} ${shortPath(path)}`).toSorted()).toEqual([
    "POST /campaigns/{id}/resend",
    "POST /campaigns/{id}/schedule",
    "POST /campaigns/{id}/send",
    "POST /compat/postmark/email",
    "POST /compat/postmark/email/withTemplate",
    "POST /compat/resend/emails",
    "POST /send",
    "POST /templates/{id}/test",
  ]);
});

test("every listed extra exists", () => {
  expect(extras.filter((endpoint) => !existing.includes(endpoint))).toEqual([]);
});

test("every promised endpoint exists, except those that are listed as missing", () => {
  const prefixes = Object.values(missingByIssue).flat();
  expect(missing.filter((endpoint) => !prefixes.some((prefix) => under(prefix)(endpoint)))).toEqual(
    [],
  );
});

test("no existing endpoint is listed as missing", () => {
  expect(
    Object.values(missingByIssue)
      .flat()
      .filter((prefix) => !missing.some(under(prefix))),
  ).toEqual([]);
});
