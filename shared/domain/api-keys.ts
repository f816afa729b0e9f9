// API keys. The key itself is told once, on creation; its SHA-256 is the address under which a request finds it.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { equals, exists } from "../conditions.ts";
import { check, put, queryAll, remove as removal, write } from "../doors/table.ts";
import { oneLine } from "../email.ts";
import { missing } from "../errors.ts";
import { randomText } from "../ids.ts";
import { keys, ranges, sha256 } from "../keys.ts";
import type { PageRequest } from "../paging.ts";
import { inParallel } from "../parallel.ts";
import * as records from "./records.ts";

/** First segments of the paths that an API key may call; test/unit/scopes.test.ts compares them with the routes. */
export const scopeGroups =
  "analytics api-keys attachments auth billing campaigns compliance contacts dashboard domains events exports forms holidays imports lists org plans providers rate-limit reports scoring secure-messages segments send sender-check sending-configs sends sequences settings sites stock-photos suppressions tags template-folders templates validate webhooks".split(
    " ",
  );

const Scope = z
  .string()
  .max(100, { abort: true })
  .regex(/^(\*|[a-z]+(-[a-z]+)*:(read|write))$/, { error: "must be * or a group with :read or :write, such as contacts:read", abort: true })
  .refine((scope) => scope === "*" || scopeGroups.includes(scope.split(":")[0]!), {
    error: ({ input }) => `names a group that there is not: ${String(input).split(":")[0]}`,
  });

export const ApiKey = z
  .object({
    id: z.int(),
    name: z.string(),
    prefix: z.string().describe("The visible part of the key: pm_live_ and 8 characters"),
    siteId: z.int().nullable().describe("The only site the key may see"),
    scopes: z.array(z.string()),
    createdAt: z.string(),
    updatedAt: z.string(),
    lastUsedAt: z.string().nullable(),
  })
  .meta({ id: "ApiKey" });
export type ApiKey = z.output<typeof ApiKey>;

export const NewApiKey = z
  .object({
    name: oneLine(200).trim().min(1),
    siteId: z.int().positive().nullable().default(null).describe("Binds the key to one site"),
    scopes: z
      .array(Scope)
      .min(1)
      .max(100)
      .default(["*"])
      .describe(`\`*\`, or \`<group>:read\` and \`<group>:write\`; the group is a path's first segment: ${scopeGroups.join(", ")}`),
  })
  .meta({ examples: [{ name: "Shop server", scopes: ["send:write", "sends:read"] }] });
export type NewApiKey = z.output<typeof NewApiKey>;

type Stored = ApiKey & { hash: string };

/** 404 when `siteId` is no site of the organization. */
export async function create(caller: Caller, { name, siteId, scopes }: NewApiKey): Promise<ApiKey & { key: string }> {
  const prefix = `pm_live_${randomText(8)}`;
  const key = prefix + randomText(40);
  const record: Stored = { ...(await records.stamp("APIKEY")), name, prefix, siteId, scopes, lastUsedAt: null, hash: sha256(key) };
  const { orgId, userId } = caller;
  const access = put(keys.apiKey(record.hash), { orgId, userId, keyId: record.id, scopes, ...(siteId !== null && { siteId }) });
  const siteThere = siteId === null ? [] : [check(keys.record(orgId, "SITE", siteId), exists, missing("There is no such site"))];
  const stored = await records.insert("APIKEY", { orgId }, record, access, ...siteThere);
  // A request that died after this write is made again: nobody was told the first key, so another takes its place.
  if (stored.hash !== record.hash) {
    const changes = { hash: record.hash, prefix };
    await write(removal(keys.apiKey(stored.hash)), access, records.changing("APIKEY", caller, record.id, changes));
  }
  return { ...record, key };
}

export const list = (caller: Caller, request: PageRequest) => records.list<ApiKey>("APIKEY", caller, request);

/** Whoever uses the key gets 401 from now on. */
export async function remove(caller: Pick<Caller, "orgId">, id: number): Promise<void> {
  const { hash } = await records.find<Stored>("APIKEY", caller, id);
  await write(...records.removing("APIKEY", caller, id), removal(keys.apiKey(hash)));
}

export async function removeOfSite(caller: Pick<Caller, "orgId">, siteId: number): Promise<void> {
  const bound = await queryAll<Stored>(ranges.records(caller.orgId, "APIKEY"), { filter: equals("siteId", siteId), consistent: true });
  await inParallel(4, bound, ({ id }) => remove(caller, id));
}
