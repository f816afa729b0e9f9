// The trigger node: a webhook endpoint at the service while the workflow is active.
import { WebhookSignatureError } from "../sdk/errors.ts";
import { verifyWebhook } from "../sdk/webhooks.ts";
import { commonDescription } from "./common-description.ts";
import { credentialsName, toApiUrl } from "./credentials.ts";
import type { HookContext, NodeProperty, WebhookAnswer, WebhookContext } from "./n8n-types.ts";
import { checkStatus, RefusedRequest } from "./requests.ts";
import { webhookEvents } from "./webhook-events.ts";

export class PennymailTrigger {
  description = {
    ...commonDescription,
    displayName: "Pennymail Trigger",
    name: "pennymailTrigger",
    group: ["trigger"],
    subtitle: '={{ $parameter["events"].join(", ") }}',
    description: "Starts the workflow when something happens at Pennymail",
    defaults: { name: "Pennymail Trigger" },
    inputs: [],
    outputs: ["main"],
    webhooks: [
      { name: "default", httpMethod: "POST", responseMode: "onReceived", path: "webhook" },
    ],
    properties: [eventsField],
  };

  webhookMethods = { default: { checkExists, create, delete: remove } };

  /** Starts the workflow with the event, and the `webhookId` that each of its deliveries has. */
  async webhook(this: WebhookContext): Promise<WebhookAnswer> {
    const request = this.getRequestObject();
    await request.readRawBody?.();
    const { secret = "" } = readEndpoint(this);
    try {
      const event = await verifyWebhook(request.rawBody ?? "", request.headers, secret);
      const webhookId = request.headers["webhook-id"];
      return { workflowData: [[{ json: { ...event, webhookId } }]] };
    } catch (error) {
      // Without a secret, the workflow has no endpoint.
      if (secret && !(error instanceof WebhookSignatureError)) throw error;
      this.getResponseObject().status(401).send("The signature is not valid").end();
      return { noWebhookResponse: true };
    }
  }
}

const eventsField: NodeProperty = {
  displayName: "Events",
  name: "events",
  type: "multiOptions",
  required: true,
  default: [],
  description: "Which events start the workflow",
  options: webhookEvents.map(({ name, description }) => ({ name, value: name, description })),
};

/** The endpoint of the workflow, as n8n stores it. */
interface StoredEndpoint {
  id?: number;
  secret?: string;
}

const readEndpoint = (context: Pick<HookContext, "getWorkflowStaticData">): StoredEndpoint =>
  context.getWorkflowStaticData("node");

async function checkExists(this: HookContext): Promise<boolean> {
  const { id, secret } = readEndpoint(this);
  if (id === undefined || secret === undefined) return false;
  const endpoint = await call<Endpoint>(this, "GET", `/webhooks/${id}`).catch(ignoreMissing);
  // A workflow that is tested has another URL than the active one.
  if (endpoint?.url !== this.getNodeWebhookUrl("default")) return false;
  await call(this, "PUT", `/webhooks/${id}`, { active: true, events: eventsOf(this) });
  return true;
}

async function create(this: HookContext): Promise<boolean> {
  const body = {
    url: this.getNodeWebhookUrl("default"),
    events: eventsOf(this),
    description: `n8n: ${this.getWorkflow().name ?? "workflow"}`.slice(0, 100),
  };
  const { id, secret } = await call<Endpoint>(this, "POST", "/webhooks", body).catch((error) => {
    if (!hasStatus(error, 409)) throw error;
    return takeOver(this, body);
  });
  Object.assign(readEndpoint(this), { id, secret });
  return true;
}

/** n8n stopped before it stored the secret of the endpoint: gets a new one. */
async function takeOver(context: HookContext, body: { url: string | undefined }) {
  const { webhooks } = await call<{ webhooks: Endpoint[] }>(context, "GET", "/webhooks?limit=100");
  const endpoint = webhooks.find(({ url }) => url === body.url);
  if (!endpoint) throw new Error("The endpoint with the URL of the workflow was just deleted");
  await call(context, "PUT", `/webhooks/${endpoint.id}`, { ...body, active: true });
  return call<Endpoint>(context, "POST", `/webhooks/${endpoint.id}/rotate-secret`);
}

async function remove(this: HookContext): Promise<boolean> {
  const endpoint = readEndpoint(this);
  if (endpoint.id !== undefined)
    await call(this, "DELETE", `/webhooks/${endpoint.id}`).catch(ignoreMissing);
  delete endpoint.id;
  delete endpoint.secret;
  return true;
}

interface Endpoint {
  id: number;
  url: string;
  /** Only in the response that creates it. */
  secret?: string;
}

const eventsOf = (context: HookContext) => context.getNodeParameter("events");

/** Returns `data` of the response. */
async function call<Data>(
  context: HookContext,
  method: string,
  path: string,
  body?: object,
): Promise<Data> {
  const url = toApiUrl(await context.getCredentials(credentialsName)) + path;
  const response = await context.helpers.httpRequestWithAuthentication.call(
    context,
    credentialsName,
    {
      method,
      url,
      json: true,
      ignoreHttpStatusErrors: true,
      returnFullResponse: true,
      ...(body && { body }),
    },
  );
  checkStatus(response);
  return (response.body as { data: Data }).data;
}

const hasStatus = (error: unknown, status: number): boolean =>
  error instanceof RefusedRequest && error.statusCode === status;

/** Somebody deleted the endpoint at the service. */
function ignoreMissing(error: unknown): undefined {
  if (!hasStatus(error, 404)) throw error;
}
