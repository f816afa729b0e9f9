// Resources group operations: the tag of an operation in the OpenAPI document, and its group in
// the SDK and the command line.
import { webhookProviderKeys } from "../providers/provider-keys.ts";

interface Resource {
  description: string;
  /** Starts of its paths. The longest start that fits decides. Default: the name. */
  paths?: string[];
  /** Default: the name with spaces. */
  title?: string;
}

/** By name, in the order of the reference. */
export const resources: Record<string, Resource> = {
  account: {
    description: "Sign-up, login, password and settings of the user.",
    paths: ["/auth", "/settings"],
  },
  "api-keys": {
    description: "Keys for programs, for all sites or one, with scopes.",
    title: "API keys",
  },
  mfa: {
    description: "Second factors for logins: authenticator app, codes by email, recovery codes.",
    title: "MFA",
  },
  organization: {
    description: "Name, rate limits, sending health and branding of the organization.",
    paths: ["/org", "/settings/org", "/rate-limit", "/attention"],
  },
  members: { description: "Users of the organization, with their roles." },
  invitations: { description: "Mailed links that make somebody a member of the organization." },
  roles: { description: "What members may do." },
  sso: {
    description: "Logins of members with the organization's OpenID Connect provider.",
    paths: ["/sso", "/auth/sso"],
    title: "Single sign-on",
  },
  jobs: { description: "Long work with its progress, such as imports and exports." },
  "audit-log": {
    description: "Who changed what and when, and the requests that were made with API keys.",
    paths: ["/audit-log", "/request-log"],
  },
  system: { description: "Health of the whole installation, for its operators." },
  sites: {
    description: "Sites separate contacts, templates, campaigns and sends within an organization.",
  },
  contacts: { description: "Contacts with custom fields, tags, lists and lead score." },
  "contact-actions": { description: "Jobs that change many contacts in the same way." },
  "contact-fields": { description: "Fields of contacts, with labels and types." },
  lists: { description: "Lists that contacts are added to by hand, form or import." },
  tags: { description: "Tags to mark contacts with. A tag can start a sequence." },
  topics: {
    description: "Kinds of email that contacts leave and join one by one, on the preference page.",
  },
  segments: {
    description: "Groups of contacts by rules, looked up when they are read or sent to.",
  },
  templates: { description: "Email templates with Liquid variables (merge tags)." },
  media: {
    description: "Pictures of emails, forms and pages, which the service hosts.",
    paths: ["/media"],
    title: "Media library",
  },
  snippets: {
    description: "Pieces that templates of a site share, and layouts that frame them.",
  },
  "template-folders": { description: "Folders for templates." },
  "campaign-series": { description: "Campaigns that recur every week or month." },
  holidays: { description: "One email on one day to every contact that is active in a sequence." },
  campaigns: {
    description:
      "Newsletters: one email to a list, tag or segment, with optional A/B test; previews and " +
      "proofs.",
  },
  sequences: {
    description:
      "Automation: series of emails with delays and conditions, and ready-made playbooks.",
    paths: ["/sequences", "/wh/sq"],
  },
  forms: { description: "Sign-up forms, their submissions and their public endpoints." },
  scoring: { description: "Rules that give lead score points." },
  emails: {
    description: "Transactional email: single emails and batches.",
    paths: ["/send"],
  },
  attachments: { description: "Uploads of large attachments and import files." },
  sends: {
    description: "Sent and scheduled emails with their status and cost; why one did not arrive.",
    paths: ["/sends", "/why"],
  },
  validation: {
    description: "Checks of email addresses and senders.",
    paths: ["/validate", "/sender-check"],
  },
  events: { description: "Delivery events of sends." },
  "custom-events": {
    description: "Events of contacts that you report.",
    paths: ["/events/custom"],
  },
  suppressions: { description: "Email addresses that get no email, or no marketing email." },
  "secure-messages": {
    description: "Encrypted emails that are read on a page.",
    paths: ["/secure-messages", "/secure"],
  },
  archive: { description: "The public archive of a site.", paths: ["/archive"] },
  "browser-view": {
    description: "Links in emails: to the page with the email, and links that are tracked.",
    paths: ["/view", "/t"],
  },
  exports: { description: "Export jobs for large files." },
  analytics: {
    description: "Figures of the organization: dashboard, trends and deliverability.",
    paths: ["/analytics", "/dashboard"],
  },
  reports: { description: "Lists of contacts and sequences to look after; reports by email." },
  imports: { description: "Import jobs for contacts." },
  providers: { description: "Email providers and the credentials that each needs." },
  "sending-configs": { description: "Accounts at email providers that email is sent with." },
  domains: {
    description: "Sender domains with their DNS records, settings and reports.",
    paths: ["/domains", "/postmaster-tools"],
  },
  plans: { description: "Plans, and the plan of the organization with its usage." },
  billing: { description: "Subscription, invoices, credits and payment." },
  compliance: {
    description: "CAN-SPAM settings and unsubscribing.",
    paths: ["/compliance", "/unsubscribe"],
  },
  webhooks: { description: "Your endpoints that get email events." },
  "stock-photos": {
    description: "Stock photos from Pexels.",
    paths: ["/stock-photos", "/photos"],
  },
  tracking: { description: "Website tracking." },
  segment: {
    description: "The tracking API of Segment, for its libraries and customer data platforms.",
    title: "Segment's API",
  },
  compat: {
    description: "The APIs of Resend, Postmark and SendGrid, for their official libraries.",
    title: "Compatible APIs",
  },
  "provider-webhooks": {
    description: "Endpoints that email providers call with delivery events.",
    paths: webhookProviderKeys.map((key) => `/webhooks/${key}`),
  },
  "inbound-emails": {
    description: "Email that people sent to the sites, such as replies, and how it gets here.",
    paths: ["/inbound-emails", "/inbound-settings"],
  },
  "inbound-webhooks": {
    description: "Endpoints that email providers call with received email.",
    paths: ["/inbound"],
  },
  health: { description: "Health of the service." },
  reference: { description: "This documentation.", paths: ["/openapi.json", "/docs"] },
  mcp: {
    description: "Server for agents, with the Model Context Protocol.",
    title: "MCP",
  },
  "public-pages": {
    description: "Pages for people in a browser.",
    paths: ["/", "/reset-password", "/accept-invitation", "/verify-email"],
  },
  console: {
    description: "The web app. Its pages use the other endpoints with the session of the user.",
    paths: ["/app"],
  },
};

/** Name of the resource that a path under the base path belongs to, such as `api-keys`. */
export function resourceOfPath(path: string): string {
  const [longest] = pathStarts
    .filter(({ start }) => path === start || path.startsWith(`${start}/`))
    .sort((a, b) => b.start.length - a.start.length);
  return longest?.name ?? path.split("/")[1]!;
}
const pathStarts = Object.entries(resources).flatMap(([name, { paths = [`/${name}`] }]) =>
  paths.map((start) => ({ name, start })),
);
