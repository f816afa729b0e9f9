// Those who call the service in a bench: organizations with a sending config and a template, and what they send.
import { createHash, randomUUID } from "node:crypto";
import { inParallel } from "../../../shared/parallel.ts";
import type { Measured } from "./service.ts";

export interface Organization {
  orgId: number;
  siteId: number;
  configId: number;
  templateId: number;
  /** Throws Refusal unless the answer is a 2xx. */
  call<T>(method: string, path: string, body?: object | string, headers?: Record<string, string>): Promise<Answer<T>>;
}

export class Refusal extends Error {
  readonly status: number;
  constructor(what: string, status: number, text: string) {
    super(`${what} answered ${status}: ${text.slice(0, 300)}`);
    this.status = status;
  }
}

interface Answer<T> {
  data: T;
  headers: Headers;
  /** From asking to the last byte of the answer. */
  milliseconds: number;
}

// The provider whose API the mails of a bench are sent over.
const provider = "sendgrid";

const subject = "{{ firstName }}, your order {{ order.number }}";
// About what a shop sends: 6 kB of HTML, a loop, a condition, and values that differ for each recipient.
const html = `<!doctype html><html><body style="font-family:sans-serif"><h1>Thank you, {{ firstName | capitalize }}!</h1>
<p>Your order {{ order.number }} goes to {{ city }}.</p><table>{% for item in order.items %}<tr><td>{{ item.name }}</td><td>{{ item.price }}</td></tr>{% endfor %}</table>
{% if vip %}<p>Shipping is on us.</p>{% endif %}<p><a href="https://shop.example/orders/{{ order.number }}">See your order</a></p>
${'<p style="color:#333;line-height:1.5">We pack every parcel by hand, in paper from the mill next door, and bring it to the station by bicycle.</p>\n'.repeat(45)}
<p>{{ email }}</p></body></html>`;

export const inline = { subject, html };

type Scene = Pick<Measured, "url" | "sandbox">;

interface Choices {
  /** Events are proven by this one instead of by that of the sandbox. */
  webhookSecret?: string;
  /** The sandbox posts its events to us. */
  heard?: boolean;
}

/** Signs up, and adds a template and a sending config of the sandbox. */
export async function organization({ url, sandbox }: Scene, { webhookSecret, heard = false }: Choices = {}): Promise<Organization> {
  const signup = await call<{ organization: { id: number } }>(url, "POST", "/auth/signup", {
    email: `${randomUUID()}@example.com`,
    password: "a long password",
  });
  const session = { cookie: signup.headers.getSetCookie()[0]!.split(";")[0]! };
  const { key } = (await call<{ key: string }>(url, "POST", "/api-keys", { name: "bench" }, session)).data;
  const ask: Organization["call"] = (method, path, body, headers) =>
    call(url, method, path, body, { authorization: `Bearer ${key}`, ...headers });
  const make = async (path: string, body: object) => (await ask<{ id: number }>("POST", path, body)).data;
  const site = await make("/sites", { name: "Shop", companyName: "Shop Ltd", physicalAddress: "1 High Street, London" });
  const given = {
    name: "Bench",
    provider,
    fromEmail: "orders@shop.example",
    ...(await account(sandbox)),
    ...(webhookSecret && { webhookSecret }),
  };
  const config = await make("/sending-configs", given);
  if (heard) sandbox.observe({ method: "POST", path: "/api/v1/sending-configs", requestBody: given, responseBody: { data: config } });
  const template = await make("/templates", { name: "Order", subject, html });
  return { orgId: signup.data.organization.id, siteId: site.id, configId: config.id, templateId: template.id, call: ask };
}

/** So many of them, a few at a time: a password takes its time to be hashed. */
export const organizations = (service: Measured, n: number): Promise<Organization[]> =>
  inParallel(4, Array.from({ length: n }), () => organization(service));

interface Account {
  credentials: Record<string, string>;
  webhookSecret: string;
}

async function account(sandbox: Measured["sandbox"]): Promise<Account> {
  const request = { method: "GET", path: "/_local/sandbox", query: new URLSearchParams(), headers: {}, body: Buffer.alloc(0) };
  const answer = await sandbox.local(request);
  const { data } = JSON.parse(String(answer!.body)) as { data: { providers: Record<string, Account> } };
  const { credentials, webhookSecret } = data.providers[provider]!;
  return { credentials, webhookSecret };
}

/** One request of /api/v1. */
async function call<T = unknown>(
  url: string,
  method: string,
  path: string,
  body?: object | string,
  headers: Record<string, string> = {},
): Promise<Answer<T>> {
  const began = performance.now();
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  const milliseconds = performance.now() - began;
  if (!response.ok) throw new Refusal(`${method} ${path}`, response.status, text);
  return { data: (JSON.parse(text) as { data: T }).data, headers: response.headers, milliseconds };
}

const cities = ["Lisbon", "Osaka", "Tromsø", "Valparaíso", "Graz", "Leeds", "Accra", "Quito"];
const hashOf = (i: number) => createHash("sha256").update(String(i)).digest("hex");

/** Variables of recipient `i`: the same each time, and not much alike. */
export const variables = (i: number) => {
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

/** Never one twice, however many ask: suppressions and duplicates have nothing to say. */
export const address = (i: number): string => `reader${i}.${hashOf(i).slice(0, 6)}@mail${i % 40}.example`;
