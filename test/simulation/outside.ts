// Everything outside of the service: the ten providers with their webhooks, endpoints of customers,
// and callers of the API.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { createOperations } from "../../infra/local/engines/kms-and-secrets.ts";
import type { GatewayRequest } from "../../infra/local/gateway.ts";
import type { createAccounts } from "../../infra/local/sandbox/accounts.ts";
import type { openInbox, renderPart } from "../../infra/local/sandbox/inbox.ts";
import type { createDispatch } from "../../infra/local/sandbox/provider-server.ts";
import type { createProviders } from "../../infra/local/sandbox/providers/providers.ts";
import type { openResources } from "../../infra/local/sandbox/resources.ts";
import type { createSnsTopics } from "../../infra/local/sandbox/sns.ts";
import type { createSelfSignedCert } from "../../infra/local/sandbox/sns-certificate.ts";
import type {
  CapturedMail,
  MailEventKind,
  SandboxProvider,
  SandboxRefusal,
  SandboxResponse,
  WebhookPost,
  WebhookTarget,
} from "../../infra/local/sandbox/types.ts";
import type { formatEvent } from "../../infra/local/sandbox/webhook-format.ts";
import type {
  ObservedApiCall,
  openWebhookTargets,
} from "../../infra/local/sandbox/webhook-targets.ts";
import type { SimulatedRequest, SimulatedResponse } from "./fake-http.ts";
import { createProcess, createSurroundings, type Process } from "./machine.ts";
import { CallRefused, type Network } from "./network.ts";
import type { HttpFunction, Service } from "./service.ts";
import { type CreateInstance, listModules, loadServiceCode } from "./service-code.ts";
import type { SimulatedTime } from "./simulated-time.ts";

/** What the provider sandbox and the local engines export. */
export interface Sandbox {
  createOperations: typeof createOperations;
  createAccounts: typeof createAccounts;
  openInbox: typeof openInbox;
  renderPart: typeof renderPart;
  createDispatch: typeof createDispatch;
  createProviders: typeof createProviders;
  createSelfSignedCert: typeof createSelfSignedCert;
  createSnsTopics: typeof createSnsTopics;
  SandboxRefusal: typeof SandboxRefusal;
  formatEvent: typeof formatEvent;
  openResources: typeof openResources;
  openWebhookTargets: typeof openWebhookTargets;
}
export type SandboxCode = CreateInstance<Sandbox>;

export const loadSandbox = (): Promise<SandboxCode> =>
  loadServiceCode(`
    export { createOperations } from "./infra/local/engines/kms-and-secrets.ts";
    export { createAccounts } from "./infra/local/sandbox/accounts.ts";
    export { openInbox, renderPart } from "./infra/local/sandbox/inbox.ts";
    export { createDispatch } from "./infra/local/sandbox/provider-server.ts";
    export { createProviders } from "./infra/local/sandbox/providers/providers.ts";
    export { openResources } from "./infra/local/sandbox/resources.ts";
    export { createSelfSignedCert } from "./infra/local/sandbox/sns-certificate.ts";
    export { createSnsTopics } from "./infra/local/sandbox/sns.ts";
    export { SandboxRefusal } from "./infra/local/sandbox/types.ts";
    export { formatEvent } from "./infra/local/sandbox/webhook-format.ts";
    export { openWebhookTargets } from "./infra/local/sandbox/webhook-targets.ts";
  `);

type CallFunction = Service["callFunction"];
type Answer = Awaited<ReturnType<CallFunction>>;
type FunctionModule = Record<string, unknown> & { handler: HttpFunction };

interface GatewayCode {
  modules: Record<string, FunctionModule>;
  createGateway(
    groups: { name: string; routes: []; handler: HttpFunction }[],
    fallback: HttpFunction,
    isKnown: () => Promise<boolean>,
  ): { answer(request: GatewayRequest): Promise<Answer> };
}

export type Gateway = (
  request: GatewayRequest,
  inRun: { time: SimulatedTime; random: () => number; callFunction: CallFunction },
) => Promise<Answer>;

/** The routes of the gateway are the same in every run, so it is created once. */
export async function loadGateway(): Promise<Gateway> {
  const modules = listModules("functions/http").map((path) => JSON.stringify(path));
  const code = await loadServiceCode<GatewayCode>(`
    ${modules.map((path, i) => `import * as module${i} from ${path};`).join("\n")}
    export { createGateway } from "./infra/local/gateway.ts";
    export const modules = { ${modules.map((path, i) => `${path}: module${i}`).join(", ")} };
  `);
  let current: Parameters<Gateway>[1];
  const time = { now: () => current.time.now() } as SimulatedTime;
  const instance = code(
    createSurroundings({
      time,
      random: () => current.random(),
      process: createProcess("gateway"),
      log: () => {},
      packages: {},
    }),
  );
  const groups = Object.entries(instance.modules).flatMap(([path, module]) =>
    Object.values(module).flatMap((exported) => {
      const group = exported as { name: string; routes: [] } | undefined;
      if (!group?.routes) return [];
      return [{ ...group, handler: (event: object) => current.callFunction(path, event) }];
    }),
  );
  const { answer } = instance.createGateway(
    groups,
    (event) => current.callFunction("./functions/http/fallback.ts", event),
    async () => true,
  );
  return (request, inRun) => {
    current = inRun;
    return answer(request);
  };
}

/** A mail that a provider accepted. */
export interface DeliveredMail {
  provider: string;
  to: string;
  subject: string;
  html: string;
  /** When the process made the call, and when it arrived. */
  calledAt: number;
  at: number;
}

/** An event that a provider posts until the service accepts it. */
export interface PostedEvent {
  kind: MailEventKind;
  mail: DeliveredMail;
  isAccepted: boolean;
}

/** A request to the endpoint of a customer. */
export interface ReceivedWebhook {
  id: string;
  body: string;
}

interface EventSource {
  captured: CapturedMail;
  provider: SandboxProvider;
  target: WebhookTarget;
}

interface OutsideOptions {
  sandbox: SandboxCode;
  gateway: Gateway;
  time: SimulatedTime;
  random: () => number;
  network: Network;
  callFunction: CallFunction;
}

export interface ApiAnswer {
  status: number;
  /** The parsed body. */
  body: { data?: never; error?: string; code?: string };
  cookies: string[];
}

export type Outside = ReturnType<typeof createOutside>;

export function createOutside({ time, random, network, ...options }: OutsideOptions) {
  const { sandbox: code, gateway, callFunction } = options;
  const sandbox = code(
    createSurroundings({ time, random, process: createProcess("sandbox"), log() {}, packages: {} }),
  );
  const accounts = sandbox.createAccounts(Buffer.alloc(32, 7));
  const inbox = sandbox.openInbox();
  const webhookTargets = sandbox.openWebhookTargets(undefined, accounts);
  const snsKey = {
    privateKey: snsPrivateKey,
    certificate: sandbox.createSelfSignedCert(snsPrivateKey, "sns.amazonaws.com"),
  };
  const topics = sandbox.createSnsTopics(
    { root: Buffer.alloc(0), snsSigningKey: async () => snsKey },
    webhookTargets,
  );
  const providers = sandbox.createProviders(topics);
  const resources = sandbox.openResources();
  /** In some worlds nobody has entered the webhook URLs at the providers. */
  const postsEvents = random() < 0.75;
  /** When the searches of the providers find a mail, by its id in the inbox. */
  const searchableAt = new Map<number, number>();
  /** In some worlds the searches of the providers find each mail at once. */
  const hasPromptSearches = random() < 0.3;
  const mails: DeliveredMail[] = [];
  const events: PostedEvent[] = [];
  const received: ReceivedWebhook[] = [];
  const mailListeners: ((mail: DeliveredMail) => void)[] = [];
  let eventCount = 0;
  /** How many posts of events wait or are repeated. */
  let openPosts = 0;
  /** When the request was made that a provider answers at the moment. */
  let calledAt = 0;

  const dispatchers = new Map(
    providers.map((provider) => [
      provider.key,
      sandbox.createDispatch(provider, {
        ...{ accounts, resources, webhookTargets },
        schedule: { add() {}, of: () => [], remove() {} },
        inbox: {
          filter: (matches) =>
            inbox.filter((mail) => searchableAt.get(mail.id)! <= time.now() && matches(mail)),
        },
        servePublic: (request) =>
          provider.key === "ses" ? topics.serveSns(request) : Promise.resolve(undefined),
        accept(drafts, by, account) {
          for (const draft of drafts)
            receiveMail(inbox.add(draft, by.key, account.id), by, account.id);
        },
      }),
    ]),
  );

  function receiveMail(captured: CapturedMail, provider: SandboxProvider, accountId: string): void {
    const mail = {
      provider: provider.key,
      to: captured.to.email.toLowerCase(),
      subject: sandbox.renderPart(captured, "subject") ?? "",
      html: sandbox.renderPart(captured, "html") ?? "",
      calledAt,
      at: time.now(),
    };
    mails.push(mail);
    for (const listener of mailListeners) listener(mail);
    const delay = hasPromptSearches ? 0 : drawSearchDelay(random);
    searchableAt.set(captured.id, time.now() + delay);
    for (const kind of postsEvents ? drawEvents(random) : []) {
      if (!provider.webhook.events[kind]) continue;
      for (const target of webhookTargets.listFor(provider.key, accountId))
        scheduleEvent({ kind, mail, isAccepted: false }, { captured, provider, target });
    }
  }

  /** Posts an event after some time, and sometimes twice. */
  function scheduleEvent(event: PostedEvent, { captured, provider, target }: EventSource): void {
    events.push(event);
    const formatted = sandbox.formatEvent(provider.webhook, {
      kind: event.kind,
      mail: captured,
      at: new Date(time.now() + 30_000),
      id: `00000000-0000-4000-8000-${String(++eventCount).padStart(12, "0")}`,
      url: "https://shop.example/",
    });
    const account = accounts.findById(target.account)!;
    const post = async () => provider.webhook.buildPost([formatted], target, account);
    const posts = random() < 0.15 ? 2 : 1;
    openPosts += posts;
    for (let i = 0; i < posts; i++)
      time.after(1000 + 300_000 * random() ** 3, () => {
        void post()
          .then((built) => postEvent(event, target.url, built))
          .finally(() => openPosts--);
      });
  }

  async function postEvent(event: PostedEvent, url: string, post: WebhookPost): Promise<void> {
    for (let tries = 0; tries < 40; tries++) {
      const posted = { method: "POST", url, headers: post.headers(tries), body: post.body };
      const { status } = await request(posted).catch(() => ({ status: 0 }));
      if (status >= 200 && status < 300) {
        event.isAccepted = true;
        return;
      }
      await new Promise<void>((resolve) => time.after(20_000 + 40_000 * random(), resolve));
    }
  }

  /** One request to the service. Rejects without a response. */
  async function request(given: {
    method: string;
    url: string;
    headers?: Record<string, string>;
    body?: string | undefined;
  }): Promise<ApiAnswer> {
    const url = new URL(given.url);
    const answer = await network.call({
      to: "service",
      name: `${given.method} ${url.pathname}`,
      text: given.body ?? "",
      timeoutSeconds: 30,
      effect: () =>
        gateway(
          {
            method: given.method,
            path: url.pathname,
            query: url.search.slice(1),
            headers: Object.fromEntries(
              Object.entries({ host: url.host, ...given.headers }).map(([name, value]) => [
                name.toLowerCase(),
                value,
              ]),
            ),
            cookies: [],
            clientAddress: "192.0.2.1",
            body: Buffer.from(given.body ?? ""),
          },
          { time, random, callFunction },
        ),
    });
    const { statusCode = 200, body = "", cookies = [], headers = {} } = answer;
    const isJson = /json/.test(String(headers["content-type"] ?? ""));
    return { status: statusCode, body: isJson && body ? JSON.parse(body) : {}, cookies };
  }

  async function answerRequest(
    { method, url, headers, body }: SimulatedRequest,
    from: Process,
  ): Promise<SimulatedResponse> {
    const key = url.hostname.split(".")[0]!;
    const dispatch = dispatchers.get(key);
    const madeAt = time.now();
    const effect = async (): Promise<SimulatedResponse> => {
      if (!dispatch) {
        received.push({ id: headers["webhook-id"] ?? "", body: body.toString() });
        return { status: 200, headers: {}, body: "" };
      }
      calledAt = madeAt;
      const request = { method, path: url.pathname, query: url.search.slice(1), headers, body };
      return toResponse(
        await dispatch(request).catch((error: unknown) => {
          if (error instanceof sandbox.SandboxRefusal) return error.response;
          throw error;
        }),
      );
    };
    try {
      return await network.call({
        from,
        to: dispatch ? "provider" : "receiver",
        name: dispatch ? `the API of ${key}` : "an endpoint of a customer",
        // The boundaries of forms are the only random text that does not come from the seed.
        text: `${method} ${url.pathname} ${body}`.replace(/formdata-undici-\d+/g, "boundary"),
        timeoutSeconds: dispatch ? 25 : 15,
        effect,
      });
    } catch (error) {
      if (!(error instanceof CallRefused)) throw error;
      const { amount: status } = error.fault;
      return { status, headers: status === 500 ? {} : { "retry-after": "2" }, body: "{}" };
    }
  }

  return {
    mails,
    events,
    received,
    hasPromptSearches,
    /** Calls the listener with each mail that a provider accepts from now on. */
    onMail: (listener: (mail: DeliveredMail) => void) => mailListeners.push(listener),
    countOpenPosts: () => openPosts,
    answerRequest,
    request,
    /** The vault of the service, with the credentials of the system sender. */
    vault: sandbox.createOperations(Buffer.alloc(32, 8), {}),
    credentialsAt(provider: string) {
      const account = accounts.systemAccount;
      const { credentials, webhook } = providers.find(({ key }) => key === provider)!;
      return { credentials: credentials(account), webhookSecret: webhook.deriveSecret(account) };
    },
    /** Enters the webhook URL of a new sending config at its provider. */
    observeConfig: (call: ObservedApiCall) => webhookTargets.observe(call, providers),
  };
}

/** Signs the events of Amazon SES. The same in every run, because events contain signatures. */
const snsPrivateKey = readFileSync(
  join(import.meta.dirname, "../fixtures/tls/sns-key.pem"),
  "utf8",
);

const toResponse = ({ status, headers = {}, body = "" }: SandboxResponse): SimulatedResponse => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: typeof body === "string" ? body : JSON.stringify(body),
});

/** Less than the hour between two look-ups, so that no mail counts as missing. */
const maxSearchDelayMs = 40 * 60_000;

/** Searches find some mails late, so an answer can lack some of its mails. */
const drawSearchDelay = (random: () => number): number =>
  random() < 0.3 ? maxSearchDelayMs * random() : 0;

/** The events of one mail, as they happen. They are posted in any order. */
function drawEvents(random: () => number): MailEventKind[] {
  const chance = random();
  if (chance < 0.08) return ["bounced"];
  if (chance < 0.5) return ["delivered"];
  if (chance < 0.53) return ["delivered", "complained"];
  return chance < 0.8 ? ["delivered", "opened"] : ["delivered", "opened", "clicked"];
}
