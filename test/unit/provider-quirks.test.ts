// Behavior of single providers, beyond the common contract in
// test/unit/provider-conformance.test.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { brevo } from "../../shared/providers/brevo.ts";
import { mailjet } from "../../shared/providers/mailjet.ts";
import { mandrill } from "../../shared/providers/mandrill.ts";
import type {
  HandOverOutcome,
  Mailing,
  ProviderAdapter,
} from "../../shared/providers/provider-adapter.ts";
import { resend } from "../../shared/providers/resend.ts";
import { smtp2go } from "../../shared/providers/smtp2go.ts";
import * as brevoWire from "../support/provider-apis/brevo.ts";
import * as mailjetWire from "../support/provider-apis/mailjet.ts";
import * as mandrillWire from "../support/provider-apis/mandrill.ts";
import { jsonReply } from "../support/provider-apis/provider-api.ts";
import {
  type CannedReply,
  type RecordingServer,
  startRecordingServer,
} from "../support/provider-apis/recording-server.ts";
import * as resendWire from "../support/provider-apis/resend.ts";
import * as smtp2goWire from "../support/provider-apis/smtp2go.ts";

const wires = { ...brevoWire, ...mailjetWire, ...mandrillWire, ...resendWire, ...smtp2goWire };

let outside: RecordingServer;
beforeAll(async () => {
  outside = await startRecordingServer();
});
afterAll(() => outside.close());
beforeEach(() => {
  outside.requests.length = 0;
});

const createRecipients = (count: number): Mailing["recipients"] =>
  Array.from({ length: count }, (_, n) => ({
    sendId: n + 1,
    to: { email: `p${n}@example.net` },
    values: [`value ${n}`],
    headers: {},
  }));

const mailing = (count: number, changes: Partial<Mailing> = {}): Mailing => ({
  from: { email: "news@example.com" },
  subject: ["Hello"],
  html: ["<p>", 0, "</p>"],
  text: ["Hello ", 0],
  headers: {},
  tags: [],
  attachments: [],
  recipients: createRecipients(count),
  ...changes,
});

function send(
  provider: ProviderAdapter,
  reply: CannedReply,
  sent: Mailing = mailing(1),
  more: { idempotencyKey?: string; repeated?: boolean } = {},
): Promise<HandOverOutcome[]> {
  process.env[`PROVIDER_URL_${provider.key.toUpperCase()}`] = outside.origin;
  outside.setReply(reply);
  const { credentials } = wires[provider.key as keyof typeof wires];
  return provider.send({
    mailing: sent,
    credentials: provider.credentials.parse(credentials),
    idempotencyKey: "key-1",
    ...more,
  });
}
const sentBody = (n = 0) => JSON.parse(outside.requests[n]!.body.toString());

describe("Brevo", () => {
  const duplicate = jsonReply(400, {
    code: "duplicate_parameter",
    message: "The idempotency key was already used",
  });

  it("treats a known key on a repeated attempt as accepted, with unknown ids", async () => {
    expect(await send(brevo, duplicate, mailing(2), { repeated: true })).toEqual([
      { status: "accepted" },
      { status: "accepted" },
    ]);
  });

  it("never treats a known key on a first attempt as accepted", async () => {
    expect(await send(brevo, duplicate, mailing(1))).toMatchObject([
      { status: "refused", error: expect.stringContaining("already used") },
    ]);
    // Each recipient is then tried with its own key.
    expect(await send(brevo, duplicate, mailing(2))).toMatchObject([
      { status: "held", why: "batch" },
      { status: "held", why: "batch" },
    ]);
  });

  it("gets a distinct UUID for each key", async () => {
    for (const idempotencyKey of ["key-1", "key-1", "key-2"])
      await send(brevo, duplicate, mailing(1), { idempotencyKey });
    const keys = [0, 1, 2].map((n) => sentBody(n).headers.idempotencyKey);
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  it("refuses an unsupported type of attachment without a call", async () => {
    const attachments = ["ok.PDF", "run.exe"].map((filename) => ({
      filename,
      type: "application/octet-stream",
      content: "AAAA",
    }));
    const [outcome] = await send(brevo, wires.brevo.success(1), mailing(1, { attachments }));
    expect(outcome).toEqual({ status: "refused", error: expect.stringContaining('"run.exe"') });
    expect(outside.requests).toEqual([]);
  });

  it("gets text without HTML as escaped HTML", async () => {
    await send(
      brevo,
      wires.brevo.success(1),
      mailing(1, { html: undefined, text: ["a < b & c\nd"] }),
    );
    expect(sentBody()).toMatchObject({
      textContent: "a < b & c\nd",
      htmlContent: "a &#60; b &#38; c<br>\nd",
    });
  });

  it("never gives one recipient's content to another without content", () => {
    const blank = mailing(2);
    blank.recipients[1]!.values = [""];
    expect(brevo.batch!.supports(blank)).toBe(true);
    expect(brevo.batch!.supports({ ...blank, html: [0] })).toBe(false);
    expect(brevo.batch!.supports({ ...blank, text: [0] })).toBe(false);
    expect(brevo.batch!.supports({ ...blank, subject: [0] })).toBe(false);
  });

  it("gets equal content only once", async () => {
    await send(brevo, wires.brevo.success(2), mailing(2, { html: ["<p>alike</p>"] }));
    expect(
      sentBody().messageVersions.map((version: object) => Object.keys(version).sort()),
    ).toEqual([
      ["headers", "to"],
      ["headers", "textContent", "to"],
    ]);
  });

  it("gets names of at most 70 characters", async () => {
    await send(
      brevo,
      wires.brevo.success(1),
      mailing(1, { from: { email: "a@example.com", name: "é".repeat(80) } }),
    );
    expect(sentBody()).toMatchObject({ sender: { name: "é".repeat(70) } });
  });

  it.each([
    ["Shop, Inc.", "Shop, Inc."],
    ["Müller Söhne", "Müller Söhne"],
    ["Müller, Söhne", "=?UTF-8?B?TcO8bGxlciwgU8O2aG5l?="],
    [`Müller, ${"é".repeat(30)} (Shop)`, `Müller ${"é".repeat(30)} Shop`],
  ])("gets the name %s in a form that it does not drop", async (name, sent) => {
    await send(
      brevo,
      wires.brevo.success(1),
      mailing(1, { from: { email: "a@example.com", name } }),
    );
    expect(sentBody().sender.name).toBe(sent);
  });

  it("refuses header values outside ASCII without a call", async () => {
    const [outcome] = await send(
      brevo,
      wires.brevo.success(1),
      mailing(1, { headers: { "X-A": "é" } }),
    );
    expect(outcome).toEqual({
      status: "refused",
      error: "Brevo takes only ASCII in header values",
    });
    expect(outside.requests).toEqual([]);
  });
});

describe("Mailjet", () => {
  it("leaves all mails uncertain if the number of results differs", async () => {
    const outcomes = await send(
      mailjet,
      jsonReply(400, { Messages: [{ Status: "success", To: [{ MessageUUID: "u" }] }] }),
      mailing(2),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(["uncertain", "uncertain"]);
  });

  it("gets no tracking options for a mail without HTML, which it would refuse", async () => {
    await send(
      mailjet,
      wires.mailjet.success(1),
      mailing(1, { html: undefined, trackOpens: false, trackClicks: false }),
    );
    expect(Object.keys(sentBody().Messages[0])).not.toContain("TrackOpens");
    expect(Object.keys(sentBody().Messages[0])).not.toContain("TrackClicks");
  });
});

describe("Mandrill", () => {
  const result = (n: number, status: string, more: object = {}) => ({
    email: `P${n}@example.net`,
    status,
    _id: `id${n}`,
    ...more,
  });

  it("reports a refused mail in a 200 response, and an account without permission for the domain", async () => {
    const outcomes = await send(
      mandrill,
      jsonReply(200, [
        result(2, "rejected", { reject_reason: "unsigned" }),
        result(1, "invalid"),
        result(0, "queued", { queued_reason: "x" }),
      ]),
      mailing(3),
    );
    expect(outcomes).toEqual([
      { status: "accepted", messageId: "id0" },
      { status: "refused", error: "invalid" },
      { status: "refused", error: "rejected: unsigned", config: true },
    ]);
  });

  it("leaves a mail without a result uncertain", async () => {
    const outcomes = await send(mandrill, jsonReply(200, [result(0, "sent")]), mailing(2));
    expect(outcomes.map(({ status }) => status)).toEqual(["accepted", "uncertain"]);
  });

  it.each([
    [
      "recipients have headers",
      mailing(2, {
        recipients: createRecipients(2).map((to) => ({
          ...to,
          headers: { "List-Unsubscribe": "<https://e.co>" },
        })),
      }),
    ],
    [
      "an address comes twice",
      mailing(2, {
        recipients: createRecipients(2).map((to, n) => ({
          ...to,
          to: { email: n ? "A@e.co" : "a@e.co" },
        })),
      }),
    ],
    ["the text has a merge tag", mailing(2, { text: ["*|FNAME|*"] })],
    [
      "text and value would make one",
      mailing(2, {
        text: ["*", 0],
        recipients: createRecipients(2).map((to) => ({ ...to, values: ["|FNAME|*"] })),
      }),
    ],
  ])("does not support a batch in which %s", (_, batch) => {
    expect(mandrill.batch!.supports(mailing(2))).toBe(true);
    expect(mandrill.batch!.supports(batch)).toBe(false);
  });
});

describe("Resend", () => {
  it("does not send singly if a key was used for other mails", async () => {
    const reply = jsonReply(409, {
      statusCode: 409,
      name: "invalid_idempotent_request",
      message: "Same key, other payload",
    });
    const refused = { status: "refused", error: "Same key, other payload" };
    expect(await send(resend, reply, mailing(2))).toEqual([refused, refused]);
    const uncertain = { ...refused, status: "uncertain" };
    expect(await send(resend, reply, mailing(2), { repeated: true })).toEqual([
      uncertain,
      uncertain,
    ]);
  });

  it("treats mails as accepted without ids if the number of ids differs", async () => {
    const reply = jsonReply(200, { data: [{ id: "a" }], errors: [{ index: 1, message: "bad" }] });
    expect(await send(resend, reply, mailing(3))).toEqual([
      { status: "accepted" },
      { status: "refused", error: "bad" },
      { status: "accepted" },
    ]);
  });

  it("gets no content type for a file of unknown type, and none with parameters", async () => {
    const file = { filename: "a.txt", content: "AAAA" };
    const attachments = ["application/octet-stream", "text/plain; charset=utf-8"].map((type) => ({
      ...file,
      type,
    }));
    await send(resend, wires.resend.success(1), mailing(1, { attachments }));
    expect(sentBody().attachments).toEqual([file, { ...file, content_type: "text/plain" }]);
  });

  it("supports no attachments in a batch", () => {
    expect(resend.batch!.supports(mailing(2))).toBe(true);
    expect(
      resend.batch!.supports(
        mailing(2, { attachments: [{ filename: "a.txt", type: "text/plain", content: "AAAA" }] }),
      ),
    ).toBe(false);
  });

  it("gets tags with only the characters it supports", async () => {
    await send(resend, wires.resend.success(1), mailing(1, { tags: ["spring sale!", "é"] }));
    expect(sentBody().tags.slice(1)).toEqual([
      { name: "tag_1", value: "spring_sale_" },
      { name: "tag_2", value: "_" },
    ]);
  });
});

describe("SMTP2GO", () => {
  it("reports a failed mail in a 200 response", async () => {
    const data = { succeeded: 0, failed: 1, failures: ["550 blocked"], email_id: "x" };
    expect(await send(smtp2go, jsonReply(200, { data }))).toEqual([
      { status: "refused", error: "550 blocked" },
    ]);
  });

  it("needs only the ids of the mails in a 200 response", async () => {
    expect(await send(smtp2go, jsonReply(200, { data: { email_id: "x" } }))).toEqual([
      { status: "accepted", messageId: "x" },
    ]);
  });

  it("names the field that was refused", async () => {
    const data = {
      error: "Invalid",
      error_code: "E_ApiResponseCodes.NON_VALIDATING_IN_PAYLOAD",
      field_validation_errors: { fieldname: "to", message: "no address" },
    };
    expect(await send(smtp2go, jsonReply(400, { data }))).toEqual([
      { status: "refused", error: "Invalid: to: no address" },
    ]);
  });
});
