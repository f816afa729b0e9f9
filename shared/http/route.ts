import * as z from "zod";
import type { Caller } from "../caller.ts";
import { digits } from "../kernel/digits.ts";
import { Count, RecordId } from "../kernel/record-fields.ts";
import { groupRights, type Right } from "../rights.ts";
import type { WireFormat } from "./compat/wire-format.ts";

/**
 * `account` routes need an API key with their scope, or a session; `session` routes need a session,
 * and `api_key` routes an API key, with any scopes. `public` routes need no credential.
 */
export type RouteAuth = "account" | "session" | "api_key" | "public";
/**
 * Which window counts the call: the general or send window of the organization, that of the client
 * address, or none.
 */
export type RateLimit = "general" | "send" | "address" | "none";
/**
 * How calls are recorded in the audit log. `each`: one entry per call. `counted`: calls by API keys
 * have one entry per key and minute. `none`: not at all.
 */
export type RouteAudit = "each" | "counted" | "none";
/**
 * `organization`: callers that are limited to sites are refused. `site`: the handler checks it.
 * `site_members`: the handler checks it for members; API keys that are bound to a site are refused.
 */
export type AccessLevel = "organization" | "site" | "site_members";
export type RouteMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export const basePath = "/api/v1";

type PathParamNames<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** `:id` and `:somethingId` are integers. Every other path parameter is text. */
export type PathParams<Path> = {
  [N in PathParamNames<Path>]: N extends "id" | `${string}Id` ? number : string;
};

/** The parts of the request that a handler may need in addition to its validated input. */
export interface ApiRequest {
  id: string;
  /** As sent: HEAD, too, which the route of GET handles. */
  method: string;
  /** Path of the request, with the ids in it. */
  path: string;
  /** The query as sent, without the question mark. */
  queryString: string;
  headers: Record<string, string | undefined>;
  cookies: Record<string, string>;
  rawBody: Buffer;
  /** The IP address of the client. */
  clientIp: string;
}

/** A handler can set the status and headers of its response here. */
export interface ApiReply {
  headers: Record<string, string>;
  cookies: string[];
  warnings: string[];
  /**
   * Replaces the status of the route: 202 with `deferredReturns`, any status of a page, or one of
   * `otherStatuses`.
   */
  status?: number;
  /**
   * Makes a cursor for this list, filters and caller. The edge itself seals `pagination.nextCursor`
   * and `nextCursor` of JSON responses.
   */
  sealCursor(position: string): string;
  /** Sends this page instead of JSON, for requests by a browser. */
  htmlPage?: string;
  /**
   * Sends this text or these bytes instead of JSON, if the request asks for the alternative content
   * type.
   */
  alternativeBody?: string | Uint8Array;
}

export type Identity = Omit<Caller, "plan">;

interface HandlerInput<Path, Q extends z.ZodType, B extends z.ZodType> {
  params: PathParams<Path>;
  query: z.output<Q>;
  body: z.output<B>;
  request: ApiRequest;
}

interface RouteOptions<
  Path,
  A extends RouteAuth,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
> {
  auth?: A;
  /**
   * Verb and noun, unique. Needed only if operation-names.ts makes a bad one of method and path.
   */
  operationId?: string;
  /**
   * Describes the result, limits, side effects, and whether it is safe to repeat. The document adds
   * authentication and rate limit.
   */
  description?: string;
  /** Serves a page at the root instead of under /api/v1. */
  atRoot?: true;
  rateLimit?: RateLimit;
  level?: AccessLevel;
  /** The first part of the scope. Default: the first path segment. */
  scopeGroup?: string;
  /** The right that the caller needs. Default: that of the scope group, see rights.ts. */
  right?: Right;
  /**
   * Refused until the address of the sign-up is verified. Default: routes with a right to send or
   * to invite. Also set for what would outlive a take-over by the owner of the address.
   */
  needsVerifiedEmail?: true;
  query?: Q;
  body?: B;
  /** Also the whitelist: fields that are not named here are never returned. */
  returns?: R;
  /** Defaults to 200. */
  status?: 200 | 201 | 202;
  /** Allows calls from any web page. */
  cors?: true;
  /** Answers HEAD with 200: some providers try a URL before they use it. */
  answersHead?: true;
  /**
   * The handler checks a signature of the body or a secret, so the body may have up to this size
   * without a credential.
   */
  maxSignedBytes?: number;
  /** Schemas by content type, for the document. The handler reads `request.rawBody` itself. */
  rawBodyTypes?: Record<string, z.ZodType>;
  /**
   * Also accepts JSON as `text/plain`, which a page may send to any host without a preflight
   * request.
   */
  acceptsTextPlain?: true;
  /** Also accepts an API key as the user name of Basic authentication. */
  takesBasicAuth?: true;
  /** Speaks the API of another service: the result is the body, and errors look like its own. */
  wireFormat?: WireFormat;
  /** Content type of a response that is sent as text or bytes instead of JSON. */
  contentType?: string;
  /** Schema of `data` if the request asks for JSON; the handler writes it. */
  jsonAlternative?: z.ZodType;
  /**
   * A second content type; for requests that ask for it, the handler sets `reply.alternativeBody`.
   */
  alternativeContentType?: string;
  /**
   * The alternative content is an export of personal data: it needs this right, too, and each has
   * an entry in the audit log. The query asks for it with a `format` other than `json`.
   */
  exportRight?: Right;
  /**
   * Schemas of further content types of the response. The handler sets `reply.htmlPage` or the
   * header `content-type`.
   */
  otherContent?: Record<string, z.ZodType>;
  /** Schema of the 202 response if the work takes too long for one request. */
  deferredReturns?: z.ZodType;
  /**
   * Further statuses with the same body and their descriptions; the handler sets `reply.status`.
   */
  otherStatuses?: Record<number, string>;
  /** Descriptions of error statuses that the common ones do not cover. */
  errors?: Record<number, string>;
  /**
   * Changes nothing, so responses are not stored for an Idempotency-Key. A function if that depends
   * on the body.
   */
  preview?: true | ((body: z.output<B>) => boolean);
  /** Fields that are left out when a response is repeated for an Idempotency-Key. */
  fieldsShownOnce?: string[];
  /**
   * Default: `none` for GET and public routes, otherwise `each`. Logins and other events of
   * accounts are always recorded, see account-events.ts.
   */
  audit?: RouteAudit;
  /**
   * Fields of the body whose values the audit log shows, before and after. Never secrets. Of all
   * other fields it has the names.
   */
  auditedValues?: string[];
  /**
   * Starts the reads of the handler while the request is admitted. It changes nothing, and it must
   * not fail: the handler reports what is wrong.
   */
  prefetch?(input: { identity: Identity; body: z.output<B> }): void;
  handle(
    input: HandlerInput<Path, Q, B> & {
      caller: A extends "public" ? undefined : Caller;
      reply: ApiReply;
    },
  ): Promise<NoInfer<z.input<R>>>;
}

/**
 * A route as data. The dispatcher, CDK, the OpenAPI document, the local runner and the tests read
 * it.
 */
export interface Route {
  method: RouteMethod;
  /** Whole path in API Gateway's notation: /api/v1/sites/{id} */
  path: string;
  /** API Gateway's route key: `GET /api/v1/sites/{id}` */
  key: string;
  /** `<group>:read` or `<group>:write`. The caller needs this scope, the right or `*`. */
  scope: string;
  right: Right | undefined;
  needsVerifiedEmail: boolean;
  operationId: string | undefined;
  summary: string;
  description: string | undefined;
  auth: RouteAuth;
  rateLimit: RateLimit;
  level: AccessLevel;
  status: number;
  query: z.ZodType | undefined;
  body: z.ZodType | undefined;
  returns: z.ZodType | undefined;
  cors: boolean;
  answersHead: boolean;
  maxSignedBytes: number | undefined;
  rawBodyTypes: Record<string, z.ZodType> | undefined;
  acceptsTextPlain: boolean;
  takesBasicAuth: boolean;
  wireFormat: WireFormat | undefined;
  contentType: string | undefined;
  jsonAlternative: z.ZodType | undefined;
  alternativeContentType: string | undefined;
  exportRight: Right | undefined;
  otherContent: Record<string, z.ZodType>;
  deferredReturns: z.ZodType | undefined;
  otherStatuses: Record<number, string>;
  errors: Record<number, string>;
  preview: boolean | ((body: unknown) => boolean);
  fieldsShownOnce: string[];
  audit: RouteAudit;
  auditedValues: string[];
  prefetch: ((input: { identity: Identity; body: unknown }) => void) | undefined;
  handle(input: object): Promise<unknown>;
}

/** With these, an organization mails strangers. */
const rightsToMail: (Right | undefined)[] = ["sending:write", "marketing:write", "team:write"];

export function route<
  Path extends `/${string}`,
  R extends z.ZodType = z.ZodNull,
  A extends RouteAuth = "account",
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
>(
  signature: `${RouteMethod} ${Path}`,
  summary: string,
  spec: RouteOptions<Path, A, Q, B, R>,
): Route {
  const [method, path] = signature.split(" ") as [RouteMethod, string];
  const auth = spec.auth ?? "account";
  const group = spec.scopeGroup ?? path.split("/")[1] ?? "";
  const action = method === "GET" ? "read" : "write";
  const right = spec.right ?? groupRights[group]?.[action][0];
  const fullPath = (spec.atRoot ? "" : basePath) + path.replace(/:(\w+)/g, "{$1}");
  return {
    method,
    path: fullPath,
    key: `${method} ${fullPath}`,
    scope: `${group}:${action}`,
    right,
    needsVerifiedEmail: spec.needsVerifiedEmail ?? rightsToMail.includes(right),
    operationId: spec.operationId,
    summary,
    description: spec.description,
    auth,
    rateLimit: spec.rateLimit ?? (auth === "public" ? "none" : "general"),
    level: spec.level ?? "organization",
    status: spec.status ?? 200,
    query: spec.query,
    body: spec.body,
    returns: spec.returns,
    cors: spec.cors ?? false,
    answersHead: spec.answersHead ?? false,
    maxSignedBytes: spec.maxSignedBytes,
    rawBodyTypes: spec.rawBodyTypes,
    acceptsTextPlain: spec.acceptsTextPlain ?? false,
    takesBasicAuth: spec.takesBasicAuth ?? false,
    wireFormat: spec.wireFormat,
    contentType: spec.contentType,
    jsonAlternative: spec.jsonAlternative,
    alternativeContentType: spec.alternativeContentType,
    exportRight: spec.exportRight,
    otherContent: spec.otherContent ?? {},
    deferredReturns: spec.deferredReturns,
    otherStatuses: spec.otherStatuses ?? {},
    errors: spec.errors ?? {},
    preview: (spec.preview as Route["preview"] | undefined) ?? false,
    fieldsShownOnce: spec.fieldsShownOnce ?? [],
    audit: spec.audit ?? (method === "GET" || auth === "public" ? "none" : "each"),
    auditedValues: spec.auditedValues ?? [],
    prefetch: spec.prefetch as Route["prefetch"],
    handle: spec.handle as unknown as Route["handle"],
  };
}

/** Whether the request asks for the export of a route with `exportRight`. */
export const asksForExport = ({ exportRight }: Route, query: unknown): boolean =>
  exportRight !== undefined && (query as { format?: string }).format !== "json";

/** Only the edge reads and makes cursors (cursors.ts): handlers use plain positions. */
export const Cursor = z
  .string()
  .max(500)
  .optional()
  .describe("`nextCursor` of the previous page. Works at any depth, and reads less than `page`.");

export const PageQuery = z.object({
  page: digits(z.int().min(1))
    .optional()
    .describe(
      "Page number, from 1. Works while `page` x `limit` is at most 10,000; beyond that, use " +
        "`cursor`.",
    ),
  limit: digits(z.int().min(1).max(100)).default(50).describe("Number of items per page."),
  cursor: Cursor,
});
export type PageQuery = z.output<typeof PageQuery>;

/** For lists of records that people choose by name. */
export const NameSearch = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe("Part of the name, ignoring case and accents.")
  .meta({ examples: ["news"] });

export const Pagination = z
  .object({
    page: RecordId.describe("Number of this page, from 1."),
    limit: RecordId.describe("Largest number of items per page."),
    total: Count.nullable().describe(
      "Number of items on all pages. `null` if no exact count is kept for these filters.",
    ),
    totalPages: Count.nullable().describe("Number of pages. `null` if `total` is `null`."),
    nextCursor: z
      .string()
      .nullable()
      .describe("Pass it as `cursor` to get the next page. `null` on the last page."),
  })
  .describe("Where the page is in the list, and how to get the next one.")
  .meta({ id: "Pagination" });

/** `{<plural>: [...], pagination}` */
export const pagedSchema = <Name extends string, T extends z.ZodType>(plural: Name, item: T) =>
  z.object({ [plural]: z.array(item).describe("Items of this page."), pagination: Pagination } as {
    [N in Name]: z.ZodArray<T>;
  } & {
    pagination: typeof Pagination;
  });

/** Query of a DELETE whose record other records may use. */
export const IfUnused = z.object({
  ifUnused: z
    .enum(["true", "false"])
    .default("false")
    .describe("`true`: deletes it only if nothing uses it."),
});
export type IfUnused = z.output<typeof IfUnused>;
export const inUse =
  "With `ifUnused=true`, something uses it (`in_use`): `details` names up to 20 users.";
/** Describes such a DELETE. */
export const deletesUsed =
  "Also deletes it while something uses it, and `warnings` of the response names up to 20 users: " +
  "an active sequence pauses with a reason, a scheduled campaign becomes a draft again, and all " +
  "of them show in `missing` what they lost.";

export const MailedToken = z
  .object({ token: z.string().min(1).max(200).describe("Token of the mailed link.") })
  .meta({ id: "MailedToken", examples: [{ token: "V2hhdCB0aGUgbWFpbCBsaW5rcyB0bw" }] });

/** The response of every DELETE. */
export const Deleted = z
  .object({
    id: z
      .union([z.int(), z.string()])
      .describe("Id of the deleted record. For a suppression, its email address."),
    deleted: z.literal(true).describe("Always true."),
  })
  .meta({ id: "Deleted" });

/** The response to a webhook of another service. */
export const ReceivedWebhook = z
  .object({ received: z.literal(true).describe("Always true: the events are stored.") })
  .meta({ id: "ReceivedWebhook" });
