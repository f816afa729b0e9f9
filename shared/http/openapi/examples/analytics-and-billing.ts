// Example records of the same shop: analytics and billing.

import { siteId, timestamps } from "./accounts-and-audience.ts";
import { Campaign, MailingStats } from "./content-and-campaigns.ts";

const Figures = {
  sent: 4200,
  delivered: 4150,
  opened: 1660,
  clicked: 332,
  bounced: 42,
  failed: 50,
  complained: 2,
  unsubscribed: 15,
  deferred: 60,
  uncertain: 0,
  deliveryRate: 0.9881,
  openRate: 0.4,
  clickRate: 0.08,
  bounceRate: 0.01,
  complaintRate: 0.0005,
  unsubscribeRate: 0.0036,
  opens: { total: 2905, automated: 311 },
  clicks: { total: 498, automated: 24 },
};

const FiguresChange = {
  sent: 0.12,
  delivered: 0.118,
  opened: 0.05,
  clicked: -0.02,
  bounced: 0.2,
  failed: null,
  complained: 0,
  unsubscribed: -0.25,
  deliveryRate: -0.001,
  openRate: -0.03,
  clickRate: -0.09,
  bounceRate: 0.06,
  complaintRate: -0.1,
  unsubscribeRate: -0.32,
};

const FiguresPoint = {
  ...{ from: "2026-12-01", to: "2026-12-01" },
  ...Figures,
  ...{
    sent: 140,
    delivered: 138,
    opened: 55,
    clicked: 11,
    bounced: 1,
    failed: 2,
    complained: 0,
    unsubscribed: 0,
    deferred: 2,
  },
  ...{
    deliveryRate: 0.9857,
    openRate: 0.3986,
    clickRate: 0.0797,
    bounceRate: 0.0071,
    complaintRate: 0,
    unsubscribeRate: 0,
  },
  opens: { total: 96, automated: 10 },
  clicks: { total: 16, automated: 1 },
};

const Reputation = {
  score: "good",
  bounceRate: 0.01,
  complaintRate: 0.0005,
  factors: [
    "1 % of mails bounced: below 5 % is good",
    "0.05 % of mails were reported as spam: below 0.1 % is good",
  ],
};

const period = {
  period: "30d",
  siteId,
  timezone: "Europe/London",
  from: "2026-11-02",
  to: "2026-12-01",
};
const before = { from: "2026-10-03", to: "2026-11-01" };

const { sent, delivered, opened, clicked, bounced, failed } = Figures;
const mailbox = {
  group: "Gmail",
  sent: 1930,
  delivered: 1921,
  opened: 801,
  clicked: 160,
  bounced: 9,
  complained: 1,
  deliveryRate: 0.9953,
  openRate: 0.417,
};

const { id, name, status, scheduledAt, startedAt } = Campaign;

const Plan = {
  key: "starter",
  name: "Starter",
  priceCents: 1500,
  currency: "usd",
  limits: { mailsPerMonth: 25_000, generalPerMinute: 500, sendPerMinute: 100 },
  features: [
    "25,000 mails a month",
    "500 API requests a minute, 100 of them that send",
    "All features of the API",
  ],
};

const ContactCount = { total: 18_402, previous: 17_844, change: 0.0313 };
const billingPeriod = {
  currentPeriodStart: "2026-11-14T08:12:40.000Z",
  currentPeriodEnd: "2026-12-14T08:12:40.000Z",
};
const photo = {
  width: 4000,
  height: 3000,
  alt: "Red shoes on a wooden floor",
  photographer: "Jo Doe",
  photographerUrl: "https://www.pexels.com/@jo-doe",
  sourceUrl: "https://www.pexels.com/photo/red-shoes-3573351/",
};

const SystemHealth = {
  status: "attention",
  problems: [
    {
      code: "dead_letters",
      message:
        "2 messages of the queue forward failed for good. Look for errors in the log, correct " +
        "the cause, then redrive them from the dead-letter queue within 14 days.",
    },
  ],
  checkedAt: timestamps.createdAt,
  version: "1.4.0",
  node: "24.11.0",
  checks: { table: { status: "ok", since: null }, queue: { status: "ok", since: null } },
  messageQueues: [{ name: "forward", waiting: 3, delayed: 12, inProgress: 1, deadLetters: 2 }],
  dueWork: [{ kind: "delivery", oldestDueAt: timestamps.updatedAt, lateSeconds: 0 }],
  lanes: [
    {
      organizationId: 1,
      sendingConfigId: 2,
      state: "running",
      chunks: 4,
      emails: 1800,
      hasMore: false,
      oldestAt: timestamps.createdAt,
      failingSince: null,
      resumesAt: null,
    },
  ],
  schedules: [{ name: "drain-due-work", lastRunAt: timestamps.createdAt }],
};

const AttentionProblem = {
  code: "sending_config_failing",
  severity: "error",
  message:
    "The provider has accepted no email of the sender hello@shop.example for a while. " +
    "Email waits and is tried again for 24 hours. Check the account at the provider.",
  since: "2026-11-30T08:45:00.000Z",
  record: { type: "sending_config", id: 1, siteId: null },
};

const Job = {
  type: "import",
  id: 1,
  siteId: 1,
  path: "/imports/1",
  name: "Import of customers.csv",
  status: "running",
  state: "1,200 of 5,000 rows",
  progress: 24,
  done: 1200,
  total: 5000,
  failed: 3,
  startedBy: { type: "user", id: 1 },
  createdAt: "2026-12-01T09:00:00.000Z",
  finishedAt: null,
};

export const analyticsExamples: Record<string, unknown> = {
  Figures,
  FiguresChange,
  FiguresPoint,
  Reputation,
  ContactCount,
  Dashboard: {
    ...period,
    contacts: ContactCount,
    sends: { total: 51_877 },
    suppressions: { total: 96 },
    totals: Figures,
    previous: { ...before, totals: Figures },
    change: FiguresChange,
    recentCampaigns: [{ id, siteId, name, status, scheduledAt, startedAt, stats: MailingStats }],
    reputation: Reputation,
  },
  AnalyticsOverview: {
    ...period,
    interval: "day",
    contacts: ContactCount,
    totals: Figures,
    previous: { ...before, totals: Figures },
    change: FiguresChange,
    series: [FiguresPoint],
    previousSeries: [{ ...FiguresPoint, from: "2026-11-01", to: "2026-11-01" }],
  },
  LeaveReasons: {
    siteId: 1,
    campaignId: null,
    from: "2026-11-02",
    to: "2026-12-01",
    answers: 14,
    reasons: [
      { reason: "too_many", count: 9 },
      { reason: "not_interested", count: 3 },
      { reason: "not_relevant", count: 2 },
      { reason: "never_subscribed", count: 0 },
      { reason: "other", count: 0 },
    ],
  },
  TopicStatistics: {
    ...period,
    siteId: 1,
    interval: "day",
    topics: [
      {
        id: 1,
        name: "Product news",
        subscribers: 1795,
        left: 12,
        series: [{ from: "2026-12-01", to: "2026-12-01", left: 2 }],
      },
    ],
  },
  Deliverability: {
    ...period,
    funnel: { sent, delivered, opened, clicked, bounced, failed },
    bounceBreakdown: {
      hard: 31,
      soft: 9,
      block: 2,
      topReasons: [
        {
          reason: "unknown_mailbox",
          description: "There is no such mailbox",
          count: 29,
          share: 0.6905,
        },
      ],
    },
    complaintRate: 0.0005,
    dailyTrends: [
      {
        date: "2026-12-01",
        ...{ sent: 140, delivered: 138, opened: 55, clicked: 11, bounced: 1 },
        ...{ deliveryRate: 0.9857, openRate: 0.3986, clickRate: 0.0797, bounceRate: 0.0071 },
      },
    ],
    ispBreakdown: [{ domain: "gmail.com", ...mailbox }],
    ispGroups: [{ ...mailbox, domains: 1 }],
    configPerformance: [
      {
        sendingConfigId: 1,
        label: "My shop <hello@shop.example>",
        provider: "sendgrid",
        ...Figures,
      },
    ],
    reputation: Reputation,
  },
  ReportSchedule: {
    id: 1,
    siteId,
    frequency: "weekly",
    recipient: "team@shop.example",
    active: true,
    nextAt: "2026-12-07T07:00:00.000Z",
    lastSentAt: "2026-11-30T07:00:03.418Z",
    lastSendId: 1,
    lastError: null,
    ...timestamps,
  },
  Branding: {
    enabled: true,
    discountPercent: 15,
    centsPerMail: 0.085,
    footer: { html: "<p>Sent with Pennymail</p>", text: "Sent with Pennymail" },
  },
  Plan,
  Subscription: { status: "active", plan: "starter", ...billingPeriod, cancelAtPeriodEnd: false },
  PlanChange: {
    from: "starter",
    to: "growth",
    confirmed: false,
    effectiveAt: "2026-12-01T09:00:00.000Z",
    amountDueCents: 1474,
    lines: [
      { description: "Unused time on Starter", amountCents: -650 },
      { description: "Remaining time on Growth", amountCents: 2124 },
    ],
    prorationDate: 1_796_115_600,
    checkoutRequired: false,
  },
  Invoice: {
    id: "in_1QPq2eLkdIwHu7ix",
    number: "A1B2C3D4-0003",
    status: "paid",
    amountDueCents: 1500,
    amountPaidCents: 1500,
    currency: "usd",
    createdAt: "2026-11-14T08:12:44.000Z",
    url: "https://invoice.stripe.com/i/acct_1/inv_1",
    pdfUrl: "https://invoice.stripe.com/i/acct_1/inv_1/pdf",
  },
  CheckoutPage: {
    sessionId: "cs_test_a1B2c3D4e5F6",
    url: "https://checkout.stripe.com/c/pay/cs_test_a1B2c3D4e5F6",
    expiresAt: "2026-12-02T09:00:00.000Z",
  },
  CreditPackage: { id: 1, credits: 10_000, priceCents: 1000, mails: 10_000 },
  Compliance: {
    physicalAddress: "My shop Ltd\n1 High Street\nLondon",
    unsubscribeUrl: null,
    enabled: true,
    updatedAt: "2026-11-30T16:05:02.871Z",
  },
  StockPhoto: {
    id: 3573351,
    provider: "pexels",
    url: "https://images.pexels.com/photos/3573351/pexels-photo-3573351.jpeg?h=650&w=940",
    thumbUrl: "https://images.pexels.com/photos/3573351/pexels-photo-3573351.jpeg?h=130",
    ...photo,
  },
  SavedPhoto: {
    id: 3573351,
    url: "https://mail.shop.example/api/v1/photos/1/3573351.jpg",
    contentType: "image/jpeg",
    size: 284_113,
    ...photo,
    attribution: "Photo by Jo Doe on Pexels",
  },
  SystemHealth,
  AttentionProblem,
  Job,
  Attention: { problems: [AttentionProblem] },
};
