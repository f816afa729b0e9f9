// Amazon SES receiving (docs.aws.amazon.com/ses, contents of notifications for receiving): a
// notification of SNS with the mail, or with the name of its S3 object, which the keys of a sending
// config read. SNS signs.
import * as clock from "../../clock.ts";
import { asArray, asObject, asText, parseJson, type UntrustedJson } from "../inbound/normalize.ts";
import * as sns from "../inbound/sns.ts";
import * as snsCertificates from "../inbound/sns-certificates.ts";
import { type SesCredentials, signRequest } from "../ses.ts";
import { downloadFromAccounts, type ReadAccounts } from "./account-access.ts";
import { type InboundMailAdapter, parseMime } from "./received-mail.ts";

export const ses: InboundMailAdapter = {
  isSigned: true,
  async verify(request, _key, now) {
    const message = sns.parseSnsMessage(request);
    return (
      message !== undefined && sns.isSignedBySns(message, now, snsCertificates.fetchCertificate)
    );
  },
  subscribeUrl(request) {
    const message = sns.parseSnsMessage(request);
    return message?.Type === "SubscriptionConfirmation" ? sns.subscribeUrl(message) : undefined;
  },
  async read({ body }, accounts) {
    const message = asObject(parseJson(Buffer.from(body)));
    const event = asObject(parseJson(message.Message));
    if (message.Type !== "Notification" || event.notificationType !== "Received") return [];
    const receipt = asObject(event.receipt);
    const source = await readSource(event, regionOf(message.TopicArn), accounts);
    const mail =
      source &&
      (await parseMime(source, {
        envelopeTo: asArray(receipt.recipients),
        isSpam: spamOf(receipt),
        providerId: asText(asObject(event.mail).messageId),
      }));
    return mail ? [mail] : [];
  },
  rejectedStatus: 401,
};

/** Mail with a virus counts as spam, so that nobody gets its files forwarded. */
function spamOf({ spamVerdict, virusVerdict }: UntrustedJson): boolean | undefined {
  const [spam, virus] = [spamVerdict, virusVerdict].map((verdict) => asObject(verdict).status);
  if (spam === "FAIL" || virus === "FAIL") return true;
  return spam === "PASS" ? false : undefined;
}

const regionOf = (topic: unknown): string => String(topic).split(":")[3] ?? "";

async function readSource(
  event: Record<string, unknown>,
  region: string,
  accounts: ReadAccounts,
): Promise<string | Buffer | undefined> {
  const action = asObject(asObject(event.receipt).action);
  if (typeof event.content === "string")
    return action.encoding === "BASE64" ? Buffer.from(event.content, "base64") : event.content;
  const { bucketName: bucket, objectKey: key } = action;
  const isNamed =
    typeof key === "string" && /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(String(bucket));
  if (action.type !== "S3" || !isNamed || !regionPattern.test(region)) return undefined;
  const path = key.split("/").map(encodeURIComponent).join("/");
  const url = `https://s3.${region}.amazonaws.com/${String(bucket)}/${path}`;
  return downloadFromAccounts("ses", await accounts(), async (account) => {
    const keys = { ...(account as SesCredentials), region };
    const options = { method: "GET", service: "s3", keys, at: clock.now() } as const;
    return { url, headers: await signRequest(url, "", options) };
  });
}

const regionPattern = /^[a-z]{2}(-[a-z]{2,12}){1,2}-\d$/;
