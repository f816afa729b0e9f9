// Names of actions and records of the audit log, for people.
import { wordsOf } from "../../format.ts";
import { inSentence, t } from "../../language/translate.ts";

/** In the singular, without hyphens. */
const recordNames: Record<string, string> = {
  apikey: t("API key"),
  campaign: t("Campaign"),
  campaignserie: t("Campaign series"),
  campaignvariant: t("Campaign variant"),
  compliancesetting: t("Compliance settings"),
  contact: t("Contact"),
  contactaction: t("Contact action"),
  contactfield: t("Contact field"),
  contacttopic: t("Contact topics"),
  domain: t("Domain"),
  export: t("Export"),
  form: t("Form"),
  holiday: t("Holiday"),
  import: t("Import"),
  invitation: t("Invitation"),
  list: t("List"),
  media: t("Media"),
  member: t("Member"),
  organization: t("Organization"),
  person: t("Person"),
  reportschedule: t("Report schedule"),
  scoringrule: t("Scoring rule"),
  segment: t("Segment"),
  send: t("Send"),
  sendingconfig: t("Sender"),
  sequence: t("Sequence"),
  sequencedraft: t("Sequence draft"),
  sequenceenrollment: t("Sequence enrollment"),
  sequencestep: t("Sequence step"),
  site: t("Site"),
  snippet: t("Snippet"),
  sso: t("SSO"),
  suppression: t("Suppression"),
  tag: t("Tag"),
  template: t("Template"),
  templatefolder: t("Template folder"),
  topic: t("Topic"),
  user: t("User"),
  webhook: t("Webhook"),
};

const findRecordName = (noun: string): string | undefined =>
  recordNames[noun.replaceAll("-", "").toLowerCase().replace(/s$/, "")];

const verbs: Record<string, (record: string) => string> = {
  cancel: (record) => t("Cancel {record}", { record }),
  create: (record) => t("Create {record}", { record }),
  delete: (record) => t("Delete {record}", { record }),
  pause: (record) => t("Pause {record}", { record }),
  restore: (record) => t("Restore {record}", { record }),
  resume: (record) => t("Resume {record}", { record }),
  test: (record) => t("Test {record}", { record }),
  update: (record) => t("Update {record}", { record }),
};

const actionNames: Record<string, string> = {
  acceptInvitation: t("Accept invitation"),
  cancelPlan: t("Cancel plan"),
  changePassword: t("Change password"),
  changePlan: t("Change plan"),
  createTotpSecret: t("Create totp secret"),
  disableEmailOtp: t("Disable email otp"),
  disableTotp: t("Disable totp"),
  enableEmailOtp: t("Enable email otp"),
  enableTotp: t("Enable totp"),
  importSuppressions: t("Import suppressions"),
  leaveOrganization: t("Leave organization"),
  logIn: t("Log in"),
  logOut: t("Log out"),
  mergeContact: t("Merge contact"),
  publishSequenceDraft: t("Publish sequence draft"),
  replaceRecoveryCodes: t("Replace recovery codes"),
  requestPasswordReset: t("Request password reset"),
  resendInvitation: t("Resend invitation"),
  resetPassword: t("Reset password"),
  resolveSend: t("Resolve send"),
  revokeInvitation: t("Revoke invitation"),
  revokeSession: t("Revoke session"),
  rotateWebhookSecret: t("Rotate webhook secret"),
  scheduleCampaign: t("Schedule campaign"),
  sendCampaign: t("Send campaign"),
  sendEmail: t("Send email"),
  sendEmailBatch: t("Send email batch"),
  signUp: t("Sign up"),
  switchOrganization: t("Switch organization"),
  updateBranding: t("Update branding"),
  upsertContacts: t("Upsert contacts"),
  verifyEmail: t("Verify email"),
  verifyMfaCode: t("Verify mfa code"),
  verifySendingConfig: t("Verify sending config"),
};

/** `createCampaign` becomes "Create campaign". Rare actions are shown as words. */
export function auditActionName(action: string): string {
  const [, verb = "", noun = ""] = /^([a-z]+)(.*)$/.exec(action) ?? [];
  const record = findRecordName(noun);
  const known = record === undefined ? undefined : verbs[verb]?.(inSentence(record));
  return actionNames[action] ?? known ?? wordsOf(action);
}

/** "campaigns/4" becomes "Campaign 4". */
export function auditRecordName(target: string): string {
  const [kind = "", ...ids] = target.split("/");
  const noun = kind.replaceAll("-", " ").replace(/s$/, "");
  return [findRecordName(kind) ?? wordsOf(noun), ...ids].join(" ");
}
