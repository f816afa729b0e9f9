// The official SDKs of the ten mail providers, directed to the sandbox, behind one interface.
import { createRequire } from "node:module";

export interface Letter {
  from: string;
  fromName: string;
  replyTo: string;
  to: string[];
  cc: string[];
  bcc: string[];
  subject: string;
  html: string;
  text: string;
  headers: Record<string, string>;
  file: { filename: string; type: string; base64: string };
  /** Time of a scheduled delivery. */
  at?: Date | undefined;
}

/** Methods reject with the SDK's own error, also if the SDK returns errors. */
export interface Sdk {
  /** Sends a mail. Returns the provider's id of the mail. */
  send(letter: Letter): Promise<string>;
  /** Absent if the API accepts one mail per call. */
  batch?(letters: Letter[]): Promise<string[]>;
  /** Cancels a scheduled mail. */
  cancel?(id: string): Promise<unknown>;
  /** Reads a sent mail by its id. */
  read(id: string): Promise<unknown>;
  /** Sends by a stored template. */
  template(letter: Letter): Promise<unknown>;
  schedules: boolean;
}

type Open = (credentials: Record<string, string>, origin: string) => Sdk;
type Method = (...values: unknown[]) => Promise<unknown>;
type Client = Record<string, Method>;
type Nested = Record<string, Client>;
type Constructor<T> = new (...values: unknown[]) => T;

const require = createRequire(import.meta.url);

const addresses = (list: string[]) => list.map((email) => ({ email }));
const pairs = <N extends string, V extends string>(
  headers: Record<string, string>,
  name: N,
  value: V,
) => Object.entries(headers).map(([key, text]) => ({ [name]: key, [value]: text }));
const seconds = (at: Date) => Math.floor(at.getTime() / 1000);

/** Reads the value at a path of a response. Throws if it is missing. */
function at(answer: unknown, ...path: (string | number)[]): string {
  const found = path.reduce<unknown>(
    (value, name) => (value as Record<string | number, unknown> | undefined)?.[name],
    answer,
  );
  if (found === undefined || found === null)
    throw new Error(`${path.join(".")} is missing in ${JSON.stringify(answer)}`);
  return String(found);
}

const sendgrid: Open = ({ apiKey }, origin) => {
  interface RestClient {
    setApiKey(key: unknown): void;
    setDefaultRequest(name: string, value: string): void;
    request: Method;
  }
  const { MailService } = require("@sendgrid/mail") as {
    MailService: Constructor<{ client: RestClient; send: Method }>;
  };
  const mail = new MailService();
  const { client } = mail;
  client.setApiKey(apiKey);
  client.setDefaultRequest("baseUrl", origin);
  const message = (letter: Letter) => ({
    from: { email: letter.from, name: letter.fromName },
    replyTo: letter.replyTo,
    personalizations: [
      {
        to: addresses(letter.to),
        ...(letter.cc.length && { cc: addresses(letter.cc) }),
        ...(letter.bcc.length && { bcc: addresses(letter.bcc) }),
      },
    ],
    subject: letter.subject,
    html: letter.html,
    text: letter.text,
    headers: letter.headers,
    attachments: [
      {
        filename: letter.file.filename,
        type: letter.file.type,
        content: letter.file.base64,
        disposition: "attachment",
      },
    ],
    ...(letter.at && { sendAt: seconds(letter.at), batchId: "batch-1" }),
  });
  const id = (answer: unknown) => at(answer, 0, "headers", "x-message-id");
  return {
    schedules: true,
    send: async (letter) => id(await mail.send(message(letter))),
    batch: async (letters) => ((await mail.send(letters.map(message))) as unknown[]).map(id),
    cancel: () =>
      client.request({
        method: "POST",
        url: "/v3/user/scheduled_sends",
        body: { batch_id: "batch-1", status: "cancel" },
      }),
    read: (messageId) => client.request({ method: "GET", url: `/v3/messages/${messageId}` }),
    template: (letter) => mail.send({ ...message(letter), templateId: "d-1" }),
  };
};

const ses: Open = ({ accessKeyId, secretAccessKey, region, configurationSet }, origin) => {
  const sdk = require("@aws-sdk/client-sesv2") as Record<string, Constructor<Client>>;
  const client = new sdk.SESv2Client!({
    endpoint: origin,
    region,
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts: 1,
  });
  const call = (name: string, input: object) => client.send!(new sdk[name]!(input));
  const common = ({ from, fromName, replyTo }: Letter) => ({
    FromEmailAddress: `${fromName} <${from}>`,
    ReplyToAddresses: [replyTo],
    ConfigurationSetName: configurationSet,
  });
  const destination = ({ to, cc, bcc }: Letter) => ({
    ToAddresses: to,
    CcAddresses: cc,
    BccAddresses: bcc,
  });
  const extras = ({ headers, file }: Letter) => ({
    Headers: pairs(headers, "Name", "Value"),
    Attachments: [
      {
        FileName: file.filename,
        ContentType: file.type,
        RawContent: Buffer.from(file.base64, "base64"),
      },
    ],
  });
  return {
    schedules: false,
    send: async (letter) => {
      const { subject, html, text } = letter;
      const Simple = {
        Subject: { Data: subject },
        Body: { Html: { Data: html }, Text: { Data: text } },
        ...extras(letter),
      };
      return at(
        await call("SendEmailCommand", {
          ...common(letter),
          Destination: destination(letter),
          Content: { Simple },
        }),
        "MessageId",
      );
    },
    batch: async (letters) => {
      const [first] = letters as [Letter];
      const answer = await call("SendBulkEmailCommand", {
        ...common(first),
        DefaultContent: {
          Template: {
            TemplateContent: { Subject: "{{subject}}", Html: first.html, Text: first.text },
            TemplateData: "{}",
            ...extras(first),
          },
        },
        BulkEmailEntries: letters.map((letter) => ({
          Destination: destination(letter),
          ReplacementEmailContent: {
            ReplacementTemplate: {
              ReplacementTemplateData: JSON.stringify({ subject: letter.subject }),
            },
          },
        })),
      });
      return letters.map((_, index) => at(answer, "BulkEmailEntryResults", index, "MessageId"));
    },
    read: (id) => call("GetMessageInsightsCommand", { MessageId: id }),
    template: (letter) =>
      call("SendEmailCommand", {
        ...common(letter),
        Destination: destination(letter),
        Content: { Template: { TemplateName: "welcome", TemplateData: "{}" } },
      }),
  };
};

const postmark: Open = ({ apiKey }, origin) => {
  const { ServerClient } = require("postmark") as { ServerClient: Constructor<Client> };
  const client = new ServerClient(apiKey, { requestHost: new URL(origin).host, useHttps: false });
  const message = (letter: Letter) => ({
    From: `${letter.fromName} <${letter.from}>`,
    ReplyTo: letter.replyTo,
    To: letter.to.join(", "),
    Cc: letter.cc.join(", "),
    Bcc: letter.bcc.join(", "),
    Subject: letter.subject,
    HtmlBody: letter.html,
    TextBody: letter.text,
    Headers: pairs(letter.headers, "Name", "Value"),
    Attachments: [
      {
        Name: letter.file.filename,
        ContentType: letter.file.type,
        Content: letter.file.base64,
        ContentID: null,
      },
    ],
  });
  return {
    schedules: false,
    send: async (letter) => at(await client.sendEmail!(message(letter)), "MessageID"),
    batch: async (letters) => {
      const answer = await client.sendEmailBatch!(letters.map(message));
      return letters.map((_, index) => at(answer, index, "MessageID"));
    },
    read: (id) => client.getOutboundMessageDetails!(id),
    template: (letter) =>
      client.sendEmailWithTemplate!({
        ...message(letter),
        TemplateAlias: "welcome",
        TemplateModel: {},
      }),
  };
};

const mailgun: Open = ({ apiKey, domain }, origin) => {
  const Mailgun = require("mailgun.js") as Constructor<{ client(options: object): Nested }>;
  const client = new Mailgun(FormData).client({ username: "api", key: apiKey, url: origin });
  const message = (letter: Letter) => ({
    from: `${letter.fromName} <${letter.from}>`,
    "h:Reply-To": letter.replyTo,
    to: letter.to,
    cc: letter.cc,
    bcc: letter.bcc,
    subject: letter.subject,
    html: letter.html,
    text: letter.text,
    ...Object.fromEntries(
      Object.entries(letter.headers).map(([name, value]) => [`h:${name}`, value]),
    ),
    attachment: [
      {
        filename: letter.file.filename,
        contentType: letter.file.type,
        data: Buffer.from(letter.file.base64, "base64"),
      },
    ],
    ...(letter.at && { "o:deliverytime": letter.at.toUTCString() }),
  });
  return {
    schedules: true,
    send: async (letter) =>
      at(await client.messages!.create!(domain, message(letter)), "id").replace(/^<|>$/g, ""),
    read: (id) => client.messages!.retrieveStoredEmail!(domain, id),
    template: (letter) =>
      client.messages!.create!(domain, { ...message(letter), template: "welcome" }),
  };
};

const sparkpost: Open = ({ apiKey }, origin) => {
  const SparkPost = require("sparkpost") as Constructor<Nested>;
  const { transmissions } = new SparkPost(apiKey, { origin });
  const transmission = (letter: Letter) => ({
    options: { transactional: true, ...(letter.at && { start_time: letter.at.toISOString() }) },
    recipients: letter.to.map((address) => ({ address })),
    cc: letter.cc.map((address) => ({ address })),
    bcc: letter.bcc.map((address) => ({ address })),
    content: {
      from: { email: letter.from, name: letter.fromName },
      reply_to: letter.replyTo,
      subject: letter.subject,
      html: letter.html,
      text: letter.text,
      headers: letter.headers,
      attachments: [
        { name: letter.file.filename, type: letter.file.type, data: letter.file.base64 },
      ],
    },
  });
  return {
    schedules: true,
    send: async (letter) => at(await transmissions!.send!(transmission(letter)), "results", "id"),
    read: (id) => transmissions!.get!(id),
    template: ({ to }) =>
      transmissions!.send!({
        recipients: to.map((address) => ({ address })),
        content: { template_id: "welcome" },
      }),
  };
};

const brevo: Open = ({ apiKey }, origin) => {
  const { BrevoClient } = require("@getbrevo/brevo") as { BrevoClient: Constructor<Nested> };
  const { transactionalEmails: client } = new BrevoClient({
    apiKey,
    baseUrl: `${origin}/v3`,
    maxRetries: 0,
  });
  const version = ({ to, cc, bcc, subject }: Letter) => ({
    to: addresses(to),
    ...(cc.length && { cc: addresses(cc) }),
    ...(bcc.length && { bcc: addresses(bcc) }),
    subject,
  });
  const message = (letter: Letter) => ({
    sender: { email: letter.from, name: letter.fromName },
    replyTo: { email: letter.replyTo },
    htmlContent: letter.html,
    textContent: letter.text,
    headers: letter.headers,
    attachment: [{ name: letter.file.filename, content: letter.file.base64 }],
    ...(letter.at && { scheduledAt: letter.at.toISOString() }),
  });
  return {
    schedules: true,
    send: async (letter) =>
      at(await client!.sendTransacEmail!({ ...message(letter), ...version(letter) }), "messageId"),
    batch: async (letters) => {
      const [first] = letters as [Letter];
      const messageVersions = letters.map(version);
      const answer = await client!.sendTransacEmail!({
        ...message(first),
        subject: first.subject,
        messageVersions,
      });
      return letters.map((_, index) => at(answer, "messageIds", index));
    },
    cancel: (identifier) => client!.deleteScheduledEmailById!({ identifier }),
    read: (identifier) => client!.getScheduledEmailById!({ identifier }),
    template: ({ to }) => client!.sendTransacEmail!({ to: addresses(to), templateId: 7 }),
  };
};

const mailjet: Open = ({ apiKey, secretKey }, origin) => {
  interface Request {
    request: Method;
  }
  interface Mailjet {
    post(path: string, options: object): Request;
    get(path: string, options: object): { id(id: string): Request };
  }
  const Mailjet = require("node-mailjet") as Constructor<Mailjet> & {
    Request: { protocol: string };
  };
  Mailjet.Request.protocol = "http://";
  const client = new Mailjet({
    apiKey,
    apiSecret: secretKey,
    config: { host: new URL(origin).host },
  });
  const recipients = (list: string[]) => list.map((Email) => ({ Email }));
  const message = (letter: Letter) => ({
    From: { Email: letter.from, Name: letter.fromName },
    ReplyTo: { Email: letter.replyTo },
    To: recipients(letter.to),
    Cc: recipients(letter.cc),
    Bcc: recipients(letter.bcc),
    Subject: letter.subject,
    HTMLPart: letter.html,
    TextPart: letter.text,
    Headers: letter.headers,
    Attachments: [
      {
        Filename: letter.file.filename,
        ContentType: letter.file.type,
        Base64Content: letter.file.base64,
      },
    ],
  });
  const send = (Messages: object[]) =>
    client.post("send", { version: "v3.1" }).request({ Messages });
  return {
    schedules: false,
    send: async (letter) =>
      at(await send([message(letter)]), "body", "Messages", 0, "To", 0, "MessageUUID"),
    batch: async (letters) => {
      const answer = await send(letters.map(message));
      return letters.map((_, index) =>
        at(answer, "body", "Messages", index, "To", 0, "MessageUUID"),
      );
    },
    // This SDK uses the number of a mail, not its UUID.
    read: async (id) => {
      const answer = await send([message({ ...example, to: [`${id}@example.net`] })]);
      const number = at(answer, "body", "Messages", 0, "To", 0, "MessageID");
      return (
        (await client.get("message", { version: "v3" }).id(number).request()) as { body: unknown }
      ).body;
    },
    template: ({ from, to }) =>
      send([{ From: { Email: from }, To: recipients(to), TemplateID: 7, TemplateLanguage: true }]),
  };
};

const mandrill: Open = ({ apiKey }, origin) => {
  const open = require("@mailchimp/mailchimp_transactional") as (
    key: unknown,
  ) => Nested & { basePath: string };
  const client = open(apiKey) as unknown as { basePath: string; messages: Client };
  client.basePath = `${origin}/api/1.3`;
  // This SDK returns its errors.
  const call = async (name: string, body: object) => {
    const answer = await client.messages[name]!(body);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const message = (letter: Letter) => ({
    from_email: letter.from,
    from_name: letter.fromName,
    to: Object.entries({ to: letter.to, cc: letter.cc, bcc: letter.bcc }).flatMap(([type, list]) =>
      list.map((email) => ({ email, type })),
    ),
    preserve_recipients: true,
    subject: letter.subject,
    html: letter.html,
    text: letter.text,
    headers: { ...letter.headers, "Reply-To": letter.replyTo },
    attachments: [
      { name: letter.file.filename, type: letter.file.type, content: letter.file.base64 },
    ],
  });
  const utc = (at: Date) => at.toISOString().slice(0, 19).replace("T", " ");
  return {
    schedules: true,
    send: async (letter) =>
      at(
        await call("send", {
          message: message(letter),
          ...(letter.at && { send_at: utc(letter.at) }),
        }),
        0,
        "_id",
      ),
    cancel: (id) => call("cancelScheduled", { id }),
    read: (id) => call("info", { id }),
    template: (letter) =>
      call("sendTemplate", {
        template_name: "welcome",
        template_content: [],
        message: message(letter),
      }),
  };
};

const resend: Open = ({ apiKey }, origin) => {
  const { Resend } = require("resend") as { Resend: Constructor<Nested> };
  const { emails, batch } = new Resend(apiKey, { baseUrl: origin });
  // This SDK returns its errors.
  const data = async (answer: Promise<unknown>) => {
    const { data, error } = (await answer) as {
      data: unknown;
      error: { message: string; statusCode: number } | null;
    };
    if (error) throw Object.assign(new Error(error.message), error);
    return data;
  };
  const common = (letter: Letter) => ({
    from: `${letter.fromName} <${letter.from}>`,
    replyTo: letter.replyTo,
    to: letter.to,
    ...(letter.cc.length && { cc: letter.cc }),
    ...(letter.bcc.length && { bcc: letter.bcc }),
    subject: letter.subject,
    html: letter.html,
    text: letter.text,
    headers: letter.headers,
  });
  const message = (letter: Letter) => ({
    ...common(letter),
    attachments: [
      {
        filename: letter.file.filename,
        contentType: letter.file.type,
        content: Buffer.from(letter.file.base64, "base64"),
      },
    ],
    ...(letter.at && { scheduledAt: letter.at.toISOString() }),
  });
  return {
    schedules: true,
    send: async (letter) => at(await data(emails!.send!(message(letter))), "id"),
    batch: async (letters) => {
      const answer = await data(batch!.send!(letters.map(common)));
      return letters.map((_, index) => at(answer, "data", index, "id"));
    },
    cancel: (id) => data(emails!.cancel!(id)),
    read: (id) => data(emails!.get!(id)),
    template: ({ from, to }) => data(emails!.send!({ from, to, template: { id: "welcome" } })),
  };
};

const smtp2go: Open = ({ apiKey }, origin) => {
  type Fluent = Record<string, (...values: unknown[]) => Fluent> & {
    requestBody?: Map<string, unknown>;
  };
  type Api = {
    mail(): Fluent;
    service(path: string): Fluent;
    client(): Client & { apiUrl: string };
  };
  const { default: open } = require("smtp2go-nodejs") as { default: (key: unknown) => Api };
  const { Service } = require("smtp2go-nodejs") as { Service: Constructor<unknown> };
  const api = open(apiKey);
  const client = api.client();
  client.apiUrl = `${origin}/v3/`;
  // This SDK returns the response of a refused call.
  const consume = async (service: unknown) => {
    const answer = (await client.consume!(service)) as { status?: number; data: unknown };
    if (answer.status)
      throw Object.assign(new Error(JSON.stringify(answer.data)), { status: answer.status });
    return answer;
  };
  const raw = (path: string, body: object) =>
    consume(new Service(path, new Map(Object.entries(body))));
  const message = (letter: Letter) => ({
    sender: `${letter.fromName} <${letter.from}>`,
    to: letter.to,
    cc: letter.cc,
    bcc: letter.bcc,
    subject: letter.subject,
    html_body: letter.html,
    text_body: letter.text,
    custom_headers: pairs({ ...letter.headers, "Reply-To": letter.replyTo }, "header", "value"),
    attachments: [
      { filename: letter.file.filename, mimetype: letter.file.type, fileblob: letter.file.base64 },
    ],
    ...(letter.at && { schedule: letter.at.toISOString() }),
  });
  const mail = (letter: Letter) => {
    const attachment = {
      readFileBlob: async () => attachment,
      forSend: () => ({
        filename: letter.file.filename,
        mimetype: letter.file.type,
        fileblob: letter.file.base64,
      }),
    };
    return api.mail().to!(addresses(letter.to)).cc!(addresses(letter.cc)).bcc!(
      addresses(letter.bcc),
    ).from!({
      email: letter.from,
      name: letter.fromName,
    }).subject!(letter.subject).html!(letter.html).text!(letter.text).headers!(
      pairs({ ...letter.headers, "Reply-To": letter.replyTo }, "header", "value"),
    ).attach!([attachment]);
  };
  return {
    schedules: true,
    // The mail service of this SDK cannot schedule, but its general service accepts any body.
    send: async (letter) =>
      letter.at
        ? at(await raw("email/send", message(letter)), "data", "schedule_id")
        : at(await consume(mail(letter)), "data", "email_id"),
    batch: async (letters) => {
      const answer = await raw("email/batch", { emails: letters.map(message) });
      return letters.map((_, index) => at(answer, "data", index, "email_id"));
    },
    read: (id) => raw("email/search", { email_id: [id] }),
    template: (letter) => consume(mail(letter).template!("welcome", new Map())),
  };
};

export const example: Letter = {
  from: "news@pennymail.test",
  fromName: "Pennymail News",
  replyTo: "help@pennymail.test",
  to: [],
  cc: [],
  bcc: [],
  subject: "Hello & welcome, Zoë",
  html: '<p>Hi Zoë</p><a href="https://shop.example/?a=1&amp;b=2">shop</a>',
  text: "Hi Zoë: https://shop.example/?a=1&b=2",
  headers: { "X-Campaign": "seven" },
  file: {
    filename: "note.txt",
    type: "text/plain",
    base64: Buffer.from("hello, Zoë").toString("base64"),
  },
};

export const sdks: Record<string, Open> = {
  sendgrid,
  ses,
  postmark,
  mailgun,
  sparkpost,
  brevo,
  mailjet,
  mandrill,
  resend,
  smtp2go,
};
