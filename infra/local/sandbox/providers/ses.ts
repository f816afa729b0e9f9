// Amazon SES API v2 (docs.aws.amazon.com/ses, API reference): SendEmail, SendBulkEmail, GetAccount.
import { randomUUID } from "node:crypto";
import type * as z from "zod";
import { mailbox } from "../addresses.ts";
import { badAttachment, broken, headersFault } from "../checks.ts";
import { type Account, type Answer, type Call, type Content, type Draft, type MailProvider, type Part, Refused } from "../contract.ts";
import { withCopies } from "../copies.ts";
import { webhook } from "../events/ses.ts";
import { named, read } from "../shapes.ts";
import { authorization, signatureFault } from "../sigv4.ts";
import { byBraces, unfit } from "../templates.ts";
import type { Topics } from "../topics.ts";
import { type Attachments, Bulk, type Common, type Destination, Single, type Tags } from "./ses-shapes.ts";

export const ses = (topics: Topics): MailProvider => ({
  key: "ses",
  name: "Amazon SES",
  keyPattern: /^AKIA([0-9A-F]{16})$/,
  credentials: (account) => ({
    accessKeyId: `AKIA${account.id.toUpperCase()}`,
    secretAccessKey: secretKey(account),
    region: "us-east-1",
    configurationSet,
  }),
  authenticate(request, owner) {
    const auth = authorization(request.headers.authorization);
    if (!auth) throw new Refused(fault(403, "MissingAuthenticationTokenException", "Missing Authentication Token"));
    const account = owner(auth.accessKeyId);
    if (!account) throw new Refused(fault(403, "UnrecognizedClientException", "The security token included in the request is invalid."));
    const wrong = signatureFault(request, auth, secretKey(account));
    if (wrong) throw new Refused(fault(403, "SignatureDoesNotMatch", wrong));
    return account;
  },
  routes: [
    [/^POST \/v2\/email\/outbound-emails$/, single],
    [/^POST \/v2\/email\/outbound-bulk-emails$/, bulk],
    [/^GET \/v2\/email\/account$/, () => ({ status: 200, body: accountState })],
    [/^GET \/v2\/email\/identities\/([^/]+)$/, ({ params: [name = ""] }) => ({ status: 200, body: identity(name) })],
  ],
  maxBytes: 40 * 1024 * 1024,
  errors: {
    notFound: fault(404, "UnknownOperationException", "Unknown operation"),
    malformed: fault(400, "SerializationException", "Request body is not valid JSON"),
    tooLarge: fault(413, "RequestEntityTooLarge", "Request is too long."),
    busy: (status) =>
      status === 429
        ? fault(429, "TooManyRequestsException", "Maximum sending rate exceeded.")
        : fault(500, "InternalServiceErrorException", "The request processing has failed because of an unknown error."),
  },
  webhook: webhook(topics),
});

function single(call: Call): Answer {
  const body = read(Single, call.json(), badRequest);
  const { Subject, Body, Headers: headers, Attachments: attachments } = body.Content.Simple;
  if (!Body.Html && !Body.Text) throw new Refused(badRequest("Content.Simple.Body", "Missing required field"));
  const content = { subject: Subject.Data, html: Body.Html?.Data, text: Body.Text?.Data, attachments: files(attachments) };
  const drafts = letters(body, body.Destination, content, named(headers, name, value), body.EmailTags);
  const wrong = faultIn(body, content, drafts, call);
  if (wrong) throw new Refused(wrong);
  if (drafts.some(({ to }) => call.rejects(to.email))) throw new Refused(fault(400, "MessageRejected", blacklisted));
  call.submit(drafts);
  return { status: 200, body: { MessageId: drafts[0]!.messageId } };
}

function bulk(call: Call): Answer {
  const body = read(Bulk, call.json(), badRequest);
  const { TemplateContent: template, TemplateData, Headers: common, Attachments: attachments } = body.DefaultContent.Template;
  const content = { subject: template.Subject ?? "", html: template.Html, text: template.Text, attachments: files(attachments) };
  const defaults = values(TemplateData);
  const results = body.BulkEmailEntries.map((entry) => {
    const own = { ...defaults, ...values(entry.ReplacementEmailContent?.ReplacementTemplate?.ReplacementTemplateData) };
    const headers = { ...named(common, name, value), ...named(entry.ReplacementHeaders, name, value) };
    const drafts = letters(body, entry.Destination, content, headers, entry.ReplacementTags ?? body.DefaultEmailTags);
    const wrong = faultIn(body, content, drafts, call);
    const missing = (["subject", "html", "text"] as Part[]).map((part) => unfit(content[part] ?? "", own)).find(Boolean);
    const unrenderable = missing && `Attribute '${missing}' is not present in the rendering data.`;
    return { wrong, drafts: drafts.map((draft) => ({ ...draft, fill: byBraces(own, { escapes: false }), unrenderable })) };
  });
  const good = results.filter(({ wrong, drafts }) => !wrong && !drafts.some(({ to }) => call.rejects(to.email)));
  call.submit(good.flatMap(({ drafts }) => drafts));
  return {
    status: 200,
    body: { BulkEmailEntryResults: results.map((one) => (good.includes(one) ? success(one.drafts) : failure(one.wrong))) },
  };
}

const success = (drafts: Draft[]) => ({ Status: "SUCCESS", MessageId: drafts[0]!.messageId });
const failure = (wrong = fault(400, "MessageRejected", blacklisted)) => ({
  Status: bulkStatuses[wrong.headers?.["x-amzn-errortype"] ?? ""],
  Error: (wrong.body as { message: string }).message,
});
const bulkStatuses: Record<string, string> = {
  NotFoundException: "CONFIGURATION_SET_NOT_FOUND",
  MessageRejected: "MESSAGE_REJECTED",
  BadRequestException: "INVALID_PARAMETER",
};

function letters(
  body: Common,
  { ToAddresses, BccAddresses = [] }: Destination,
  content: Content,
  headers: Record<string, string>,
  tags: z.output<typeof Tags> = [],
): Draft[] {
  const messageId = `0100018f${randomUUID().slice(8)}-000000`;
  const { OpenTrackingEnabled: opens, ClickTrackingEnabled: clicks } = body.ConfigurationOverrides?.Tracking ?? {};
  const mailboxOf = (address: string) => mailbox(address) ?? { email: "" };
  const drafts = ToAddresses.map((address) => ({
    messageId,
    from: mailbox(body.FromEmailAddress) ?? { email: "" },
    to: mailboxOf(address),
    replyTo: body.ReplyToAddresses?.join(", "),
    content,
    headers,
    tags: [],
    metadata: {
      "ses:configuration-set": [body.ConfigurationSetName ?? ""],
      ...Object.fromEntries(tags.map((tag) => [tag.Name, [tag.Value]])),
    },
    tracksOpens: opens !== "DISABLED",
    tracksClicks: clicks !== "DISABLED",
    silent: body.ConfigurationSetName === undefined,
  }));
  return withCopies(drafts, BccAddresses.map(mailboxOf));
}

function faultIn(body: Common, content: Content, drafts: Draft[], call: Call): Answer | undefined {
  const { from, headers } = drafts[0]!;
  const set = body.ConfigurationSetName;
  if (set !== undefined && set !== configurationSet) return fault(404, "NotFoundException", `Configuration set <${set}> does not exist.`);
  if (!/^[\x20-\x7e]*$/.test(body.FromEmailAddress)) return badRequest("FromEmailAddress", "Local address contains control or whitespace");
  if (!from.email || drafts.some(({ to }) => !to.email)) return badRequest("Destination", "Missing final '@domain'");
  if (!call.mayUse(from.email)) return fault(400, "MessageRejected", unverified(from.email));
  if (broken(content.subject)) return badRequest("Content.Simple.Subject", "Invalid subject: it contains a line break");
  const wrong =
    headersFault(headers, reserved) ??
    (Object.values(headers).some((one) => !/^[\x20-\x7e]*$/.test(one)) ? "Header value is not ASCII" : undefined);
  if (wrong) return badRequest("Headers", wrong);
  return badAttachment(content.attachments) && badRequest("Attachments", "RawContent is not valid base64");
}

const configurationSet = "pennymail-events";
const secretKey = (account: Account) => account.bytes("ses secret key", 30).toString("base64");
const reserved = new Set(
  "from to cc bcc subject reply-to date message-id mime-version content-type content-transfer-encoding return-path sender".split(" "),
);
const name = ({ Name }: { Name: string }) => Name;
const value = ({ Value }: { Value: string }) => Value;
const files = (list: z.output<typeof Attachments> = []) =>
  list.map(({ FileName, ContentType = "application/octet-stream", RawContent }) => ({
    filename: FileName,
    type: ContentType,
    content: RawContent,
  }));

function values(json = "{}"): Record<string, unknown> {
  try {
    return JSON.parse(json) as Record<string, unknown>;
  } catch {
    throw new Refused(badRequest("TemplateData", "Template data is not valid JSON"));
  }
}

function fault(status: number, type: string, message: string): Answer {
  return { status, headers: { "x-amzn-errortype": type, "x-amzn-requestid": randomUUID() }, body: { message } };
}
const badRequest = (path: string, message: string) => fault(400, "BadRequestException", `${path}: ${message}`);
const blacklisted = "Address blacklisted.";
const unverified = (email: string) =>
  `Email address is not verified. The following identities failed the check in region US-EAST-1: ${email}`;

const accountState = {
  DedicatedIpAutoWarmupEnabled: true,
  EnforcementStatus: "HEALTHY",
  ProductionAccessEnabled: true,
  SendingEnabled: true,
  SendQuota: { Max24HourSend: 50_000, MaxSendRate: 14, SentLast24Hours: 0 },
};
const identity = (email: string) => ({
  IdentityType: email.includes("@") ? "EMAIL_ADDRESS" : "DOMAIN",
  VerifiedForSendingStatus: email !== "unverified.pennymail.test",
});
