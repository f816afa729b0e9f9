import "../../shared/domain/reactions.ts";
import { runExport } from "../../shared/domain/analytics/exports/run-export.ts";
import { convertField } from "../../shared/domain/audience/contacts/convert-field.ts";
import * as deletedGroups from "../../shared/domain/audience/groups/deleted-groups.ts";
import * as runImport from "../../shared/domain/audience/imports/run-import.ts";
import { foldMailLog } from "../../shared/domain/audience/mail-counts/fold-mail-log.ts";
import { chainEntries } from "../../shared/domain/audit/chain.ts";
import { runAction } from "../../shared/domain/automation/contact-actions/run-action.ts";
import { runAudit } from "../../shared/domain/campaigns/audit/run-audit.ts";
import { writeEventFiles } from "../../shared/domain/delivery-events/event-files.ts";
import { pullSuppressions } from "../../shared/domain/delivery-events/provider-suppressions.ts";
import * as deletedForms from "../../shared/domain/forms/deleted-forms.ts";
import { readMailbox } from "../../shared/domain/inbound/read-mailbox.ts";
import { moveHistory } from "../../shared/domain/privacy/move-history.ts";
import * as siteErasure from "../../shared/domain/privacy/site-erasure.ts";
import * as checkDomain from "../../shared/domain/senders/domains/check-domain.ts";
import * as pullFigures from "../../shared/domain/senders/postmaster-tools/pull-figures.ts";
import { foldRecipientLog } from "../../shared/domain/sending/recipient-index/fold-log.ts";
import { checkTrackingDomain } from "../../shared/domain/sending/tracking-domains/check-host.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { type Job, queues } from "../../shared/queues.ts";

const cleanups = {
  LIST: (orgId: number, id: number) => deletedGroups.cleanUp(orgId, "LIST", id),
  TAG: (orgId: number, id: number) => deletedGroups.cleanUp(orgId, "TAG", id),
  FORM: deletedForms.cleanUp,
  SITE: siteErasure.erase,
};

const jobs: { [Name in Job["job"]]: (job: Extract<Job, { job: Name }>) => Promise<void> } = {
  sweep: ({ orgId, kind, groupId }) => cleanups[kind](orgId, groupId),
  export: ({ orgId, exportId }) => runExport(orgId, exportId),
  import: ({ orgId, importId }) => runImport.runImport(orgId, importId),
  "contact-action": ({ orgId, actionId }) => runAction(orgId, actionId),
  "convert-field": convertField,
  "merge-contact": ({ orgId, contactId }) => moveHistory(orgId, contactId),
  "check-domain": ({ orgId, domainId }) => checkDomain.checkDomain(orgId, domainId),
  "check-tracking-domain": checkTrackingDomain,
  "pull-suppressions": ({ orgId, configId }) => pullSuppressions(orgId, configId),
  "read-mailbox": ({ orgId, configId }) => readMailbox(orgId, configId),
  "pull-postmaster-figures": ({ orgId }) => pullFigures.pullPostmasterFigures(orgId),
  "fold-mail-log": foldMailLog,
  "fold-recipient-log": foldRecipientLog,
  "chain-audit-log": ({ orgId }) => chainEntries(orgId),
  "campaign-audit": ({ orgId, campaignId }) => runAudit(orgId, campaignId),
  "write-event-files": writeEventFiles,
};

export const worker = handleEach(queues.jobs, (job) =>
  (jobs[job.job] as (job: Job) => Promise<void>)(job),
);
export const { handler } = worker;
