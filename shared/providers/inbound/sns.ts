// Amazon SNS over HTTPS (docs.aws.amazon.com/sns, "Verifying the signatures of Amazon SNS messages"): the envelope of SES events.
// A right signature proves no more than that some AWS account published it: what is ours is proven by the secret in the URL.
import { X509Certificate } from "node:crypto";
import type { Notice } from "./inbound.ts";
import { entry, fields, json } from "./reading.ts";
import { decoded, verified } from "./signatures.ts";

/** The text fields of a message; SNS sends no others. */
export type Message = Partial<Record<string, string>>;

/** A message of a known kind whose headers say the same as its body. Raw delivery has no envelope, hence no signature: none. */
export function message({ headers, rawBody }: Notice): Message | undefined {
  const found: Message = Object.fromEntries(Object.entries(fields(json(rawBody))).filter(isText));
  const agrees = repeated.every(([header, field]) => headers[header] === undefined || headers[header] === found[field]);
  return agrees && entry(signedFields, found.Type) && found.MessageId && region(found) ? found : undefined;
}

/** Whether SNS signed it. Throws only what `certificate` throws. */
export async function genuine(found: Message, now: Date, certificate: (url: string) => Promise<string>): Promise<boolean> {
  const names = entry(signedFields, found.Type);
  const algorithm = entry(algorithms, found.SignatureVersion);
  const signature = decoded(found.Signature);
  const url = found.SigningCertURL ?? "";
  if (!names || !algorithm || !signature || !isCertificateUrl(url)) return false;
  const key = publicKey(await certificate(url), now);
  const signed = names.flatMap((name) => (found[name] === undefined ? [] : [`${name}\n${found[name]}\n`]));
  return key !== undefined && verified(algorithm, Buffer.from(signed.join("")), key, signature);
}

/** Where a subscription is confirmed; undefined if that is not SNS itself, in the topic's region and for this topic. */
export function subscribeUrl(found: Message): string | undefined {
  const url = found.SubscribeURL ?? "";
  const [, host] = /^https:\/\/sns\.([a-z0-9-]+\.amazonaws\.com(?:\.cn)?)\/\?[!-~]+$/.exec(url) ?? [];
  if (!host || !regionHost.test(host) || host.split(".")[0] !== region(found)) return undefined;
  const asks = new URL(url).searchParams;
  const [action, topic, token] = ["Action", "TopicArn", "Token"].map((name) => asks.getAll(name).join());
  return action === "ConfirmSubscription" && topic === found.TopicArn && token ? url : undefined;
}

const isText = (pair: [string, unknown]): pair is [string, string] => typeof pair[1] === "string";

const repeated = [
  ["x-amz-sns-message-type", "Type"],
  ["x-amz-sns-message-id", "MessageId"],
  ["x-amz-sns-topic-arn", "TopicArn"],
] as const;

const confirmation = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
const signedFields: Record<string, string[]> = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: confirmation,
  UnsubscribeConfirmation: confirmation,
};
const algorithms: Record<string, "sha1" | "sha256"> = { "1": "sha1", "2": "sha256" };

/** Decided on the text as it came: what a URL parser would mend or ignore is refused. */
const isCertificateUrl = (url: string): boolean =>
  /^https:\/\/sns\.[a-z]{2}(-[a-z]+)+-\d\.amazonaws\.com(\.cn)?\/SimpleNotificationService-[0-9a-f]+\.pem$/.test(url);
const regionHost = /^[a-z]{2}(-[a-z]+)+-\d\./;

const region = ({ TopicArn = "" }: Message): string | undefined =>
  /^arn:aws[a-z-]*:sns:([a-z0-9-]{1,40}):\d{12}:[\w.-]{1,256}$/.exec(TopicArn)?.[1];

function publicKey(pem: string, now: Date) {
  try {
    const { validFromDate, validToDate, publicKey } = new X509Certificate(pem);
    return validFromDate <= now && now <= validToDate ? publicKey : undefined;
  } catch {
    return undefined;
  }
}
