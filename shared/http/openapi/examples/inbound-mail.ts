// A received mail as each provider passes it on, by operation id and content type.
const to = "replies@in.shop.example";
const subject = "Re: Your contract";
const text = "Yes, please!";

const mime = [
  "From: Ann <ann@example.com>",
  `To: ${to}`,
  `Subject: ${subject}`,
  "Message-ID: <CAF4x2b1@mail.example.com>",
  "",
  text,
].join("\r\n");

const headers = {
  From: "Ann <ann@example.com>",
  To: to,
  Subject: subject,
  "Message-Id": "<CAF4x2b1@mail.example.com>",
};

const sesNotification = {
  Type: "Notification",
  MessageId: "22b80b92-fdea-4c2c-8f9d-3f1f0a6a3b55",
  TopicArn: "arn:aws:sns:eu-west-1:123456789012:inbound-email",
  Message: JSON.stringify({
    notificationType: "Received",
    mail: { messageId: "o3vrnil0e2ic28trm7dfhrc2v0clambda4nbp0g1" },
    receipt: { recipients: [to], spamVerdict: { status: "PASS" }, action: { type: "SNS" } },
    content: mime,
  }),
  Timestamp: "2026-11-30T10:12:31.207Z",
  SignatureVersion: "1",
  Signature: "EXAMPLE...",
  SigningCertURL: "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-f3ecfb72.pem",
};

export const inboundMailExamples: Record<string, unknown> = {
  "receiveSesInbound text/plain": JSON.stringify(sesNotification),
  "receivePostmarkInbound application/json": {
    FromFull: { Email: "ann@example.com", Name: "Ann" },
    ToFull: [{ Email: to, Name: "" }],
    Subject: subject,
    MessageID: "73e6d360-66eb-11e1-8e72-a8904824019b",
    TextBody: text,
    Headers: [{ Name: "Message-ID", Value: "<CAF4x2b1@mail.example.com>" }],
    Attachments: [],
  },
  "receiveSparkpostInbound application/json": [
    {
      msys: {
        relay_message: {
          content: { email_rfc822: mime, email_rfc822_is_base64: false },
          rcpt_to: to,
        },
      },
    },
  ],
  "receiveBrevoInbound application/json": {
    items: [
      {
        Uuid: ["8d79f2b1-20ae-4939-8d0b-d2517331a9e5"],
        Recipients: [to],
        Headers: headers,
        RawTextBody: text,
        Attachments: [],
      },
    ],
  },
  "receiveMailjetInbound application/json": {
    Recipient: to,
    Headers: headers,
    Parts: [],
    "Text-part": text,
    SpamAssassinScore: "0.6",
  },
  "receiveMandrillInbound application/x-www-form-urlencoded": {
    mandrill_events: JSON.stringify([{ event: "inbound", msg: { raw_msg: mime, email: to } }]),
  },
  "receiveResendInbound application/json": {
    type: "email.received",
    data: { email_id: "56761188-7520-42d8-8898-ff6fc54ce618", to: [to] },
  },
  "receiveMimeInbound text/plain": mime,
};
