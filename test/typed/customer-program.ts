// A customer's program whose types are generated from the OpenAPI document.
// test/http/typed-client.test.ts compiles and runs it. No other tool of the project reads it.
import { setTimeout as sleep } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/api.ts";

type Send = components["schemas"]["SendDetail"];
type Campaign = components["schemas"]["CampaignDetail"];

export interface CustomerResults {
  send: Send;
  events: components["schemas"]["EmailEvent"][];
  campaign: Campaign;
  refusal: components["schemas"]["Problem"];
}

interface Given {
  baseUrl: string;
  email: string;
  recipient: string;
  credentials: Record<string, string>;
  webhookSecret: string;
}

/** Signs up, sends a mail, waits for its delivery, and sends a campaign. */
export async function travel({
  baseUrl,
  email,
  recipient,
  credentials,
  webhookSecret,
}: Given): Promise<CustomerResults> {
  const headers = { authorization: `Bearer ${await signUp(baseUrl, email)}` };
  const api = createClient<paths>({ baseUrl, headers });

  const site = good(
    await api.POST("/api/v1/sites", { body: { name: "My shop", domain: "shop.example" } }),
  );
  const config = good(
    await api.POST("/api/v1/sending-configs", {
      body: {
        provider: "postmark",
        fromEmail: "hello@shop.example",
        fromName: "My shop",
        credentials,
        webhookSecret,
      },
    }),
  );
  const template = good(
    await api.POST("/api/v1/templates", {
      body: {
        siteId: site.id,
        name: "Hello",
        subject: "Hello {{ firstName }}",
        html: "<p>Hello</p>",
      },
    }),
  );
  const list = good(
    await api.POST("/api/v1/lists", { body: { siteId: site.id, name: "Newsletter" } }),
  );
  const contact = good(
    await api.POST("/api/v1/contacts", {
      body: { siteId: site.id, email: recipient, firstName: "Ann", customFields: { plan: "pro" } },
    }),
  );
  const added = good(
    await api.POST("/api/v1/lists/{id}/contacts", {
      params: { path: { id: list.id } },
      body: { contactIds: [contact.id] },
    }),
  );
  if (added.added !== 1) throw new Error("The contact is not on the list");

  const accepted = good(
    await api.POST("/api/v1/send", {
      params: { header: { "Idempotency-Key": "order-1042" } },
      body: {
        to: recipient,
        sendingConfigId: config.id,
        templateId: template.id,
        variables: { firstName: "Ann" },
      },
    }),
  );
  const send = await arrived(async () => {
    const found = good(
      await api.GET("/api/v1/sends/{id}", { params: { path: { id: accepted.id } } }),
    );
    return found.status === "delivered" && found;
  });
  const { events } = good(
    await api.GET("/api/v1/events", {
      params: { query: { siteId: site.id, type: "delivered", limit: 10 } },
    }),
  );

  const draft = good(
    await api.POST("/api/v1/campaigns", {
      body: {
        siteId: site.id,
        name: "Spring sale",
        templateId: template.id,
        listId: list.id,
        sendingConfigId: config.id,
      },
    }),
  );
  good(
    await api.PUT("/api/v1/compliance", {
      body: { physicalAddress: "1 High Street\nLondon", enabled: true },
    }),
  );
  const at = { params: { path: { id: draft.id } } };
  good(await api.POST("/api/v1/campaigns/{id}/send", at));
  const campaign = await arrived(async () => {
    const found = good(await api.GET("/api/v1/campaigns/{id}", at));
    return found.status === "sent" && found.stats.delivered === 1 && found;
  });

  const { error: refusal } = await api.GET("/api/v1/campaigns/{id}", {
    params: { path: { id: draft.id + 1_000_000 } },
  });
  if (!refusal) throw new Error("A campaign that is not there was found");
  return { send, events, campaign, refusal };
}

/** Signs up and creates an API key. Returns its text. */
async function signUp(baseUrl: string, email: string): Promise<string> {
  const anybody = createClient<paths>({ baseUrl });
  const signup = await anybody.POST("/api/v1/auth/signup", {
    body: { email, password: "a horse of one's own" },
  });
  const cookie = signup.response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const me = createClient<paths>({ baseUrl, headers: { cookie } });
  const profile = good(await me.GET("/api/v1/auth/me"));
  if (profile.user.email !== email) throw new Error("Another one is asking");
  const { key } = good(
    await me.POST("/api/v1/api-keys", { body: { name: "Typed", scopes: ["*"] } }),
  );
  if (key === undefined) throw new Error("A repeated request does not show the key");
  return key;
}

/** Returns `data` of a successful response, with its type. */
function good<T>({
  data,
  error,
  response,
}: {
  data?: { data: T };
  error?: unknown;
  response: Response;
}): T {
  if (data === undefined)
    throw new Error(`${response.status} ${response.url}: ${JSON.stringify(error)}`);
  return data.data;
}

async function arrived<T>(look: () => Promise<T | false>): Promise<T> {
  // The program polls rarely, because the free plan has 100 requests per minute.
  for (let waited = 0; waited < 20_000; waited += 500) {
    const found = await look();
    if (found) return found;
    await sleep(500);
  }
  throw new Error("It did not come within 20 s");
}

type Body<Path extends keyof paths> = paths[Path] extends {
  post: { requestBody: { content: { "application/json": infer Given } } };
}
  ? Given
  : never;
type Query = NonNullable<NonNullable<paths["/api/v1/events"]["get"]["parameters"]>["query"]>;
type Refuses<Wanted, Given> = [Wanted] extends [never]
  ? never
  : Given extends Wanted
    ? never
    : true;
type Takes<Wanted, Given> = Given extends Wanted ? true : never;

/** Bodies that must be refused. If the types accept one, this does not compile. */
export const refused: [
  Refuses<Body<"/api/v1/templates">, { subject: string }>,
  Refuses<Body<"/api/v1/send">, { to: number }>,
  Refuses<Query, { type: "opened" }>,
  Refuses<paths["/api/v1/sends/{id}"]["get"]["parameters"]["path"], { id: string }>,
  Refuses<string, Send["sentAt"]>,
  Refuses<keyof Send, "colour">,
  Refuses<keyof paths, "/api/v1/nothing">,
] = [true, true, true, true, true, true, true];

/** Bodies that must be accepted. Otherwise the checks above would prove nothing. */
export const accepted: [
  Takes<Body<"/api/v1/templates">, { name: string; subject: string; html: string }>,
  Takes<Body<"/api/v1/send">, { to: string; subject: string; html: string }>,
  Takes<Query, { type: "open" }>,
] = [true, true, true];
