// What one provider alone does, beside what test/unit/providers.test.ts demands of all ten.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { brevo } from "../../shared/providers/brevo.ts";
import { mailjet } from "../../shared/providers/mailjet.ts";
import { mandrill } from "../../shared/providers/mandrill.ts";
import type { Mailing, Outcome, Provider } from "../../shared/providers/provider.ts";
import { resend } from "../../shared/providers/resend.ts";
import { smtp2go } from "../../shared/providers/smtp2go.ts";
import * as brevoWire from "../support/wires/brevo.ts";
import * as mailjetWire from "../support/wires/mailjet.ts";
import * as mandrillWire from "../support/wires/mandrill.ts";
import * as resendWire from "../support/wires/resend.ts";
import { listen, type Outside, type Reply } from "../support/wires/server.ts";
import * as smtp2goWire from "../support/wires/smtp2go.ts";
import { json } from "../support/wires/wire.ts";

const wires = { ...brevoWire, ...mailjetWire, ...mandrillWire, ...resendWire, ...smtp2goWire };

let outside: Outside;
beforeAll(async () => {
  outside = await listen();
});
afterAll(() => outside.close());
beforeEach(() => {
  outside.requests.length = 0;
});

const people = (count: number): Mailing["recipients"] =>
  Array.from({ length: count }, (_, n) => ({ sendId: n + 1, to: { email: `p${n}@example.net` }, values: [`value ${n}`], headers: {} }));

const mailing = (count: number, changes: Partial<Mailing> = {}): Mailing => ({
  from: { email: "news@example.com" },
  subject: ["Hello"],
  html: ["<p>", 0, "</p>"],
  text: ["Hello ", 0],
  headers: {},
  tags: [],
  attachments: [],
  recipients: people(count),
  ...changes,
});

function send(provider: Provider, reply: Reply, sent: Mailing = mailing(1), idempotencyKey = "key-1"): Promise<Outcome[]> {
  process.env[`PROVIDER_URL_${provider.key.toUpperCase()}`] = outside.origin;
  outside.answer(reply);
  const { credentials } = wires[provider.key as keyof typeof wires];
  return provider.send({ mailing: sent, credentials: provider.credentials.parse(credentials), idempotencyKey });
}
const said = (n = 0) => JSON.parse(outside.requests[n]!.body.toString());

describe("Brevo", () => {
  const duplicate = json(400, { code: "duplicate_parameter", message: "The idempotency key was already used" });

  it("told that it has seen the key, counts the mails as accepted, with ids unknown", async () => {
    expect(await send(brevo, duplicate, mailing(2))).toEqual([{ status: "accepted" }, { status: "accepted" }]);
  });

  it("gets one UUID for one key, and another for another", async () => {
    for (const key of ["key-1", "key-1", "key-2"]) await send(brevo, duplicate, mailing(1), key);
    const keys = [0, 1, 2].map((n) => said(n).headers.idempotencyKey);
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  it("refuses a type of attachment that it does not take, without being asked", async () => {
    const attachments = ["ok.PDF", "run.exe"].map((filename) => ({ filename, type: "application/octet-stream", content: "AAAA" }));
    const [outcome] = await send(brevo, wires.brevo.success(1), mailing(1, { attachments }));
    expect(outcome).toEqual({ status: "refused", error: expect.stringContaining('"run.exe"') });
    expect(outside.requests).toEqual([]);
  });

  it("gets a text as HTML where there is no HTML, with nothing in it taken for a tag", async () => {
    await send(brevo, wires.brevo.success(1), mailing(1, { html: undefined, text: ["a < b & c\nd"] }));
    expect(said()).toMatchObject({ textContent: "a < b & c\nd", htmlContent: "a &#60; b &#38; c<br>\nd" });
  });

  it("never gives one recipient's content to another who has none", () => {
    const blank = mailing(2);
    blank.recipients[1]!.values = [""];
    expect(brevo.batch!.takes(blank)).toBe(true);
    expect(brevo.batch!.takes({ ...blank, html: [0] })).toBe(false);
    expect(brevo.batch!.takes({ ...blank, text: [0] })).toBe(false);
    expect(brevo.batch!.takes({ ...blank, subject: [0] })).toBe(false);
  });

  it("is told content that is alike only once", async () => {
    await send(brevo, wires.brevo.success(2), mailing(2, { html: ["<p>alike</p>"] }));
    expect(said().messageVersions.map((version: object) => Object.keys(version).sort())).toEqual([
      ["headers", "to"],
      ["headers", "textContent", "to"],
    ]);
  });

  it("gets names of at most 70 characters, and headers in ASCII", async () => {
    await send(
      brevo,
      wires.brevo.success(1),
      mailing(1, { from: { email: "a@example.com", name: "é".repeat(80) }, headers: { "X-A": "é" } }),
    );
    expect(said()).toMatchObject({ sender: { name: "é".repeat(70) }, headers: { "X-A": "=?UTF-8?B?w6k=?=" } });
  });
});

describe("Mailjet", () => {
  it("telling of another number of mails than it was given, leaves all of them uncertain", async () => {
    const outcomes = await send(mailjet, json(400, { Messages: [{ Status: "success", To: [{ MessageUUID: "u" }] }] }), mailing(2));
    expect(outcomes.map(({ status }) => status)).toEqual(["uncertain", "uncertain"]);
  });

  it("gets no tracking switches for a mail without HTML, which it would refuse", async () => {
    await send(mailjet, wires.mailjet.success(1), mailing(1, { html: undefined, trackOpens: false, trackClicks: false }));
    expect(Object.keys(said().Messages[0])).not.toContain("TrackOpens");
    expect(Object.keys(said().Messages[0])).not.toContain("TrackClicks");
  });
});

describe("Mandrill", () => {
  const result = (n: number, status: string, more: object = {}) => ({ email: `P${n}@example.net`, status, _id: `id${n}`, ...more });

  it("knows a refused mail in a good answer, and an account that may not send for this domain", async () => {
    const outcomes = await send(
      mandrill,
      json(200, [result(2, "rejected", { reject_reason: "unsigned" }), result(1, "invalid"), result(0, "queued", { queued_reason: "x" })]),
      mailing(3),
    );
    expect(outcomes).toEqual([
      { status: "accepted", messageId: "id0" },
      { status: "refused", error: "invalid" },
      { status: "refused", error: "rejected: unsigned", config: true },
    ]);
  });

  it("leaves a mail uncertain of which it tells nothing", async () => {
    const outcomes = await send(mandrill, json(200, [result(0, "sent")]), mailing(2));
    expect(outcomes.map(({ status }) => status)).toEqual(["accepted", "uncertain"]);
  });

  it.each([
    [
      "recipients have headers",
      mailing(2, { recipients: people(2).map((to) => ({ ...to, headers: { "List-Unsubscribe": "<https://e.co>" } })) }),
    ],
    ["an address comes twice", mailing(2, { recipients: people(2).map((to, n) => ({ ...to, to: { email: n ? "A@e.co" : "a@e.co" } })) })],
    ["the text has a merge tag", mailing(2, { text: ["*|FNAME|*"] })],
    ["text and value would make one", mailing(2, { text: ["*", 0], recipients: people(2).map((to) => ({ ...to, values: ["|FNAME|*"] })) })],
  ])("does not take a batch in which %s", (_, batch) => {
    expect(mandrill.batch!.takes(mailing(2))).toBe(true);
    expect(mandrill.batch!.takes(batch)).toBe(false);
  });
});

describe("Resend", () => {
  it("told that a key was used for other mails, never asks for each alone", async () => {
    const reply = json(409, { statusCode: 409, name: "invalid_idempotent_request", message: "Same key, other payload" });
    const refused = { status: "refused", error: "Same key, other payload" };
    expect(await send(resend, reply, mailing(2))).toEqual([refused, refused]);
  });

  it("counts mails as accepted without ids when the ids do not add up", async () => {
    const reply = json(200, { data: [{ id: "a" }], errors: [{ index: 1, message: "bad" }] });
    expect(await send(resend, reply, mailing(3))).toEqual([
      { status: "accepted" },
      { status: "refused", error: "bad" },
      { status: "accepted" },
    ]);
  });

  it("takes no attachments in a batch", () => {
    expect(resend.batch!.takes(mailing(2))).toBe(true);
    expect(resend.batch!.takes(mailing(2, { attachments: [{ filename: "a.txt", type: "text/plain", content: "AAAA" }] }))).toBe(false);
  });

  it("gets tags in the characters it takes", async () => {
    await send(resend, wires.resend.success(1), mailing(1, { tags: ["spring sale!", "é"] }));
    expect(said().tags.slice(1)).toEqual([
      { name: "tag_1", value: "spring_sale_" },
      { name: "tag_2", value: "_" },
    ]);
  });
});

describe("SMTP2GO", () => {
  it("knows a failed mail in a good answer", async () => {
    const data = { succeeded: 0, failed: 1, failures: ["550 blocked"], email_id: "x" };
    expect(await send(smtp2go, json(200, { data }))).toEqual([{ status: "refused", error: "550 blocked" }]);
  });

  it("needs no count of mails in a good answer, only their ids", async () => {
    expect(await send(smtp2go, json(200, { data: { email_id: "x" } }))).toEqual([{ status: "accepted", messageId: "x" }]);
  });

  it("names the field that was refused", async () => {
    const data = {
      error: "Invalid",
      error_code: "E_ApiResponseCodes.NON_VALIDATING_IN_PAYLOAD",
      field_validation_errors: { fieldname: "to", message: "no address" },
    };
    expect(await send(smtp2go, json(400, { data }))).toEqual([{ status: "refused", error: "Invalid: to: no address" }]);
  });
});
