import * as z from "zod";
import type { Caller } from "../caller.ts";

/** Who may call: an API key or a session; a session only; anyone. */
export type Auth = "account" | "session" | "public";
/** What a call counts against: the organization's general or send window, the client address, nothing. */
export type Limit = "general" | "send" | "address" | "none";
/** Whether a site-bound API key may call: `site` where the records belong to sites (and are checked there). */
export type Level = "organization" | "site";
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export const basePath = "/api/v1";

type Names<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** `:id` and `:somethingId` are integers, every other path parameter is text. */
export type Params<Path> = { [N in Names<Path>]: N extends "id" | `${string}Id` ? number : string };

/** What a handler may need of the request beside its checked input. */
export interface Request {
  id: string;
  /** As asked for, with ids filled in. */
  path: string;
  /** As sent, without the question mark. */
  queryString: string;
  headers: Record<string, string | undefined>;
  cookies: Record<string, string>;
  rawBody: Buffer;
  /** Client address. */
  address: string;
}

/** What a handler may add to its answer. */
export interface Extra {
  headers: Record<string, string>;
  cookies: string[];
  warnings: string[];
  /** Instead of the route's own: 202 where it says `later`; where it says `type`, what the page has to tell. */
  status?: number;
  /** Instead of JSON: a page, for who asked with a browser. */
  page?: string;
  /** Instead of JSON: a text or bytes, for who asked for the other type that the route has. */
  other?: string | Uint8Array;
}

export type Identity = Omit<Caller, "plan">;

interface Input<Path, Q extends z.ZodType, B extends z.ZodType> {
  params: Params<Path>;
  query: z.output<Q>;
  body: z.output<B>;
  request: Request;
}

interface Spec<Path, A extends Auth, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType, P> {
  auth?: A;
  /** A page for people: at the root, outside of /api/v1. */
  atRoot?: true;
  limit?: Limit;
  level?: Level;
  query?: Q;
  body?: B;
  /** Also the whitelist: a field that is not named here never leaves. */
  returns?: R;
  /** 200 unless said otherwise. */
  status?: 200 | 201 | 202;
  /** Any web page may call it. */
  cors?: true;
  /** HEAD is answered 200: callers try the URL before they use it. */
  probed?: true;
  /** The body is not JSON, or not only: the handler reads `request.rawBody`. What is in it by content type, for the documentation. */
  raw?: Record<string, z.ZodType>;
  /** JSON is taken as `text/plain` too: a page may send that to any host without asking first. */
  beacon?: true;
  /** The answer is text or bytes of this content type, sent as it is. */
  type?: string;
  /** What it answers as JSON, in `data`, to who asks for that; the handler writes it. */
  json?: z.ZodType;
  /** The content type that it has too, for who asks for it; the handler then sets `reply.other`. */
  otherType?: string;
  /** What it answers, with 202, where the work is too long for one answer. */
  later?: z.ZodType;
  /** Statuses it can answer beside the usual ones, with the reason. */
  errors?: Record<number, string>;
  /** Fields shown once, left out when an answer is replayed for an Idempotency-Key. */
  once?: string[];
  /** Reads only: runs beside the rate-limit check, so that a hot path waits for neither. */
  prepare?(input: Input<Path, Q, B> & { caller: Identity }): Promise<P>;
  handle(
    input: Input<Path, Q, B> & { caller: A extends "public" ? undefined : Caller; prepared: P; reply: Extra },
  ): Promise<NoInfer<z.input<R>>>;
}

/** A route is data: the dispatcher, CDK, the OpenAPI document, the local runner and the tests all read it. */
export interface Route {
  method: Method;
  /** With the base path, if it is not a page at the root, in API Gateway's spelling: /api/v1/sites/{id} */
  path: string;
  /** API Gateway's route key: `GET /api/v1/sites/{id}` */
  key: string;
  /** `<group>:read` or `<group>:write`, which an API key must have unless it has `*`. */
  scope: string;
  summary: string;
  auth: Auth;
  limit: Limit;
  level: Level;
  status: number;
  query: z.ZodType | undefined;
  body: z.ZodType | undefined;
  returns: z.ZodType | undefined;
  cors: boolean;
  probed: boolean;
  raw: Record<string, z.ZodType> | undefined;
  beacon: boolean;
  type: string | undefined;
  json: z.ZodType | undefined;
  otherType: string | undefined;
  later: z.ZodType | undefined;
  errors: Record<number, string>;
  once: string[];
  prepare: ((input: object) => Promise<unknown>) | undefined;
  handle(input: object): Promise<unknown>;
}

export function route<
  Path extends `/${string}`,
  R extends z.ZodType = z.ZodNull,
  A extends Auth = "account",
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
  P = undefined,
>(signature: `${Method} ${Path}`, summary: string, spec: Spec<Path, A, Q, B, R, P>): Route {
  const [method, path] = signature.split(" ") as [Method, string];
  const auth = spec.auth ?? "account";
  const full = (spec.atRoot ? "" : basePath) + path.replace(/:(\w+)/g, "{$1}");
  return {
    method,
    path: full,
    key: `${method} ${full}`,
    scope: `${path.split("/")[1]}:${method === "GET" ? "read" : "write"}`,
    summary,
    auth,
    limit: spec.limit ?? (auth === "public" ? "none" : "general"),
    level: spec.level ?? "organization",
    status: spec.status ?? 200,
    query: spec.query,
    body: spec.body,
    returns: spec.returns,
    cors: spec.cors ?? false,
    probed: spec.probed ?? false,
    raw: spec.raw,
    beacon: spec.beacon ?? false,
    type: spec.type,
    json: spec.json,
    otherType: spec.otherType,
    later: spec.later,
    errors: spec.errors ?? {},
    once: spec.once ?? [],
    prepare: spec.prepare as Route["prepare"],
    handle: spec.handle as unknown as Route["handle"],
  };
}

/** `page` from 1, or `cursor` for any depth; see `Paged`. */
export const PageQuery = z.object({
  page: z.coerce.number().int().min(1).optional().describe("Page number from 1; works while page x limit is at most 10,000"),
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z.string().max(500).optional().describe("The nextCursor of the last page: the cheap way through any depth"),
});
export type PageQuery = z.output<typeof PageQuery>;

export const Pagination = z
  .object({
    page: z.int(),
    limit: z.int(),
    total: z.int().nullable().describe("null where nothing keeps count"),
    totalPages: z.int().nullable(),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: "Pagination" });

/** `{<plural>: [...], pagination}` */
export const paged = <Name extends string, T extends z.ZodType>(plural: Name, item: T) =>
  z.object({ [plural]: z.array(item), pagination: Pagination } as { [N in Name]: z.ZodArray<T> } & { pagination: typeof Pagination });

/** Answer of every DELETE. */
export const Deleted = z.object({ id: z.union([z.int(), z.string()]), deleted: z.literal(true) }).meta({ id: "Deleted" });
