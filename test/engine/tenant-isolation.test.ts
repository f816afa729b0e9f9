// Ids in queries and bodies: no route accepts an id of another organization, or of a site other
// than the site of the key.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import {
  createFolder,
  type SandboxImapServer,
  startImapServer,
} from "../../infra/local/sandbox/imap-server.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import type { Route } from "../../shared/http/route.ts";
import { createAccount } from "../support/accounts.ts";
import { invokeRoute, type LambdaRequest } from "../support/lambda-requests.ts";
import { addMember } from "../support/members.ts";
import { kindByFieldName } from "../support/named-by.ts";
import {
  bearerHeader,
  createEachKind,
  findRoute,
  type IdsByKind,
  type RouteSignature,
  routeTable,
} from "../support/one-of-each-record.ts";
import { tinyPicture } from "../support/tiny-picture.ts";

// The tests exceed the rate limit of other plans.
let imapServer: SandboxImapServer;
beforeAll(async () => {
  vi.stubEnv("DEFAULT_PLAN", "enterprise");
  const folders = new Map([["INBOX", createFolder()]]);
  imapServer = await startImapServer({ findMailbox: () => ({ password: "secret", folders }) });
  vi.stubEnv("PROVIDER_URL_IMAP", imapServer.url);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await imapServer.close();
});

type Fields = Record<string, unknown>;
interface Case {
  /** Valid fields, with own ids. */
  body?: Fields;
  query?: Fields;
}

const siteOnly = (made: IdsByKind): Case => ({ query: { siteId: made.sites } });
const mail = (made: IdsByKind) => ({
  to: "eve@example.net",
  sendingConfigId: made["sending-configs"],
  siteId: made.sites,
});
/** A mail in Postmark's format. */
const postmarkMail = (made: IdsByKind) => ({
  From: "news@example.com",
  To: "eve@example.net",
  TemplateId: made.templates,
});
const batch = (made: IdsByKind): Case => ({
  body: {
    ...mail(made),
    to: undefined,
    templateId: made.templates,
    recipients: [{ to: "eve@example.net" }],
  },
});
const rules = { match: "all", conditions: [] };
/** Steps with actions that name one record each. */
const actionSteps = (made: IdsByKind): Fields[] =>
  [
    { action: "add_tag", tagId: made.tags },
    { action: "add_to_list", listId: made.lists },
    { action: "join_topic", topicId: made.topics },
    { action: "enroll", sequenceId: made.otherSequences },
  ].map((actionConfig) => ({ type: "action", actionConfig }));
const contactSelections = (made: IdsByKind): Case[] => [
  ...["tagId", "listId", "segmentId"].map((name) => ({
    body: {
      siteId: made.sites,
      filter: { [name]: made[kindByFieldName[name]!] },
      action: "unsubscribe",
    },
  })),
];

const weeklySeries = {
  name: "Weekly",
  schedule: { frequency: "weekly", weekdays: ["monday"], time: "09:00" },
};
/** Requests with ids. A new field with an id needs a case here. */
const cases: Record<string, (made: IdsByKind) => Case[]> = {
  "POST /api-keys": (made) => [{ body: { name: "bound", siteId: made.sites } }],
  "GET /contacts": (made) =>
    ["tagId", "listId", "segmentId"].map((name) => ({
      query: { siteId: made.sites, [name]: made[kindByFieldName[name]!] },
    })),
  "GET /contacts/export": (made) => [
    {
      query: { siteId: made.sites, tagId: made.tags, listId: made.lists, segmentId: made.segments },
    },
  ],
  "POST /exports": (made) => [
    {
      body: {
        type: "contacts",
        siteId: made.sites,
        tagId: made.tags,
        listId: made.lists,
        segmentId: made.segments,
      },
    },
    { body: { type: "campaign-audit", campaignId: made.campaigns } },
  ],
  "POST /contacts": (made) => [
    { body: { email: "new@example.net", siteId: made.sites, lists: [made.lists] } },
  ],
  "POST /contacts/bulk": (made) => [
    { body: { siteId: made.sites, contacts: [{ email: "new@example.net" }] } },
  ],
  "POST /sending-configs": (made) => [
    {
      body: {
        credentials: { apiKey: "SG.key" },
        share: { sendingConfigId: made["sending-configs"], percent: 10 },
      },
    },
  ],
  "PUT /sending-configs/:id/bounce-mailbox": (made) => [
    {
      body: { siteId: made.sites, host: "imap.shop.example", user: "ada", password: "secret" },
    },
  ],
  "POST /contact-actions": contactSelections,
  "POST /contact-actions/preview": contactSelections,
  "GET /contact-fields": (made) => [siteOnly(made)],
  "PUT /contact-fields/:fieldName": (made) => [{ body: { siteId: made.sites, label: "Plan" } }],
  "GET /contact-fields/:fieldName/conversion": (made) => [siteOnly(made)],
  "DELETE /contact-fields/:fieldName": (made) => [siteOnly(made)],
  "GET /contact-fields/:fieldName/uses": (made) => [siteOnly(made)],
  "GET /contact-actions": (made) => [siteOnly(made)],
  "POST /contacts/:id/tags": (made) => [{ body: { tagId: made.tags } }],
  "GET /lists": (made) => [siteOnly(made)],
  "POST /lists": (made) => [{ body: { name: "More news", siteId: made.sites } }],
  "POST /lists/:id/contacts": (made) => [{ body: { contactId: made.contacts } }],
  "DELETE /lists/:id/contacts": (made) => [
    { body: { contactId: made.contacts } },
    { query: { contactId: made.contacts } },
  ],
  "GET /tags": (made) => [siteOnly(made)],
  "POST /tags": (made) => [{ body: { name: "gold", siteId: made.sites } }],
  "GET /topics": (made) => [siteOnly(made)],
  "POST /topics": (made) => [{ body: { name: "Offers", siteId: made.sites } }],
  "GET /segments": (made) => [siteOnly(made)],
  "POST /segments": (made) => [{ body: { name: "Everyone", rules, siteId: made.sites } }],
  "POST /segments/preview-count": (made) => [{ body: { rules, siteId: made.sites } }],
  "POST /segments/why": (made) => [{ body: { rules, contactId: made.contacts } }],
  "GET /template-folders": (made) => [siteOnly(made)],
  "POST /template-folders": (made) => [{ body: { name: "More", siteId: made.sites } }],
  "GET /media": (made) => [siteOnly(made)],
  "GET /snippets": (made) => [siteOnly(made)],
  "POST /stock-photos/save": (made) => [{ body: { id: 1, siteId: made.sites } }],
  "POST /snippets": (made) => [{ body: { name: "more", html: "<p>Bye</p>", siteId: made.sites } }],
  "GET /templates": (made) => [
    { query: { siteId: made.sites, folderId: made["template-folders"] } },
  ],
  "POST /templates": (made) => [
    {
      body: {
        name: "More",
        subject: "Hi",
        html: "Hi",
        siteId: made.sites,
        folderId: made["template-folders"],
      },
    },
  ],
  "PUT /templates/:id": (made) => [{ body: { folderId: made["template-folders"] } }],
  "POST /templates/:id/test": (made) => [
    {
      body: {
        emails: ["eve@example.net"],
        contactId: made.contacts,
        sendingConfigId: made["sending-configs"],
      },
    },
  ],
  "GET /campaign-series": (made) => [siteOnly(made)],
  "POST /campaign-series": (made) => [
    { body: { ...weeklySeries, ...audiences(made)[0], campaignId: made.otherCampaigns } },
    ...audiences(made).map((audience) => ({
      body: { ...weeklySeries, siteId: made.sites, ...audiences(made)[0], ...audience },
    })),
  ],
  "POST /campaign-series/preview": (made) => [
    { body: { ...weeklySeries, ...audiences(made)[0], campaignId: made.otherCampaigns } },
    ...audiences(made).map((audience) => ({
      body: { ...weeklySeries, siteId: made.sites, ...audiences(made)[0], ...audience },
    })),
  ],
  "PUT /campaign-series/:id": (made) => audiences(made).map((audience) => ({ body: audience })),
  "GET /holidays": (made) => [siteOnly(made)],
  "POST /holidays": (made) => [
    {
      body: {
        name: "Easter",
        date: "2099-04-12",
        templateId: made.templates,
        sendingConfigId: made["sending-configs"],
        topicId: made.topics,
        siteId: made.sites,
      },
    },
  ],
  "PUT /holidays/:id": (made) => [
    {
      body: {
        templateId: made.templates,
        sendingConfigId: made["sending-configs"],
        topicId: made.topics,
      },
    },
  ],
  "GET /campaigns": (made) => [
    { query: { siteId: made.sites, seriesId: made["campaign-series"] } },
  ],
  "POST /campaigns": (made) =>
    campaignFields(made).map((fields) => ({
      body: { name: "Summer", siteId: made.sites, ...fields },
    })),
  "PUT /campaigns/:id": (made) => campaignFields(made).map((fields) => ({ body: fields })),
  "POST /campaigns/:id/variants": (made) => [{ body: { templateId: made.templates } }],
  "PUT /campaigns/:id/variants/:variantId": (made) => [{ body: { templateId: made.templates } }],
  "GET /sequences": (made) => [siteOnly(made)],
  "POST /sequences": (made) =>
    triggers(made).map((trigger) => ({ body: { name: "More", siteId: made.sites, ...trigger } })),
  "PUT /sequences/:id": (made) => triggers(made).map((trigger) => ({ body: trigger })),
  "PUT /sequences/:id/steps": (made) => [
    {
      body: {
        stepsVersion: 1,
        steps: [
          { id: made.steps, type: "email", templateId: made.templates },
          ...actionSteps(made),
        ],
      },
    },
  ],
  "PUT /sequences/:id/draft": (made) => [
    {
      body: {
        draftVersion: 0,
        stepsVersion: 1,
        steps: [
          { id: made.steps, type: "email", templateId: made.templates },
          ...actionSteps(made),
        ],
      },
    },
  ],
  "POST /sequences/:id/steps": (made) => [
    { body: { type: "email", templateId: made.templates } },
    { body: { steps: [{ type: "email", templateId: made.templates }] } },
    { body: { steps: actionSteps(made) } },
  ],
  "PUT /sequences/:id/steps/:stepId": (made) => [
    { body: { templateId: made.templates } },
    ...actionSteps(made).map((body) => ({ body })),
    { body: { type: "email", templateId: made.templates } },
  ],
  "POST /sequences/:id/walk": (made) => [
    { body: { contactId: made.contacts } },
    { body: { contact: { email: "eve@example.com", lists: [made.lists] } } },
  ],
  "POST /sequences/:id/enroll": (made) => [{ body: { contactId: made.contacts } }],
  "POST /sequences/:id/enrollments": (made) => [{ body: { contactId: made.contacts } }],
  "DELETE /sequences/:id/enrollments": (made) => [{ body: { contactId: made.contacts } }],
  "POST /sequences/playbooks/:playbookId/create": (made) => [
    {
      body: {
        siteId: made.sites,
        sendingConfigId: made["sending-configs"],
        url: "https://shop.example",
      },
    },
  ],
  "GET /forms": (made) => [siteOnly(made)],
  "POST /forms": (made) => [
    { body: { name: "More", siteId: made.sites, ...formReferences(made) } },
  ],
  "PUT /forms/:id": (made) => [{ body: formReferences(made) }],
  "GET /scoring/rules": (made) => [siteOnly(made)],
  "POST /scoring/rules": (made) =>
    matches(made).map((match) => ({
      body: { name: "More", points: 1, siteId: made.sites, ...match },
    })),
  "PUT /scoring/rules/:id": (made) => matches(made).map((match) => ({ body: match })),
  "POST /send": (made) => [{ body: { ...mail(made), templateId: made.templates } }],
  "POST /send/batch": (made) => [batch(made)],
  "POST /send/batch/preview": (made) => [batch(made)],
  "POST /send/messages": (made) => [
    { body: { messages: [{ ...mail(made), templateId: made.templates }] } },
  ],
  "POST /compat/postmark/email/withTemplate": (made) => [{ body: postmarkMail(made) }],
  "GET /sends": (made) => [
    siteOnly(made),
    { query: { contactId: made.contacts } },
    { query: { campaignId: made.campaigns } },
    { query: { sequenceId: made.sequences } },
    { query: { templateId: made.templates } },
  ],
  "GET /events": (made) => [siteOnly(made)],
  "GET /why": (made) => [
    { query: { email: "ann@example.com", siteId: made.sites } },
    { query: { email: "ann@example.com", campaignId: made.campaigns } },
  ],
  "POST /events/custom": (made) => [
    { body: { eventName: "bought", contactId: made.contacts } },
    { body: { eventName: "bought", email: "ann@example.net", siteId: made.sites } },
  ],
  "GET /events/custom": (made) => [siteOnly(made), { query: { contactId: made.contacts } }],
  "GET /events/custom/names": (made) => [siteOnly(made)],
  "DELETE /events/custom/names/:eventName": (made) => [siteOnly(made)],
  "GET /secure-messages": (made) => [siteOnly(made)],
  "GET /inbound-emails": (made) => [siteOnly(made)],
  "GET /dashboard/overview": (made) => [siteOnly(made)],
  "GET /analytics/overview": (made) => [siteOnly(made)],
  "GET /analytics/deliverability": (made) => [siteOnly(made)],
  "GET /analytics/leave-reasons": (made) => [
    siteOnly(made),
    { query: { campaignId: made.campaigns } },
  ],
  "GET /analytics/topics": (made) => [siteOnly(made)],
  "GET /reports/multi-sequence": (made) => [siteOnly(made)],
  "GET /reports/stalled-enrollments": (made) => [siteOnly(made)],
  "GET /reports/sequence-funnel": (made) => [siteOnly(made)],
  "GET /reports/unengaged-contacts": (made) => [siteOnly(made)],
  "GET /reports/no-sequences": (made) => [siteOnly(made)],
  "GET /reports/schedules": (made) => [siteOnly(made)],
  "POST /reports/schedules": (made) => [
    { body: { frequency: "daily", recipient: "ada@example.net", siteId: made.sites } },
  ],
  "GET /imports": (made) => [siteOnly(made)],
  "GET /jobs": (made) => [siteOnly(made)],
};

const formReferences = (made: IdsByKind): Fields => ({
  sequenceId: made.sequences,
  listId: made.lists,
  topicIds: [made.topics],
  doubleOptIn: true,
  status: "draft",
});
const campaignFields = (made: IdsByKind): Fields[] => [
  ...audiences(made),
  { content: { copyOf: made.templates } },
];
const audiences = (made: IdsByKind): Fields[] => [
  {
    templateId: made.templates,
    sendingConfigId: made["sending-configs"],
    topicId: made.topics,
    listId: made.lists,
    tagId: null,
    segmentId: null,
  },
  { listId: null, tagId: made.tags, segmentId: null },
  { listId: null, tagId: null, segmentId: made.segments },
  {
    ...{ listId: null, tagId: null, segmentId: null },
    audience: { lists: [made.lists], exclude: { tags: [made.tags], segments: [made.segments] } },
  },
];
const triggers = (made: IdsByKind): Fields[] => [
  {
    triggerType: "tag_add",
    triggerConfig: { tagId: made.tags },
    sendingConfigId: made["sending-configs"],
    topicId: made.topics,
  },
  { triggerType: "list_join", triggerConfig: { listId: made.lists } },
  { triggerType: "form_submit", triggerConfig: { formId: made.forms } },
  { triggerType: "email_opened", triggerConfig: { campaignId: made.campaigns } },
  { triggerType: "email_clicked", triggerConfig: { sequenceId: made.sequences } },
  { triggerType: "segment_enter", triggerConfig: { segmentId: made.segments } },
];
const matches = (made: IdsByKind): Fields[] => [
  { trigger: "form_submit", match: { formId: made.forms } },
  { trigger: "tag_add", match: { tagId: made.tags } },
  { trigger: "email_open", match: { campaignId: made.campaigns } },
];

/** Fields that name no record of a kind, or that have their own test. */
const otherwise = [
  "contactIds", // each contact that does not exist is reported, below
  "enrollmentId", // below
  "variantId", // of the campaign in the path, below
  "batchId", // below
  "uploadId", // below
  "contentId", // the name of an image in the HTML
  "tags", // names
  "messageId", // at the provider, in test/engine/unmatched-events.test.ts
  "packageId",
  "clientId", // of this service at an OpenID Connect provider
  "organizationId", // of the user, in test/http/team.test.ts
  "targetId", // of an action, in test/engine/contact-actions.test.ts
  "stepId", // a filter of the enrollments of one sequence
  "keyId", // a filter, in test/engine/request-log.test.ts
  "memberIds", // of an action, in test/engine/sequence-tasks.test.ts
  "siteIds", // of a member, in test/engine/members.test.ts
  "externalId", // a text of the caller that names a contact of one site
  "userId", // the same, in calls of Segment's libraries
  "anonymousId", // a text of the caller, as the next two
  "previousId",
  "groupId",
  "confirmationTemplateId", // in test/engine/contact-confirmations.test.ts
  "fallbackConfigId", // another config than the one in the path, in test/http/sending-configs.test.ts
  "PUT /sending-configs/:id sendingConfigId", // the same
];

/** The photo search is not configured, so a request with an own site ends there. */
const acceptedStatuses = (signature: RouteSignature): number[] =>
  signature === "POST /stock-photos/save" ? [503] : [200, 201, 202];

type Schema = {
  properties?: Record<string, Schema>;
  items?: Schema;
  $ref?: string;
  $defs?: Record<string, Schema>;
} & Partial<Record<"anyOf" | "oneOf" | "allOf", Schema[]>>;

/** Finds the names of fields that look like ids, at any depth. */
function idsIn(schema: Schema, defs = schema.$defs ?? {}, depth = 0): string[] {
  if (depth > 12) return [];
  const found = schema.$ref ? [defs[schema.$ref.split("/").at(-1)!] ?? {}] : [];
  const inner = [
    ...found,
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.allOf ?? []),
    ...(schema.items ? [schema.items] : []),
  ];
  const named = Object.entries(schema.properties ?? {});
  return [
    ...named.flatMap(([name]) => (/Ids?$|^lists$|^tags$/.test(name) ? [name] : [])),
    ...[...inner, ...named.map(([, one]) => one)].flatMap((one) => idsIn(one, defs, depth + 1)),
  ];
}

const namesIn = (value: unknown): string[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, one]) => [
        ...(Number.isNaN(Number(name)) ? [name] : []),
        ...namesIn(one),
      ])
    : [];

test("the cases cover every field that has an id", () => {
  const untried = routeTable
    .filter(({ route }) => route.auth !== "public" && !route.rawBodyTypes)
    .flatMap(({ route, signature }) => {
      const idFields = [route.query, route.body].flatMap((one) =>
        one ? idsIn(z.toJSONSchema(one, { io: "input", unrepresentable: "any" }) as Schema) : [],
      );
      const ones: IdsByKind = Object.fromEntries(
        Object.values(kindByFieldName).map((kind) => [kind, 1]),
      );
      const covered = namesIn(cases[signature]?.(ones) ?? []);
      return [...new Set(idFields)]
        .filter((name) => !covered.includes(name) && !otherwise.includes(name))
        .map((name) => `${signature} ${name}`)
        .filter((field) => !otherwise.includes(field));
    });
  expect(untried).toEqual([]);
});

const withSession = (token: string): LambdaRequest => ({
  cookies: [`${sessionCookieName}=${token}`],
});

/**
 * Replaces the ids of records of `kind`. Returns the new fields and the number of changes.
 */
function replaceIds(
  value: unknown,
  to: number,
  kind: string,
  name = "",
): { value: unknown; changes: number } {
  if (Array.isArray(value)) {
    const all = value.map((one) => replaceIds(one, to, kind, name));
    return {
      value: all.map((one) => one.value),
      changes: all.reduce((sum, one) => sum + one.changes, 0),
    };
  }
  if (typeof value === "object" && value !== null) {
    const all = Object.entries(value).map(
      ([key, one]) => [key, replaceIds(one, to, kind, key)] as const,
    );
    return {
      value: Object.fromEntries(all.map(([key, one]) => [key, one.value])),
      changes: all.reduce((sum, [, one]) => sum + one.changes, 0),
    };
  }
  return typeof value === "number" && kindByFieldName[name] === kind
    ? { value: to, changes: 1 }
    : { value, changes: 0 };
}

const texts = (query: Fields): Record<string, string> =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));

async function callWithCase(
  signature: RouteSignature,
  made: IdsByKind,
  credential: LambdaRequest,
  one: Case,
) {
  const { group } = findRoute(signature);
  return invokeRoute(group, signature, { ...credential, ...caseRequest(signature, made, one) });
}

function caseRequest(
  signature: RouteSignature,
  made: IdsByKind,
  { body, query }: Case,
): LambdaRequest {
  const { route } = findRoute(signature);
  const names = [...route.path.matchAll(/{(\w+)}/g)].map(([, name = ""]) => name);
  const kind = signature.split("/")[1]!;
  const idOf = (name: string) =>
    ({
      id: made[kind],
      variantId: made.variants,
      attachmentId: 1,
      stepId: made.steps,
      playbookId: 1,
      eventName: "bought",
      fieldName: "plan",
    })[name];
  const params = Object.fromEntries(names.map((name) => [name, String(idOf(name))]));
  return { params, ...(body && { body }), ...(query && { query: texts(query) }) };
}

/** The response is an empty page, or, for several ids, reports that the record does not exist. */
const isEmpty = (data: unknown): boolean =>
  Object.values(data ?? {}).some((one) => Array.isArray(one) && one.length === 0);
function isRefused(data: unknown): boolean {
  const { failed, accepted } = data as { failed?: unknown[]; accepted?: number };
  return failed?.length === 1 || accepted === 0;
}

async function expectAllRefused(
  credential: LambdaRequest,
  own: IdsByKind,
  foreign: IdsByKind,
  only: (signature: RouteSignature, kind: string) => boolean,
) {
  const unexpected: string[] = [];
  for (const [signature, given] of Object.entries(cases) as [
    RouteSignature,
    (made: IdsByKind) => Case[],
  ][])
    for (const one of given(own))
      for (const kind of new Set(Object.values(kindByFieldName))) {
        const { value, changes } = replaceIds(one, foreign[kind]!, kind);
        if (!changes || !only(signature, kind)) continue;
        const { status, body } = await callWithCase(signature, own, credential, value as Case);
        const nothing = status < 300 && (isRefused(body.data) || (one.query && isEmpty(body.data)));
        const refusals = findRoute(signature).route.wireFormat ? [403, 422] : [400, 403, 404];
        if (!refusals.includes(status) && !nothing)
          unexpected.push(
            `${signature} ${kind} ${status} ${JSON.stringify(value)} ${JSON.stringify(body).slice(0, 200)}`,
          );
      }
  expect(unexpected).toEqual([]);
}

/** Adds a sequence that actions of the other one can name, a step, and a campaign without variants. */
async function createMore(credential: LambdaRequest, made: IdsByKind): Promise<void> {
  const body = { name: "Other", siteId: made.sites };
  const [step, sequence, campaign] = [
    await createStep(credential, made),
    await callWithCase("POST /sequences", made, credential, { body }),
    await callWithCase("POST /campaigns", made, credential, { body }),
  ];
  made.steps = step;
  made.otherSequences = (sequence.body.data as { id: number }).id;
  made.otherCampaigns = (campaign.body.data as { id: number }).id;
}

async function createStep(credential: LambdaRequest, made: IdsByKind): Promise<number> {
  const added = await callWithCase("POST /sequences/:id/steps", made, credential, {
    body: { type: "email", templateId: made.templates },
  });
  return (added.body.data as { steps: { id: number }[] }).steps[0]!.id;
}

test("no query or body accepts an id of another organization", async () => {
  const [owner, stranger] = await Promise.all([createAccount(), createAccount()]);
  const [own, foreign] = await Promise.all([
    createEachKind(withSession(owner.token)),
    createEachKind(withSession(stranger.token)),
  ]);
  await createMore(withSession(owner.token), own);
  const config = await sendingConfigs.find(owner.caller, own["sending-configs"]!);
  await sendingConfigs.setVerified(owner.caller, config, true);
  await expectAllRefused(withSession(owner.token), own, foreign, () => true);
  // The declaration of a field that contacts have starts a conversion.
  await callWithCase("PUT /contacts/:id", own, withSession(owner.token), {
    body: { customFields: { plan: "pro" } },
  });
  // The same requests succeed with own ids. Otherwise the refusals above would prove nothing.
  for (const [signature, given] of Object.entries(cases) as [
    RouteSignature,
    (made: IdsByKind) => Case[],
  ][])
    for (const one of given(own)) {
      const { status, body } = await callWithCase(signature, own, withSession(owner.token), one);
      expect([signature, status, body.error]).toEqual([
        signature,
        expect.toBeOneOf(acceptedStatuses(signature)),
        status === 503 ? expect.any(String) : undefined,
      ]);
    }
});

test("no query or body of a bound key accepts an id of another site", async () => {
  const { caller, token } = await createAccount();
  const own = await createEachKind(withSession(token));
  await createMore(withSession(token), own);
  const { id: siteId } = await sites.create(caller, sites.NewSite.parse({ name: "Other shop" }));
  const { "sending-configs": config, domains, webhooks } = own;
  const foreign = await createEachKind(withSession(token), siteId, {
    "sending-configs": config!,
    domains: domains!,
    webhooks: webhooks!,
  });
  const { key } = await apiKeys.create(
    caller,
    apiKeys.NewApiKey.parse({ name: "bound", siteId: own.sites }),
  );
  const ofAccount = (signature: RouteSignature) => findRoute(signature).route.auth === "account";
  await expectAllRefused(
    bearerHeader(key),
    own,
    foreign,
    (signature, kind) => ofAccount(signature) && kind !== "sending-configs",
  );
});

/** Clients compare these words. */
const siteRefusal = [403, "site_forbidden", "API key has no access to this site"];

/** Each route that takes a site, with a request that names the site `siteId`. */
const requestsNamingSite = (own: IdsByKind, siteId: number): [RouteSignature, LambdaRequest][] => [
  ...(Object.keys(cases) as RouteSignature[])
    .filter((signature) => findRoute(signature).route.level === "site")
    .flatMap((signature) =>
      cases[signature]!(own)
        .filter(({ body = {}, query = {} }) => "siteId" in body || "siteId" in query)
        .map((given): [RouteSignature, LambdaRequest] => [
          signature,
          caseRequest(signature, own, replaceIds(given, siteId, "sites").value as Case),
        ]),
    ),
  ...(["POST /imports/upload", "POST /imports/preview"] as const).map(
    (signature): [RouteSignature, LambdaRequest] => [
      signature,
      {
        raw: Buffer.from("email\neve@example.net"),
        headers: { "content-type": "text/csv" },
        query: { siteId: String(siteId) },
      },
    ],
  ),
  [
    "POST /media",
    {
      raw: tinyPicture,
      headers: { "content-type": "image/png" },
      query: { siteId: String(siteId) },
    },
  ],
  ...(["GET", "PUT", "DELETE"] as const).map((method): [RouteSignature, LambdaRequest] => [
    `${method} /sites/:id`,
    { params: { id: String(siteId) }, ...(method === "PUT" && { body: { name: "Mine" } }) },
  ]),
];

const withCredential = (request: LambdaRequest, credential: LambdaRequest): LambdaRequest => ({
  ...request,
  ...credential,
  headers: { ...request.headers, ...credential.headers },
});

test("every route that takes a site refuses another site in the words of the contract", async () => {
  const { caller, token } = await createAccount();
  const own = await createEachKind(withSession(token));
  await createMore(withSession(token), own);
  const { id: foreign } = await sites.create(caller, sites.NewSite.parse({ name: "Other shop" }));
  const { key } = await apiKeys.create(
    caller,
    apiKeys.NewApiKey.parse({ name: "bound", siteId: own.sites }),
  );
  const member = await addMember(caller, { role: "admin", siteIds: [own.sites!] });
  const requests = requestsNamingSite(own, foreign);
  const named = new Set(requests.map(([signature]) => signature));
  const untried = routeTable
    .filter(({ route }) => route.auth !== "public" && route.level === "site" && takesSite(route))
    .map(({ signature }) => signature)
    .filter((signature) => !named.has(signature));
  expect(untried).toEqual([]);
  for (const [signature, request] of requests)
    for (const credential of [bearerHeader(key), withSession(member.token)]) {
      const { group } = findRoute(signature);
      const { status, body } = await invokeRoute(
        group,
        signature,
        withCredential(request, credential),
      );
      expect([signature, status, body.code, body.error]).toEqual([signature, ...siteRefusal]);
    }
});

const takesSite = ({ path, query, body }: Route): boolean =>
  path.includes("/sites/") ||
  [query, body].some(
    (one) =>
      one &&
      "siteId" in
        ((z.toJSONSchema(one, { io: "input", unrepresentable: "any" }) as Schema).properties ?? {}),
  );

test("requests with several contacts do not find contacts of another organization", async () => {
  const [owner, stranger] = await Promise.all([createAccount(), createAccount()]);
  const [own, foreign] = await Promise.all([
    createEachKind(withSession(owner.token)),
    createEachKind(withSession(stranger.token)),
  ]);
  const contactIds = [own.contacts, foreign.contacts];
  for (const signature of [
    "POST /lists/:id/contacts",
    "POST /sequences/:id/enroll",
    "POST /sequences/:id/enrollments",
  ] as const) {
    const { body } = await callWithCase(signature, own, withSession(owner.token), {
      body: { contactIds },
    });
    const { failed } = body.data as { failed: { contactId: number }[] };
    expect([signature, failed.map(({ contactId }) => contactId)]).toEqual([
      signature,
      [foreign.contacts],
    ]);
  }
  const off = await callWithCase("DELETE /lists/:id/contacts", own, withSession(owner.token), {
    body: { contactIds },
  });
  expect(off.body.data).toMatchObject({ removed: 1 });
});

test("enrollments, variants, batches and uploads of another organization are not found", async () => {
  const [owner, stranger] = await Promise.all([createAccount(), createAccount()]);
  const [own, foreign] = await Promise.all([
    createEachKind(withSession(owner.token)),
    createEachKind(withSession(stranger.token)),
  ]);
  const [ownSession, otherSession] = [withSession(owner.token), withSession(stranger.token)];
  const theirEntry = await callWithCase("POST /sequences/:id/enroll", foreign, otherSession, {
    body: { contactIds: [foreign.contacts] },
  });
  const [enrollment] = (theirEntry.body.data as { enrollments: { id: number }[] }).enrollments;
  const batch = {
    sendingConfigId: foreign["sending-configs"],
    subject: "Hi",
    html: "Hi",
    recipients: [{ to: "ann@example.net" }],
  };
  const { batchId } = (
    await callWithCase("POST /send/batch", foreign, otherSession, { body: batch })
  ).body.data as { batchId: number };
  const upload = await callWithCase("POST /attachments", foreign, otherSession, {
    body: { filename: "a.csv", type: "text/csv", size: 3, purpose: "import" },
  });
  const { uploadId } = upload.body.data as { uploadId: string };
  const attached = {
    ...mail(own),
    subject: "Hi",
    html: "Hi",
    attachments: [{ filename: "a.csv", uploadId }],
  };
  expect(
    (await callWithCase("PUT /campaigns/:id", own, ownSession, { body: audiences(own)[0]! }))
      .status,
  ).toBe(200);
  const answers = await Promise.all([
    callWithCase("DELETE /sequences/:id/enrollments", own, ownSession, {
      body: { enrollmentId: enrollment!.id },
    }),
    callWithCase("DELETE /sequences/:id/enrollments", own, ownSession, {
      query: { enrollmentId: enrollment!.id },
    }),
    callWithCase("POST /campaigns/:id/test", own, ownSession, {
      body: { emails: ["ada@example.net"], variantId: foreign.variants },
    }),
    callWithCase("POST /send", own, ownSession, { body: attached }),
    callWithCase("POST /imports/upload", own, ownSession, { body: { uploadId } }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 400, 400]);
  expect(answers[3]!.body.error).toContain("does not name a finished upload");
  expect(answers[4]!.body.error).toContain("does not name a finished upload");
  const { body } = await callWithCase("GET /sends", own, ownSession, { query: { batchId } });
  expect((body.data as { sends: unknown[] }).sends).toEqual([]);
});
