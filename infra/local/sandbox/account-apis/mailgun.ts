// Mailgun: webhooks of a domain, the signing key, domains. Bodies are forms.
import { ok, refuse } from "../request-reader.ts";
import type { SandboxAccount, SandboxCall, SandboxProvider, SandboxResponse } from "../types.ts";
import { dkimKey, hasRecords } from "./domains.ts";

const eventNames = new Set([
  "accepted",
  "clicked",
  "complained",
  "delivered",
  "opened",
  "permanent_fail",
  "temporary_fail",
  "unsubscribed",
]);
const maxUrls = 3;

interface Webhook {
  id: string;
  urls: string[];
}
interface Domain {
  name: string;
  state: string;
}

const refusal = (status: number, message: string): SandboxResponse => ({
  status,
  body: { message },
});

interface MailgunSettings {
  /** The domain that every account has. */
  sendingDomain: string;
  signingKey(account: SandboxAccount): string;
}

export function mailgunAccountRoutes(settings: MailgunSettings): SandboxProvider["routes"] {
  const { sendingDomain, signingKey } = settings;
  const findDomain = ({ resources }: SandboxCall, name: string): Domain =>
    resources.get<Domain>("domain", name) ??
    (name === sendingDomain
      ? { name, state: "active" }
      : refuse(refusal(404, `Domain not found: ${name}`)));
  const kindOf = (domain: string) => `webhook of ${domain}`;
  async function saveWebhook(call: SandboxCall, name: string, id: string) {
    const urls = (await readForm(call)).getAll("url").map(String);
    if (!eventNames.has(id)) return refusal(400, `Invalid webhook: ${id}`);
    if (!urls.length || urls.length > maxUrls || !urls.every((url) => URL.canParse(url)))
      return refusal(400, `1 to ${maxUrls} valid urls are required`);
    call.resources.put(kindOf(name), id, { id, urls });
    for (const url of urls) call.watch(url);
    return ok({ message: "Webhook has been created", webhook: { urls } });
  }
  return {
    "GET /v5/accounts/http_signing_key": ({ account }) =>
      ok({ message: "success", http_signing_key: signingKey(account) }),
    "GET /v3/domains/:domain/webhooks"(call) {
      const { name } = findDomain(call, call.params[0]!);
      const webhooks = call.resources.list<Webhook>(kindOf(name));
      return ok({ webhooks: Object.fromEntries(webhooks.map(({ id, urls }) => [id, { urls }])) });
    },
    async "POST /v3/domains/:domain/webhooks"(call) {
      const { name } = findDomain(call, call.params[0]!);
      const id = String((await readForm(call)).get("id"));
      if (call.resources.get(kindOf(name), id)) return refusal(400, "Webhook already exists");
      return saveWebhook(call, name, id);
    },
    "PUT /v3/domains/:domain/webhooks/:id"(call) {
      const { name } = findDomain(call, call.params[0]!);
      return saveWebhook(call, name, call.params[1]!);
    },
    "GET /v4/domains/:domain": (call) => ok(describe(call, findDomain(call, call.params[0]!))),
    async "POST /v4/domains"(call) {
      const name = String((await readForm(call)).get("name") ?? "");
      if (!name.includes(".")) return refusal(400, "name is not valid");
      const domain = { name, state: "unverified" };
      call.resources.put("domain", name, domain);
      return ok({ message: "Domain has been created", ...describe(call, domain) });
    },
    "PUT /v4/domains/:domain/verify"(call) {
      const domain = findDomain(call, call.params[0]!);
      const state = hasRecords(domain.name) ? "active" : "unverified";
      call.resources.put("domain", domain.name, { ...domain, state });
      return ok(describe(call, { ...domain, state }));
    },
  };
}

const readForm = ({ request }: SandboxCall): Promise<FormData> =>
  new Response(new Uint8Array(request.body), {
    headers: { "content-type": request.headers["content-type"] ?? "" },
  })
    .formData()
    .catch(() => refuse(refusal(400, "Request body is not a form")));

function describe({ account }: SandboxCall, { name, state }: Domain) {
  const valid = state === "active" ? "valid" : "unknown";
  return {
    domain: { name, state, type: "custom", is_disabled: false },
    receiving_dns_records: [],
    sending_dns_records: [
      {
        ...{ record_type: "TXT", name, valid },
        value: "v=spf1 include:mailgun.org ~all",
      },
      {
        ...{ record_type: "TXT", name: `mx._domainkey.${name}`, valid },
        value: `k=rsa; p=${dkimKey(account)}`,
      },
      { ...{ record_type: "CNAME", name: `email.${name}`, valid }, value: "mailgun.org" },
    ],
  };
}
