// The event "delivered" of send 1 as each provider reports it.
const [seconds, iso] = [1_796_029_206, "2026-11-30T09:00:06Z"];
const to = "ann@example.com";
const from = "hello@shop.example";

const sesNotification = {
  Type: "Notification",
  MessageId: "22b80b92-fdea-4c2c-8f9d-3f1f0a6a3b55",
  TopicArn: "arn:aws:sns:eu-west-1:123456789012:email-events",
  Message: JSON.stringify({
    eventType: "Delivery",
    mail: {
      messageId: "0102018f2c5d7a11-4b1c9e0e",
      source: from,
      destination: [to],
      tags: { sendId: ["1"] },
    },
    delivery: { timestamp: iso, recipients: [to], smtpResponse: "250 2.6.0 Message received" },
  }),
  Timestamp: iso,
  SignatureVersion: "1",
  Signature: "EXAMPLE...",
  SigningCertURL: "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-f3ecfb72.pem",
};

const mandrillEvents = [
  {
    event: "delivered",
    _id: "8f0c1d5e2a7b4c3d9e6f1a2b3c4d5e6f",
    ts: seconds,
    msg: {
      _id: "8f0c1d5e2a7b4c3d9e6f1a2b3c4d5e6f",
      email: to,
      sender: from,
      metadata: { sendId: "1" },
    },
  },
];

/** Bodies by the key of the provider. */
export const providerEventExamples: Record<string, unknown> = {
  sendgrid: [
    {
      event: "delivered",
      email: to,
      timestamp: seconds,
      sg_event_id: "ZGVsaXZlcmVkLTE",
      sg_message_id: "14c5d75ce93.dfd.64b469.recvd-5d8b-xkq9-1",
      sendId: "1",
    },
  ],
  ses: JSON.stringify(sesNotification),
  postmark: {
    RecordType: "Delivery",
    MessageID: "883953f4-6105-42a2-a16a-77a8eac79483",
    Recipient: to,
    DeliveredAt: iso,
    Details: "250 2.0.0 OK",
    Metadata: { sendId: "1" },
  },
  mailgun: {
    signature: {
      timestamp: String(seconds),
      token: "4f3a9d0c2b7e8a615d4c3b2a19087f6e5d4c3b2a1908f7e6d5",
      signature: "9c2b4e7f1d8a6053c1e4f7b2a9d80634e5c7b1f2a3d4968071e2c3b4a5f60718",
    },
    "event-data": {
      event: "delivered",
      id: "MXcc2gEpS-eN8HfkOnmK2w",
      timestamp: seconds,
      recipient: to,
      "user-variables": { sendId: "1" },
      message: { headers: { "message-id": "20261130090004.1.ABC@mg.shop.example" } },
    },
  },
  sparkpost: [
    {
      msys: {
        message_event: {
          type: "delivery",
          event_id: "92356927693813856",
          rcpt_to: to,
          rcpt_meta: { sendId: "1" },
          timestamp: String(seconds),
          transmission_id: "65832150921904138",
        },
      },
    },
  ],
  brevo: {
    event: "delivered",
    email: to,
    ts_event: seconds,
    "message-id": "<202611300900.52481190733@smtp-relay.mailin.fr>",
    "X-Mailin-custom": '{"sendId":1}',
  },
  mailjet: [
    {
      event: "sent",
      email: to,
      time: seconds,
      Message_GUID: "5b4de5f5-63d0-44f3-b4bd-a34f222cb8af",
      Payload: '{"sendId":1}',
      smtp_reply: "250 2.0.0 OK",
    },
  ],
  mandrill: { mandrill_events: JSON.stringify(mandrillEvents) },
  resend: {
    type: "email.delivered",
    created_at: iso,
    data: {
      email_id: "56761188-7520-42d8-8898-ff6fc54ce618",
      from,
      to: [to],
      subject: "Hello Ann",
      headers: [{ name: "X-Send-Id", value: "1" }],
    },
  },
  smtp2go: {
    event: "delivered",
    rcpt: to,
    time: iso,
    id: "e18adc0cd7e1c75bd2a791697d135c10",
    email_id: "1u0SwL-B9zBpi9ffUq-JAB2",
    "X-Send-Id": "1",
  },
};
