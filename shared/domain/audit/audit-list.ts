// Reads the audit log, newest first.
import * as z from "zod";
import { query } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { addSeconds } from "../../clock.ts";
import { type PageRequest, type Pagination, positionOf, readPage } from "../../kernel/paging.ts";
import { Count, RecordId, Timestamp } from "../../kernel/record-fields.ts";
import type { ExportTable } from "../../kernel/table-export.ts";
import { ranges } from "../../keys.ts";
import { findActorNames } from "./actor-names.ts";
import { retentionDays } from "./chain.ts";
import { type AuditItem, actorTypes, auditOutcomes, timeOf } from "./entries.ts";
import { toStoredTarget } from "./targets.ts";

const Actor = z
  .object({
    type: z
      .enum(actorTypes)
      .describe(
        "`user`: a member in a session. `api_key`: a program. `invitation`: an invitation that " +
          "was accepted; `target` is the member. `operator`: whoever runs the service. " +
          "`anonymous`: somebody without a proven identity, such as in a failed login.",
      ),
    id: RecordId.nullable().describe("Id of the user, API key or invitation. `null`: others."),
    name: z
      .string()
      .nullable()
      .describe("Email address of the user, or name of the API key. `null`: revoked keys, others."),
  })
  .meta({ id: "AuditActor" });

const Change = z
  .object({
    field: z.string().describe("Name of the field."),
    from: z.unknown().describe("Value before the change."),
    to: z.unknown().describe("Value that the request set."),
  })
  .meta({ id: "AuditChange" });

export const AuditEntry = z
  .object({
    id: z.string().describe("Id of the entry."),
    at: Timestamp.describe("When it happened. For several calls, the start of their minute."),
    action: z
      .string()
      .describe("Name of the operation, as in the SDK and the OpenAPI document: `deleteSite`."),
    actor: Actor.describe("Who did it."),
    target: z
      .string()
      .nullable()
      .describe(
        "What was changed: the path of the record, such as `sites/3`. Logins name the user: " +
          "`members/7`. Parts of paths that are not ids or words, such as email addresses, are " +
          "stored as hashes. `null`: several calls.",
      ),
    outcome: z
      .enum(auditOutcomes)
      .describe(
        "`done`: it was done. `failed`: a login was refused. `second_factor_required`: the " +
          "password was right, and the login waits for the second factor. `unknown`: the request " +
          "still runs, or ended with an internal error, so it may have been done.",
      ),
    changedFields: z.array(z.string()).describe("Names of the fields that the request set."),
    changes: z
      .array(Change)
      .describe("Values of some fields that are no secrets, such as the role of a member."),
    count: Count.describe(
      "Number of calls. More than 1 only for frequent calls by API keys, such as updates of " +
        "contacts: they have one entry per key, operation and minute. If a process was stopped, " +
        "at least half of its calls are counted.",
    ),
    address: z.string().nullable().describe("IP address of the client."),
    userAgent: z.string().nullable().describe("`User-Agent` of the client."),
    requestId: z.string().nullable().describe("`X-Request-Id` of the response."),
    link: RecordId.nullable().describe(
      "Number of the link of the hash chain with this entry. `null`: it is not chained yet.",
    ),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.output<typeof AuditEntry>;

export const AuditFilter = z.object({
  actor: z
    .string()
    .max(30)
    .regex(
      /^((user|api_key|invitation):\d{1,16}|operator|anonymous)$/,
      "must be such as user:7 or api_key:3",
    )
    .optional()
    .describe(
      "Only entries of this actor: `user:<id>`, `api_key:<id>`, `invitation:<id>`, `operator`, " +
        "`anonymous`.",
    ),
  action: z.string().min(1).max(100).optional().describe("Only this action, such as `logIn`."),
  target: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .describe("Only this record, or all records below a path: `sites/3`, `sites`."),
  from: z.iso.datetime({ offset: true }).optional().describe("Only entries from this time on."),
  to: z.iso.datetime({ offset: true }).optional().describe("Only entries before this time."),
});
export type AuditFilter = z.output<typeof AuditFilter>;

/** Entries that one request looks at. */
const maxRead = 5000;
const entriesPerRead = 500;
const positionPattern = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z#[\w#]{1,200}$/;

/**
 * Entries of the last 400 days. With a filter, a page may have fewer entries than `limit`, and
 * still a `nextCursor`: a request looks at 5,000 entries.
 */
export async function list(
  { orgId }: CallerScope,
  request: PageRequest & AuditFilter,
): Promise<{ items: AuditEntry[]; pagination: Pagination }> {
  return readPage(request, {
    read: (needed) => readEntries(orgId, request, needed),
    toApi: (entries) => toApi(orgId, entries),
  });
}

async function readEntries(
  orgId: number,
  { from, to, ...request }: PageRequest & AuditFilter,
  needed: number,
): Promise<{ found: AuditItem[]; next: string | undefined }> {
  const oldest = addSeconds(-retentionDays * 86_400).toISOString();
  const first = from === undefined ? oldest : max(toUtc(from), oldest);
  const matches = matcherOf(request);
  const found: AuditItem[] = [];
  let below = positionOf(request, positionPattern) ?? (to === undefined ? undefined : toUtc(to));
  for (let read = 0; read < maxRead; ) {
    const page = await query<AuditItem>(ranges.auditEntries(orgId), {
      newestFirst: true,
      limit: entriesPerRead,
      below,
    });
    for (const item of page.items) {
      if (item.sk < first) return { found, next: undefined };
      if (matches(item) && found.push(item) > needed)
        return { found: found.slice(0, needed), next: found[needed - 1]!.sk };
    }
    read += page.items.length;
    below = page.items.at(-1)?.sk;
    if (page.next === undefined) return { found, next: undefined };
  }
  return { found, next: below };
}

const toUtc = (time: string): string => new Date(time).toISOString();
const max = (a: string, b: string): string => (a > b ? a : b);

function matcherOf({ actor, action, target }: AuditFilter): (item: AuditItem) => boolean {
  const [type, id] = actor?.split(":") ?? [];
  const wanted = target === undefined ? undefined : toStoredTarget(target);
  return (item) =>
    // A count of 0: all calls were refused.
    item.count > 0 &&
    (type === undefined || item.actor.type === type) &&
    (id === undefined || item.actor.id === Number(id)) &&
    (action === undefined || item.action === action) &&
    (wanted === undefined || item.target === wanted || !!item.target?.startsWith(`${wanted}/`));
}

async function toApi(orgId: number, items: AuditItem[]): Promise<AuditEntry[]> {
  const nameOf = await findActorNames(
    orgId,
    items.map(({ actor }) => actor),
  );
  return items.map((item) => ({
    id: item.sk,
    at: timeOf(item),
    action: item.action,
    actor: { type: item.actor.type, id: item.actor.id, name: nameOf(item.actor) },
    target: item.target,
    outcome: item.outcome,
    changedFields: item.fields ?? [],
    changes: item.changes === undefined ? [] : (JSON.parse(item.changes) as AuditEntry["changes"]),
    count: item.count,
    address: item.address,
    userAgent: item.userAgent,
    requestId: item.requestId,
    link: item.link ?? null,
  }));
}

const columns: [name: string, cellOf: (entry: AuditEntry) => string | number | null][] = [
  ["id", ({ id }) => id],
  ["at", ({ at }) => at],
  ["action", ({ action }) => action],
  ["actorType", ({ actor }) => actor.type],
  ["actorId", ({ actor }) => actor.id],
  ["actorName", ({ actor }) => actor.name],
  ["target", ({ target }) => target],
  ["outcome", ({ outcome }) => outcome],
  ["changedFields", ({ changedFields }) => changedFields.join(" ")],
  ["changes", ({ changes }) => (changes.length ? JSON.stringify(changes) : null)],
  ["count", ({ count }) => count],
  ["address", ({ address }) => address],
  ["userAgent", ({ userAgent }) => userAgent],
  ["requestId", ({ requestId }) => requestId],
  ["link", ({ link }) => link],
];

/** The CSV file of an export. */
export const exportTable: ExportTable = {
  jsonName: "entries",
  columns: columns.map(([name]) => name),
  cells: (entry) => columns.map(([, cellOf]) => cellOf(entry as AuditEntry)),
};
