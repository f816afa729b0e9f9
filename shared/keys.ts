// Every item in the table and every question asked of it. If an access pattern is not in this file, it does not exist.
// The tenant is in the key: whoever asks must name its organization. The exceptions are found from outside, and stand together.
import { createHash } from "node:crypto";

/** An item has one address. */
export interface Address {
  pk: string;
  sk: string;
}
/** Items of one partition, in the order of their sort keys; on an index when `index` says so. */
export interface Range {
  pk: string;
  index?: "due" | "new";
  /** Only sort keys that begin so. */
  prefix?: string;
}

const at = (pk: string, sk = "#"): Address => ({ pk, sk });
const range = (pk: string, prefix?: string): Range => ({ pk, ...(prefix && { prefix }) });

/** Numbers sort as text only when they are equally long. */
export const sortable = (n: number): string => String(n).padStart(16, "0");
export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The 16 collections of everything that is kept by email address: the first hex digit of its hash. */
export const emailShard = (email: string): string => sha256(email.toLowerCase())[0]!;

/** Settings-like records: few per organization, read by id, listed by age. */
export type RecordKind =
  | "SITE"
  | "APIKEY"
  | "FOLDER"
  | "TEMPLATE"
  | "CONFIG"
  | "WEBHOOK"
  | "LIST"
  | "TAG"
  | "SEGMENT"
  | "FORM"
  | "RULE"
  | "IMPORT"
  | "EXPORT"
  | "CAMPAIGN"
  | "HOLIDAY"
  | "REPORT"
  | "SEQUENCE"
  | "DOMAIN";

/** Ids come in blocks of 1,000, so an id tells where its send and its chunk lie. */
export const idsPerBlock = 1000;
export const blockOf = (sendId: number): number => Math.floor(sendId / idsPerBlock);
const hundredOf = (sendId: number): number => Math.floor(sendId / 100);

/** What marketing mail comes from. */
export type SourceKind = "campaign" | "sequence" | "holiday";

/** Counters of one thing that are moved in transactions side by side: those who move them seldom meet. */
export const countShards: number[] = [0, 1, 2, 3, 4, 5, 6, 7];
export const countShardOf = (id: number): number => id % countShards.length;

/** Lists and tags: what a contact is a member of. */
export type GroupKind = "LIST" | "TAG";
/** The collections by email hash. */
export const shards: string[] = [..."0123456789abcdef"];

export const keys = {
  // found from outside, where no organization is known yet; each item names its own
  user: (email: string) => at(`USER#${sha256(email.toLowerCase())}`),
  apiKey: (hash: string) => at(`KEY#${hash}`),
  session: (hash: string) => at(`SESSION#${hash}`), // expires
  resetToken: (hash: string) => at(`RESET#${hash}`), // expires
  mfaToken: (hash: string) => at(`MFA#${hash}`), // expires; a login that waits for its second factor
  stripeEvent: (event: string) => at(`STRIPE#${event}`), // expires; was dealt with
  domainHolder: (name: string) => at(`HELD#${name}`), // -> the organization that proved a domain to be its own
  inboundConfig: (config: number) => at(`CONFIG#${config}`), // -> organization of a sending config
  trackingSite: (site: number) => at(`TRACK#${site}`), // -> organization of a site
  publicForm: (form: number) => at(`FORM#${form}`), // -> organization of a form
  failures: (who: string, window: number) => at(`FAILURES#${sha256(who)}`, String(window)), // expires
  idCounter: (kind: string) => at(`IDS#${kind}`),
  firstOrganization: () => at("FIRST"), // there once anybody has signed up
  installationSecret: (purpose: string) => at("SECRET", purpose), // sealed
  shardLease: (shelf: string, shard: number) => at(`SHARD#${shelf}`, String(shard)),

  // the organization
  organization: (org: number) => at(`${org}#ORG`),
  member: (org: number, user: number) => at(`${org}#USER`, sortable(user)),
  secondFactors: (org: number, user: number) => at(`${org}#MFA`, sortable(user)),
  sessionOf: (org: number, user: number, hash: string) => at(`${org}#SESSIONS#${user}`, hash), // expires; beside each session
  record: (org: number, kind: RecordKind, id: number) => at(`${org}#${kind}`, sortable(id)),
  recordCount: (org: number, kind: RecordKind) => at(`${org}#COUNT`, kind),
  body: (org: number, kind: RecordKind, id: number, version: number | string) => at(`${org}#BODY#${kind}#${id}`, String(version)),
  rateWindow: (org: number, limit: string, minute: number) => at(`${org}#R${limit}#${minute}`), // expires
  idempotency: (org: number, key: string) => at(`${org}#K${sha256(key)}`), // expires
  idempotencyPart: (org: number, key: string, part: number) => at(`${org}#K${sha256(key)}`, sortable(part)), // expires; of a long answer
  upload: (org: number, id: string) => at(`${org}#UPLOAD`, id), // expires
  importRun: (org: number, id: number) => at(`${org}#IMPORTRUN`, sortable(id)), // how far an import is
  importErrors: (org: number, id: number, row: number) => at(`${org}#IMPORTERRORS#${id}`, sortable(row)), // expires; of some rows, by the last before them

  compliance: (org: number) => at(`${org}#COMPLIANCE`),

  // money: what is left of the period's mails and of the credits is one item, which counts the sends of the first sites too, as they are
  // accepted in the same moment; every movement of credits is an entry
  account: (org: number) => at(`${org}#ACCOUNT`),
  billing: (org: number) => at(`${org}#BILLING`), // with Stripe
  ledgerEntry: (org: number, reference: string) => at(`${org}#LEDGER`, reference),
  validationMonth: (org: number, month: string) => at(`${org}#VALIDATIONS`, month), // expires
  validationCall: (org: number, call: number) => at(`${org}#VALIDATION#${call}`), // expires; what a call was counted as

  domainName: (org: number, name: string) => at(`${org}#DOMAINNAME`, name), // -> domain; its tracking and whether it is verified

  // contacts: 16 collections to a site, so that readers go side by side; a pointer finds one by id
  contact: (org: number, site: number, email: string) => at(`${org}#${site}#C${emailShard(email)}`, email.toLowerCase()),
  contactPointer: (org: number, id: number) => at(`${org}#I${id}`),
  contactCount: (org: number, site: number, shard: string) => at(`${org}#${site}#CCOUNT`, shard),
  contactMove: (org: number, site: number, place: string) => at(`${org}#${site}#MOVED`, place), // expires; who took another address, by time
  groupName: (org: number, site: number, kind: GroupKind, name: string) =>
    at(`${org}#${site}#${kind}NAME`, sha256(name.trim().toLowerCase())),
  membership: (org: number, kind: GroupKind, group: number, shard: string, contact: number) =>
    at(`${org}#M${kind}${group}#${shard}`, sortable(contact)),
  deadGroup: (org: number, kind: GroupKind, group: number) => at(`${org}#DEAD${kind}`, sortable(group)), // until its members are swept
  groupCount: (org: number, kind: GroupKind, group: number, shard: string) => at(`${org}#MCOUNT${kind}${group}`, shard),
  contactLog: (org: number, contact: number, entry: string) => at(`${org}#U${contact}`, entry), // scores, custom events, page views, by time

  // custom events and page views: known contacts have them in their log, visitors nobody knows yet beside themselves
  eventName: (org: number, site: number, name: string) => at(`${org}#EVENTNAME#${site}`, name),
  eventNameCount: (org: number, site: number) => at(`${org}#EVENTNAMES`, sortable(site)),
  visitor: (org: number, site: number, visitor: string) => at(`${org}#V${site}#${sha256(visitor)}`), // expires
  visit: (org: number, site: number, visitor: string, place: string) => at(`${org}#V${site}#${sha256(visitor)}`, `VISIT#${place}`), // expires

  // forms: what was submitted, by time; which submission of one content was the last; mails that ask to confirm; forms that are deleted
  submission: (org: number, form: number, place: string) => at(`${org}#F${form}`, place),
  submissionCount: (org: number, form: number, shard: string) => at(`${org}#FN${form}`, shard),
  latestSubmission: (org: number, form: number, content: string) => at(`${org}#FL${form}#${sha256(content)}`), // expires
  confirmMail: (org: number, form: number, email: string) => at(`${org}#FM${sha256(email.toLowerCase())}`, `FORM${form}`), // expires
  confirmMails: (org: number, email: string, hour: number) => at(`${org}#FM${sha256(email.toLowerCase())}`, `HOUR${hour}`), // expires
  deadForm: (org: number, form: number) => at(`${org}#DEADFORM`, sortable(form)), // until its submissions are swept

  // sending
  suppression: (org: number, email: string) => at(`${org}#X${emailShard(email)}`, sha256(email.toLowerCase())),
  suppressionCount: (org: number, reason: string) => at(`${org}#XCOUNT`, reason),
  send: (org: number, id: number) => at(`${org}#S${hundredOf(id)}`, sortable(id)),
  content: (org: number, block: number) => at(`${org}#B${block}`, "CONTENT"),
  singleContent: (org: number, send: number) => at(`${org}#CONTENT#${send}`),
  chunk: (org: number, block: number, chunk: number) => at(`${org}#B${block}`, `CHUNK#${chunk}`),
  result: (org: number, block: number, chunk: number, call: number, attempt: number) =>
    at(`${org}#B${block}`, `RESULT#${chunk}#${call}#${String(attempt).padStart(4, "0")}`),
  lane: (org: number, config: number) => at(`${org}#L${config}`, "~LANE"),
  warmUpDay: (org: number, config: number, date: string) => at(`${org}#L${config}`, `~DAY${date}`), // expires
  deferrals: (org: number, config: number, domain: string) => at(`${org}#L${config}`, `~SLOW${domain}`), // expires
  waiting: (org: number, config: number, place: string) => at(`${org}#L${config}`, `W#${place}`),
  sendsFeed: (org: number, site: number, place: string) => at(`${org}#${site}#SENDS`, place),
  secureMessage: (org: number, id: number) => at(`${org}#SM${hundredOf(id)}`, sortable(id)), // has the id of its send
  secureFeed: (org: number, site: number, place: string) => at(`${org}#${site}#SECURE`, place),
  secureCount: (org: number, site: number, shard: number) => at(`${org}#${site}#SECURECOUNT`, String(shard)),
  sendCount: (org: number, site: number) => at(`${org}#SENDCOUNT`, sortable(site)),
  // a campaign, sequence or holiday: its numbers, whether it is stopped, and its chunks that are held back
  sourceCount: (org: number, kind: SourceKind, id: number, shard: number) => at(`${org}#N${kind}#${id}`, String(shard)),
  sourceState: (org: number, kind: SourceKind, id: number) => at(`${org}#N${kind}#${id}`, "STATE"),
  held: (org: number, kind: SourceKind, id: number, place: string) => at(`${org}#H${kind}#${id}`, place),
  // how far it has reached its people: what was decided at the start, a cursor per collection, which chunk holds whom
  fanOutPlan: (org: number, kind: SourceKind, id: number) => at(`${org}#F${kind}#${id}`, "PLAN"),
  fanOutCursor: (org: number, kind: SourceKind, id: number, shard: string) => at(`${org}#F${kind}#${id}`, `AT#${shard}`),
  fanOutLog: (org: number, kind: SourceKind, id: number, shard: string, n: number) =>
    at(`${org}#F${kind}#${id}`, `LOG#${shard}#${sortable(n)}`),
  fanOutRemains: (org: number, kind: SourceKind, id: number) => at(`${org}#F${kind}#${id}`, "REMAINS"), // of one that was deleted

  // sequences: who is in one, by the collection of the contact's memberships, and who was; counters; what remains to be done to all
  enrollment: (org: number, sequence: number, home: string, contact: number) => at(`${org}#Q${sequence}#${home}`, sortable(contact)),
  cohort: (org: number, sequence: number, id: string) => at(`${org}#QC${sequence}#${id}`),
  finishedEnrollment: (org: number, sequence: number, home: string, place: string) => at(`${org}#QX${sequence}#${home}`, place),
  sequenceCount: (org: number, sequence: number, shard: number) => at(`${org}#QN${sequence}`, String(shard)),
  stepCount: (org: number, sequence: number, step: number, shard: number) => at(`${org}#QN${sequence}`, `STEP#${sortable(step)}#${shard}`),
  sequenceChore: (org: number, sequence: number) => at(`${org}#QCHORE`, sortable(sequence)),
  siteTriggers: (org: number, site: number) => at(`${org}#${site}#TRIGGERS`), // what its active sequences wait for

  // what happened to it: the first events lie in their send, further ones beside it; a run's page says which were counted
  sendEvent: (org: number, id: number, event: string) => at(`${org}#S${hundredOf(id)}`, `${sortable(id)}#E${sha256(event).slice(0, 16)}`),
  eventPage: (org: number, site: number, run: string) => at(`${org}#${site}#EVENTS`, run),
  eventTotals: (org: number, site: number) => at(`${org}#EVENTCOUNT`, sortable(site)),
  // what happened on a day: counters, until it is over; then all of it in two items
  day: (org: number, site: number, date: string, shard: number) => at(`${org}#${site}#DAYS`, `${date}#${shard}`),
  dayFold: (org: number, site: number, date: string) => at(`${org}#${site}#DAYS`, date),
  dayDomainsFold: (org: number, site: number, date: string) => at(`${org}#${site}#DAYDOMAINS`, date),
  dayDomain: (org: number, site: number, date: string, domain: string, shard: number) =>
    at(`${org}#${site}#DAY${date}`, `D#${domain}#${shard}`),
  parkedEvent: (org: number, event: number) => at(`${org}#PARKED`, sortable(event)), // until its send appears
  unmatchedCount: (org: number) => at(`${org}#UNMATCHED`),
  deliveryPage: (org: number, webhook: number, page: number) => at(`${org}#W${webhook}`, sortable(page)), // expires
  onceToken: (config: number, token: string) => at(`CONFIG#${config}`, `TOKEN#${sha256(token)}`), // expires
};

export const ranges = {
  records: (org: number, kind: RecordKind) => range(`${org}#${kind}`), // by id, which is by age
  users: (org: number) => range(`${org}#USER`),
  importErrors: (org: number, id: number) => range(`${org}#IMPORTERRORS#${id}`), // by row
  sessionsOf: (org: number, user: number) => range(`${org}#SESSIONS#${user}`),
  contacts: (org: number, site: number, shard: string) => range(`${org}#${site}#C${shard}`), // by email
  contactCounts: (org: number, site: number) => range(`${org}#${site}#CCOUNT`),
  contactMoves: (org: number, site: number) => range(`${org}#${site}#MOVED`), // by time
  members: (org: number, kind: GroupKind, group: number, shard: string) => range(`${org}#M${kind}${group}#${shard}`), // by contact
  groupCounts: (org: number, kind: GroupKind, group: number) => range(`${org}#MCOUNT${kind}${group}`),
  deadGroups: (org: number, kind: GroupKind) => range(`${org}#DEAD${kind}`), // few, and soon gone
  contactLog: (org: number, contact: number, what: string) => range(`${org}#U${contact}`, what),
  eventNames: (org: number, site: number) => range(`${org}#EVENTNAME#${site}`), // by name
  visits: (org: number, site: number, visitor: string) => range(`${org}#V${site}#${sha256(visitor)}`, "VISIT#"), // by time
  sendsOf: (org: number, hundred: number) => range(`${org}#S${hundred}`),
  block: (org: number, block: number) => range(`${org}#B${block}`), // content, chunks and results
  results: (org: number, block: number, chunk: number, call: number) => range(`${org}#B${block}`, `RESULT#${chunk}#${call}#`),
  waiting: (org: number, config: number) => range(`${org}#L${config}`, "W#"), // by priority, then time
  sendsFeed: (org: number, site: number) => range(`${org}#${site}#SENDS`), // by time
  sendEvents: (org: number, id: number) => range(`${org}#S${hundredOf(id)}`, `${sortable(id)}#E`),
  days: (org: number, site: number) => range(`${org}#${site}#DAYS`), // by date: the fold first, then its counters
  dayInAll: (org: number, site: number, date: string) => range(`${org}#${site}#DAYS`, date),
  dayDomains: (org: number, site: number, date: string) => range(`${org}#${site}#DAY${date}`), // by domain
  domainDays: (org: number, site: number) => range(`${org}#${site}#DAYDOMAINS`), // by date
  eventPages: (org: number, site: number) => range(`${org}#${site}#EVENTS`), // by time
  deliveryPages: (org: number, webhook: number) => range(`${org}#W${webhook}`), // by time
  submissions: (org: number, form: number) => range(`${org}#F${form}`), // by time
  submissionCounts: (org: number, form: number) => range(`${org}#FN${form}`),
  bodies: (org: number, kind: RecordKind, id: number) => range(`${org}#BODY#${kind}#${id}`), // by version
  suppressions: (org: number, shard: string) => range(`${org}#X${shard}`), // by hash of the address
  suppressionCounts: (org: number) => range(`${org}#XCOUNT`),
  secureFeed: (org: number, site: number) => range(`${org}#${site}#SECURE`), // by time
  secureCounts: (org: number, site: number) => range(`${org}#${site}#SECURECOUNT`),
  sendCounts: (org: number) => range(`${org}#SENDCOUNT`),
  ledger: (org: number) => range(`${org}#LEDGER`), // by reference
  sourceCounts: (org: number, kind: SourceKind, id: number) => range(`${org}#N${kind}#${id}`),
  enrollments: (org: number, sequence: number, home: string) => range(`${org}#Q${sequence}#${home}`), // by contact
  finishedEnrollments: (org: number, sequence: number, home: string) => range(`${org}#QX${sequence}#${home}`), // by time
  sequenceCounts: (org: number, sequence: number) => range(`${org}#QN${sequence}`),
  held: (org: number, kind: SourceKind, id: number) => range(`${org}#H${kind}#${id}`), // by priority, then time
  fanOutCursors: (org: number, kind: SourceKind, id: number) => range(`${org}#F${kind}#${id}`, "AT#"),
  fanOutLog: (org: number, kind: SourceKind, id: number, shard?: string) =>
    range(`${org}#F${kind}#${id}`, `LOG#${shard === undefined ? "" : `${shard}#`}`),
};

/** Partitions of the two sparse KEYS_ONLY indexes. */
export const shelves = {
  /** Work by the time it falls due (ISO 8601). */
  due: (what: DueWork, shard: number): Shelf => ({ index: "due", pk: `DUE#${what}#${shard}` }),
  /** Enrollments and cohorts by the minute in which they go on, organizations mixed within it. Sorted by `time#hash`. */
  dueEnrollments: (shard: number): Shelf => ({ index: "due", pk: `DUE#ENROLLMENT#${shard}` }),
  /** Contacts of a site, newest first, in their 16 collections. Sorted by `time#id`. */
  newContacts: (org: number, site: number, shard: string): Shelf => ({ index: "new", pk: `${org}#${site}#NEW${shard}` }),
  /** Custom events, newest first, in 16 collections by contact. Sorted by `time#id#site#name`. */
  newCustomEvents: (org: number, contact: number): Shelf => ({ index: "new", pk: `${org}#CUSTOM${shards[contact % shards.length]}` }),
  /** Suppressions, newest first, in their 16 collections. Sorted by `time#hash#reason`. */
  newSuppressions: (org: number, shard: string): Shelf => ({ index: "new", pk: `${org}#XNEW${shard}` }),
};

export type Shelf = Range & { index: "due" | "new" };
/** What can fall due. */
export const dueWork = [
  "SEND",
  "LANE",
  "BROADCAST",
  "EVENT",
  "DELIVERY",
  "GROUP",
  "EXPORT",
  "IMPORT",
  "SEQUENCE",
  "DAY",
  "REPORT",
  "SUBMISSION",
  "FORM",
  "SECURE",
  "DOMAIN",
] as const;
export type DueWork = (typeof dueWork)[number];
export const dueShards = 4;
export const enrollmentShards = 64;
/** Spreads due work evenly over its shards. */
export const dueShard = (id: number): number => id % dueShards;

/** What the shelf of enrollments tells of itself: an address and no more. */
export const isCohort = ({ pk }: Address): boolean => /^\d+#QC\d/.test(pk);

/** Attributes that put an item on a shelf; `undefined` in an update takes it off. */
export const on = (shelf: Shelf, sort: string): Record<string, string> => ({ [`${shelf.index}pk`]: shelf.pk, [`${shelf.index}sk`]: sort });
export const off = (index: "due" | "new"): string[] => [`${index}pk`, `${index}sk`];
