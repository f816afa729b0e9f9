// Example records of the same shop: sends, events, sending configs and secure messages.
import { inboundMailProviders } from "../../../providers/inbound-mail/provider-keys.ts";
import {
  Confirmation,
  ConsentEntry,
  Contact,
  ContactTopic,
  contactActivity,
  FormSubmission,
  ScoreEntry,
  siteId,
  timestamps,
} from "./accounts-and-audience.ts";

const Send = {
  id: 1,
  siteId,
  contactId: 1,
  toEmail: "ann@example.com",
  fromEmail: "hello@shop.example",
  fromName: "My shop",
  subject: "Hello Ann",
  status: "delivered",
  provider: "sendgrid",
  sendingConfigId: 1,
  providerMessageId: "14c5d75ce93.dfd.64b469",
  campaignId: null,
  variantId: null,
  sequenceId: null,
  stepId: null,
  holidayId: null,
  templateId: null,
  batchId: null,
  tags: ["receipt"],
  metadata: { orderId: "A-1042" },
  scheduledAt: null,
  secure: false,
  cost: 0,
  error: null,
  createdAt: "2026-11-30T09:00:02.114Z",
  sentAt: "2026-11-30T09:00:04.310Z",
  deliveredAt: "2026-11-30T09:00:06.000Z",
  openedAt: "2026-11-30T09:14:27.000Z",
  clickedAt: "2026-11-30T09:15:03.000Z",
  updatedAt: "2026-11-30T09:15:04.208Z",
};

const EmailEvent = {
  id: 1,
  sendId: 1,
  toEmail: "ann@example.com",
  subject: "Hello Ann",
  type: "click",
  data: {
    url: "https://shop.example/spring",
    userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X)",
  },
  ipAddress: "203.0.113.24",
  timestamp: "2026-11-30T09:15:03.000Z",
  provider: "sendgrid",
  providerEventId: "24b6cd5b6c61ba98ff439bcde02ea3d44b361e4882ea3bfb836832ce7dd666d2",
  automated: false,
};

const UnmatchedEvent = {
  id: 1,
  status: "unmatched",
  reason: "unknown_message",
  explanation:
    "No send of the last 90 days to this address has this message id. Another program sends with " +
    "the same account, or the response to the send was lost.",
  type: "delivered",
  email: "ann@example.com",
  sendId: null,
  providerMessageId: "0100018f3c2d8e1a-000000",
  data: {},
  timestamp: "2026-11-30T09:00:06.000Z",
  provider: "ses",
};

const SendDetail = { ...Send, events: [EmailEvent] };

const bob = { toEmail: "bob@example.com", subject: "Hello Bob" };
const notDelivered = { deliveredAt: null, openedAt: null, clickedAt: null };
const BouncedSend = {
  ...Send,
  ...bob,
  ...notDelivered,
  id: 2,
  contactId: 2,
  status: "failed",
  error: "550 5.1.1 user unknown",
  events: [
    {
      ...EmailEvent,
      ...bob,
      id: 2,
      sendId: 2,
      type: "bounce",
      data: { bounceType: "hard", reason: "550 5.1.1 user unknown" },
      ipAddress: null,
      timestamp: "2026-11-30T09:00:06.000Z",
      providerEventId: "3a752fd9ad4de81dbe68ed64418cacc4d042090f082710ba4da766a762548c89",
    },
  ],
};

const pass = (message: string) => ({ result: "pass", message });
const checks = {
  syntax: pass("It is well-formed"),
  mx: pass("mail.example.com takes mail for example.com"),
  disposable: pass("example.com is not known for disposable mailboxes"),
  role: pass("It looks like the address of a person"),
  typo: pass("The domain does not look mistyped"),
};

export const Validation = {
  email: "ann@example.com",
  normalized: "ann@example.com",
  verdict: "valid",
  suggestion: null,
  checks,
};

export const SenderCheck = {
  email: "hello@shop.example",
  domain: "shop.example",
  verdict: "trusted",
  sender: null,
  checks: {
    syntax: pass("It is well-formed"),
    knownSender: { result: "unknown", message: "We do not know who shop.example belongs to" },
    lookalike: { ...pass("It looks like no domain that we know"), resembles: null },
    spf: {
      ...pass("It names who may send"),
      record: "v=spf1 include:sendgrid.net -all",
      lookups: 1,
    },
    dmarc: {
      ...pass("Forged mail is rejected"),
      record: "v=DMARC1; p=reject",
      domain: "shop.example",
      policy: "reject",
      dkimAlignment: "relaxed",
      spfAlignment: "relaxed",
    },
    domainAge: {
      ...pass("Registered 4,210 days ago"),
      registeredAt: "2015-05-22T00:00:00.000Z",
      ageDays: 4210,
    },
  },
};

export const SendingConfig = {
  id: 1,
  provider: "sendgrid",
  fromEmail: "hello@shop.example",
  fromName: "My shop",
  replyTo: null,
  ratePerSecond: 20,
  warmUp: null,
  fallbackConfigId: null,
  share: null,
  tracking: "provider",
  accountLimits: null,
  isByok: true,
  verified: true,
  verifiedAt: "2026-09-14T08:20:31.006Z",
  firstEventAt: "2026-09-14T08:20:34.518Z",
  credentialsSet: ["apiKey"],
  ...timestamps,
  webhookSecretSet: true,
  webhookUrl: "https://mail.shop.example/api/v1/webhooks/sendgrid?config_id=1",
};

const Webhook = {
  id: 1,
  url: "https://shop.example/hooks/mail",
  events: ["delivered", "bounce"],
  active: true,
  description: "CRM",
  inactiveReason: null,
  failingSince: null,
  previousSecretUntil: null,
  ...timestamps,
};
const secret = "9f2c4b7e1d8a6053c1e4f7b2a9d80634e5c7b1f2a3d4968071e2c3b4a5f60718";

const Domain = {
  id: 1,
  name: "shop.example",
  status: "verified",
  statusReason: null,
  clickTrackingEnabled: true,
  openTrackingEnabled: true,
  dkimSelectors: ["s1"],
  verifiedAt: "2026-09-14T08:30:00.553Z",
  lastCheckedAt: "2026-12-01T04:10:00.120Z",
  nextCheckAt: "2026-12-02T04:10:00.120Z",
  ...timestamps,
};
const DnsRecord = {
  purpose: "ownership",
  provider: null,
  type: "TXT",
  name: "_pennymail.shop.example",
  value: "pennymail-verification=BOPtmrVl924dnY8vaTtDYlbfAgYIMogZ",
  required: true,
  state: "found",
  found: ["pennymail-verification=BOPtmrVl924dnY8vaTtDYlbfAgYIMogZ"],
  note: "Proves that the domain is yours: leave it there",
  link: null,
};

const ConnectedStep = {
  step: "webhook",
  state: "created",
  code: "webhook_created",
  message: "The webhook at SendGrid was created",
  detail: null,
  link: "https://app.sendgrid.com/settings/mail_settings/webhook_settings",
};

const inboundUrls = Object.fromEntries(
  inboundMailProviders.map((key) => [
    key,
    `https://mail.example/api/v1/inbound/${key}?token=pJx3...`,
  ]),
);
const InboundEmail = {
  id: 1,
  siteId,
  kind: "reply",
  provider: "postmark",
  fromEmail: "ann@example.com",
  fromName: "Ann",
  toEmails: ["replies@in.shop.example"],
  subject: "Re: Your contract",
  sendId: 1,
  matchedBy: "reference",
  contactId: 1,
  isSpam: false,
  spamScore: 0.1,
  attachmentCount: 0,
  receivedAt: "2026-11-30T10:12:31.207Z",
};
const BounceMailbox = {
  siteId: 1,
  host: "imap.shop.example",
  port: 993,
  tls: "tls",
  user: "bounces@shop.example",
  folder: "INBOX",
  afterReading: "keep",
  moveTo: null,
  state: "working",
  lastError: null,
  failingSince: null,
  lastReadAt: "2026-12-01T08:50:02.310Z",
  nextReadAt: "2026-12-01T09:00:02.310Z",
  skippedEmails: 0,
};

const Person = {
  contact: Contact,
  scoreLog: [ScoreEntry],
  ...contactActivity,
  sends: [SendDetail],
  unmatchedEvents: [UnmatchedEvent],
  inboundEmails: [InboundEmail],
  topics: [ContactTopic],
  consents: [ConsentEntry],
  confirmation: Confirmation,
  submissions: [FormSubmission],
  watches: [
    { sequenceId: 1, isMember: false, nextLookAt: "2026-12-24T08:00:00.000Z", lastDay: null },
  ],
  mergedContacts: [{ id: 7, email: "ann@home.example", mergedAt: "2026-11-20T09:12:44.000Z" }],
  complete: true,
};

export const sendingExamples: Record<string, unknown> = {
  Send,
  SendDetail,
  EmailEvent,
  SentContent: {
    sendId: 1,
    from: { email: "hello@shop.example", name: "My shop" },
    to: [{ email: "ann@example.com", name: "Ann" }],
    cc: [],
    bcc: [],
    replyTo: ["help@shop.example"],
    subject: "Hello Ann",
    html: "<p>Hello Ann</p>",
    text: "Hello Ann",
    headers: {},
    tags: ["receipt"],
    attachments: [
      { filename: "invoice.pdf", type: "application/pdf", size: 48_213, contentId: null },
    ],
    templateId: null,
    templateVersion: null,
    secure: false,
  },
  Addressee: { email: "ann@example.com", name: "Ann" },
  UnmatchedEvent,
  Why: {
    email: "bob@example.com",
    siteId,
    reason: "bounced",
    answer:
      "The latest email, “Hello Bob” of 2026-11-30 09:00 UTC, bounced: the recipient's server " +
      "refused it: “550 5.1.1 user unknown”.",
    nextStep: "Correct the address, or ask its owner. The server's words say why.",
    nextRequest: null,
    alsoApplies: [],
    campaign: null,
    suppression: null,
    contact: {
      id: 2,
      status: "subscribed",
      snoozedUntil: null,
      cappedUntil: null,
      otherTopics: [],
    },
    hold: null,
    sends: [BouncedSend],
  },
  Person,
  AddressData: {
    email: "ann@example.com",
    contacts: [Person],
    sends: [{ ...SendDetail, id: 2, contactId: null }],
    unmatchedEvents: [UnmatchedEvent],
    suppression: null,
    complete: true,
  },
  Check: pass("It is well-formed"),
  Validation,
  ValidationUsage: { free: 1, paid: 0, costCents: 0, freeLeft: 99 },
  SenderCheck,
  InboundEmail,
  InboundEmailDetail: {
    ...InboundEmail,
    messageId: "CAF4x2b1@mail.example.com",
    text: "Yes, please!",
    html: null,
    headers: [
      { name: "from", value: "Ann <ann@example.com>" },
      { name: "in-reply-to", value: "<883953f4-6105-42a2-a16a-77a8eac79483@mtasv.net>" },
    ],
    attachments: [],
  },
  InboundSettings: {
    siteId,
    urls: inboundUrls,
    address: "replies@in.shop.example",
    forwardTo: "team@shop.example",
    signingKeySet: false,
  },
  SecureMessage: {
    id: 1,
    siteId,
    sendId: 1,
    toEmail: "ann@example.com",
    subject: "Your contract",
    status: "active",
    hasPassphrase: true,
    attachmentCount: 1,
    viewCount: 1,
    firstViewedAt: "2026-11-30T09:14:27.000Z",
    lastViewedAt: "2026-11-30T09:14:27.000Z",
    expiresAt: "2026-12-07T09:00:02.114Z",
    revokedAt: null,
    createdAt: "2026-11-30T09:00:02.114Z",
    updatedAt: "2026-11-30T09:14:27.000Z",
  },
  Provider: {
    key: "sendgrid",
    name: "SendGrid",
    supportsWebhooks: true,
    webhookProof: "signature",
    capabilities: {
      supportsWebhooks: true,
      openTracking: true,
      clickTracking: true,
      batch: true,
      maxAttachmentBytes: 20_000_000,
    },
    configFields: [
      {
        name: "apiKey",
        description: "API key with the permission Mail Send; begins with SG.",
        required: true,
        options: null,
        isSecret: true,
      },
    ],
  },
  SendingConfig,
  CheckedCredentials: { status: "accepted", error: null },
  Webhook,
  WebhookWithSecret: { ...Webhook, secret },
  WebhookDelivery: {
    id: 1,
    eventId: 1,
    event: "delivered",
    sendId: 1,
    status: "delivered",
    attempts: 1,
    responseStatus: 200,
    requestBody: '{"event":"delivered","sendId":1,"timestamp":"2026-11-30T09:00:07.001Z"}',
    responseBody: "ok",
    latencyMs: 83,
    error: null,
    lastAttemptAt: "2026-11-30T09:00:07.219Z",
    nextAttemptAt: null,
  },
  Domain,
  DnsRecord,
  DomainDetail: { ...Domain, dnsRecords: [DnsRecord] },
  ConnectedStep,
  BounceMailbox,
};
