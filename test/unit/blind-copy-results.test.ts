// The result of a blind copy is not the result of its mail. Providers report both in one response.
import { afterAll, beforeAll, expect, it } from "vitest";
import { mandrill } from "../../shared/providers/mandrill.ts";
import { postmark } from "../../shared/providers/postmark.ts";
import type {
  HandOverOutcome,
  Mailing,
  ProviderAdapter,
} from "../../shared/providers/provider-adapter.ts";
import { smtp2go } from "../../shared/providers/smtp2go.ts";
import * as mandrillWire from "../support/provider-apis/mandrill.ts";
import * as postmarkWire from "../support/provider-apis/postmark.ts";
import { jsonReply } from "../support/provider-apis/provider-api.ts";
import {
  type CannedReply,
  type RecordingServer,
  startRecordingServer,
} from "../support/provider-apis/recording-server.ts";
import * as smtp2goWire from "../support/provider-apis/smtp2go.ts";

const wires = { ...mandrillWire, ...postmarkWire, ...smtp2goWire };
let outside: RecordingServer;
beforeAll(async () => {
  outside = await startRecordingServer();
});
afterAll(() => outside.close());

const mailing: Mailing = {
  from: { email: "news@example.com" },
  bcc: "archive@example.com",
  subject: ["Hello"],
  text: ["Hello"],
  headers: {},
  tags: [],
  attachments: [],
  recipients: [{ sendId: 1, to: { email: "Ada@example.net" }, values: [], headers: {} }],
};

async function outcome(provider: ProviderAdapter, reply: CannedReply): Promise<HandOverOutcome> {
  process.env[`PROVIDER_URL_${provider.key.toUpperCase()}`] = outside.origin;
  outside.setReply(reply);
  const { credentials } = wires[provider.key as keyof typeof wires];
  const outcomes = await provider.send({
    mailing,
    credentials: provider.credentials.parse(credentials),
    idempotencyKey: "key",
  });
  return outcomes[0]!;
}

const inactive = (emails: string): CannedReply =>
  jsonReply(200, {
    ErrorCode: 0,
    Message: `Message OK, but will not deliver to these inactive addresses: ${emails}`,
    MessageID: "m-1",
  });

it("Postmark refuses a mail with an inactive recipient, and accepts one with an inactive copy", async () => {
  expect(await outcome(postmark, inactive("ada@example.net"))).toMatchObject({
    status: "refused",
    error: expect.stringContaining("inactive"),
  });
  expect(await outcome(postmark, inactive("archive@example.com, other@example.com"))).toEqual({
    status: "accepted",
    messageId: "m-1",
  });
});

const counted = (failing: string): CannedReply =>
  jsonReply(200, {
    request_id: "r",
    data: {
      succeeded: 1,
      failed: 1,
      failures: [`Unable to send to ${failing}: rejected`],
      email_id: "e-1",
    },
  });

it("SMTP2GO accepts a mail whose copy fails, and refuses one whose recipient fails", async () => {
  expect(await outcome(smtp2go, counted("archive@example.com"))).toEqual({
    status: "accepted",
    messageId: "e-1",
  });
  expect(await outcome(smtp2go, counted("ada@example.net"))).toMatchObject({ status: "refused" });
});

const results = (mail: string, copy: string): CannedReply =>
  jsonReply(200, [
    {
      email: "archive@example.com",
      status: copy,
      _id: "copy",
      reject_reason: copy === "rejected" ? "hard-bounce" : null,
    },
    {
      email: "ada@example.net",
      status: mail,
      _id: "mail",
      reject_reason: mail === "rejected" ? "spam" : null,
    },
  ]);

it("Mandrill's result of the copy does not change the result of the mail", async () => {
  expect(await outcome(mandrill, results("sent", "rejected"))).toEqual({
    status: "accepted",
    messageId: "mail",
  });
  expect(await outcome(mandrill, results("rejected", "sent"))).toMatchObject({
    status: "refused",
    error: "rejected: spam",
  });
});
