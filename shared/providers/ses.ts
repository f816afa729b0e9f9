// Amazon SES, API v2 SendEmail, signed by Signature V4:
// https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html
//
// It has no `batch`: SendBulkEmail supports only Handlebars templates, renders them after it has
// responded, and counts each recipient against the account's rate, so it would gain nothing.

import { domainToASCII } from "node:url";
import { Hash } from "@smithy/core/serde";
import { SignatureV4 } from "@smithy/signature-v4";
import * as z from "zod";
import * as clock from "../clock.ts";
import * as credentialFields from "./credential-fields.ts";
import { encodedValue, formatAsciiMailbox } from "./mailbox-format.ts";
import {
  addresseesOf,
  fillMergeText,
  type Mailbox,
  type Mailing,
  type ProviderAdapter,
} from "./provider-adapter.ts";
import {
  callProvider,
  type FailureKind,
  mergeHeaders,
  type ProviderResponse,
  readFromProvider,
} from "./provider-http.ts";
import { traits } from "./traits.ts";

export type SesCredentials = z.output<typeof Credentials>;
const Credentials = z.object({
  accessKeyId: credentialFields.secretField(
    "Access key id of an IAM user that may ses:SendEmail and ses:GetAccount",
  ),
  secretAccessKey: credentialFields.secretField("Secret access key of that user"),
  sessionToken: credentialFields
    .secretField("")
    .optional()
    .describe("Session token, with temporary keys only"),
  // Part of the host name, so other characters are rejected.
  region: z
    .string()
    .trim()
    .regex(/^[a-z]{2}(-[a-z]{2,12}){1,2}-\d$/, "must be an AWS region such as us-east-1")
    .describe("AWS region of the verified identity, such as us-east-1"),
  configurationSet: z
    .string()
    .trim()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, underscores or hyphens")
    .optional()
    .describe(
      "Configuration set whose SNS destination reports events; without one no event names its send",
    ),
});

export const ses: ProviderAdapter<typeof Credentials> = {
  key: "ses",
  ...traits.ses,
  credentials: Credentials,
  webhookProof: "secret",
  tracking: { opens: true, clicks: true },
  idempotencySeconds: 0,
  // Keys that may not read the account are valid, too.
  async credentialRequest(keys) {
    const url = `${apiUrl(keys)}/account`;
    const headers = await signRequest(url, "", { method: "GET", keys, at: clock.now() });
    const isDenied = (type: string | null) => type?.startsWith("AccessDenied") ?? false;
    return {
      ...{ url, headers },
      isRefusal: (response) =>
        response.status === 403 && !isDenied(response.headers.get("x-amzn-errortype")),
    };
  },
  async send({ mailing, credentials: keys }) {
    const { accessKeyId, secretAccessKey, sessionToken = "" } = keys;
    const body = JSON.stringify(message(mailing, keys.configurationSet));
    const url = `${apiUrl(keys)}/outbound-emails`;
    return callProvider(ses, mailing, {
      url,
      headers: await signRequest(url, body, { keys, at: clock.now() }),
      body,
      secrets: [secretAccessKey, accessKeyId, sessionToken],
      readOutcomes: ({ status, json }) => {
        const sent = Sent.safeParse(json).data;
        return status === 200 && sent
          ? { status: "accepted", messageId: sent.MessageId }
          : undefined;
      },
      errorText: ({ json }) =>
        Problem.safeParse(json).data?.message ?? Problem.safeParse(json).data?.Message,
      failureKind: failureKindOf,
      retryAfterSeconds: (_, errorText) => (dailyQuota.test(errorText) ? 3600 : undefined),
    });
  },
  async readLimits(keys) {
    const url = `${apiUrl(keys)}/account`;
    const headers = await signRequest(url, "", { method: "GET", keys, at: clock.now() });
    const response = await readFromProvider(ses, { url, headers });
    const quota = Account.safeParse(response?.json).data?.SendQuota;
    return (
      quota && {
        emailsPerSecond: quota.MaxSendRate,
        emailsPer24Hours: quota.Max24HourSend < 0 ? null : quota.Max24HourSend,
        sentLast24Hours: quota.SentLast24Hours,
      }
    );
  },
};

export const apiUrl = ({ region }: z.output<typeof Credentials>): string =>
  `https://email.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}/v2/email`;

/** GetAccount. A quota of -1 is none. */
const Account = z.object({
  SendQuota: z.object({
    MaxSendRate: z.number().positive(),
    Max24HourSend: z.number(),
    SentLast24Hours: z.number().min(0),
  }),
});

const Sent = z.object({ MessageId: z.string() });
const Problem = z.object({ message: z.string().optional(), Message: z.string().optional() });

/** Signs for the real host, even if a setting replaces it. Returns the headers to send. */
export async function signRequest(
  url: string,
  body: string,
  {
    method = "POST",
    service = "ses",
    contentType = "application/json",
    keys: { region, accessKeyId, secretAccessKey, sessionToken },
    at,
  }: {
    method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
    service?: "ses" | "sns" | "s3";
    contentType?: string;
    keys: z.output<typeof Credentials>;
    at: Date;
  },
): Promise<Record<string, string>> {
  const { hostname, pathname, searchParams } = new URL(url);
  const signer = new SignatureV4({
    service,
    region,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) },
    sha256: Hash.bind(null, "sha256"),
    // S3 takes the path as it is.
    uriEscapePath: service !== "s3",
  });
  const headers = { host: hostname, "content-type": contentType };
  const query = Object.fromEntries(searchParams);
  const request = { method, protocol: "https:", hostname, path: pathname, query, headers, body };
  const { host: _, ...signed } = (await signer.sign(request, { signingDate: at })).headers;
  return signed;
}

function message(mailing: Mailing, configurationSet: string | undefined): object {
  const recipient = mailing.recipients[0]!;
  const { to, cc, bcc } = addresseesOf(mailing, recipient);
  const utf8 = (Data: string) => ({ Data, Charset: "UTF-8" });
  return {
    FromEmailAddress: address(mailing.from),
    Destination: {
      ToAddresses: to.map(address),
      ...(cc.length && { CcAddresses: cc.map(address) }),
      ...(bcc.length && { BccAddresses: bcc.map(address) }),
    },
    ...(mailing.replyTo && {
      ReplyToAddresses: mailing.replyTo.map((email) => address({ email })),
    }),
    ...(configurationSet && { ConfigurationSetName: configurationSet }),
    EmailTags: [
      { Name: "sendId", Value: String(recipient.sendId) },
      ...mailing.tags.slice(0, 10).map(tag),
    ],
    ...tracking(mailing),
    Content: {
      Simple: {
        Subject: utf8(fillMergeText(mailing.subject, recipient)),
        Body: {
          ...(mailing.text && { Text: utf8(fillMergeText(mailing.text, recipient)) }),
          ...(mailing.html && { Html: utf8(fillMergeText(mailing.html, recipient)) }),
        },
        Headers: Object.entries(mergeHeaders(mailing, recipient)).map(([Name, Value]) => ({
          Name,
          Value: encodedValue(Value),
        })),
        ...(mailing.attachments.length > 0 && { Attachments: attachments(mailing) }),
      },
    },
  };
}

/** SES accepts only ASCII: names become encoded words, domains punycode. */
const address = ({ email, name }: Mailbox): string => {
  const at = email.lastIndexOf("@");
  return formatAsciiMailbox({
    email: `${email.slice(0, at)}@${domainToASCII(email.slice(at + 1)) || email.slice(at + 1)}`,
    name,
  });
};

/** A tag of SES has a name and a value, both with restricted characters. */
const tag = (value: string, n: number) => ({
  Name: `tag${n + 1}`,
  Value: value.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 256),
});

const tracking = ({ trackOpens, trackClicks }: Mailing): object => {
  const state = (on: boolean): string => (on ? "ENABLED" : "DISABLED");
  const settings = {
    ...(trackOpens !== undefined && { OpenTrackingEnabled: state(trackOpens) }),
    ...(trackClicks !== undefined && { ClickTrackingEnabled: state(trackClicks) }),
  };
  return Object.keys(settings).length > 0 ? { ConfigurationOverrides: { Tracking: settings } } : {};
};

const attachments = (mailing: Mailing): object[] =>
  mailing.attachments.map(({ filename, type, content, contentId }) => ({
    FileName: filename,
    ContentType: type,
    ContentDisposition: contentId === undefined ? "ATTACHMENT" : "INLINE",
    ...(contentId !== undefined && { ContentId: contentId }),
    ContentTransferEncoding: "BASE64",
    RawContent: content,
  }));

const dailyQuota = /daily message quota/i;

const failureByType: Record<string, FailureKind> = {
  AccountSuspendedException: "config",
  SendingPausedException: "config",
  MailFromDomainNotVerifiedException: "config",
  // A mail without template can only lack its configuration set.
  NotFoundException: "config",
  LimitExceededException: "pace",
  TooManyRequestsException: "pace",
  ThrottlingException: "pace",
  // "The request has failed due to a temporary failure of the server".
  // InternalServiceErrorException is not documented so.
  ServiceUnavailable: "fault",
  ServiceUnavailableException: "fault",
};

/** A header contains the name of the error, sometimes with a URL after a colon. */
const failureKindOf = (
  { headers }: ProviderResponse,
  errorText: string,
): FailureKind | undefined =>
  /is not verified/i.test(errorText)
    ? "config"
    : failureByType[headers.get("x-amzn-errortype")?.split(":")[0] ?? ""];
