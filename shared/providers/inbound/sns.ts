// Amazon SNS over HTTPS (docs.aws.amazon.com/sns, "Verifying the signatures of Amazon SNS
// messages"):
// the envelope of SES events. A valid signature only proves that some AWS account published the
// message. The secret in the URL proves that it is meant for the config.
import { X509Certificate } from "node:crypto";
import type { InboundRequest } from "./inbound-adapter.ts";
import { asObject, ownValue, parseJson } from "./normalize.ts";
import { decodeBase64, verifySignature } from "./signatures.ts";

/** The text fields of a message. SNS sends no others. */
export type SnsEnvelope = Partial<Record<string, string>>;

/**
 * Parses a message of a known type whose headers agree with its body. Returns undefined otherwise,
 * and for raw message delivery, which has no envelope and therefore no signature.
 */
export function parseSnsMessage({ headers, rawBody }: InboundRequest): SnsEnvelope | undefined {
  const message: SnsEnvelope = Object.fromEntries(
    Object.entries(asObject(parseJson(rawBody))).filter(isText),
  );
  const agrees = headerFields.every(
    ([header, field]) => headers[header] === undefined || headers[header] === message[field],
  );
  const isKnown = ownValue(signedFields, message.Type) && message.MessageId && topicRegion(message);
  return agrees && isKnown ? message : undefined;
}

/** Whether SNS signed the message. Throws only what `fetchCertificate` throws. */
export async function isSignedBySns(
  message: SnsEnvelope,
  now: Date,
  fetchCertificate: (url: string) => Promise<string>,
): Promise<boolean> {
  const names = ownValue(signedFields, message.Type);
  const algorithm = ownValue(algorithms, message.SignatureVersion);
  const signature = decodeBase64(message.Signature);
  const url = message.SigningCertURL ?? "";
  if (!names || !algorithm || !signature || !isCertificateUrl(url)) return false;
  const key = publicKey(await fetchCertificate(url), now);
  const signed = names.flatMap((name) =>
    message[name] === undefined ? [] : [`${name}\n${message[name]}\n`],
  );
  return (
    key !== undefined &&
    verifySignature(algorithm, { data: Buffer.from(signed.join("")), signature }, key)
  );
}

/**
 * Returns the confirmation URL if it belongs to SNS, in the region of the topic and for this topic.
 */
export function subscribeUrl(message: SnsEnvelope): string | undefined {
  const url = message.SubscribeURL ?? "";
  const [, host] =
    /^https:\/\/sns\.([a-z0-9-]+\.amazonaws\.com(?:\.cn)?)\/\?[!-~]+$/.exec(url) ?? [];
  if (!host || !regionHost.test(host) || host.split(".")[0] !== topicRegion(message))
    return undefined;
  const query = new URL(url).searchParams;
  const [action, topic, token] = ["Action", "TopicArn", "Token"].map((name) =>
    query.getAll(name).join(),
  );
  return action === "ConfirmSubscription" && topic === message.TopicArn && token ? url : undefined;
}

const isText = (pair: [string, unknown]): pair is [string, string] => typeof pair[1] === "string";

const headerFields = [
  ["x-amz-sns-message-type", "Type"],
  ["x-amz-sns-message-id", "MessageId"],
  ["x-amz-sns-topic-arn", "TopicArn"],
] as const;

const confirmationFields = [
  "Message",
  "MessageId",
  "SubscribeURL",
  "Timestamp",
  "Token",
  "TopicArn",
  "Type",
];
const signedFields: Record<string, string[]> = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: confirmationFields,
  UnsubscribeConfirmation: confirmationFields,
};
const algorithms: Record<string, "sha1" | "sha256"> = { "1": "sha1", "2": "sha256" };

/** Checks the raw text, because a URL parser would repair or ignore parts of it. */
function isCertificateUrl(url: string): boolean {
  const [scheme, empty, host = "", file = "", ...more] = url.split("/");
  return (
    scheme === "https:" &&
    empty === "" &&
    /^sns\.[a-z]{2}(-[a-z]+)+-\d\.amazonaws\.com(\.cn)?$/.test(host) &&
    /^SimpleNotificationService-[0-9a-f]+\.pem$/.test(file) &&
    more.length === 0
  );
}
const regionHost = /^[a-z]{2}(-[a-z]+)+-\d\./;

const topicRegion = ({ TopicArn = "" }: SnsEnvelope): string | undefined =>
  /^arn:aws[a-z-]*:sns:([a-z0-9-]{1,40}):\d{12}:[\w.-]{1,256}$/.exec(TopicArn)?.[1];

function publicKey(pem: string, now: Date) {
  try {
    const { validFromDate, validToDate, publicKey } = new X509Certificate(pem);
    return validFromDate <= now && now <= validToDate ? publicKey : undefined;
  } catch {
    return undefined;
  }
}
