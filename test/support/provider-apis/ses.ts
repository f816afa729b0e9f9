import { expect } from "vitest";
import type { Mailbox } from "../../../shared/providers/provider-adapter.ts";
import { type ProviderApi, parseMailbox } from "./provider-api.ts";

interface SesRequest {
  FromEmailAddress: string;
  Destination: { ToAddresses: string[]; BccAddresses?: string[] };
  ReplyToAddresses?: string[];
  ConfigurationSetName?: string;
  EmailTags: { Name: string; Value: string }[];
  ConfigurationOverrides?: {
    Tracking: { OpenTrackingEnabled?: string; ClickTrackingEnabled?: string };
  };
  Content: {
    Simple: {
      Subject: { Data: string; Charset: string };
      Body: { Text?: { Data: string; Charset: string }; Html?: { Data: string; Charset: string } };
      Headers: { Name: string; Value: string }[];
      Attachments?: {
        FileName: string;
        ContentType: string;
        ContentTransferEncoding: string;
        RawContent: string;
      }[];
    };
  };
}

const error = (status: number, name: string, message = "It cannot be") => ({
  status,
  headers: { "content-type": "application/json", "x-amzn-errortype": name },
  body: JSON.stringify({ message }),
});

/** Decodes a mailbox like a mail client, which joins adjacent encoded words. */
const decodeMailbox = (line: string): Mailbox => {
  const { email, name } = parseMailbox(line);
  const encodedWords = name?.replace(/\?=\s+=\?/gu, "?==?");
  return {
    email,
    ...(encodedWords && {
      name: encodedWords.replace(/=\?UTF-8\?B\?([^?]*)\?=/gu, (_, base64: string) =>
        Buffer.from(base64, "base64").toString(),
      ),
    }),
  };
};

const parseTracking = (value: string | undefined) =>
  value === undefined ? undefined : value === "ENABLED";

export const ses: ProviderApi = {
  credentials: {
    accessKeyId: "AKIDEXAMPLE000000",
    secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    region: "eu-west-1",
    configurationSet: "platform-events",
  },
  secrets: ["AKIDEXAMPLE000000", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"],
  path: "/v2/email/outbound-emails",
  maxTags: 10,
  readMails({ headers, body }) {
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE000000\/\d{8}\/eu-west-1\/ses\/aws4_request, /,
    );
    const parsed: SesRequest = JSON.parse(body.toString());
    expect(parsed.ConfigurationSetName).toBe("platform-events");
    const { Subject, Body, Headers, Attachments = [] } = parsed.Content.Simple;
    for (const line of [parsed.FromEmailAddress, ...parsed.Destination.ToAddresses])
      expect(line).toMatch(/^[\x20-\x7e]+$/);
    for (const { Name, Value } of parsed.EmailTags)
      expect(Name + Value).toMatch(/^[A-Za-z0-9_-]+$/);
    const [sendId, ...tags] = parsed.EmailTags;
    expect(sendId!.Name).toBe("sendId");
    expect(new Set(parsed.EmailTags.map(({ Name }) => Name)).size).toBe(parsed.EmailTags.length);
    return [
      {
        from: decodeMailbox(parsed.FromEmailAddress),
        to: decodeMailbox(parsed.Destination.ToAddresses[0]!),
        replyTo: parsed.ReplyToAddresses?.[0],
        bcc: parsed.Destination.BccAddresses?.[0],
        subject: Subject.Data,
        text: Body.Text?.Data,
        html: Body.Html?.Data,
        headers: Object.fromEntries(Headers.map(({ Name, Value }) => [Name, Value])),
        tags: tags.map(({ Value }) => Value),
        sendId: sendId!.Value,
        attachments: Attachments.map(({ FileName, ContentType, RawContent }) => ({
          filename: FileName,
          type: ContentType,
          content: RawContent,
        })),
        trackOpens: parseTracking(parsed.ConfigurationOverrides?.Tracking.OpenTrackingEnabled),
        trackClicks: parseTracking(parsed.ConfigurationOverrides?.Tracking.ClickTrackingEnabled),
      },
    ];
  },
  success: () => ({ status: 200, body: '{"MessageId":"0100018f-aaaa-000000"}' }),
  messageId: () => "0100018f-aaaa-000000",
  invalidMailReply: (message) => error(400, "BadRequestException", message),
  accountErrors: [
    error(400, "AccountSuspendedException"),
    error(400, "SendingPausedException:http://internal.amazon.com/coral/"),
    error(400, "MailFromDomainNotVerifiedException"),
    error(
      400,
      "MessageRejected",
      "Email address is not verified. The following identities failed the check in region EU-WEST-1: a@example.com",
    ),
    error(404, "NotFoundException", "Configuration set <platform-events> does not exist."),
    error(403, "SignatureDoesNotMatch"),
  ],
  rateLimits: [
    { reply: error(400, "LimitExceededException") },
    { reply: error(429, "TooManyRequestsException", "Maximum sending rate exceeded.") },
    {
      reply: error(429, "TooManyRequestsException", "Daily message quota exceeded."),
      seconds: 3600,
    },
    { reply: error(400, "ThrottlingException") },
  ],
  outages: [error(503, "ServiceUnavailable")],
  doubtful: [error(500, "InternalServiceErrorException")],
};
