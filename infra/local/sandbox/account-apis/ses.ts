// Amazon SES: configuration sets with event destinations, identities. Amazon SNS: topics and
// subscriptions, by its query API.
import { createHash } from "node:crypto";
import * as z from "zod";
import { ok, parseBody, refuse } from "../request-reader.ts";
import { snsNamespace, topicArn, xml } from "../sns.ts";
import type {
  SandboxAccount,
  SandboxCall,
  SandboxProvider,
  SandboxResponse,
  WebhookTarget,
} from "../types.ts";
import type { WebhookTargets } from "../webhook-targets.ts";
import { hasRecords } from "./domains.ts";

/** The set and the topic that every account has. */
export const firstConfigurationSet = "pennymail-events";

const eventTypes = [
  "SEND",
  "REJECT",
  "BOUNCE",
  "COMPLAINT",
  "DELIVERY",
  "OPEN",
  "CLICK",
  "RENDERING_FAILURE",
  "DELIVERY_DELAY",
  "SUBSCRIPTION",
];
const EventDestination = z.strictObject({
  Enabled: z.boolean(),
  MatchingEventTypes: z.array(z.enum(eventTypes)).min(1),
  SnsDestination: z.strictObject({ TopicArn: z.string().startsWith("arn:aws:sns:") }),
});
const setName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
interface ConfigurationSet {
  name: string;
}
interface Identity {
  name: string;
  mailFrom?: string;
}

const refusal = (status: number, type: string, message: string): SandboxResponse => ({
  status,
  headers: { "x-amzn-errortype": type },
  body: { message },
});
const badRequest = (path: string, message: string) =>
  refusal(400, "BadRequestException", `${path}: ${message}`);
const missing = (what: string) => refusal(404, "NotFoundException", `${what} does not exist.`);
const exists = (what: string) => refusal(400, "AlreadyExistsException", `${what} already exists.`);

export const hasConfigurationSet = ({ resources }: SandboxCall, name: string): boolean =>
  name === firstConfigurationSet ||
  resources.get<ConfigurationSet>("configuration set", name) !== undefined;

function requireSet(call: SandboxCall): string {
  const [name = ""] = call.params;
  if (!hasConfigurationSet(call, name)) refuse(missing(`Configuration set <${name}>`));
  return name;
}

const kindOf = (set: string) => `destination of ${set}`;

function listDestinations({ resources, account }: SandboxCall, set: string): object[] {
  const first = {
    ...{ Name: "ses-events", Enabled: true, MatchingEventTypes: eventTypes },
    SnsDestination: { TopicArn: topicArn(account) },
  };
  return [
    ...(set === firstConfigurationSet ? [first] : []),
    ...resources.list<object>(kindOf(set)),
  ];
}

export const sesAccountRoutes: SandboxProvider["routes"] = {
  "GET /v2/email/configuration-sets/:name": (call) =>
    ok({ ConfigurationSetName: requireSet(call) }),
  "POST /v2/email/configuration-sets"(call) {
    const Body = z.strictObject({ ConfigurationSetName: setName });
    const { ConfigurationSetName: name } = parseBody(Body, call.json(), badRequest);
    if (hasConfigurationSet(call, name)) return exists(`Configuration set <${name}>`);
    call.resources.put("configuration set", name, { name });
    return ok({});
  },
  "GET /v2/email/configuration-sets/:name/event-destinations": (call) =>
    ok({ EventDestinations: listDestinations(call, requireSet(call)) }),
  "POST /v2/email/configuration-sets/:name/event-destinations"(call) {
    const set = requireSet(call);
    const Body = z.strictObject({ EventDestinationName: setName, EventDestination });
    const body = parseBody(Body, call.json(), badRequest);
    const { EventDestinationName: Name, EventDestination: destination } = body;
    if (call.resources.get(kindOf(set), Name)) return exists(`Event destination <${Name}>`);
    const policy = policyOf(call, destination.SnsDestination.TopicArn);
    if (!policy.includes("ses.amazonaws.com"))
      return refusal(400, "BadRequestException", "Could not publish to the SNS topic.");
    call.resources.put(kindOf(set), Name, { Name, ...destination });
    return ok({});
  },
  "PUT /v2/email/configuration-sets/:name/event-destinations/:id"(call) {
    const set = requireSet(call);
    const [, Name = ""] = call.params;
    const Body = z.strictObject({ EventDestination });
    const { EventDestination: destination } = parseBody(Body, call.json(), badRequest);
    if (!call.resources.get(kindOf(set), Name)) return missing(`Event destination <${Name}>`);
    call.resources.put(kindOf(set), Name, { Name, ...destination });
    return ok({});
  },
  "GET /v2/email/identities/:identity"(call) {
    const [name = ""] = call.params;
    const isFirst = name === "pennymail.test" || name.includes("@");
    const stored = call.resources.get<Identity>("identity", name);
    if (!stored && !isFirst) return missing(`Email identity ${name}`);
    return ok({
      IdentityType: name.includes("@") ? "EMAIL_ADDRESS" : "DOMAIN",
      VerifiedForSendingStatus: hasRecords(name.split("@").at(-1)!),
      DkimAttributes: { SigningEnabled: true, Tokens: tokensOf(call.account, name) },
      MailFromAttributes: {
        BehaviorOnMxFailure: "USE_DEFAULT_VALUE",
        ...(stored?.mailFrom && { MailFromDomain: stored.mailFrom }),
      },
    });
  },
  "POST /v2/email/identities"(call) {
    const Body = z.strictObject({ EmailIdentity: z.string().min(3) });
    const { EmailIdentity: name } = parseBody(Body, call.json(), badRequest);
    if (call.resources.get("identity", name)) return exists(`Email identity ${name}`);
    call.resources.put("identity", name, { name });
    const DkimAttributes = { Status: "PENDING", Tokens: tokensOf(call.account, name) };
    return ok({ IdentityType: "DOMAIN", VerifiedForSendingStatus: false, DkimAttributes });
  },
  "PUT /v2/email/identities/:identity/mail-from"(call) {
    const [name = ""] = call.params;
    const Body = z.strictObject({
      MailFromDomain: z.string().endsWith(`.${name}`),
      BehaviorOnMxFailure: z.enum(["USE_DEFAULT_VALUE", "REJECT_MESSAGE"]),
    });
    const { MailFromDomain: mailFrom } = parseBody(Body, call.json(), badRequest);
    call.resources.put("identity", name, { name, mailFrom });
    return ok({});
  },
};

const tokensOf = (account: SandboxAccount, identity: string): string[] =>
  [1, 2, 3].map((n) => account.deriveHex(`dkim token ${n} of ${identity}`, 32));

// SNS

interface Topic {
  arn: string;
  policy: string;
}

function policyOf({ account, resources }: SandboxCall, arn: string): string {
  if (arn === topicArn(account)) return '{"Principal":{"Service":"ses.amazonaws.com"}}';
  const topic = resources.get<Topic>("topic", arn);
  return topic?.policy ?? refuse(snsError(404, "NotFound", "Topic does not exist"));
}

export interface SnsSubscriptions {
  targets: Pick<WebhookTargets, "listFor">;
  ensureConfirmed(target: WebhookTarget, account: SandboxAccount): unknown;
}

/** Responds to the actions of SNS that setting up events needs. */
export function answerSns(call: SandboxCall, subscriptions: SnsSubscriptions): SandboxResponse {
  const parameters = new URLSearchParams(call.request.body.toString());
  const action = snsActions[parameters.get("Action") ?? ""];
  if (!action) return snsError(400, "InvalidAction", "The action is not valid for this endpoint.");
  return action({ call, subscriptions, read: (name) => parameters.get(name) ?? "" });
}

interface SnsRequest {
  call: SandboxCall;
  subscriptions: SnsSubscriptions;
  read(name: string): string;
}

const snsActions: Record<string, (request: SnsRequest) => SandboxResponse> = {
  CreateTopic({ call: { account, resources }, read }) {
    const arn = topicArn(account, read("Name"));
    if (!resources.get("topic", arn)) resources.put("topic", arn, { arn, policy: "{}" });
    return snsResult("CreateTopic", `<TopicArn>${arn}</TopicArn>`);
  },
  GetTopicAttributes({ call, read }) {
    const value = escapeXml(policyOf(call, read("TopicArn")));
    const entry = `<entry><key>Policy</key><value>${value}</value></entry>`;
    return snsResult("GetTopicAttributes", `<Attributes>${entry}</Attributes>`);
  },
  SetTopicAttributes({ call, read }) {
    const arn = read("TopicArn");
    policyOf(call, arn);
    call.resources.put("topic", arn, { arn, policy: read("AttributeValue") });
    return snsResult("SetTopicAttributes", "");
  },
  ListSubscriptionsByTopic(request) {
    const members = subscriptionsOf(request).map(
      (target) =>
        `<member><SubscriptionArn>${subscriptionArn(request, target)}</SubscriptionArn>` +
        `<Endpoint>${escapeXml(target.url)}</Endpoint></member>`,
    );
    const list = `<Subscriptions>${members.join("")}</Subscriptions>`;
    return snsResult("ListSubscriptionsByTopic", list);
  },
  Subscribe(request) {
    const { call, subscriptions, read } = request;
    const topic = read("TopicArn");
    policyOf(call, topic);
    const found = subscriptionsOf(request).find(({ url }) => url === read("Endpoint"));
    const target = found ?? call.watch(read("Endpoint"), { topicArn: topic });
    if (!target) return snsError(400, "InvalidParameter", "Invalid parameter: Endpoint");
    void Promise.resolve(subscriptions.ensureConfirmed(target, call.account)).catch(() => false);
    const arn = subscriptionArn(request, target);
    return snsResult("Subscribe", `<SubscriptionArn>${arn}</SubscriptionArn>`);
  },
  Unsubscribe(request) {
    const arn = request.read("SubscriptionArn");
    const topic = arn.split(":").slice(0, -1).join(":");
    const found = subscriptionsOf(request, topic).find(
      (target) => subscriptionArn(request, target, topic) === arn,
    );
    if (found) request.call.unwatch(found.url);
    return snsResult("Unsubscribe", "");
  },
};

const subscriptionsOf = (
  { call: { account }, subscriptions, read }: SnsRequest,
  topic = read("TopicArn"),
): WebhookTarget[] =>
  subscriptions.targets
    .listFor("ses", account.id)
    .filter((target) => (target.topicArn ?? topicArn(account)) === topic);

function subscriptionArn(
  { read }: SnsRequest,
  { url, confirmed }: WebhookTarget,
  topic = read("TopicArn"),
): string {
  const id = createHash("sha256").update(url).digest("hex").slice(0, 32);
  return confirmed ? `${topic}:${id}` : "PendingConfirmation";
}

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

const snsResult = (action: string, result: string): SandboxResponse =>
  xml(
    200,
    `<${action}Response ${snsNamespace}><${action}Result>${result}</${action}Result>` +
      `</${action}Response>`,
  );
const snsError = (status: number, code: string, message: string): SandboxResponse =>
  xml(
    status,
    `<ErrorResponse ${snsNamespace}><Error><Type>Sender</Type><Code>${code}</Code>` +
      `<Message>${message}</Message></Error></ErrorResponse>`,
  );
