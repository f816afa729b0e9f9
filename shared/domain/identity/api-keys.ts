// API keys. Only the response to the creation has the key itself. Its SHA-256 is the DynamoDB key
// that requests look up.
import * as z from "zod";
import { equals, exists } from "../../adapters/dynamodb/conditions.ts";
import {
  checkCondition,
  put,
  queryAll,
  remove as removal,
  transact,
  write,
} from "../../adapters/dynamodb/table.ts";
import {
  type Caller,
  type CallerScope,
  onlySiteIdOf,
  requireOrganizationAccess,
  requireSiteAccess,
  siteIdRequired,
} from "../../caller.ts";
import { now } from "../../clock.ts";
import { forbidden, invalid, missing } from "../../errors.ts";
import { randomBase62 } from "../../ids.ts";
import { forgetApiKey } from "../../kernel/api-key-cache.ts";
import { singleLineText } from "../../kernel/email-fields.ts";
import type { PageRequest } from "../../kernel/paging.ts";
import { inParallel } from "../../kernel/parallel.ts";
import {
  CreatedAt,
  QueryTime,
  RecordId,
  Timestamp,
  UpdatedAt,
} from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { queueNotice } from "../../kernel/security-notices.ts";
import { keys, ranges, sha256 } from "../../keys.ts";
import { allScopes, groupRights, includesScope, rightsOfScope } from "../../rights.ts";
import { getMember, type MemberItem, NamedUser } from "./members.ts";
import type { UserKey } from "./sessions.ts";
import { listOrganizations } from "./user-organizations.ts";

/** First path segments that only sessions may call. */
const sessionGroups = ["mfa", "sso", "system"];
/** First path segments that an API key may call. A test compares them with the routes. */
export const scopeGroups = Object.keys(groupRights).filter(
  (group) => !sessionGroups.includes(group),
);

const Scope = z
  .string()
  .max(100, { abort: true })
  .regex(/^(\*|[a-z]+(-[a-z]+)*:(read|write|export))$/, {
    error: "must be * or a group with :read or :write, such as contacts:read",
    abort: true,
  })
  .refine(
    (scope) => rightsOfScope(scope) !== undefined && !sessionGroups.includes(scope.split(":")[0]!),
    { error: ({ input }) => `has an unknown group: ${String(input).split(":")[0]}` },
  );

export const ApiKey = z
  .object({
    id: RecordId.describe("Id of the key, for DELETE /api-keys/:id."),
    name: z.string().describe("Name to recognize the key by."),
    prefix: z.string().describe("Visible start of the key: `pm_live_` and 8 characters."),
    siteId: RecordId.nullable().describe(
      "The only site that the key can access. `null`: all sites of the organization.",
    ),
    scopes: z
      .array(z.string())
      .describe(
        "What the key may do: `*` for everything, or scopes such as `contacts:read` and " +
          "`send:write`. Never more than the creator had.",
      ),
    createdBy: NamedUser.nullable().describe(
      "The user who created the key. The key belongs to the organization and stays when the " +
        "user leaves. `null`: a key of a user who had left created it.",
    ),
    expiresAt: Timestamp.nullable().describe(
      "From when on requests with the key get 401. `null`: it does not expire.",
    ),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
    lastUsedAt: Timestamp.nullable().describe(
      "When the key was last used, to the minute. `null`: never.",
    ),
  })
  .meta({ id: "ApiKey" });
export type ApiKey = z.output<typeof ApiKey>;

export const NewApiKey = z
  .object({
    name: singleLineText(200).trim().min(1).describe("Name to recognize the key by."),
    siteId: z
      .int()
      .positive()
      .nullable()
      .default(null)
      .describe(
        "Binds the key to one site. `null`: the key can access all sites, or your only site if " +
          "you are limited to one. If you are limited to several, name one of them.",
      ),
    scopes: z
      .array(Scope)
      .min(1)
      .max(100)
      .default(["*"])
      .describe(
        "`*` for everything that you may do, rights such as `audience:read` (GET /roles lists " +
          "them), or `<group>:read` and `<group>:write`; the group is a path's first segment: " +
          scopeGroups.join(", "),
      ),
    expiresAt: QueryTime.nullable()
      .default(null)
      .describe(
        "Time in the future from when on requests with the key get 401. `null`: it never expires.",
      ),
  })
  .meta({ examples: [{ name: "Shop server", scopes: ["send:write", "sends:read"] }] });
export type NewApiKey = z.output<typeof NewApiKey>;

type StoredApiKey = ApiKey & { hash: string };

/**
 * Throws 404 if the organization has no site `siteId`, and 403 for scopes that the caller does not
 * have.
 */
export async function create(
  caller: Caller,
  { name, siteId: wantedSiteId, scopes: wantedScopes, expiresAt: wantedEnd }: NewApiKey,
): Promise<ApiKey & { key: string }> {
  const expiresAt = wantedEnd === null ? null : futureTime(wantedEnd);
  const scopes = grantedScopes(caller, wantedScopes);
  const siteId = grantedSiteId(caller, wantedSiteId);
  const creator = await getMember(caller.orgId, caller.userId);
  const prefix = `pm_live_${randomBase62(8)}`;
  const key = prefix + randomBase62(40);
  const record: StoredApiKey = {
    ...(await records.newRecordFields("APIKEY")),
    name,
    prefix,
    siteId,
    scopes,
    createdBy: creator ? { id: creator.id, email: creator.email } : null,
    expiresAt,
    lastUsedAt: null,
    hash: sha256(key),
  };
  const { orgId, userId } = caller;
  const keyLookupWrite = put(keys.apiKey(record.hash), {
    orgId,
    userId,
    keyId: record.id,
    scopes,
    ...(siteId !== null && { siteId }),
    ...(expiresAt !== null && { expiresAt }),
  });
  const siteExistsCheck =
    siteId === null
      ? []
      : [
          checkCondition(
            keys.record(orgId, "SITE", siteId),
            exists,
            missing("The site does not exist"),
          ),
        ];
  const stored = await records.insert(
    "APIKEY",
    { orgId },
    { record, extraWrites: [keyLookupWrite, ...siteExistsCheck] },
  );
  // The stored key comes from an earlier attempt of this request that never answered. Nobody knows
  // that key, so it is replaced.
  if (stored.hash !== record.hash) {
    const changes = { hash: record.hash, prefix };
    await write(
      removal(keys.apiKey(stored.hash)),
      keyLookupWrite,
      records.updateWrite("APIKEY", caller, { id: record.id, set: changes }),
    );
    forgetApiKey(stored.hash);
  }
  await queueNotice("api_key_created", { orgId, recordId: record.id });
  return { ...record, key };
}

/** In UTC with milliseconds. Throws 400 for a time that has passed. */
function futureTime(time: string): string {
  const at = new Date(time).toISOString();
  if (at > now().toISOString()) return at;
  const message = "must be in the future";
  throw invalid(`expiresAt ${message}`, { details: [{ path: "expiresAt", message }] });
}

/**
 * A caller who is limited to sites creates keys of one of these only. Throws 403 for other sites,
 * and 400 if there are several sites and none is named.
 */
function grantedSiteId(caller: Caller, wanted: number | null): number | null {
  if (!caller.siteIds) return wanted;
  const siteId = wanted ?? onlySiteIdOf(caller);
  if (siteId === undefined) throw siteIdRequired();
  requireSiteAccess(caller, siteId);
  return siteId;
}

/** `*` stands for all scopes of the caller. Throws 403 for scopes that the caller does not have. */
function grantedScopes(caller: Caller, wanted: string[]): string[] {
  if (wanted.includes(allScopes)) return [...caller.scopes];
  const refused = wanted.filter((scope) => !includesScope(caller.scopes, scope));
  if (!refused.length) return wanted;
  const rights = refused.flatMap((scope) => rightsOfScope(scope) ?? []);
  const lacking = new Set(rights.filter((right) => !caller.scopes.includes(right)));
  throw forbidden(
    `You cannot give a key the scopes ${refused.join(", ")}, because they include rights that ` +
      `you do not have: ${[...lacking].join(", ")}`,
    { code: "scope_missing" },
  );
}

/** A caller who is limited to sites sees the keys that are bound to these. */
export const list = (caller: Caller, request: PageRequest) =>
  records.list<ApiKey>("APIKEY", caller, { ...request, siteIds: caller.siteIds });

export async function remove(caller: CallerScope, id: number): Promise<void> {
  const { hash, siteId } = await records.find<StoredApiKey>("APIKEY", caller, id);
  if (siteId === null) requireOrganizationAccess(caller);
  await write(
    ...records.removeWrites("APIKEY", caller, { id, siteId }),
    removal(keys.apiKey(hash)),
  );
  forgetApiKey(hash);
}

/** A key that a user created, in one of the user's organizations. */
export const CreatedApiKey = z
  .object({
    id: RecordId.describe("Id of the key."),
    organizationId: RecordId.describe("The organization that the key belongs to."),
    name: z.string().describe("Name of the key."),
    prefix: z.string().describe("Visible start of the key."),
    lastUsedAt: Timestamp.nullable().describe("When it was last used. `null`: never."),
  })
  .meta({ id: "CreatedApiKey" });
export type CreatedApiKey = z.output<typeof CreatedApiKey>;

/** The keys that the user created, in all organizations that the user is still a member of. */
export async function listCreatedBy(user: UserKey): Promise<CreatedApiKey[]> {
  const organizations = await listOrganizations(user);
  const keysByOrg = await inParallel(8, organizations, async ({ id: organizationId }) => {
    const found = await findCreated(organizationId, user.userId);
    return found.map((key) => toCreatedKey(organizationId, key));
  });
  return keysByOrg.flat();
}

/** The keys of the caller's organization, and sites, that the member created. */
export async function listOfCreator(
  { orgId, siteIds }: CallerScope,
  { id }: Pick<MemberItem, "id">,
): Promise<CreatedApiKey[]> {
  const found = await findCreated(orgId, id);
  return found
    .filter(({ siteId }) => !siteIds || (siteId !== null && siteIds.includes(siteId)))
    .map((key) => toCreatedKey(orgId, key));
}

const toCreatedKey = (
  organizationId: number,
  { id, name, prefix, lastUsedAt }: StoredApiKey,
): CreatedApiKey => ({ id, organizationId, name, prefix, lastUsedAt });

const findCreated = (orgId: number, userId: number): Promise<StoredApiKey[]> =>
  queryAll<StoredApiKey>(ranges.records(orgId, "APIKEY"), {
    filter: equals(["createdBy", "id"], userId),
    consistent: true,
  });

export async function removeForSite(caller: Pick<Caller, "orgId">, siteId: number): Promise<void> {
  const siteKeys = await queryAll<StoredApiKey>(ranges.records(caller.orgId, "APIKEY"), {
    filter: equals("siteId", siteId),
    consistent: true,
  });
  await inParallel(4, siteKeys, async ({ id, hash }) => {
    await transact(
      ...records.removeWrites("APIKEY", caller, { id, siteId, condition: { if: exists } }),
      removal(keys.apiKey(hash)),
    );
    forgetApiKey(hash);
  });
}
