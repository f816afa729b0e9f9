// Creates the organizations of a bench, each with a sending config and a template, and their mails.
import { createHash, randomUUID } from "node:crypto";
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { inParallel } from "../../../shared/kernel/parallel.ts";
import type { MeasuredService } from "./measured-service.ts";

export interface BenchOrganization {
  orgId: number;
  siteId: number;
  configId: number;
  templateId: number;
  /** Throws ApiRefusal unless the status is 2xx. */
  request<T>(request: ApiRequest): Promise<TimedResponse<T>>;
  /** A request without headers of its own. */
  call<T>(method: string, path: string, body?: ApiRequest["body"]): Promise<TimedResponse<T>>;
  /** Posts the body and returns the id of the created record. */
  create(path: string, body: object): Promise<number>;
}

export interface BenchScene {
  service: MeasuredService;
  caller: BenchOrganization;
}

export class ApiRefusal extends Error {
  readonly status: number;
  constructor(what: string, status: number, body: string) {
    super(`${what} failed with status ${status}: ${body.slice(0, 300)}`);
    this.status = status;
  }
}

interface TimedResponse<T> {
  data: T;
  headers: IncomingHttpHeaders;
  /** From the request to the last byte of the response. */
  milliseconds: number;
}

/** Password of every owner. */
const benchPassword = "a long password";
const provider = "sendgrid";

const subject = "{{ firstName }}, your order {{ order.number }}";
// A typical order mail: 6 kB of HTML with a loop, a condition and values for each recipient.
const paragraph =
  '<p style="color:#333;line-height:1.5">We pack every parcel by hand, in paper from the mill ' +
  "next door, and bring it to the station by bicycle.</p>\n";

const html = `<!doctype html><html><body style="font-family:sans-serif">
<h1>Thank you, {{ firstName | capitalize }}!</h1>
<p>Your order {{ order.number }} goes to {{ city }}.</p><table>{% for item in order.items %}
<tr><td>{{ item.name }}</td><td>{{ item.price }}</td></tr>{% endfor %}</table>
{% if vip %}<p>Shipping is on us.</p>{% endif %}
<p><a href="https://shop.example/orders/{{ order.number }}">See your order</a></p>
${paragraph.repeat(45)}
<p>{{ email }}</p></body></html>`;

export const inlineContent = { subject, html };

type BenchTarget = Pick<MeasuredService, "url" | "sandbox">;

interface OrganizationOptions {
  /** Verifies provider events instead of the sandbox's secret. */
  webhookSecret?: string;
  /** The sandbox posts its events to the service. */
  receivesEvents?: boolean;
}

/** Signs up, and adds a site, a template and a sending config of the sandbox. */
export async function createOrganization(
  { url, sandbox }: BenchTarget,
  { webhookSecret, receivesEvents = false }: OrganizationOptions = {},
): Promise<BenchOrganization> {
  const signup = await callApi<{ organization: { id: number } }>(url, {
    method: "POST",
    path: "/auth/signup",
    body: { email: `${randomUUID()}@example.com`, password: benchPassword },
  });
  const apiKey = await callApi<{ key: string }>(url, {
    method: "POST",
    path: "/api-keys",
    body: { name: "bench" },
    headers: { cookie: signup.headers["set-cookie"]![0]!.split(";")[0]! },
  });
  const authorization = `Bearer ${apiKey.data.key}`;
  const requestAs: BenchOrganization["request"] = (apiRequest) =>
    callApi(url, { ...apiRequest, headers: { authorization, ...apiRequest.headers } });
  const call: BenchOrganization["call"] = (method, path, body) => requestAs({ method, path, body });
  const create = async (path: string, body: object) =>
    (await call<{ id: number }>("POST", path, body)).data.id;
  const siteId = await create("/sites", {
    name: "Shop",
    companyName: "Shop Ltd",
    physicalAddress: "1 High Street, London",
  });
  const configFields = {
    name: "Bench",
    provider,
    fromEmail: "orders@shop.example",
    ...(await fetchCredentials(sandbox)),
    ...(webhookSecret && { webhookSecret }),
  };
  const config = await call<{ id: number }>("POST", "/sending-configs", configFields);
  if (receivesEvents)
    sandbox.observeApiCall({
      method: "POST",
      path: "/api/v1/sending-configs",
      requestBody: configFields,
      responseBody: { data: config.data },
    });
  return {
    orgId: signup.data.organization.id,
    siteId,
    configId: config.data.id,
    templateId: await create("/templates", { name: "Order", subject, html }),
    request: requestAs,
    call,
    create,
  };
}

/** Creates a few at a time, because hashing a password takes CPU. */
export const createOrganizations = (
  service: MeasuredService,
  n: number,
): Promise<BenchOrganization[]> =>
  inParallel(4, Array.from({ length: n }), () => createOrganization(service));

interface ConfigCredentials {
  credentials: Record<string, string>;
  webhookSecret: string;
}

async function fetchCredentials(sandbox: MeasuredService["sandbox"]): Promise<ConfigCredentials> {
  const request = {
    method: "GET",
    path: "/_local/sandbox",
    query: new URLSearchParams(),
    headers: {},
    body: Buffer.alloc(0),
  };
  const answer = await sandbox.handleLocalRequest(request);
  const { data } = JSON.parse(String(answer!.body)) as {
    data: { providers: Record<string, ConfigCredentials> };
  };
  const { credentials, webhookSecret } = data.providers[provider]!;
  return { credentials, webhookSecret };
}

interface ApiRequest {
  method: string;
  /** Below /api/v1. */
  path: string;
  /** A string is sent as it is, an object as JSON. */
  body?: object | string | undefined;
  headers?: Record<string, string>;
}

// Node's own client takes a third of the CPU time of fetch. The callers share the cores with the
// service.
const agent = new Agent({ keepAlive: true });

async function callApi<T>(
  url: string,
  { method, path, body, headers }: ApiRequest,
): Promise<TimedResponse<T>> {
  const startedAt = performance.now();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request(`${url}/api/v1${path}`, {
      method,
      headers: { "content-type": "application/json", ...headers },
      agent,
    });
    outgoing.on("response", resolve).on("error", reject);
    outgoing.end(typeof body === "object" ? JSON.stringify(body) : body);
  });
  const answer = await text(response);
  const milliseconds = performance.now() - startedAt;
  const status = response.statusCode!;
  if (status >= 300) throw new ApiRefusal(`${method} ${path}`, status, answer);
  const { data } = JSON.parse(answer) as { data: T };
  return { data, headers: response.headers, milliseconds };
}

const cities = ["Lisbon", "Osaka", "Tromsø", "Valparaíso", "Graz", "Leeds", "Accra", "Quito"];
const hashOf = (i: number) => createHash("sha256").update(String(i)).digest("hex");

/** The variables of recipient `i`, the same each time and different for each recipient. */
export const variablesFor = (i: number) => {
  const hash = hashOf(i);
  const items = Array.from({ length: 1 + (i % 3) }, (_, n) => ({
    name: `Part ${hash.slice(n * 6, n * 6 + 6)}`,
    price: `${(i * 37 + n * 101) % 9000} €`,
  }));
  return {
    firstName: `ada${hash.slice(0, 5)}`,
    city: cities[i % cities.length],
    vip: i % 10 === 0,
    order: { number: hash.slice(0, 10), items },
  };
};

/** A different address for each `i`, so that neither suppressions nor duplicates matter. */
export const uniqueAddress = (i: number): string =>
  `reader${i}.${hashOf(i).slice(0, 6)}@mail${i % 40}.example`;
