// All routes by group. CDK, the local runner, the OpenAPI document and the tests read this list.
import type { RouteGroup } from "../shared/http/dispatch.ts";
import { account } from "./http/account.ts";
import { analytics } from "./http/analytics.ts";
import { archive } from "./http/archive.ts";
import { auditLog } from "./http/audit-log.ts";
import { billing } from "./http/billing.ts";
import { browserView } from "./http/browser-view.ts";
import { campaignPreviews } from "./http/campaign-previews.ts";
import { campaignSeries } from "./http/campaign-series.ts";
import { campaigns } from "./http/campaigns.ts";
import { compat } from "./http/compat.ts";
import { compliance } from "./http/compliance.ts";
import { consoleFiles } from "./http/console-files.ts";
import { contactActions } from "./http/contact-actions.ts";
import { contactFields } from "./http/contact-fields.ts";
import { contacts } from "./http/contacts.ts";
import { customEvents } from "./http/custom-events.ts";
import { domains } from "./http/domains.ts";
import { events } from "./http/events.ts";
import { exports } from "./http/exports.ts";
import { forms } from "./http/forms.ts";
import { health } from "./http/health.ts";
import { holidays } from "./http/holidays.ts";
import { imports } from "./http/imports.ts";
import { invitationPages } from "./http/invitation-pages.ts";
import { lists } from "./http/lists.ts";
import { mcp } from "./http/mcp.ts";
import { media } from "./http/media.ts";
import { mfa } from "./http/mfa.ts";
import { organization } from "./http/organization.ts";
import { playbooks } from "./http/playbooks.ts";
import { providerWebhooks } from "./http/provider-webhooks.ts";
import { publicForms } from "./http/public-forms.ts";
import { publicPages } from "./http/public-pages.ts";
import { reference } from "./http/reference.ts";
import { scoring } from "./http/scoring.ts";
import { secureMessages } from "./http/secure-messages.ts";
import { segmentApiCalls } from "./http/segment-api.ts";
import { segments } from "./http/segments.ts";
import { send } from "./http/send.ts";
import { sendingConfigs } from "./http/sending-configs.ts";
import { sequenceWebhooks } from "./http/sequence-webhooks.ts";
import { sequences } from "./http/sequences.ts";
import { seriesPreviews } from "./http/series-previews.ts";
import { sites } from "./http/sites.ts";
import { snippets } from "./http/snippets.ts";
import { singleSignOn } from "./http/sso.ts";
import { stockPhotos } from "./http/stock-photos.ts";
import { suppressions } from "./http/suppressions.ts";
import { system } from "./http/system.ts";
import { tags } from "./http/tags.ts";
import { team } from "./http/team.ts";
import { templates } from "./http/templates.ts";
import { topics } from "./http/topics.ts";
import { tracking } from "./http/tracking.ts";
import { validation } from "./http/validation.ts";
import { webhooks } from "./http/webhooks.ts";

export const groups: RouteGroup[] = [
  account,
  mfa,
  team,
  singleSignOn,
  sites,
  contacts,
  contactActions,
  contactFields,
  lists,
  tags,
  topics,
  segments,
  templates,
  snippets,
  holidays,
  campaigns,
  campaignSeries,
  seriesPreviews,
  campaignPreviews,
  sequences,
  sequenceWebhooks,
  playbooks,
  forms,
  publicForms,
  scoring,
  send,
  compat,
  validation,
  events,
  customEvents,
  suppressions,
  secureMessages,
  archive,
  browserView,
  exports,
  analytics,
  imports,
  sendingConfigs,
  domains,
  organization,
  auditLog,
  billing,
  compliance,
  webhooks,
  stockPhotos,
  media,
  tracking,
  segmentApiCalls,
  providerWebhooks,
  health,
  system,
  reference,
  mcp,
  consoleFiles,
  publicPages,
  invitationPages,
];
