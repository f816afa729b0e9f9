// Example records of the same shop: templates, campaigns, sequences and holiday emails.
import { welcome } from "../../../domain/automation/playbooks/welcome-playbooks.ts";
import { siteId, timestamps } from "./accounts-and-audience.ts";

const TemplateMeta = {
  id: 1,
  siteId,
  name: "Welcome",
  subject: "Welcome, {{ firstName }}",
  folderId: 1,
  version: 3,
  variables: ["firstName"],
  ...timestamps,
};

const TemplateVersion = {
  version: 1,
  subject: "Welcome, {{ firstName }}",
  savedAt: timestamps.createdAt,
  savedBy: 1,
  current: true,
};
const MailFinding = {
  code: "link_without_scheme",
  severity: "error",
  message: "Links do not begin with https://, so they lead nowhere.",
  count: 1,
  examples: ["www.shop.example"],
};

export const MailingStats = {
  recipients: 1794,
  sent: 1790,
  delivered: 1771,
  opened: 652,
  openedTotal: 988,
  clicked: 143,
  clickedTotal: 201,
  bounced: 19,
  unsubscribed: 6,
  complained: 1,
  failed: 23,
  openRate: 0.3682,
  clickRate: 0.0807,
};

const MailingAccounting = {
  candidates: 1840,
  accepted: 1794,
  suppressed: 12,
  unsubscribed: 31,
  notInTopic: 0,
  capped: 3,
  duplicate: 0,
  invalid: 0,
  queued: 0,
  sending: 0,
  sent: 0,
  delivered: 1771,
  failed: 23,
  uncertain: 0,
  cancelled: 0,
};

const runTimes = { startedAt: "2026-11-30T09:00:00.208Z", finishedAt: "2026-11-30T09:03:41.977Z" };

export const Campaign = {
  id: 1,
  siteId,
  name: "Spring sale",
  subject: "Spring sale, {{ firstName }}",
  templateId: 1,
  listId: 1,
  tagId: null,
  segmentId: null,
  audience: null,
  sendingConfigId: 1,
  topicId: null,
  previewText: "Up to 30 % off until Sunday",
  utm: { source: "newsletter", medium: "email", campaign: "spring-sale" },
  strict: false,
  abTest: null,
  status: "sent",
  statusReason: null,
  scheduledAt: "2026-11-30T09:00:00.000Z",
  localTime: null,
  sendLate: false,
  ...runTimes,
  winner: null,
  resendOf: null,
  resends: [],
  ...timestamps,
};

const clicks = { clicks: 96, uniqueClicks: 80, machineClicks: 9 };

const CampaignVariant = {
  id: 1,
  campaignId: 1,
  name: "A",
  subject: "Last days of the sale, {{ firstName }}",
  templateId: null,
  html: null,
  previewText: null,
  weight: 50,
  hasHtml: false,
  recipients: 897,
  delivered: 886,
  opened: 341,
  clicked: 80,
  openRate: 0.3849,
  clickRate: 0.0903,
  isWinner: false,
  ...timestamps,
};

const Sequence = {
  id: 1,
  siteId,
  name: "Welcome",
  status: "active",
  triggerType: "tag_add",
  triggerConfig: { tagName: "customer" },
  sendingConfigId: 1,
  topicId: null,
  autoBcc: null,
  utm: { source: "onboarding" },
  sendWindow: null,
  statusReason: null,
  webhookUrl: "https://mail.shop.example/api/v1/wh/sq/c2VxdWVuY2Ugb25l",
  ...timestamps,
};

const SequenceStep = {
  id: 1,
  stepOrder: 1,
  type: "email",
  templateId: 1,
  previewText: null,
  delayMinutes: null,
  conditionConfig: null,
  ...timestamps,
};
const SequenceStepDetail = {
  ...SequenceStep,
  stats: {
    reached: 96,
    waiting: 0,
    sent: 96,
    delivered: 95,
    opened: 61,
    clicked: 22,
    bounced: 1,
    unsubscribed: 0,
    failed: 0,
  },
};

const Enrollment = {
  id: 1,
  sequenceId: 1,
  contactId: 1,
  status: "active",
  currentStepId: 2,
  currentStepOrder: 2,
  nextRunAt: "2026-12-03T09:14:27.000Z",
  lastProgressAt: "2026-11-30T09:14:27.000Z",
  completedAt: null,
  failureReason: null,
  createdAt: "2026-11-30T09:14:26.513Z",
};

const Holiday = {
  id: 1,
  siteId,
  name: "Happy new year",
  date: "2027-01-01",
  templateId: 1,
  sendingConfigId: null,
  topicId: null,
  status: "scheduled",
  statusReason: null,
  startedAt: null,
  finishedAt: null,
  ...timestamps,
};
const zeros = (counts: object) => Object.fromEntries(Object.keys(counts).map((name) => [name, 0]));

const emptyStepFields = { delayMinutes: null, conditionConfig: null };
const { steps: _, ...welcoming } = welcome;
const Playbook = {
  ...welcoming,
  emails: 2,
  days: 2,
  steps: [
    {
      stepOrder: 1,
      type: "email",
      subject: "Welcome to My shop{% if firstName %}, {{ firstName }}{% endif %}",
      ...emptyStepFields,
    },
    { stepOrder: 2, type: "delay", subject: null, ...emptyStepFields, delayMinutes: 2880 },
    { stepOrder: 3, type: "email", subject: "Where most people begin", ...emptyStepFields },
  ],
};

export const campaignExamples: Record<string, unknown> = {
  TemplateFolder: { id: 1, siteId, name: "Newsletters", ...timestamps },
  TemplateMeta,
  TemplateVersion,
  TemplateVersionDetail: {
    ...TemplateVersion,
    html: "<p>Hello {{ firstName }}</p>",
    text: null,
    designJson: null,
  },
  MailFinding,
  TemplateCheck: { passed: false, htmlBytes: 5_214, textBytes: 641, findings: [MailFinding] },
  TemplateTests: {
    tests: [{ email: "ada@example.com", sendId: 1, status: "queued" }],
    missingVariables: [],
  },
  Template: {
    ...TemplateMeta,
    html: "<p>Hello {{ firstName | default: 'there' }}</p>",
    text: "Hello {{ firstName | default: 'there' }}",
    designJson: null,
  },
  MailingStats,
  MailingAccounting,
  Campaign,
  AbTest: { testPercent: 20, metric: "open_rate", durationMinutes: 240 },
  CampaignDetail: {
    ...Campaign,
    sendingConfigLabel: "My shop <hello@shop.example>",
    stats: MailingStats,
    accounting: MailingAccounting,
    waitingForLocalTime: null,
    variants: [],
  },
  WaitingForLocalTime: {
    emails: 420,
    nextAt: "2027-03-20T08:00:00.000Z",
    lastAt: "2027-03-20T16:00:00.000Z",
  },
  CampaignVariant,
  CampaignAudience: {
    ...{ lists: [1, 2], tags: [], segments: [], match: "any" },
    exclude: { lists: [], tags: [1], segments: [] },
  },
  ResendOrigin: { campaignId: 1, to: "unopened" },
  CampaignResend: { to: "unopened", campaignId: 2 },
  CampaignLinks: {
    links: [
      { url: "https://shop.example/sale", ...clicks, variants: [{ variantId: 1, ...clicks }] },
    ],
  },
  CampaignTimeline: {
    hours: [
      { from: "2026-11-30T09:00:00.000Z", sent: 1794, opened: 231, clicked: 40 },
      { from: "2026-11-30T10:00:00.000Z", sent: 0, opened: 118, clicked: 19 },
    ],
    days: [{ date: "2026-11-30", sent: 1794, opened: 349, clicked: 59 }],
  },
  CampaignReach: {
    matched: 1840,
    mailed: 1797,
    notMailed: [
      { reason: "unsubscribed", count: 31, message: "They unsubscribed." },
      { reason: "bounced", count: 12, message: "Email to them bounced." },
    ],
    message: "1,797 of 1,840 contacts would get the campaign.",
    exact: true,
  },
  CampaignAudit: {
    status: "complete",
    message: "Every candidate has exactly one outcome, and the rows match the counters.",
    candidates: 1840,
    outcomes: [
      { outcome: "mailed", count: 1796, message: "The provider accepted the email." },
      {
        outcome: "unsubscribed",
        count: 31,
        message: "They had unsubscribed, not confirmed, or been deleted.",
      },
      {
        outcome: "suppressed",
        count: 12,
        message: "Their address was on the suppression list.",
      },
      { outcome: "failed", count: 1, message: "The email was refused." },
    ],
    hash: "9b74c9897bac770ffc029102a200c5de5f1d7a84db00d2fce00b31a7fc73224f",
    pages: 16,
    auditedAt: "2026-11-30T09:04:12.114Z",
    problems: [],
  },
  CampaignPreview: {
    candidates: 1840,
    wouldReceive: 1794,
    suppressed: 12,
    unsubscribed: 31,
    notInTopic: 0,
    capped: 3,
    exact: true,
    fingerprint: "5f1d7a84db00d2fce00b31a7fc73224f0a6a1e2f3c4b5d6e7f8091a2b3c4d5e6",
    samples: [
      {
        contactId: 1,
        email: "ann@example.com",
        variantId: null,
        subject: "Spring sale, Ann",
        html: "<p>Hello Ann</p>",
        text: "Hello Ann",
        missingVariables: [],
        error: null,
      },
    ],
  },
  Sequence,
  SequenceStep,
  SequenceStepDetail,
  SequenceSteps: { stepsVersion: 2, steps: [SequenceStep] },
  Enrollment,
  ListedEnrollment: { ...Enrollment, contactEmail: "ann@example.com" },
  SequenceDetail: {
    ...Sequence,
    stepsVersion: 2,
    steps: [SequenceStepDetail],
    enrollments: [Enrollment],
    stats: {
      active: 14,
      completed: 79,
      cancelled: 3,
      failed: 0,
      mails: {
        candidates: 96,
        accepted: 96,
        queued: 0,
        sending: 0,
        sent: 1,
        delivered: 95,
        failed: 0,
        uncertain: 0,
        cancelled: 0,
        suppressed: 0,
        unsubscribed: 0,
        notInTopic: 0,
        capped: 0,
      },
    },
  },
  SequenceFunnel: {
    sequenceId: 1,
    name: "Welcome",
    status: "active",
    active: 14,
    completed: 79,
    cancelled: 3,
    failed: 0,
    total: 96,
    completionRate: 0.8229,
  },
  StalledEnrollment: {
    enrollmentId: 1,
    sequenceId: 1,
    sequenceName: "Welcome",
    contactId: 1,
    email: "ann@example.com",
    currentStepId: 2,
    currentStepOrder: 2,
    lastProgressAt: "2026-11-29T09:14:27.000Z",
    stalledHours: 47,
    nextRunAt: "2026-12-02T09:14:27.000Z",
    why: "waiting",
  },
  Holiday,
  HolidayDetail: { ...Holiday, stats: zeros(MailingStats), accounting: zeros(MailingAccounting) },
  Playbook,
};
