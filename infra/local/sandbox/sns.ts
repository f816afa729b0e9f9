// The part of Amazon SNS that delivers SES events: signed messages, their certificate, and
// confirmed subscriptions.
import { createHash, createSign, randomUUID } from "node:crypto";
import * as client from "../../../shared/adapters/http/client.ts";
import * as clock from "../../../shared/clock.ts";
import type { RootKeys } from "./root-keys.ts";
import type {
  SandboxAccount,
  SandboxRequest,
  SandboxResponse,
  WebhookPost,
  WebhookTarget,
} from "./types.ts";
import type { WebhookTargets } from "./webhook-targets.ts";

export type SnsTopics = ReturnType<typeof createSnsTopics>;
type SnsMessage = Record<string, string>;

const origin = "https://sns.us-east-1.amazonaws.com";
const confirmTimeoutMs = 3000;
const retryAfterMs = 2000;

export function createSnsTopics(keys: RootKeys, hooks: WebhookTargets) {
  const pendingConfirmations = new Map<string, Promise<boolean>>();
  const confirmByToken = new Map<string, () => void>();

  async function signMessage(topic: string, fields: SnsMessage): Promise<WebhookPost> {
    const { privateKey, certificate } = await keys.snsSigningKey();
    const unsigned: SnsMessage = {
      ...fields,
      MessageId: randomUUID(),
      TopicArn: topic,
      Timestamp: clock.now().toISOString(),
      SignatureVersion: "2",
      SigningCertURL: `${origin}${certificatePath(certificate)}`,
    };
    const signature = createSign("sha256")
      .update(stringToSign(unsigned))
      .sign(privateKey, "base64");
    const headers = {
      "content-type": "text/plain; charset=UTF-8",
      "user-agent": "Amazon Simple Notification Service Agent",
      "x-amz-sns-message-type": unsigned.Type!,
      "x-amz-sns-message-id": unsigned.MessageId!,
      "x-amz-sns-topic-arn": topic,
      ...(unsigned.Type === "Notification" && {
        "x-amz-sns-subscription-arn": subscriptionOf(topic),
      }),
    };
    return { body: JSON.stringify({ ...unsigned, Signature: signature }), headers: () => headers };
  }

  /** Posts a SubscriptionConfirmation and waits for the request to its SubscribeURL. */
  async function requestConfirmation(
    hook: WebhookTarget,
    account: SandboxAccount,
  ): Promise<boolean> {
    const topic = hook.topicArn ?? topicArn(account);
    const token = account.deriveHex(`subscribe ${hook.url}`, 128);
    const visited = new Promise<true>((resolve) =>
      confirmByToken.set(`${topic} ${token}`, () => resolve(true)),
    );
    const query = `Action=ConfirmSubscription&TopicArn=${topic}&Token=${token}`;
    const { body, headers } = await signMessage(topic, {
      Type: "SubscriptionConfirmation",
      Token: token,
      Message:
        `You have chosen to subscribe to the topic ${topic}.\nTo confirm the ` +
        "subscription, visit the SubscribeURL included in this message.",
      SubscribeURL: `${origin}/?${query}`,
    });
    const posted = await client
      .request({ method: "POST", url: hook.url, headers: headers(0), body })
      .catch(() => undefined);
    const confirmed =
      posted?.status === 200 &&
      (await Promise.race([visited, clock.sleep(confirmTimeoutMs).then(() => false)]));
    if (confirmed) hooks.markConfirmed(hook);
    return confirmed;
  }

  return {
    targets: hooks,
    createNotification: (topic: string, event: Record<string, unknown>): Promise<WebhookPost> =>
      signMessage(topic, {
        Type: "Notification",
        Subject: "Amazon SES Email Event Notification",
        Message: `${JSON.stringify(event)}\n`,
        UnsubscribeURL: `${origin}/?Action=Unsubscribe&SubscriptionArn=${subscriptionOf(topic)}`,
      }),
    /**
     * Confirms the subscription if it is not confirmed yet. Returns false when that fails. Targets
     * of other providers need no confirmation.
     */
    ensureConfirmed(hook: WebhookTarget, account: SandboxAccount): Promise<boolean> | boolean {
      if (hook.provider !== "ses" || hooks.find(hook)?.confirmed) return true;
      const asking = pendingConfirmations.get(hook.url) ?? requestConfirmation(hook, account);
      if (!pendingConfirmations.has(hook.url))
        setTimeout(() => pendingConfirmations.delete(hook.url), retryAfterMs).unref();
      pendingConfirmations.set(hook.url, asking);
      return asking;
    },
    /** Responds to requests for the certificate and for a confirmation. */
    async serveSns({ method, path, query }: SandboxRequest): Promise<SandboxResponse | undefined> {
      if (method !== "GET") return undefined;
      const { certificate } = await keys.snsSigningKey();
      if (path === certificatePath(certificate))
        return {
          status: 200,
          headers: { "content-type": "application/x-pem-file" },
          body: certificate,
        };
      const asks = new URLSearchParams(query);
      if (path !== "/" || asks.get("Action") !== "ConfirmSubscription") return undefined;
      const confirm = confirmByToken.get(`${asks.get("TopicArn")} ${asks.get("Token")}`);
      confirm?.();
      return confirm ? xml(200, confirmation(asks.get("TopicArn")!)) : xml(400, invalidToken);
    },
  };
}

/** The first topic of an account is that of the webhook URLs of its saved sending configs. */
export const topicArn = (account: SandboxAccount, name = "ses-events"): string =>
  `arn:aws:sns:us-east-1:${awsAccountNumber(account)}:${name}`;
const subscriptionOf = (topic: string) => `${topic}:c9135db0-26c4-47ec-8998-413945fb5a96`;

/** The 12-digit number of an AWS account. */
export const awsAccountNumber = (account: SandboxAccount): string =>
  String(Number.parseInt(account.deriveHex("aws account", 10), 16))
    .padStart(12, "1")
    .slice(-12);

function certificatePath(certificate: string): string {
  const hash = createHash("sha256").update(certificate).digest("hex");
  return `/SimpleNotificationService-${hash.slice(0, 32)}.pem`;
}

const signedFields = [
  "Message",
  "MessageId",
  "Subject",
  "SubscribeURL",
  "Timestamp",
  "Token",
  "TopicArn",
  "Type",
];
const stringToSign = (message: SnsMessage) =>
  signedFields
    .filter((name) => message[name] !== undefined)
    .map((name) => `${name}\n${message[name]}\n`)
    .join("");

export const xml = (status: number, body: string): SandboxResponse => ({
  status,
  headers: { "content-type": "text/xml" },
  body,
});
export const snsNamespace = 'xmlns="http://sns.amazonaws.com/doc/2010-03-31/"';
const confirmation = (arn: string) =>
  [
    `<ConfirmSubscriptionResponse ${snsNamespace}><ConfirmSubscriptionResult>`,
    `<SubscriptionArn>${subscriptionOf(arn)}</SubscriptionArn>`,
    `</ConfirmSubscriptionResult><ResponseMetadata><RequestId>${randomUUID()}</RequestId>`,
    "</ResponseMetadata></ConfirmSubscriptionResponse>",
  ].join("");
const invalidToken =
  `<ErrorResponse ${snsNamespace}><Error><Type>Sender</Type><Code>InvalidParameter</Code>` +
  "<Message>Invalid parameter: Token</Message></Error></ErrorResponse>";
