// The part of Amazon SNS that carries SES events: signed messages, the certificate they verify with, confirmed subscriptions.
import { createHash, createSign, randomUUID } from "node:crypto";
import * as clock from "../../../shared/clock.ts";
import * as web from "../../../shared/doors/web.ts";
import type { Account, Answer, Hook, Parcel, Request } from "./contract.ts";
import type { Hooks } from "./hooks.ts";
import type { RootKeys } from "./root.ts";

export type Topics = ReturnType<typeof topics>;
type Message = Record<string, string>;

const origin = "https://sns.us-east-1.amazonaws.com";
const patienceMs = 3000;
const restMs = 2000;

export function topics(keys: RootKeys, hooks: Hooks) {
  const asked = new Map<string, Promise<boolean>>();
  const subscribers = new Map<string, () => void>();

  async function parcel(account: Account, fields: Message): Promise<Parcel> {
    const { privateKey, certificate } = await keys.sns();
    const unsigned: Message = {
      ...fields,
      MessageId: randomUUID(),
      TopicArn: topicArn(account),
      Timestamp: clock.now().toISOString(),
      SignatureVersion: "2",
      SigningCertURL: `${origin}${certificatePath(certificate)}`,
    };
    const signature = createSign("sha256").update(signed(unsigned)).sign(privateKey, "base64");
    const headers = {
      "content-type": "text/plain; charset=UTF-8",
      "user-agent": "Amazon Simple Notification Service Agent",
      "x-amz-sns-message-type": unsigned.Type!,
      "x-amz-sns-message-id": unsigned.MessageId!,
      "x-amz-sns-topic-arn": topicArn(account),
      ...(unsigned.Type === "Notification" && { "x-amz-sns-subscription-arn": subscriptionArn(account) }),
    };
    return { body: JSON.stringify({ ...unsigned, Signature: signature }), headers: () => headers };
  }

  /** Posts a SubscriptionConfirmation and waits for the visit to its SubscribeURL. */
  async function subscribe(hook: Hook, account: Account): Promise<boolean> {
    const token = account.hex(`subscribe ${hook.url}`, 128);
    const visited = new Promise<true>((resolve) => subscribers.set(`${topicArn(account)} ${token}`, () => resolve(true)));
    const { body, headers } = await parcel(account, {
      Type: "SubscriptionConfirmation",
      Token: token,
      Message: `You have chosen to subscribe to the topic ${topicArn(account)}.\nTo confirm the subscription, visit the SubscribeURL included in this message.`,
      SubscribeURL: `${origin}/?Action=ConfirmSubscription&TopicArn=${topicArn(account)}&Token=${token}`,
    });
    const posted = await web.call({ method: "POST", url: hook.url, headers: headers(0), body }).catch(() => undefined);
    const confirmed = posted?.status === 200 && (await Promise.race([visited, clock.sleep(patienceMs).then(() => false)]));
    if (confirmed) hooks.confirm(hook);
    return confirmed;
  }

  return {
    notification: (account: Account, event: Record<string, unknown>): Promise<Parcel> =>
      parcel(account, {
        Type: "Notification",
        Subject: "Amazon SES Email Event Notification",
        Message: `${JSON.stringify(event)}\n`,
        UnsubscribeURL: `${origin}/?Action=Unsubscribe&SubscriptionArn=${subscriptionArn(account)}`,
      }),
    /** Whether events may go to this hook; asks for confirmation if there was none yet. Others than SES need none. */
    confirmed(hook: Hook, account: Account): Promise<boolean> | boolean {
      if (hook.provider !== "ses" || hooks.current(hook)?.confirmed) return true;
      const asking = asked.get(hook.url) ?? subscribe(hook, account);
      if (!asked.has(hook.url)) setTimeout(() => asked.delete(hook.url), restMs).unref();
      asked.set(hook.url, asking);
      return asking;
    },
    /** What is asked of sns.<region>.amazonaws.com: certificate and confirmation. */
    async serve({ method, path, query }: Request): Promise<Answer | undefined> {
      if (method !== "GET") return undefined;
      const { certificate } = await keys.sns();
      if (path === certificatePath(certificate))
        return { status: 200, headers: { "content-type": "application/x-pem-file" }, body: certificate };
      const asks = new URLSearchParams(query);
      if (path !== "/" || asks.get("Action") !== "ConfirmSubscription") return undefined;
      const confirm = subscribers.get(`${asks.get("TopicArn")} ${asks.get("Token")}`);
      confirm?.();
      return confirm ? xml(200, confirmation(asks.get("TopicArn")!)) : xml(400, invalidToken);
    },
  };
}

const topicArn = (account: Account) => `arn:aws:sns:us-east-1:${accountNumber(account)}:ses-events`;
const subscriptionArn = (account: Account) => `${topicArn(account)}:c9135db0-26c4-47ec-8998-413945fb5a96`;

/** The 12 digits of an AWS account. */
export const accountNumber = (account: Account): string =>
  String(Number.parseInt(account.hex("aws account", 10), 16))
    .padStart(12, "1")
    .slice(-12);

const certificatePath = (certificate: string) =>
  `/SimpleNotificationService-${createHash("sha256").update(certificate).digest("hex").slice(0, 32)}.pem`;

const signedFields = ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
const signed = (message: Message) =>
  signedFields
    .filter((name) => message[name] !== undefined)
    .map((name) => `${name}\n${message[name]}\n`)
    .join("");

const xml = (status: number, body: string): Answer => ({ status, headers: { "content-type": "text/xml" }, body });
const confirmation = (arn: string) =>
  `<ConfirmSubscriptionResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><ConfirmSubscriptionResult><SubscriptionArn>${arn}:c9135db0-26c4-47ec-8998-413945fb5a96</SubscriptionArn></ConfirmSubscriptionResult><ResponseMetadata><RequestId>${randomUUID()}</RequestId></ResponseMetadata></ConfirmSubscriptionResponse>`;
const invalidToken = `<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type><Code>InvalidParameter</Code><Message>Invalid parameter: Token</Message></Error></ErrorResponse>`;
