// The whole HTTP interface, group by group. CDK, the local runner, the OpenAPI document and the tests read this list.
import type { Group } from "../../shared/http/serve.ts";
import { account } from "./account.ts";
import { billing } from "./billing.ts";
import { campaignTrials } from "./campaign-trials.ts";
import { campaigns } from "./campaigns.ts";
import { compliance } from "./compliance.ts";
import { contacts } from "./contacts.ts";
import { customEvents } from "./custom-events.ts";
import { domains } from "./domains.ts";
import { events } from "./events.ts";
import { exports } from "./exports.ts";
import { forms } from "./forms.ts";
import { holidays } from "./holidays.ts";
import { imports } from "./imports.ts";
import { insight } from "./insight.ts";
import { lists } from "./lists.ts";
import { mfa } from "./mfa.ts";
import { organization } from "./organization.ts";
import { pages } from "./pages.ts";
import { playbooks } from "./playbooks.ts";
import { providerWebhooks } from "./provider-webhooks.ts";
import { publicForms } from "./public-forms.ts";
import { reference } from "./reference.ts";
import { scoring } from "./scoring.ts";
import { secureMessages } from "./secure-messages.ts";
import { segments } from "./segments.ts";
import { send } from "./send.ts";
import { sendingConfigs } from "./sending-configs.ts";
import { sequences } from "./sequences.ts";
import { sites } from "./sites.ts";
import { stockPhotos } from "./stock-photos.ts";
import { suppressions } from "./suppressions.ts";
import { tags } from "./tags.ts";
import { templates } from "./templates.ts";
import { tracking } from "./tracking.ts";
import { validation } from "./validation.ts";
import { webhooks } from "./webhooks.ts";

export const groups: Group[] = [
  account,
  mfa,
  sites,
  contacts,
  lists,
  tags,
  segments,
  templates,
  holidays,
  campaigns,
  campaignTrials,
  sequences,
  playbooks,
  forms,
  publicForms,
  scoring,
  send,
  validation,
  events,
  customEvents,
  suppressions,
  secureMessages,
  exports,
  insight,
  imports,
  sendingConfigs,
  domains,
  organization,
  billing,
  compliance,
  webhooks,
  stockPhotos,
  tracking,
  providerWebhooks,
  reference,
  pages,
];
