// Creates one record of each kind through the routes. A new kind of record needs a function here.
import { groups } from "../../functions/route-groups.ts";
import * as objects from "../../shared/adapters/s3/objects.ts";
import * as clock from "../../shared/clock.ts";
import { storeRequest } from "../../shared/domain/inbound/store-inbound.ts";
import type { RouteGroup } from "../../shared/http/dispatch.ts";
import { shortPath } from "../../shared/http/operation-id.ts";
import type { Route } from "../../shared/http/route.ts";
import { writeMime } from "./inbound-mail.ts";
import { invokeRoute, type LambdaRequest } from "./lambda-requests.ts";
import { tinyPicture } from "./tiny-picture.ts";

export type RouteSignature = `${string} /${string}`;
export interface RouteEntry {
  group: RouteGroup;
  route: Route;
  signature: RouteSignature;
}

/** The whole route table. */
export const routeTable: RouteEntry[] = groups.flatMap((group) =>
  group.routes.map((route) => {
    const path = shortPath(route.path).replace(/{(\w+)}/g, ":$1");
    return { group, route, signature: `${route.method} ${path}` as RouteSignature };
  }),
);

export const findRoute = (signature: RouteSignature): RouteEntry => {
  const found = routeTable.find((entry) => entry.signature === signature);
  if (!found) throw new Error(`There is no route ${signature}`);
  return found;
};

/** Ids by kind, which is the first segment of the path. */
export type IdsByKind = Record<string, number>;

const recordMakers: Record<
  string,
  { signature: RouteSignature; body(made: IdsByKind): object; of?: string }
> = {
  sites: { signature: "POST /sites", body: () => ({ name: "Shop" }) },
  "api-keys": { signature: "POST /api-keys", body: () => ({ name: "CI" }) },
  invitations: {
    signature: "POST /invitations",
    body: () => ({ email: `${crypto.randomUUID()}@example.net`, role: "viewer" }),
  },
  "template-folders": { signature: "POST /template-folders", body: () => ({ name: "Folder" }) },
  contacts: { signature: "POST /contacts", body: () => ({ email: "ann@example.net" }) },
  lists: { signature: "POST /lists", body: () => ({ name: "News" }) },
  tags: { signature: "POST /tags", body: () => ({ name: "vip" }) },
  topics: { signature: "POST /topics", body: () => ({ name: "Product news" }) },
  segments: {
    signature: "POST /segments",
    body: () => ({ name: "All", rules: { match: "all", conditions: [] } }),
  },
  "contact-actions": {
    signature: "POST /contact-actions",
    body: () => ({ filter: {}, action: "add_tag", tag: "vip" }),
  },
  imports: { signature: "POST /imports/upload", body: () => Buffer.from("email\nann@example.net") },
  exports: { signature: "POST /exports", body: () => ({ type: "contacts" }) },
  media: { signature: "POST /media", body: () => tinyPicture },
  snippets: {
    signature: "POST /snippets",
    body: () => ({ name: "footer", html: "<p>Bye</p>" }),
  },
  templates: {
    signature: "POST /templates",
    body: () => ({ name: "Hello", subject: "Hi", html: "<p>Hi</p>" }),
  },
  "sending-configs": {
    signature: "POST /sending-configs",
    body: () => ({
      provider: "resend",
      fromEmail: "news@example.com",
      fromName: "News",
      credentials: { apiKey: "re_test" },
    }),
  },
  domains: { signature: "POST /domains", body: () => ({ name: "shop.example.com" }) },
  reports: {
    signature: "POST /reports/schedules",
    body: () => ({ frequency: "daily", recipient: "ada@example.net" }),
  },
  forms: { signature: "POST /forms", body: () => ({ name: "Newsletter" }) },
  campaigns: { signature: "POST /campaigns", body: () => ({ name: "Spring" }) },
  variants: {
    signature: "POST /campaigns/:id/variants",
    of: "campaigns",
    body: () => ({ subject: "Hi" }),
  },
  holidays: {
    signature: "POST /holidays",
    body: (made) => ({ name: "New year", date: "2099-01-01", templateId: made.templates }),
  },
  "campaign-series": {
    signature: "POST /campaign-series",
    body: (made) => ({
      name: "Monday news",
      schedule: { frequency: "weekly", weekdays: ["monday"], time: "09:00" },
      templateId: made.templates,
      listId: made.lists,
      sendingConfigId: made["sending-configs"],
    }),
  },
  scoring: {
    signature: "POST /scoring/rules",
    body: () => ({ name: "Opened", trigger: "email_open", points: 1 }),
  },
  sequences: { signature: "POST /sequences", body: () => ({ name: "Welcome" }) },
  webhooks: {
    signature: "POST /webhooks",
    body: () => ({ url: `https://shop.example/${crypto.randomUUID()}`, events: ["bounce"] }),
  },
  sends: {
    signature: "POST /send",
    body: (made) => ({
      to: "ada@example.net",
      subject: "Hi",
      html: "<p>Hi</p>",
      sendingConfigId: made["sending-configs"],
    }),
  },
  "secure-messages": {
    signature: "POST /send",
    body: (made) => ({
      to: "bob@example.net",
      subject: "Hi",
      html: "<p>Hi</p>",
      secure: true,
      sendingConfigId: made["sending-configs"],
    }),
  },
};

/**
 * Creates a record of each kind in a new site, or in `siteId`. The kinds in `made` exist already.
 * Throws if a request fails.
 */
export async function createEachKind(
  credential: LambdaRequest,
  siteId?: number,
  made: IdsByKind = {},
): Promise<IdsByKind> {
  const all: IdsByKind = { ...made, ...(siteId !== undefined && { sites: siteId }) };
  for (const [kind, { signature, body, of }] of Object.entries(recordMakers)) {
    if (all[kind] !== undefined) continue;
    const { group } = findRoute(signature);
    const { status, body: responseBody } = await invokeRoute<{ id: number }>(group, signature, {
      ...credential,
      ...(of && { params: { id: String(all[of]) } }),
      ...toRequest(body(all), siteId),
    });
    if (status !== 201 && status !== 202)
      throw new Error(`${signature} answers ${status}: ${responseBody.error}`);
    all[kind] = responseBody.data.id;
  }
  all["inbound-emails"] ??= await createInboundEmail(credential, all.sites!);
  return { members: await getUserId(credential), ...all };
}

/** No route of ours creates one at once: a worker stores what a provider posts. */
async function createInboundEmail(credential: LambdaRequest, siteId: number): Promise<number> {
  const { body } = await invokeRoute<{ organization: { id: number } }>(
    findRoute("GET /auth/me").group,
    "GET /auth/me",
    credential,
  );
  const orgId = body.data.organization.id;
  const blob = `inbound/${orgId}/requests/${crypto.randomUUID()}`;
  await objects.put(blob, Buffer.from(writeMime({ from: "ann@example.net" })));
  const receivedAt = clock.now().toISOString();
  const contentType = "message/rfc822";
  await storeRequest({ orgId, siteId, provider: "mime", blob, contentType, receivedAt });
  const list = await invokeRoute<{ inboundEmails: { id: number }[] }>(
    findRoute("GET /inbound-emails").group,
    "GET /inbound-emails",
    credential,
  );
  return list.body.data.inboundEmails[0]!.id;
}

async function getUserId(credential: LambdaRequest): Promise<number> {
  const { group, signature } = findRoute("GET /auth/me");
  const { body } = await invokeRoute<{ user: { id: number } }>(group, signature, credential);
  return body.data.user.id;
}

function toRequest(given: object, siteId: number | undefined): LambdaRequest {
  const site = siteId === undefined ? {} : { siteId };
  if (!Buffer.isBuffer(given)) return { body: { ...given, ...site } };
  return {
    raw: given,
    headers: { "content-type": given === tinyPicture ? "image/png" : "text/csv" },
    ...(siteId !== undefined && { query: { siteId: String(siteId) } }),
  };
}

export const bearerHeader = (key: string): LambdaRequest => ({
  headers: { authorization: `Bearer ${key}` },
});
