// Response fields by operation id that replace those of the common example records.
import { Contact, timestamps } from "./accounts-and-audience.ts";
import { SenderCheck, SendingConfig, Validation } from "./sending.ts";

const notStarted = { startedAt: null, finishedAt: null };
const queued = { status: "queued", progress: 0, updatedAt: "2026-12-01T09:00:00.412Z" };
const usage = { free: 1, paid: 0, costCents: 0, freeLeft: 99 };
const general = { limit: 500, used: 12, remaining: 488, resetAt: 1_796_115_660 };
const send = { limit: 100, used: 3, remaining: 97, resetAt: 1_796_115_660 };
const mails = { accepted: 4_200, included: 25_000, remaining: 20_800, beyond: 0 };
const period = { start: "2026-11-14T08:12:40.000Z", end: "2026-12-14T08:12:40.000Z" };
const balance = { credits: 8_500, cents: 850 };
const recoveryCodes = [
  "4r58f-5a9uc",
  "nuzzs-pwr6j",
  "54zb7-29d9u",
  "jhxn9-jhwaf",
  "jqdpe-dgfyn",
  "mbrq2-44sgn",
];
const enrolled = { enrolled: 2, unchanged: 0, failed: [] };

const reached = { status: "ok", since: null };

/** Response fields by operation id and status, for other statuses. */
const untranslated = { locale: null, locales: [], translations: {} };

export const answersByStatus: Record<string, object> = {
  "getHealth 503": {
    status: "degraded",
    version: "0.1.0",
    checks: { table: reached, queue: { status: "failed", since: timestamps.createdAt } },
  },
};

/** Fields of a job that has just been queued. */
export const queuedJob = { ...queued, rows: null, downloadUrl: null };

export const responseOverrides: Record<string, object> = {
  verifyAuditLog: {
    intact: true,
    checkedEntries: 1_080,
    problems: [],
    unchainedEntries: 3,
    end: {
      link: 12,
      hash: "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab",
      at: "2026-12-01T08:55:00.118Z",
    },
    nextCursor: null,
  },
  getHealth: { version: "0.1.0", checks: { table: reached, queue: reached } },
  testSso: {
    ready: true,
    checks: [
      {
        name: "provider",
        passed: true,
        message: "The metadata and the keys of the provider can be read.",
      },
      { name: "domains", passed: true, message: "All domains are verified." },
      {
        name: "login",
        passed: true,
        message: "Somebody first logged in at 2026-11-30T08:20:11.004Z.",
      },
    ],
  },
  getMfaStatus: { recoveryCodesLeft: 8 },
  createTotpSecret: {
    secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
    otpauthUrl:
      "otpauth://totp/Pennymail:ada%40example.com?issuer=Pennymail" +
      "&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30",
    qrCode: "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=",
  },
  enableTotp: { recoveryCodes },
  disableTotp: { enabled: false },
  enableEmailOtp: { recoveryCodes },
  disableEmailOtp: { enabled: false },
  replaceRecoveryCodes: { recoveryCodes },
  upsertContacts: {
    created: 1,
    updated: 1,
    failed: 0,
    results: [
      { index: 0, id: 1, email: "ann@example.com", outcome: "updated", error: null },
      { index: 1, id: 2, email: "bob@example.com", outcome: "created", error: null },
    ],
  },
  createContact: {
    lists: [],
    score: 0,
    ...{ sendCount: 0, openCount: 0, clickCount: 0 },
    ...{ lastSentAt: null, lastOpenedAt: null, lastClickedAt: null },
    ...{ lastName: null, phone: null, company: null, timezone: null, locale: null, source: null },
  },
  applyContactTag: { tag: Contact.tags[0] },
  deleteSuppression: { id: "bob@example.com" },
  deletePerson: { id: "bob@example.com", deleted: true, contacts: 1, unfinishedSends: 0 },
  addListContacts: { added: 2, unchanged: 0, failed: [] },
  removeListContacts: { removed: 2, unchanged: 0, failed: [] },
  enrollSequenceContacts: enrolled,
  createSequenceEnrollment: enrolled,
  cancelSequenceEnrollment: {
    status: "cancelled",
    currentStepId: null,
    currentStepOrder: null,
    nextRunAt: null,
  },
  updateSequenceStep: { id: 2, stepOrder: 2, type: "delay", templateId: null },
  triggerSequenceWebhook: { contactId: 1 },
  renderSnippet: { html: "<p>Hello Ada</p>", text: null, missingVariables: [] },
  renderTemplate: {
    locale: "en",
    subject: "Welcome, Ada",
    html: "<p>Hello Ada</p>",
    text: "Hello Ada",
    missingVariables: [],
  },
  createSite: {
    domain: null,
    sendFrequencyCapDays: null,
    companyName: null,
    physicalAddress: null,
    softBounceLimit: null,
    archive: false,
    trackingDomain: null,
    trackingDomainState: null,
    confirmationTemplateId: null,
    confirmationReminderHours: null,
    brand: null,
    preferencePage: { fields: [], snooze: true, leaveReason: true },
  },
  requestConfirmation: {
    source: "console",
    status: "queued",
    sendId: null,
    templateId: null,
    templateVersion: null,
    locale: null,
    confirmedAt: null,
    confirmedIp: null,
    confirmedUserAgent: null,
  },
  createList: { contactCount: 0 },
  createTag: { contactCount: 0 },
  createSegment: { description: null },
  createTemplate: { version: 1, folderId: null, text: null, ...untranslated },
  createCampaign: { subject: null, status: "draft", scheduledAt: null, ...notStarted },
  updateCampaign: { status: "draft", scheduledAt: null, ...notStarted, listId: null },
  scheduleCampaign: { status: "scheduled", scheduledAt: "2027-03-20T08:00:00.000Z", ...notStarted },
  resendCampaign: {
    id: 2,
    name: "Spring sale (again: unopened)",
    listId: null,
    ...{ status: "sending", scheduledAt: null, finishedAt: null },
    resendOf: { campaignId: 1, to: "unopened" },
  },
  checkCampaignAudit: {
    status: "auditing",
    message: "The campaign has ended, and its audit is underway.",
  },
  sendCampaign: { status: "sending", scheduledAt: null, finishedAt: null },
  unscheduleCampaign: { status: "draft", ...notStarted },
  cancelCampaign: { status: "cancelled" },
  pauseCampaign: { status: "paused", finishedAt: null },
  resumeCampaign: { status: "sending", finishedAt: null },
  updateCampaignArchive: { archive: true, archiveUrl: "https://mail.example/archive/1/1" },
  createCampaignSeries: {
    schedule: {
      frequency: "weekly",
      weekdays: ["monday"],
      time: "09:00",
      timeZone: "organization",
    },
    lastRunAt: null,
    lastCampaignId: null,
  },
  updateCampaignSeries: {
    schedule: {
      frequency: "monthly",
      weekdays: undefined,
      dayOfMonth: 31,
      time: "18:00",
      timeZone: "organization",
    },
    nextAt: "2026-12-31T17:00:00.000Z",
  },
  pauseCampaignSeries: { status: "paused", nextAt: null },
  createCampaignVariant: {
    recipients: 0,
    delivered: 0,
    opened: 0,
    clicked: 0,
    openRate: 0,
    clickRate: 0,
  },
  createSequence: { status: "draft", sendingConfigId: null },
  createForm: {
    listId: null,
    redirectUrl: null,
    captcha: null,
    submissionCount: 0,
    designJson: null,
  },
  submitForm: { pending: true },
  updateHoliday: { status: "cancelled", finishedAt: timestamps.updatedAt },
  sendEmailBatch: {
    batchId: 1,
    accepted: 2,
    rejected: 0,
    results: [
      { index: 0, to: "ada@example.com", id: 1, status: "queued", error: null },
      { index: 1, to: "grace@example.com", id: 2, status: "queued", error: null },
    ],
  },
  previewEmailBatch: {
    recipients: 2,
    wouldReceive: 1,
    suppressed: 1,
    duplicates: 0,
    invalid: 0,
    problems: [{ index: 1, to: "grace@example.com", error: "suppressed" }],
    fingerprint: "5f1d7a84db00d2fce00b31a7fc73224f0a6a1e2f3c4b5d6e7f8091a2b3c4d5e6",
  },
  sendEmailList: {
    accepted: 2,
    rejected: 0,
    results: [
      { index: 0, id: 1, status: "queued", error: null, warnings: [] },
      { index: 1, id: 2, status: "queued", error: null, warnings: [] },
    ],
  },
  createUpload: {
    uploadId: "5b2e8c1f9a7d4e60b3c1d2e4f5a69788",
    uploadUrl: "https://files.shop.example/uploads/5b2e8c1f9a7d4e60?X-Amz-Signature=2f1e9c1a",
    expiresAt: "2026-12-01T10:00:00.000Z",
  },
  cancelSend: {
    ...{ status: "cancelled", providerMessageId: null, updatedAt: "2026-12-01T09:00:00.412Z" },
    ...{ sentAt: null, deliveredAt: null, openedAt: null, clickedAt: null },
  },
  resolveSend: {
    ...{ status: "sent", providerMessageId: null, updatedAt: "2026-12-04T10:00:00.412Z" },
    ...{ deliveredAt: null, openedAt: null, clickedAt: null },
  },
  validateEmails: { ...Validation, usage },
  checkSenders: { ...SenderCheck, usage },
  listCustomEventNames: { names: ["order_placed"] },
  checkSuppression: {
    suppressed: true,
    reason: "bounce",
    marketingOnly: false,
    bounceType: "hard",
    liftsAt: null,
    detail: "550 5.1.1 user unknown",
    source: "sendgrid",
  },
  importSuppressions: { imported: 2, skipped: 0, failed: 0, errors: [] },
  getOneClickPage: { state: "subscribed" },
  getUnsubscribePage: { state: "subscribed" },
  revokeSecureMessage: {
    status: "revoked",
    revokedAt: "2026-12-01T09:00:00.412Z",
    updatedAt: "2026-12-01T09:00:00.412Z",
  },
  createExport: queuedJob,
  createImport: {
    ...queued,
    ...{ total: null, processed: 0, created: 0, updated: 0, failed: 0 },
    ...{ delimiter: null, encoding: null, decimalMark: null, mapping: null, errors: [] },
  },
  createCustomEvent: { url: null, source: "api" },
  createSuppression: { source: "api" },
  createReportSchedule: { lastSentAt: null, lastSendId: null },
  createDomain: { status: "pending", verifiedAt: null, lastCheckedAt: null, dkimSelectors: [] },
  createSendingConfig: {
    ratePerSecond: null,
    verified: false,
    verifiedAt: null,
    firstEventAt: null,
    webhookSecretSet: false,
  },
  verifySendingConfig: { ...SendingConfig, sentTo: "ada@example.com" },
  testWebhook: {
    delivered: true,
    requestBody: '{"event":"click","sendId":0,"timestamp":"2026-11-30T09:00:07.001Z"}',
    ...{ responseStatus: 200, responseBody: "ok", latencyMs: 83, error: null },
  },
  retryWebhookDelivery: { status: "pending", nextAttemptAt: "2026-12-01T09:00:00.412Z" },
  rotateWebhookSecret: { previousSecretUntil: "2026-12-02T09:00:00.000Z" },
  getRateLimit: { plan: "starter", general, send, windowSeconds: 60 },
  getOrganizationHealth: {
    from: "2026-11-02",
    to: "2026-12-01",
    ...{
      sent: 4_200,
      delivered: 4_150,
      bouncedHard: 31,
      bouncedSoft: 11,
      dropped: 8,
      complained: 2,
      unsubscribed: 15,
    },
    ...{ bounceRate: 0.01, hardBounceRate: 0.0074, complaintRate: 0.0005, unmatchedEvents: 0 },
    trust: {
      level: "good",
      rule:
        "Of the last 30 days. poor: from 10 % hard bounces or 0.5 % complaints on; watch: from " +
        "5 % hard bounces or 0.1 % complaints on; good: else",
    },
    limits: { plan: "starter", mails, general, send, windowSeconds: 60 },
  },
  getCurrentPlan: { period, mails },
  getPlanUsage: { plan: "starter", period, mails, requests: { general, send } },
  cancelPlan: { cancelAtPeriodEnd: true },
  getBillingUsage: { period, mails, chargedCents: 0, balance },
  listCreditPackages: { balance },
  createCreditCheckout: {},
  createPortalSession: { url: "https://billing.stripe.com/p/session/test_YWNjdF8x" },
};
