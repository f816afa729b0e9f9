// Example records of one shop, by the id of their schema: accounts and audience.
import { roleDescriptions } from "../../../domain/identity/role-descriptions.ts";
import { roles } from "../../../rights.ts";

export const timestamps = {
  createdAt: "2026-09-14T08:12:40.118Z",
  updatedAt: "2026-11-30T16:05:02.871Z",
};
export const siteId = 1;

const tag = { id: 1, name: "customer" };
const list = { id: 1, name: "Newsletter" };
const known = { id: 1, email: "ann@example.com" };

const rules = {
  match: "all",
  conditions: [
    { field: "tag", operator: "equals", value: 1 },
    { match: "any", conditions: [{ field: "lastOpenedAt", operator: "inLastDays", value: 30 }] },
  ],
};
const Segment = {
  id: 1,
  siteId,
  name: "Active customers",
  description: "Opened something within a month",
  rules,
  ...timestamps,
};

const SegmentExplanation = {
  matched: true,
  match: "all",
  conditions: [
    { matched: true, field: "tag", operator: "equals", value: 1, actual: [1] },
    {
      matched: true,
      match: "any",
      conditions: [
        {
          matched: true,
          field: "lastOpenedAt",
          operator: "inLastDays",
          value: 30,
          actual: "2026-11-30T09:14:27.000Z",
        },
      ],
    },
  ],
};

const ContactActionPreview = {
  siteId,
  count: 438,
  summary: "Adds the tag “customer” to 438 contacts",
  startsSequences: [{ id: 1, name: "Welcome" }],
};

const ContactAction = {
  id: 1,
  siteId,
  action: "add_tag",
  target: { id: 1, name: "customer" },
  status: "running",
  summary: "Adds the tag “customer” to 438 contacts",
  progress: 45,
  total: 438,
  processed: 200,
  succeeded: 199,
  failed: 1,
  errors: [{ contactId: 7, error: "The contact does not exist" }],
  error: null,
  ...timestamps,
};

const ImportPreview = {
  siteId,
  size: 88,
  delimiter: ",",
  encoding: "utf-8",
  decimalMark: ".",
  dateOrder: null,
  total: 2,
  columns: [
    {
      ...{ header: "Mail", field: "email", samples: ["ann@example.com", "bob@"], question: null },
      ...{ type: null, readings: [] },
    },
    {
      ...{ header: "Since", field: "customFields.since", samples: ["20.11.2026", "soon"] },
      ...{ question: null, type: "date" },
      readings: [
        { cell: "20.11.2026", value: "2026-11-20", error: null },
        { cell: "soon", value: null, error: '"soon" is not a date such as 2026-11-20' },
      ],
    },
  ],
  error: null,
  rows: [
    { row: 2, cells: ["ann@example.com", "20.11.2026"], error: null, status: null, tags: [] },
    {
      row: 3,
      cells: ["bob@", "soon"],
      error: "email: must be an email address",
      status: null,
      tags: [],
    },
  ],
};

const ContactField = {
  key: "customFields.plan",
  name: "plan",
  label: "Subscription plan",
  type: "text",
  custom: true,
  declared: true,
  uses: 311,
  sample: "pro",
};

const FieldConversion = {
  id: 1,
  fieldName: "plan",
  type: "number",
  status: "running",
  progress: 43,
  processed: 135,
  converted: 134,
  failed: 1,
  errors: [{ contactId: 7, error: '"pro" is not a number such as 1,299.90' }],
  error: null,
  ...timestamps,
};

const TimelineEntry = {
  type: "email_click",
  at: "2026-11-30T09:14:27.000Z",
  summary: "The contact clicked https://shop.example/sale in the email “Spring sale”",
  record: { type: "campaign", id: 1, name: "Spring" },
  send: { id: 81_001, subject: "Spring sale", status: "delivered" },
  details: { url: "https://shop.example/sale", ipAddress: "203.0.113.7" },
};

export const Contact = {
  ...known,
  siteId,
  firstName: "Ann",
  lastName: "Lee",
  phone: "+44 20 7946 0018",
  company: "Example Ltd",
  timezone: "Europe/London",
  locale: "en-GB",
  customFields: { plan: "pro" },
  source: "api",
  externalId: "user-1815",
  status: "subscribed",
  tags: [tag],
  lists: [list],
  topics: [{ id: 1, name: "Product news", subscribed: false, left: true }],
  snoozedUntil: null,
  score: 35,
  sendCount: 12,
  openCount: 7,
  clickCount: 3,
  lastSentAt: "2026-11-30T09:00:04.310Z",
  lastOpenedAt: "2026-11-30T09:14:27.000Z",
  lastClickedAt: "2026-11-30T09:15:03.000Z",
  ...timestamps,
};

const Topic = {
  id: 1,
  siteId,
  name: "Product news",
  description: "What is new, once a month",
  visibility: "public",
  defaultSubscription: "subscribed",
  position: 1,
  ...timestamps,
};
const { position: _, siteId: __, createdAt: ___, updatedAt: ____, ...topicOfContact } = Topic;
export const ContactTopic = { ...topicOfContact, subscribed: false, left: true };

export const ConsentEntry = {
  source: "one_click",
  ipAddress: "203.0.113.24",
  sendId: 1,
  confirmation: null,
  status: null,
  topics: [{ id: 1, name: "Product news", subscribed: false }],
  snoozedUntil: null,
  leaving: null,
  createdAt: "2026-11-30T09:16:02.118Z",
};

const PreferencePage = {
  fields: ["firstName", "customFields.plan"],
  snooze: true,
  leaveReason: true,
};

const Confirmed = {
  source: "api",
  requestedAt: "2026-11-12T18:40:11.530Z",
  templateId: 1,
  templateVersion: 1,
  locale: "en",
};
export const Confirmation = {
  ...Confirmed,
  status: "confirmed",
  sendId: 2,
  reminderSendId: null,
  error: null,
  confirmedAt: "2026-11-12T18:42:55.208Z",
  confirmedIp: "203.0.113.24",
  confirmedUserAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X)",
};

export const ScoreEntry = {
  delta: 5,
  reason: null,
  rule: { id: 1, name: "Looked at prices" },
  createdAt: "2026-11-30T09:15:40.002Z",
};

const FormCaptcha = { provider: "turnstile", siteKey: "0x4AAAAAAADnPIDROrmt1Wwj" };

const FormMeta = {
  id: 1,
  siteId,
  name: "Newsletter",
  status: "active",
  sequenceId: null,
  listId: 1,
  topicIds: [],
  tags: ["newsletter"],
  doubleOptIn: true,
  redirectUrl: "https://shop.example/thanks",
  captcha: FormCaptcha,
  version: 1,
  submissionCount: 214,
  pageUrl: "https://mail.shop.example/api/v1/forms/1/page",
  ...timestamps,
};

const FormDesign = {
  title: "Newsletter",
  fields: [
    { name: "email", type: "email", label: "Email", required: true },
    { name: "firstName", type: "text", label: "First name", required: false },
    { name: "topic", type: "select", label: "Topic", required: false, options: ["Shoes", "Hats"] },
  ],
  submitLabel: "Subscribe",
};

export const FormSubmission = {
  id: 1,
  formId: 1,
  contactId: 1,
  email: "ann@example.com",
  fields: { firstName: "Ann", topic: "Shoes" },
  status: "accepted",
  consent: {
    at: "2026-11-12T18:40:11.530Z",
    ip: "203.0.113.24",
    userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X)",
    page: "https://shop.example/news",
    formVersion: 1,
    confirmedAt: "2026-11-12T18:42:55.208Z",
    confirmedIp: "203.0.113.24",
    confirmedUserAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X)",
    templateId: null,
    templateVersion: null,
    locale: null,
  },
  confirmationSendId: 2,
  reminderSendId: null,
  error: null,
  createdAt: "2026-11-12T18:40:11.530Z",
};

const occurrence = { url: "https://shop.example/checkout", createdAt: "2026-11-30T09:21:48.664Z" };
const CustomEvent = {
  id: 1,
  siteId,
  contactId: 1,
  eventName: "order_placed",
  properties: { total: 49.9 },
  source: "tracking",
  occurredAt: occurrence.createdAt,
  ...occurrence,
};

const SuppressionOf = {
  email: "bob@example.com",
  reason: "bounce",
  bounceType: "hard",
  liftsAt: null,
  detail: "550 5.1.1 user unknown",
};

const creator = { id: 1, email: "ada@example.com" };
export const Suppression = {
  ...SuppressionOf,
  source: "sendgrid",
  createdAt: timestamps.updatedAt,
  updatedAt: timestamps.updatedAt,
};

const ApiKey = {
  id: 1,
  name: "Shop server",
  prefix: "pm_live_8f3kQz1x",
  siteId: null,
  scopes: ["send:write", "sends:read"],
  createdBy: creator,
  expiresAt: null,
  ...timestamps,
  lastUsedAt: "2026-12-01T08:59:12.440Z",
};

export const audienceExamples: Record<string, unknown> = {
  User: { id: 1, email: "ada@example.com", name: "Ada", ...timestamps },
  TimelineEntry,
  ContactAction,
  ContactActionPreview,
  ContactField,
  DeclaredContactField: { ...ContactField, conversion: null },
  FieldConversion,
  FieldUse: { kind: "segment", id: 1, name: "Pro customers", message: "Its rules ask for it." },
  ImportPreview,
  Organization: {
    id: 1,
    name: "My shop",
    plan: "starter",
    timezone: "Europe/London",
    sessionIdleMinutes: 480,
    ...timestamps,
  },
  CreatedApiKey: {
    id: 1,
    organizationId: 1,
    name: "Shop server",
    prefix: "pm_live_8f3kQz1x",
    lastUsedAt: "2026-12-01T08:59:12.440Z",
  },
  AuditActor: { type: "user", id: 1, name: "ada@example.com" },
  AuditChange: { field: "role", from: "viewer", to: "marketer" },
  AuditEntry: {
    id: "2026-12-01T08:59:12.440Z#Wb3kQz1x",
    at: "2026-12-01T08:59:12.440Z",
    action: "updateMember",
    actor: { type: "user", id: 1, name: "ada@example.com" },
    target: "members/2",
    outcome: "done",
    changedFields: ["role"],
    changes: [{ field: "role", from: "viewer", to: "marketer" }],
    count: 1,
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    requestId: "b1946ac9-2492-4d23-87c6-235b4d2611f2",
    link: 12,
  },
  RequestLogEntry: {
    requestId: "b1946ac9-2492-4d23-87c6-235b4d2611f2",
    at: "2026-12-01T08:59:12.440Z",
    key: { id: 1, name: "Shop server" },
    method: "GET",
    route: "/api/v1/contacts/{id}",
    path: "/api/v1/contacts/77",
    status: 404,
    code: "not_found",
    milliseconds: 9,
    address: "203.0.113.7",
  },
  UserSession: {
    id: "4f1d0c6a9be27358",
    current: true,
    organizationId: 1,
    origin: "password",
    address: "203.0.113.7",
    userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    createdAt: "2026-11-30T08:12:40.118Z",
    lastUsedAt: "2026-12-01T08:59:12.440Z",
    expiresAt: "2026-12-07T08:12:40.000Z",
  },
  UserOrganization: { id: 1, name: "My shop", role: "owner", requiresSso: false },
  Member: {
    id: 2,
    email: "bob@example.com",
    name: "Bob",
    role: "marketer",
    siteIds: [siteId],
    ...timestamps,
  },
  Invitation: {
    id: 1,
    email: "bob@example.com",
    role: "marketer",
    siteIds: null,
    status: "open",
    expiresAt: "2026-12-07T08:12:40.118Z",
    invitedBy: creator,
    createdAt: "2026-11-30T08:12:40.118Z",
    updatedAt: "2026-11-30T08:12:40.118Z",
  },
  InvitationPreview: {
    organizationName: "My shop",
    email: "bob@example.com",
    invitedBy: creator.email,
    role: "marketer",
    hasAccount: false,
    requiresSso: false,
    ssoUrl: "https://mail.example/api/v1/auth/sso/start?organizationId=1",
    expiresAt: "2026-12-07T08:12:40.118Z",
  },
  Sso: {
    redirectUri: "https://mail.example/api/v1/auth/sso/callback/1",
    loginUrl: "https://mail.example/api/v1/auth/sso/start?organizationId=1",
    settings: {
      issuer: "https://login.example.com",
      clientId: "pennymail",
      domains: ["example.com"],
      defaultRole: "viewer",
      requireVerifiedEmail: true,
      enforced: false,
      verifiedAt: "2026-11-30T08:20:11.004Z",
      lastFailure: {
        at: "2026-11-30T08:15:02.771Z",
        reason: "The provider names no email address: let it send the claim `email`",
      },
      ...timestamps,
    },
  },
  Role: {
    name: "viewer",
    description: roleDescriptions.viewer,
    scopes: roles.viewer.scopes,
  },
  ApiKey,
  ApiKeyWithKey: {
    ...ApiKey,
    lastUsedAt: null,
    key: "pm_live_8f3kQz1xV0aB7cD2eF4gH6iJ9kL1mN3oP5qR8sT0uW",
  },
  Site: {
    id: 1,
    name: "My shop",
    domain: "shop.example",
    autoBcc: null,
    replyTo: "help@shop.example",
    sendFrequencyCapDays: 2,
    companyName: "My shop Ltd",
    physicalAddress: "1 High Street\nLondon",
    softBounceLimit: 3,
    archive: true,
    archiveUrl: "https://mail.example/archive/1",
    trackingDomain: "click.shop.example",
    trackingDomainState: {
      status: "verified",
      reason: null,
      record: { type: "CNAME", name: "click.shop.example", value: "mail.example" },
      lastCheckedAt: "2026-11-30T09:14:02.118Z",
    },
    confirmationTemplateId: 1,
    confirmationReminderHours: 48,
    brand: {
      logo: {
        url: "https://shop.example/logo.png",
        alt: "My shop",
        link: "https://shop.example/",
        width: 140,
      },
      colors: { accent: "#0f6b57", background: "#eef3f0", surface: "#ffffff", text: "#1d2a26" },
      font: "georgia",
      corners: "soft",
      socialLinks: [{ name: "Mastodon", url: "https://social.example/@shop" }],
      footerText: "My shop Ltd, registered in England, number 1234567",
      language: "en",
    },
    preferencePage: PreferencePage,
    ...timestamps,
  },
  UnsubscribeStanding: {
    email: "ann@example.com",
    siteName: "My shop",
    state: "subscribed",
    everything: false,
    topicId: 1,
    topics: [
      {
        id: 1,
        name: "Product news",
        description: "What is new, once a month",
        subscribed: false,
      },
    ],
    snoozedUntil: null,
    canSnooze: true,
    asksLeaveReason: false,
    fields: [{ key: "firstName", label: null, type: "text", value: "Ann" }],
  },
  PreferencePage,
  Topic,
  ContactTopic,
  ContactTopics: {
    status: "subscribed",
    topics: [ContactTopic],
    log: [ConsentEntry],
    nextCursor: null,
    confirmation: Confirmation,
  },
  Confirmation,
  ConfirmedRequest: { ...Confirmed, userAgent: Confirmation.confirmedUserAgent },
  ConsentEntry,
  Deleted: { id: 1, deleted: true },
  Contact,
  ListCandidate: { ...Contact, member: true },
  ScoreEntry,
  CustomEvent,
  FormSubmission,
  FormCaptcha,
  FormMeta,
  Form: { ...FormMeta, designJson: FormDesign },
  ScoringRule: {
    id: 1,
    siteId,
    name: "Looked at prices",
    trigger: "page_view",
    match: { url: "/pricing" },
    points: 5,
    active: true,
    ...timestamps,
  },
  List: { ...list, siteId, description: "Every other Tuesday", contactCount: 1840, ...timestamps },
  Tag: { ...tag, siteId, contactCount: 612, ...timestamps },
  Segment,
  SegmentDetails: { ...Segment, contactCount: 438, countedAt: "2026-12-01T09:00:00.412Z" },
  SegmentExplanation,
  Suppression,
  ReportedContact: {
    contactId: 1,
    email: "ann@example.com",
    firstName: "Ann",
    lastName: "Lee",
    status: "subscribed",
    score: 35,
    sendCount: 12,
    openCount: 7,
    clickCount: 3,
    lastSentAt: Contact.lastSentAt,
    sequences: [
      { id: 1, name: "Welcome" },
      { id: 2, name: "Win back" },
    ],
    createdAt: timestamps.createdAt,
  },
  Export: {
    id: 1,
    type: "contacts",
    format: "csv",
    status: "completed",
    progress: 100,
    rows: 18_402,
    downloadUrl: "https://files.shop.example/exports/1.csv?X-Amz-Signature=2f1e9c1a",
    error: null,
    createdAt: "2026-12-01T09:00:00.412Z",
    updatedAt: "2026-12-01T09:00:07.930Z",
  },
  Import: {
    id: 1,
    siteId,
    filename: "customers.csv",
    size: 48_213,
    status: "completed",
    error: null,
    progress: 100,
    total: 620,
    processed: 620,
    created: 548,
    updated: 71,
    skipped: 0,
    failed: 1,
    mode: "upsert",
    resubscribe: false,
    contactStatus: "subscribed",
    tags: ["customer"],
    lists: [1],
    startSequences: false,
    sendConfirmation: false,
    delimiter: ",",
    encoding: "utf-8",
    decimalMark: ".",
    dateOrder: null,
    mapping: { "E-Mail": "email", Vorname: "firstName" },
    errors: [{ row: 17, email: "bob@example", message: "email: must be one valid email address" }],
    createdAt: "2026-12-01T09:00:00.412Z",
    updatedAt: "2026-12-01T09:00:03.051Z",
  },
};

export const contactActivity = {
  customEvents: [
    {
      name: "order_placed",
      properties: { total: 49.9 },
      source: "tracking",
      ...occurrence,
      occurredAt: occurrence.createdAt,
    },
  ],
  pageViews: [
    {
      name: "page_view",
      properties: {},
      source: "tracking",
      url: "https://shop.example/pricing",
      occurredAt: "2026-11-30T09:15:40.002Z",
      createdAt: "2026-11-30T09:15:40.002Z",
    },
  ],
};
