// Every item of the table and every access pattern. Keys are made only here; items.md describes the
// attributes of each item.
// Each key includes the organization id, so an id of another organization cannot be read. The
// exceptions are items that are looked up before the organization is known; they come first.
import { createHash } from "node:crypto";

/** Partition key and sort key of one item. */
export interface Key {
  pk: string;
  sk: string;
}
/** One partition of the table or of an index, in the order of the sort keys. */
export interface KeyRange {
  pk: string;
  index?: "due" | "new";
  /** Limits the range to sort keys with this prefix. */
  prefix?: string;
}

const itemKey = (pk: string, sk = "#"): Key => ({ pk, sk });
const keyRange = (pk: string, prefix?: string): KeyRange => ({ pk, ...(prefix && { prefix }) });

/** Pads a number to 16 digits, so that numbers sort as text. */
export const zeroPad = (n: number): string => String(n).padStart(16, "0");
export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The email shard of an address: the first hex digit of its hash. */
export const emailShardOf = (email: string): string => sha256(email.toLowerCase())[0]!;

/** Settings-like records: few per organization, read by id, listed newest first. */
export type RecordKind =
  | "USER"
  | "INVITATION"
  | "SITE"
  | "APIKEY"
  | "FOLDER"
  | "TEMPLATE"
  | "MEDIA"
  | "SNIPPET"
  | "CONFIG"
  | "WEBHOOK"
  | "LIST"
  | "TAG"
  | "TOPIC"
  | "SEGMENT"
  | "FORM"
  | "RULE"
  | "IMPORT"
  | "EXPORT"
  | "CAMPAIGN"
  | "HOLIDAY"
  | "SERIES"
  | "REPORT"
  | "SEQUENCE"
  | "DOMAIN";

/**
 * Send ids come in blocks of 1,000, so the id determines the partition of its send and of its
 * chunk.
 */
export const idsPerBlock = 1000;
export const blockOf = (sendId: number): number => Math.floor(sendId / idsPerBlock);
const sendPartitionOf = (sendId: number): number => Math.floor(sendId / 100);

/** The origin of a marketing mail. */
export type SourceKind = "campaign" | "sequence" | "holiday";
export interface SourceKey {
  kind: SourceKind;
  id: number;
}

/** One total is split over 8 items, so that concurrent transactions rarely conflict. */
export const counterShards: number[] = [0, 1, 2, 3, 4, 5, 6, 7];
export const counterShardOf = (id: number): number => id % counterShards.length;

/** The kinds of groups that contacts can be members of. */
export type GroupKind = "LIST" | "TAG";
export interface GroupKey {
  kind: GroupKind;
  id: number;
}
/** One call to a provider for recipients of a chunk. */
export interface CallKey {
  block: number;
  chunk: number;
  call: number;
}
/** The partitions of everything that is stored by email address. */
export const emailShards: string[] = [..."0123456789abcdef"];

export const keys = {
  // Looked up before the organization is known. Each item names its organization.
  user: (email: string) => itemKey(`USER#${sha256(email.toLowerCase())}`),
  apiKey: (hash: string) => itemKey(`KEY#${hash}`),
  session: (hash: string) => itemKey(`SESSION#${hash}`), // expires
  resetToken: (hash: string) => itemKey(`RESET#${hash}`), // expires
  verificationToken: (hash: string) => itemKey(`VERIFY#${hash}`), // expires
  invitationToken: (hash: string) => itemKey(`INVITATION#${hash}`), // expires
  // expires; a login that waits for the second factor
  mfaToken: (hash: string) => itemKey(`MFA#${hash}`),
  stripeEvent: (event: string) => itemKey(`STRIPE#${event}`), // expires; marks a processed event
  // -> the organization that verified the domain
  domainOwner: (name: string) => itemKey(`HELD#${name}`),
  // -> organization of a sending config
  inboundConfig: (config: number) => itemKey(`CONFIG#${config}`),
  trackingSite: (site: number) => itemKey(`TRACK#${site}`), // -> organization of a site
  // -> the site whose tracked links have this host name
  trackingHost: (host: string) => itemKey(`TRACKHOST#${host}`),
  publicForm: (form: number) => itemKey(`FORM#${form}`), // -> organization of a form
  failureCount: (subject: string, window: number) =>
    itemKey(`FAILURES#${sha256(subject)}`, String(window)), // expires
  idCounter: (kind: string) => itemKey(`IDS#${kind}`),
  firstSignup: () => itemKey("FIRST"), // exists after the first signup
  scheduleRun: (name: string) => itemKey("SCHEDULES", name), // when it ran last
  installationSecret: (purpose: string) => itemKey("SECRET", purpose), // encrypted
  shardLease: (shardKind: string, shard: number) => itemKey(`SHARD#${shardKind}`, String(shard)),

  // Organization
  // Exists until everything of the deleted site is erased.
  siteErasure: (org: number, site: number) => itemKey(`${org}#SITEERASURE`, zeroPad(site)),
  organization: (org: number) => itemKey(`${org}#ORG`),
  // One for each member, with the role. The member who signed up may have no role: an owner.
  member: (org: number, user: number) => itemKey(`${org}#USER`, zeroPad(user)),
  // -> the open invitation of the address
  invitedAddress: (org: number, email: string) =>
    itemKey(`${org}#INVITED`, sha256(email.toLowerCase())),
  team: (org: number) => itemKey(`${org}#TEAM`), // counts of owners and members
  // The user's further organizations; `home` is the organization in which the user signed up.
  userOrganization: (home: number, user: number, org: number) =>
    itemKey(`${home}#ORGS#${user}`, zeroPad(org)),
  sso: (org: number) => itemKey(`${org}#SSO`), // the provider of its single sign-on
  // -> the member to whom an account at the provider is linked
  ssoIdentity: (org: number, identity: string) => itemKey(`${org}#SSOUSER`, identity),
  secondFactors: (org: number, user: number) => itemKey(`${org}#MFA`, zeroPad(user)),
  userSession: (org: number, user: number, hash: string) =>
    itemKey(`${org}#SESSIONS#${user}`, hash), // expires; one for each session
  record: (org: number, kind: RecordKind, id: number) => itemKey(`${org}#${kind}`, zeroPad(id)),
  recordCount: (org: number, kind: RecordKind) => itemKey(`${org}#COUNT`, kind),
  siteRecordCount: (org: number, site: number, kind: RecordKind) =>
    itemKey(`${org}#${site}#COUNT`, kind), // site 0: records that serve every site
  recordBody: (
    org: number,
    kind: RecordKind,
    { id, version }: { id: number; version: number | string },
  ) => itemKey(`${org}#BODY#${kind}#${id}`, String(version)),
  // expires
  rateWindow: (org: number, limit: string, minute: number) => itemKey(`${org}#R${limit}#${minute}`),
  idempotency: (org: number, key: string) => itemKey(`${org}#K${sha256(key)}`), // expires
  idempotencyPart: (org: number, key: string, part: number) =>
    itemKey(`${org}#K${sha256(key)}`, zeroPad(part)), // expires; part of a large response
  mediaUsage: (org: number) => itemKey(`${org}#COUNT`, "MEDIABYTES"),
  upload: (org: number, id: string) => itemKey(`${org}#UPLOAD`, id), // expires
  // progress of an import
  importRun: (org: number, id: number) => itemKey(`${org}#IMPORTRUN`, zeroPad(id)),
  importErrors: (org: number, id: number, row: number) =>
    // expires; errors of several rows, by the row before them
    itemKey(`${org}#IMPORTERRORS#${id}`, zeroPad(row)),

  compliance: (org: number) => itemKey(`${org}#COMPLIANCE`),

  // Audit log: entries by time, and the chain of their hashes, link by link. Entries and links
  // expire. The request log has compressed blocks of entries, each of one minute.
  auditEntry: (org: number, position: string) => itemKey(`${org}#AUDIT`, position),
  auditLink: (org: number, n: number) => itemKey(`${org}#AUDITCHAIN`, zeroPad(n)),
  auditChain: (org: number) => itemKey(`${org}#AUDITCHAIN`, "END"), // the end of the chain
  requestBlock: (org: number, day: string, position: string) =>
    itemKey(`${org}#REQUESTS#${day}`, position), // expires

  // Billing. The account holds the credits, and every change of them has a ledger entry. It counts
  // the mails of the period and the sends of the first sites, and its shards count single mails.
  account: (org: number) => itemKey(`${org}#ACCOUNT`),
  accountShard: (org: number, shard: number) => itemKey(`${org}#ACCOUNT`, `SHARD#${shard}`),
  stripeBilling: (org: number) => itemKey(`${org}#BILLING`), // Stripe customer and subscription
  ledgerEntry: (org: number, reference: string) => itemKey(`${org}#LEDGER`, reference),
  validationMonth: (org: number, month: string) => itemKey(`${org}#VALIDATIONS`, month), // expires
  // expires; how many validations the call was counted as
  validationCall: (org: number, call: number) => itemKey(`${org}#VALIDATION#${call}`),

  // -> domain; with its tracking settings and whether it is verified
  domainName: (org: number, name: string) => itemKey(`${org}#DOMAINNAME`, name),

  // Contacts. Each site has 16 email shards, which are read in parallel. The pointer finds a
  // contact by id.
  contact: (org: number, site: number, email: string) =>
    itemKey(`${org}#${site}#C${emailShardOf(email)}`, email.toLowerCase()),
  contactPointer: (org: number, id: number) => itemKey(`${org}#I${id}`),
  // -> the contact of the site that has this id of the customer
  externalId: (org: number, site: number, id: string) =>
    itemKey(`${org}#${site}#EXTERNALID`, sha256(id)),
  contactCount: (org: number, site: number, shard: string) =>
    itemKey(`${org}#${site}#CCOUNT`, shard),
  // spelling of each custom field name
  fieldNames: (org: number, site: number) => itemKey(`${org}#${site}#FIELDS`),
  // a declared custom field
  contactField: (org: number, site: number, name: string) =>
    itemKey(`${org}#${site}#DECLARED`, name.toLowerCase()),
  // converts what contacts have in a custom field
  fieldConversion: (org: number, site: number, name: string) =>
    itemKey(`${org}#${site}#CONVERSION`, name.toLowerCase()), // expires
  departure: (org: number, position: string) => itemKey(`${org}#CHANGES`, position), // expires
  emailChange: (org: number, site: number, position: string) =>
    itemKey(`${org}#${site}#MOVED`, position), // expires; changes of addresses, by time
  // Mails of campaigns and holidays to the contacts of a site. Each settled call has a log entry
  // until it is folded into buckets of counts and into lists of who got what.
  mailLogState: (org: number, site: number) => itemKey(`${org}#${site}#MAILLOG`),
  mailLogEntry: (org: number, site: number, { block, chunk, call }: CallKey) =>
    itemKey(`${org}#${site}#MAILLOG`, `${zeroPad(block)}#${chunk}#${call}`),
  mailCountBucket: (org: number, site: number, bucket: number) =>
    itemKey(`${org}#${site}#MAILCOUNTS`, zeroPad(bucket)),
  mailedFold: (org: number, site: number, position: string) =>
    itemKey(`${org}#${site}#MAILINGS`, position), // a fold that has mails of a broadcast
  mailedContacts: (org: number, site: number, position: string) =>
    itemKey(`${org}#${site}#MAILED`, position),
  groupName: (org: number, site: number, { kind, name }: { kind: GroupKind; name: string }) =>
    itemKey(`${org}#${site}#${kind}NAME`, sha256(name.trim().toLowerCase())),
  // copies of the topics of a site, in their order
  // the names and versions of all snippets of a site
  snippetDirectory: (org: number, site: number) => itemKey(`${org}#${site}#SNIPPETS`),
  siteTopics: (org: number, site: number) => itemKey(`${org}#${site}#TOPICS`),
  leaveReasonCount: (org: number, site: number, shard: number) =>
    itemKey(`${org}#${site}#LEAVECOUNT`, String(shard)),
  topicCount: (org: number, site: number, shard: string) => itemKey(`${org}#${site}#TCOUNT`, shard),
  membership: (
    org: number,
    { kind, id }: GroupKey,
    { shard, contactId }: { shard: string; contactId: number },
  ) => itemKey(`${org}#M${kind}${id}#${shard}`, zeroPad(contactId)),
  // exists until the memberships are deleted
  deletedGroup: (org: number, { kind, id }: GroupKey) => itemKey(`${org}#DEAD${kind}`, zeroPad(id)),
  groupCount: (org: number, { kind, id }: GroupKey, shard: string) =>
    itemKey(`${org}#MCOUNT${kind}${id}`, shard),
  // by kind, then time: score changes, choices about topics, custom events, page views, form
  // submissions, ended enrollments, conversions; the confirmation is one item
  contactLog: (org: number, contact: number, entry: string) => itemKey(`${org}#U${contact}`, entry),

  // a contact whose history still has to move to the one that it was merged into
  contactMerge: (org: number, contact: number) => itemKey(`${org}#CONTACTMERGE`, zeroPad(contact)),

  // expires; an action on many contacts
  contactAction: (org: number, id: number) => itemKey(`${org}#CONTACTACTION`, zeroPad(id)),
  // expires; ids of the contacts that an action has selected
  selectedContacts: (org: number, action: number, page: number) =>
    itemKey(`${org}#SELECTED#${action}`, zeroPad(page)),

  // Custom events and page views. Those of a contact are in its log, those of an anonymous visitor
  // in the partition of the visitor.
  eventName: (org: number, site: number, name: string) => itemKey(`${org}#EVENTNAME#${site}`, name),
  eventNameCount: (org: number, site: number) => itemKey(`${org}#EVENTNAMES`, zeroPad(site)),
  // expires; -> the event that was recorded with an id of the caller
  eventId: (org: number, site: number, id: string) =>
    itemKey(`${org}#EVENTID#${site}#${sha256(id)}`),
  visitor: (org: number, site: number, visitor: string) =>
    itemKey(`${org}#V${site}#${sha256(visitor)}`), // expires
  visit: (
    org: number,
    { siteId, visitorId }: { siteId: number; visitorId: string },
    position: string,
  ) => itemKey(`${org}#V${siteId}#${sha256(visitorId)}`, `VISIT#${position}`), // expires

  // Forms: submissions by time, the latest submission of the same content, confirmation mails,
  // deleted forms.
  submission: (org: number, form: number, position: string) => itemKey(`${org}#F${form}`, position),
  submissionCount: (org: number, form: number, shard: string) => itemKey(`${org}#FN${form}`, shard),
  latestSubmission: (org: number, form: number, content: string) =>
    itemKey(`${org}#FL${form}#${sha256(content)}`), // expires
  confirmMail: (org: number, form: number, email: string) =>
    itemKey(`${org}#FM${sha256(email.toLowerCase())}`, `FORM${form}`), // expires
  confirmMailCount: (org: number, email: string, hour: number) =>
    itemKey(`${org}#FM${sha256(email.toLowerCase())}`, `HOUR${hour}`), // expires
  // exists until the submissions are deleted
  deletedForm: (org: number, form: number) => itemKey(`${org}#DEADFORM`, zeroPad(form)),

  // Sending
  suppression: (org: number, email: string) =>
    itemKey(`${org}#X${emailShardOf(email)}`, sha256(email.toLowerCase())),
  suppressionCount: (org: number, reason: string, shard: number) =>
    itemKey(`${org}#XCOUNT`, `${reason}#${shard}`),
  send: (org: number, id: number) => itemKey(`${org}#S${sendPartitionOf(id)}`, zeroPad(id)),
  bulkContent: (org: number, block: number) => itemKey(`${org}#B${block}`, "CONTENT"),
  singleContent: (org: number, send: number) => itemKey(`${org}#CONTENT#${send}`),
  chunk: (org: number, block: number, chunk: number) =>
    itemKey(`${org}#B${block}`, `CHUNK#${chunk}`),
  callResult: (org: number, { block, chunk, call }: CallKey, attempt: number) =>
    itemKey(`${org}#B${block}`, `RESULT#${chunk}#${call}#${String(attempt).padStart(4, "0")}`),
  lane: (org: number, config: number) => itemKey(`${org}#L${config}`, "~LANE"),
  warmUpDay: (org: number, config: number, date: string) =>
    itemKey(`${org}#L${config}`, `~DAY${date}`), // expires
  deferrals: (org: number, config: number, domain: string) =>
    itemKey(`${org}#L${config}`, `~SLOW${domain}`), // expires
  queuedChunk: (org: number, config: number, position: string) =>
    itemKey(`${org}#L${config}`, `W#${position}`),
  sendsFeed: (org: number, site: number, position: string) =>
    itemKey(`${org}#${site}#SENDS`, position),
  // Five minutes in which single sends were accepted. It exists until they are swept.
  sweptWindow: (org: number, site: number, start: string) =>
    itemKey(`${org}#${site}#WINDOW`, start),
  // Recipient index: which sends an address got.
  recipientSend: (org: number, email: string, position: string) =>
    itemKey(`${org}#TO#${sha256(email.trim().toLowerCase())}`, position), // expires
  recipientLogEntry: (org: number, log: string, position: string) =>
    itemKey(`${org}#TOLOG#${log}`, position), // expires
  recipientBucket: (
    org: number,
    { log, bucket }: { log: string; bucket: number },
    position: string,
  ) => itemKey(`${org}#TOPAGE#${log}#${bucket}`, position), // expires
  secureMessage: (org: number, id: number) =>
    itemKey(`${org}#SM${sendPartitionOf(id)}`, zeroPad(id)), // has the same id as its send
  secureFeed: (org: number, site: number, position: string) =>
    itemKey(`${org}#${site}#SECURE`, position),
  secureCount: (org: number, site: number, shard: number) =>
    itemKey(`${org}#${site}#SECURECOUNT`, String(shard)),
  sendCount: (org: number, site: number) => itemKey(`${org}#SENDCOUNT`, zeroPad(site)),
  // A campaign, sequence or holiday: its counters, whether it is stopped, and its suspended chunks.
  sourceCount: (org: number, { kind, id }: SourceKey, shard: number) =>
    itemKey(`${org}#N${kind}#${id}`, String(shard)),
  sourceState: (org: number, { kind, id }: SourceKey) => itemKey(`${org}#N${kind}#${id}`, "STATE"),
  /** A run of recurring campaigns, by the date that it was due on. */
  seriesRun: (org: number, series: number, date: string) => itemKey(`${org}#SR${series}`, date),
  /** What recurring campaigns remember of their RSS feed. */
  seriesFeed: (org: number, series: number) => itemKey(`${org}#SERIESFEED`, zeroPad(series)),
  /** An email in the public archive of a site, by start and campaign; and its page. */
  archivedMail: (org: number, site: number, position: string) =>
    itemKey(`${org}#${site}#ARCHIVE`, position),
  archivedPage: (org: number, campaign: number) => itemKey(`${org}#ARCHIVEPAGE`, zeroPad(campaign)),
  // Clicked links of a campaign: their numbers, and counters by variant.
  campaignLinks: (org: number, campaign: number) => itemKey(`${org}#CL${campaign}`, "URLS"),
  linkCount: (
    org: number,
    campaign: number,
    { variantId, shard }: { variantId: number; shard: number },
  ) => itemKey(`${org}#CL${campaign}`, `${zeroPad(variantId)}#${shard}`),
  suspendedChunk: (org: number, { kind, id }: SourceKey, position: string) =>
    itemKey(`${org}#H${kind}#${id}`, position),
  // A suspended chunk that waits for a time. It sorts after the others, so that a query reads these
  // together with all that are due.
  waitingChunk: (
    org: number,
    { kind, id }: SourceKey,
    { at, block = 0 }: { at: string; block?: number },
  ) => itemKey(`${org}#H${kind}#${id}`, `WAIT#${at}#${zeroPad(block)}`),
  // Fan-out: the plan made at the start, a cursor per email shard, and a log of which chunk holds
  // which contacts.
  fanOutPlan: (org: number, { kind, id }: SourceKey) => itemKey(`${org}#F${kind}#${id}`, "PLAN"),
  fanOutCursor: (org: number, { kind, id }: SourceKey, shard: string) =>
    itemKey(`${org}#F${kind}#${id}`, `AT#${shard}`),
  fanOutLog: (org: number, { kind, id }: SourceKey, { shard, n }: { shard: string; n: number }) =>
    itemKey(`${org}#F${kind}#${id}`, `LOG#${shard}#${zeroPad(n)}`),
  // The audit of an ended campaign, and the job that makes it.
  campaignAudit: (org: number, campaign: number) =>
    itemKey(`${org}#Fcampaign#${campaign}`, "AUDIT"),
  deletedFanOut: (org: number, { kind, id }: SourceKey) =>
    itemKey(`${org}#F${kind}#${id}`, "REMAINS"), // of a deleted campaign or holiday

  // expires; a campaign that counts conversions
  campaignGoal: (org: number, site: number, campaign: number) =>
    itemKey(`${org}#${site}#GOALS`, zeroPad(campaign)),

  // Sequences: active enrollments by email shard, finished enrollments, counters, pending work for
  // all enrollments.
  enrollment: (
    org: number,
    sequence: number,
    { shard, contactId }: { shard: string; contactId: number },
  ) => itemKey(`${org}#Q${sequence}#${shard}`, zeroPad(contactId)),
  finishedEnrollment: (
    org: number,
    sequence: number,
    { shard, position }: { shard: string; position: string },
  ) => itemKey(`${org}#QX${sequence}#${shard}`, position),
  sequenceCount: (org: number, sequence: number, shard: number) =>
    itemKey(`${org}#QN${sequence}`, String(shard)),
  stepCount: (
    org: number,
    sequence: number,
    { stepId, shard }: { stepId: number; shard: number },
  ) => itemKey(`${org}#QN${sequence}`, `STEP#${zeroPad(stepId)}#${shard}`),
  sequenceTask: (org: number, sequence: number) => itemKey(`${org}#QCHORE`, zeroPad(sequence)),
  // what triggers have seen of a contact
  contactWatch: (org: number, contact: number) => itemKey(`${org}#U${contact}`, "WATCH"),
  // a sequence that has yet to look at all contacts
  watchStart: (org: number, sequence: number) => itemKey(`${org}#QWATCH`, zeroPad(sequence)),
  // changes of contacts that triggers still have to look at
  changeNote: (org: number, id: string) => itemKey(`${org}#NOTE#${id}`),
  // a request or notice of an action, until it is delivered
  stepTask: (org: number, id: string) => itemKey(`${org}#STEPTASK#${id}`), // expires
  // triggers of its active sequences
  siteTriggers: (org: number, site: number) => itemKey(`${org}#${site}#TRIGGERS`),
  // names of the events that its active sequences listen to
  siteListeners: (org: number, site: number) => itemKey(`${org}#${site}#TRIGGERS`, "LISTENERS"),

  // Delivery events. The first events of a send are attributes of it, later ones have items. An
  // event commit lists the events that one round of a worker has counted.
  overflowEvent: (org: number, id: number, event: string) =>
    itemKey(`${org}#S${sendPartitionOf(id)}`, `${zeroPad(id)}#E${sha256(event).slice(0, 16)}`),
  sendEventCount: (org: number, id: number) =>
    itemKey(`${org}#S${sendPartitionOf(id)}`, `${zeroPad(id)}#N`), // number of its overflow events
  eventCommit: (org: number, site: number, round: string) =>
    itemKey(`${org}#${site}#EVENTS`, round),
  eventTotals: (org: number, site: number) => itemKey(`${org}#EVENTCOUNT`, zeroPad(site)),
  // expires; from which mail on the soft bounces of an address count
  softBounces: (org: number, site: number, email: string) =>
    itemKey(`${org}#${site}#SOFTBOUNCES`, sha256(email)),
  // Daily statistics: counters during the day, afterwards two items with all figures.
  dayCounters: (org: number, site: number, { date, shard }: { date: string; shard: number }) =>
    itemKey(`${org}#${site}#DAYS`, `${date}#${shard}`),
  dayRollup: (org: number, site: number, date: string) => itemKey(`${org}#${site}#DAYS`, date),
  dayDomainsRollup: (org: number, site: number, date: string) =>
    itemKey(`${org}#${site}#DAYDOMAINS`, date),
  dayDomainCounters: (
    org: number,
    site: number,
    { date, domain, shard }: { date: string; domain: string; shard: number },
  ) => itemKey(`${org}#${site}#DAY${date}`, `D#${domain}#${shard}`),
  // exists until its send is stored; expires when the event is given up
  unmatchedEvent: (org: number, event: number) => itemKey(`${org}#PARKED`, zeroPad(event)),
  droppedEventCount: (org: number) => itemKey(`${org}#UNMATCHED`),
  unmatchedEventsOfDay: (org: number, date: string) => itemKey(`${org}#UNMATCHED`, date), // expires
  // Mails that people sent to a site: the mail, its place in the list of the site and in that of
  // its sender, and which id a mail got, so that it is stored once. All expire.
  inboundEmail: (org: number, id: number) => itemKey(`${org}#INBOUND#${id}`),
  inboundFeed: (org: number, site: number, id: number) =>
    itemKey(`${org}#${site}#INBOUND`, zeroPad(id)),
  inboundFrom: (org: number, email: string, id: number) =>
    itemKey(`${org}#INBOUNDFROM#${sha256(email.trim().toLowerCase())}`, zeroPad(id)),
  inboundId: (org: number, site: number, identity: string) =>
    itemKey(`${org}#INBOUNDID#${sha256(`${site} ${identity}`)}`),
  // What mailbox providers reported about a domain on one day, and which reports are in it.
  domainReportDay: (org: number, domain: number, { kind, date }: { kind: string; date: string }) =>
    itemKey(`${org}#DOMAINREPORTS#${domain}`, `${kind}#${date}`), // expires
  countedReport: (org: number, identity: string) =>
    itemKey(`${org}#COUNTEDREPORT#${sha256(identity)}`), // expires
  // The access to Google Postmaster Tools, with its key (encrypted).
  postmasterTools: (org: number) => itemKey(`${org}#POSTMASTER`),
  // The mailbox that a sending config reads by IMAP, with its password (encrypted).
  bounceMailbox: (org: number, config: number) => itemKey(`${org}#MAILBOX`, zeroPad(config)),
  // -> the only endpoint with this URL
  webhookUrl: (org: number, url: string) => itemKey(`${org}#WEBHOOKURL`, sha256(url)),
  webhookPace: (org: number, host: string, window: number) =>
    itemKey(`${org}#WEBHOOKPACE#${sha256(host)}`, String(window)), // expires
  // exists until its events about records are queued
  outboxItem: (org: number, firstEvent: number) => itemKey(`${org}#OUTBOX`, zeroPad(firstEvent)),
  deliveryBatch: (org: number, webhook: number, batch: number) =>
    itemKey(`${org}#W${webhook}`, zeroPad(batch)), // expires
  // Event files: an hour until its files are written, what closes hours, and events about records
  // until they are in a file. Site 0 stands for events without a site.
  eventHour: (org: number, site: number, hour: string) =>
    itemKey(`${org}#${site}#EVENTHOURS`, hour),
  eventSeal: (org: number, site: number, shard: number) =>
    itemKey(`${org}#${site}#EVENTSEALS`, String(shard)),
  recordEvents: (org: number, site: number, time: string) =>
    itemKey(`${org}#${site}#RECORDEVENTS`, time),
  usedToken: (config: number, token: string) =>
    itemKey(`CONFIG#${config}`, `TOKEN#${sha256(token)}`), // expires
};

export const ranges = {
  scheduleRuns: () => keyRange("SCHEDULES"),
  records: (org: number, kind: RecordKind) => keyRange(`${org}#${kind}`), // by id, so by age
  siteRecordCounts: (org: number, site: number) => keyRange(`${org}#${site}#COUNT`), // by kind
  users: (org: number) => keyRange(`${org}#USER`), // members, by id
  auditEntries: (org: number) => keyRange(`${org}#AUDIT`), // by time
  auditLinks: (org: number) => keyRange(`${org}#AUDITCHAIN`, "0"), // by number
  requestBlocks: (org: number, day: string) => keyRange(`${org}#REQUESTS#${day}`), // by minute
  userOrganizations: (home: number, user: number) => keyRange(`${home}#ORGS#${user}`), // by id
  importErrors: (org: number, id: number) => keyRange(`${org}#IMPORTERRORS#${id}`), // by row
  // by hash; `start` is the start of the hash
  userSessions: (org: number, user: number, start?: string) =>
    keyRange(`${org}#SESSIONS#${user}`, start),
  // by email
  contacts: (org: number, site: number, shard: string) => keyRange(`${org}#${site}#C${shard}`),
  fieldConversions: (org: number, site: number) => keyRange(`${org}#${site}#CONVERSION`),
  contactFields: (org: number, site: number) => keyRange(`${org}#${site}#DECLARED`), // by name
  contactCounts: (org: number, site: number) => keyRange(`${org}#${site}#CCOUNT`),
  leaveReasonCounts: (org: number, site: number) => keyRange(`${org}#${site}#LEAVECOUNT`),
  topicCounts: (org: number, site: number) => keyRange(`${org}#${site}#TCOUNT`),
  departures: (org: number) => keyRange(`${org}#CHANGES`), // by time
  emailChanges: (org: number, site: number) => keyRange(`${org}#${site}#MOVED`), // by time
  mailLog: (org: number, site: number) => keyRange(`${org}#${site}#MAILLOG`), // the state first
  mailCountBuckets: (org: number, site: number) => keyRange(`${org}#${site}#MAILCOUNTS`),
  // by broadcast, then fold
  mailedFolds: (org: number, site: number, broadcast?: string) =>
    keyRange(`${org}#${site}#MAILINGS`, broadcast),
  // by broadcast, fold, then contact
  mailedContacts: (org: number, site: number, fold?: string) =>
    keyRange(`${org}#${site}#MAILED`, fold),
  members: (org: number, { kind, id }: GroupKey, shard: string) =>
    keyRange(`${org}#M${kind}${id}#${shard}`), // by contact
  groupCounts: (org: number, { kind, id }: GroupKey) => keyRange(`${org}#MCOUNT${kind}${id}`),
  // few and short-lived
  deletedGroups: (org: number, kind: GroupKind) => keyRange(`${org}#DEAD${kind}`),
  contactLog: (org: number, contact: number, kind?: string) => keyRange(`${org}#U${contact}`, kind),
  selectedContacts: (org: number, action: number) => keyRange(`${org}#SELECTED#${action}`),
  contactMerges: (org: number) => keyRange(`${org}#CONTACTMERGE`), // few and short-lived
  contactActions: (org: number) => keyRange(`${org}#CONTACTACTION`), // by id, so by age
  groupNames: (org: number, site: number, kind: GroupKind) =>
    keyRange(`${org}#${site}#${kind}NAME`),
  eventNames: (org: number, site: number) => keyRange(`${org}#EVENTNAME#${site}`), // by name
  visits: (org: number, site: number, visitor: string) =>
    keyRange(`${org}#V${site}#${sha256(visitor)}`, "VISIT#"), // by time
  sendPartition: (org: number, hundred: number) => keyRange(`${org}#S${hundred}`),
  // content, chunks and results
  blockItems: (org: number, block: number) => keyRange(`${org}#B${block}`),
  callResults: (org: number, { block, chunk, call }: CallKey) =>
    keyRange(`${org}#B${block}`, `RESULT#${chunk}#${call}#`),
  chunkResults: (org: number, block: number, chunk: number) =>
    keyRange(`${org}#B${block}`, `RESULT#${chunk}#`), // of all calls
  // by priority, then time
  queuedChunks: (org: number, config: number) => keyRange(`${org}#L${config}`, "W#"),
  sendsFeed: (org: number, site: number) => keyRange(`${org}#${site}#SENDS`), // by time
  recipientSends: (org: number, email: string) =>
    keyRange(`${org}#TO#${sha256(email.trim().toLowerCase())}`), // by time
  recipientLog: (org: number, log: string) => keyRange(`${org}#TOLOG#${log}`), // by time
  recipientBuckets: (org: number, { log, bucket }: { log: string; bucket: number }) =>
    keyRange(`${org}#TOPAGE#${log}#${bucket}`), // by time of the newest mail
  overflowEvents: (org: number, id: number) =>
    keyRange(`${org}#S${sendPartitionOf(id)}`, `${zeroPad(id)}#E`),
  // by date: the rollup of a day, then its counters
  days: (org: number, site: number) => keyRange(`${org}#${site}#DAYS`),
  dayItems: (org: number, site: number, date: string) => keyRange(`${org}#${site}#DAYS`, date),
  dayDomainCounters: (org: number, site: number, date: string) =>
    keyRange(`${org}#${site}#DAY${date}`), // by domain
  // by date
  dayDomainsRollups: (org: number, site: number) => keyRange(`${org}#${site}#DAYDOMAINS`),
  eventCommits: (org: number, site: number) => keyRange(`${org}#${site}#EVENTS`), // by time
  softBounces: (org: number, site: number) => keyRange(`${org}#${site}#SOFTBOUNCES`),
  unmatchedEvents: (org: number) => keyRange(`${org}#PARKED`), // by event
  inboundFeed: (org: number, site: number) => keyRange(`${org}#${site}#INBOUND`), // by id
  inboundFrom: (org: number, email: string) =>
    keyRange(`${org}#INBOUNDFROM#${sha256(email.trim().toLowerCase())}`), // by id
  // by kind, then date
  domainReportDays: (org: number, domain: number) => keyRange(`${org}#DOMAINREPORTS#${domain}`),
  deliveryBatches: (org: number, webhook: number) => keyRange(`${org}#W${webhook}`), // by time
  eventHours: (org: number, site: number) => keyRange(`${org}#${site}#EVENTHOURS`), // by time
  eventSeals: (org: number, site: number) => keyRange(`${org}#${site}#EVENTSEALS`), // by shard
  recordEvents: (org: number, site: number) => keyRange(`${org}#${site}#RECORDEVENTS`), // by time
  submissions: (org: number, form: number) => keyRange(`${org}#F${form}`), // by time
  submissionCounts: (org: number, form: number) => keyRange(`${org}#FN${form}`),
  recordBodies: (org: number, kind: RecordKind, id: number) =>
    keyRange(`${org}#BODY#${kind}#${id}`), // by version
  // by hash of the address
  suppressions: (org: number, shard: string) => keyRange(`${org}#X${shard}`),
  suppressionCounts: (org: number) => keyRange(`${org}#XCOUNT`),
  secureFeed: (org: number, site: number) => keyRange(`${org}#${site}#SECURE`), // by time
  secureCounts: (org: number, site: number) => keyRange(`${org}#${site}#SECURECOUNT`),
  account: (org: number) => keyRange(`${org}#ACCOUNT`), // the account, then its shards
  sendCounts: (org: number) => keyRange(`${org}#SENDCOUNT`),
  ledger: (org: number) => keyRange(`${org}#LEDGER`), // by reference
  sourceCounts: (org: number, { kind, id }: SourceKey) => keyRange(`${org}#N${kind}#${id}`),
  seriesRuns: (org: number, series: number) => keyRange(`${org}#SR${series}`), // by date
  campaignGoals: (org: number, site: number) => keyRange(`${org}#${site}#GOALS`), // by campaign
  archivedMails: (org: number, site: number) => keyRange(`${org}#${site}#ARCHIVE`), // by time
  // counters by variant, then the numbers of the links
  campaignLinks: (org: number, campaign: number) => keyRange(`${org}#CL${campaign}`),
  enrollments: (org: number, sequence: number, shard: string) =>
    keyRange(`${org}#Q${sequence}#${shard}`), // by contact
  finishedEnrollments: (org: number, sequence: number, shard: string) =>
    keyRange(`${org}#QX${sequence}#${shard}`), // by time
  sequenceCounts: (org: number, sequence: number) => keyRange(`${org}#QN${sequence}`),
  // by what they wait for, then time
  suspendedChunks: (org: number, { kind, id }: SourceKey) => keyRange(`${org}#H${kind}#${id}`),
  fanOut: (org: number, { kind, id }: SourceKey) => keyRange(`${org}#F${kind}#${id}`),
  fanOutCursors: (org: number, { kind, id }: SourceKey) => keyRange(`${org}#F${kind}#${id}`, "AT#"),
  fanOutLog: (org: number, { kind, id }: SourceKey, shard?: string) =>
    keyRange(`${org}#F${kind}#${id}`, `LOG#${shard === undefined ? "" : `${shard}#`}`),
};

/** Index ranges: partitions of the two sparse KEYS_ONLY indexes. */
export const indexes = {
  /** Work by the time when it is due (ISO 8601). */
  due: (kind: DueWorkKind, shard: number): IndexRange => ({
    index: "due",
    pk: `DUE#${kind}#${shard}`,
  }),
  /**
   * Enrollments by the minute in which they continue, mixed across organizations. Sorted by
   * `time#hash`.
   */
  dueEnrollments: (shard: number): IndexRange => ({ index: "due", pk: `DUE#ENROLLMENT#${shard}` }),
  /** Contacts of a site, newest first, by email shard. Sorted by `time#id`. */
  newContacts: (org: number, site: number, shard: string): IndexRange => ({
    index: "new",
    pk: `${org}#${site}#NEW${shard}`,
  }),
  /** Custom events, newest first, in 16 shards by contact. Sorted by `time#id#site#name`. */
  newCustomEvents: (org: number, contact: number): IndexRange => ({
    index: "new",
    pk: `${org}#CUSTOM${emailShards[contact % emailShards.length]}`,
  }),
  /** Jobs, running ones first, then newest first. Sorted by `rank#time#type#site#id`. */
  jobs: (org: number): IndexRange => ({ index: "new", pk: `${org}#JOBS` }),
  /** Entries of the audit log that are not chained yet, by time. */
  unchainedEntries: (org: number): IndexRange => ({ index: "new", pk: `${org}#AUDITNEW` }),
  /** Suppressions, newest first, by email shard. Sorted by `time#hash#reason`. */
  newSuppressions: (org: number, shard: string): IndexRange => ({
    index: "new",
    pk: `${org}#XNEW${shard}`,
  }),
};

export type IndexRange = KeyRange & { index: "due" | "new" };
/** Kinds of work on the `due` index. */
export const dueWorkKinds = [
  "SEND",
  "SWEEP",
  "UNCERTAIN",
  "LANE",
  "BROADCAST",
  "EVENT",
  "DELIVERY",
  "OUTBOX",
  "GROUP",
  "EXPORT",
  "IMPORT",
  "ACTION",
  "SEQUENCE",
  "DAY",
  "REPORT",
  "SUBMISSION",
  "FORM",
  "SECURE",
  "DOMAIN",
  "MAILLOG",
  "SUPPRESSION",
  "AUDIT",
  "CAMPAIGNAUDIT",
  "NOTE",
  "CONVERSION",
  "WATCH",
  "MERGE",
  "STEPTASK",
  "SERIES",
  "PULL",
  "MAILBOX",
  "TRACKINGDOMAIN",
  "POSTMASTER",
  "EVENTHOUR",
] as const;
export type DueWorkKind = (typeof dueWorkKinds)[number];
export const dueShards = 4;
export const enrollmentShards = 64;
/** Spreads due work evenly over its shards. */
export const dueShardOf = (id: number): number => id % dueShards;

/** The attributes that add an item to an index range. */
export const indexAttributes = (
  { index, pk }: IndexRange,
  sortKey: string,
): Record<string, string> => ({
  [`${index}pk`]: pk,
  [`${index}sk`]: sortKey,
});
export const indexAttributeNames = (index: "due" | "new"): string[] => [`${index}pk`, `${index}sk`];
