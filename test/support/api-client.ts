// A client of the service over HTTP. Each test gets its own organization.
import { randomUUID } from "node:crypto";
import { inject } from "vitest";
import { type ErrorMeaning, errorMeanings } from "../../shared/error-codes.ts";
import type {} from "./setup/service.ts";
import { waitFor } from "./wait-for.ts";

export interface TestResponse<T> {
  status: number;
  headers: Headers;
  /** `Set-Cookie` headers. */
  cookies: string[];
  text: string;
  /** The parsed text, when it is JSON. */
  body: TestResponseBody<T>;
}

interface TestResponseBody<T> {
  data: T;
  warnings?: string[];
  error?: string;
  code?: string;
  docs?: string;
  requestId?: string;
  details?: { path: string; message: string }[];
  retryAfter?: number;
  limit?: number;
  resetAt?: number;
}

export interface TestRequestOptions {
  headers?: Record<string, string>;
  /** The body as it is sent, instead of JSON. */
  raw?: string | Uint8Array<ArrayBuffer>;
  /** URL of a service other than the shared one. */
  service?: string;
}

/** One request without credentials; `path` is relative to /api/v1. */
export async function request<T = unknown>(
  method: string,
  path: string,
  body?: unknown,
  options: TestRequestOptions = {},
): Promise<TestResponse<T>> {
  const { headers = {}, raw, service = inject("baseUrl") } = options;
  const response = await fetch(`${apiBaseUrl(service)}${path}`, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    body: raw ?? (body === undefined ? null : JSON.stringify(body)),
    redirect: "manual",
  });
  const text = await response.text();
  const json = response.headers.get("content-type")?.startsWith("application/json") && text !== "";
  const answered: TestResponseBody<T> = json ? JSON.parse(text) : {};
  // Each provider expects statuses of its own.
  if (!/^\/webhooks\/[a-z]/.test(path)) requireDocumentedCode(response.status, answered);
  return {
    status: response.status,
    headers: response.headers,
    cookies: response.headers.getSetCookie(),
    text,
    body: answered,
  };
}

/** Throws if an error has a code or status that the table of error codes does not have. */
function requireDocumentedCode(status: number, { code, docs }: TestResponseBody<unknown>): void {
  if (status < 400 || code === undefined) return;
  const meanings: Record<string, ErrorMeaning> = errorMeanings;
  if (!meanings[code]?.statuses.includes(status) || !docs?.endsWith(`/docs/errors#${code}`))
    throw new Error(`The error ${status} ${code} is not documented (${docs})`);
}

const apiBaseUrl = (service: string): string =>
  `${service.replace(/\/+$/, "").replace(/\/api\/v1$/, "")}/api/v1`;

/** The value to send back in a Cookie header. */
export const sessionCookie = ({ cookies }: TestResponse<unknown>): string =>
  cookies[0]?.split(";")[0] ?? "";

export interface TestCallOptions extends TestRequestOptions {
  /**
   * The credential of the request, by default the API key. `{ key }` is another API key, and
   * `{ cookie }` another session.
   */
  as?: "key" | "session" | "anonymous" | { key: string } | { cookie: string };
}

export interface TestClient {
  email: string;
  password: string;
  /** `__Host-session=...` */
  cookie: string;
  apiKey: string;
  userId: number;
  orgId: number;
  siteId: number;
  /** Makes a request with a credential of this organization. */
  call<T = unknown>(
    method: string,
    path: string,
    body?: unknown,
    options?: TestCallOptions,
  ): Promise<TestResponse<T>>;
  /** Creates an API key. Returns its text. */
  newKey(fields?: { siteId?: number; scopes?: string[] }): Promise<string>;
}

export const password = "a horse of one's own";
export const uniqueEmail = (): string => `user-${randomUUID()}@example.com`;

/** The setting OPERATORS of the services that the tests start. */
export const operatorEmail = "operator@example.com";

interface SignupResult {
  user: { id: number };
  organization: { id: number };
}

/** Creates an organization with one site, an API key for all sites, and a session of its user. */
export async function signedUp({
  service,
  email = uniqueEmail(),
}: Pick<TestRequestOptions, "service"> & { email?: string } = {}): Promise<TestClient> {
  const target = service === undefined ? {} : { service };
  const signup = expectStatus(
    201,
    await request<SignupResult>("POST", "/auth/signup", { email, password }, target),
  );
  const cookie = sessionCookie(signup);
  let apiKey = "";
  const credentialHeaders = (as: NonNullable<TestCallOptions["as"]>): Record<string, string> => {
    if (as === "anonymous") return {};
    if (as === "session") return { cookie };
    if (as === "key") return { authorization: `Bearer ${apiKey}` };
    return "key" in as ? { authorization: `Bearer ${as.key}` } : { cookie: as.cookie };
  };
  const call = <T>(
    method: string,
    path: string,
    body?: unknown,
    { as = "key", headers, ...options }: TestCallOptions = {},
  ) =>
    request<T>(method, path, body, {
      ...target,
      ...options,
      headers: { ...credentialHeaders(as), ...headers },
    });
  const newKey = async (fields = {}) => {
    const created = await call<{ key: string }>(
      "POST",
      "/api-keys",
      { name: "test", ...fields },
      { as: "session" },
    );
    return expectStatus(201, created).body.data.key;
  };
  apiKey = await newKey();
  const site = expectStatus(201, await call<{ id: number }>("POST", "/sites", { name: "Shop" }));
  const { user, organization } = signup.body.data;
  return {
    email,
    password,
    cookie,
    apiKey,
    userId: user.id,
    orgId: organization.id,
    siteId: site.body.data.id,
    call,
    newKey,
  };
}

/** Returns the response if it has this status, and throws otherwise. */
export function expectStatus<T>(status: number, answer: TestResponse<T>): TestResponse<T> {
  if (answer.status !== status)
    throw new Error(`Expected ${status}, got ${answer.status}: ${answer.text.slice(0, 500)}`);
  return answer;
}

export interface ReceivedMail {
  subject: string;
  text: string | null;
  html: string | null;
  headers: Record<string, string>;
}

/**
 * Waits for a mail to this address in the local inbox. Returns the newest one.
 */
export async function waitForMail(
  email: string,
  service = inject("baseUrl"),
): Promise<ReceivedMail> {
  const read = async <T>(path: string) =>
    ((await (await fetch(`${service}/_local/inbox${path}`)).json()) as { data: T }).data;
  return waitFor(async () => {
    const { mails } = await read<{ mails: { id: number; subject: string }[] }>(
      `?to=${encodeURIComponent(email)}`,
    );
    const [newest] = withoutNotices(mails);
    if (!newest) throw new Error(`No mail came for ${email}`);
    return read<ReceivedMail>(`/${newest.id}`);
  });
}

/** Leaves out security notices, such as that about the API key that every test client creates. */
export const withoutNotices = <Mail extends { subject: string }>(mails: Mail[]): Mail[] =>
  mails.filter(({ subject }) => !subject.startsWith("Security notice: "));

/**
 * Moves the clock of a local service to the start of its next minute, at which its rate limits
 * start again.
 */
export async function nextMinute(service: string): Promise<void> {
  const clock = `${service}/_local/clock`;
  const { data } = (await (await fetch(clock)).json()) as { data: { now: string } };
  const advanceSeconds = 60 - (Date.parse(data.now) % 60_000) / 1000;
  await fetch(clock, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ advanceSeconds }),
  });
}
