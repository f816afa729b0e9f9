// The official SDKs of all ten providers send through the sandbox and understand its responses.
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";
import * as clock from "../../shared/clock.ts";
import {
  callLocalPage,
  createAccount,
  type InboxEntry,
  listMailTo,
  type ProviderKeys,
  startSandbox,
} from "../support/provider-sandbox.ts";
import { example, type Letter, type Sdk, sdks } from "../support/provider-sdks.ts";

let sandbox: Sandbox;
let keys: Record<string, ProviderKeys>;
let n = 0;

beforeAll(async () => {
  sandbox = await startSandbox();
  keys = await createAccount(sandbox);
});
afterAll(() => sandbox.stop());

const someone = () => `reader${++n}@example.net`;
const only = async (email: string): Promise<InboxEntry> => {
  const mails = await listMailTo(sandbox, email);
  expect(mails).toHaveLength(1);
  return mails[0]!;
};

/** Returns the whole error of a call that must fail. */
const refusal = async (call: Promise<unknown>): Promise<string> => {
  const error = await call.then(
    (answer) => expect.fail(`accepted: ${inspect(answer)}`),
    (thrown: unknown) => thrown,
  );
  return inspect(error, { depth: 8, maxStringLength: 2000 });
};

const unsupported = "not supported by the Pennymail sandbox";
const badKey: Record<string, string> = {
  sendgrid: "The provided authorization grant is invalid",
  ses: "UnrecognizedClientException",
  postmark: "InvalidAPIKeyError",
  mailgun: "status: 401",
  sparkpost: "statusCode: 401",
  brevo: "Key not found",
  mailjet: "API key authentication/authorization failure",
  mandrill: "Invalid_Key",
  resend: "invalid_api_key",
  smtp2go: "AUTHENTICATION_FAILED",
};
const unreadable: Record<string, string> = {
  sendgrid: unsupported,
  ses: unsupported,
  mailgun: unsupported,
  sparkpost: "Resource could not be found",
  smtp2go: unsupported,
};

describe.each(Object.entries(sdks))("%s", (key, open) => {
  let sdk: Sdk;
  beforeAll(() => {
    sdk = open(keys[key]!.credentials, sandbox.originByProvider[key]!);
  });
  const letter = (changes: Partial<Letter> = {}): Letter => ({
    ...example,
    to: [someone()],
    ...changes,
  });

  it("sends a mail with a header and an attachment", async () => {
    const sent = letter();
    const id = await sdk.send(sent);
    const mail = await only(sent.to[0]!);
    expect(mail).toMatchObject({
      messageId: id,
      from: { email: example.from, name: example.fromName },
      replyTo: example.replyTo,
      subject: example.subject,
      html: example.html,
      text: example.text,
      headers: example.headers,
      copy: null,
    });
    expect(mail.attachments).toMatchObject([{ filename: "note.txt" }]);
    expect((await callLocalPage(sandbox, mail.attachments[0]!.url)).body.toString()).toBe(
      "hello, Zoë",
    );
  });

  it("delivers to each address in To, Cc and Bcc, and names To and Cc in the headers", async () => {
    const sent = letter({
      to: [someone(), someone()],
      cc: [someone(), someone()],
      bcc: [someone()],
    });
    await sdk.send(sent);
    const emails = (list: { email: string }[]) => list.map(({ email }) => email);
    for (const [list, copy] of [
      [sent.to, null],
      [sent.cc, "cc"],
      [sent.bcc, "bcc"],
    ] as const) {
      for (const email of list) {
        const mail = await only(email);
        expect(mail).toMatchObject({ copy, subject: sent.subject });
        expect(emails(mail.shown.cc)).toEqual(sent.cc);
        // SparkPost sends a separate mail to each recipient.
        expect(emails(mail.shown.to)).toEqual(key === "sparkpost" && !copy ? [email] : sent.to);
      }
    }
  });

  it("sends a batch", async () => {
    if (!sdk.batch) return;
    const sent = [letter({ subject: "One" }), letter({ subject: "Two" })];
    const ids = await sdk.batch(sent);
    const mails = await Promise.all(sent.map(({ to }) => only(to[0]!)));
    expect(mails.map(({ subject }) => subject)).toEqual(["One", "Two"]);
    expect(mails.map(({ messageId }) => messageId)).toEqual(ids);
  });

  it("schedules a mail, if the provider supports it", async () => {
    if (!sdk.schedules) return;
    const sent = letter({ at: clock.addSeconds(30) });
    await sdk.send(sent);
    expect(await listMailTo(sandbox, sent.to[0]!)).toEqual([]);
    clock.advanceClock(31);
    expect(await only(sent.to[0]!)).toMatchObject({ subject: sent.subject });
  });

  it("cancels a scheduled mail, if the SDK supports it", async () => {
    if (!sdk.cancel) return;
    const sent = letter({ at: clock.addSeconds(30) });
    await sdk.cancel(await sdk.send(sent));
    clock.advanceClock(31);
    expect(await listMailTo(sandbox, sent.to[0]!)).toEqual([]);
  });

  it("refuses to schedule a mail a year ahead", async () => {
    if (!sdk.schedules) return;
    const sent = letter({ at: clock.addSeconds(367 * 86_400) });
    expect(await refusal(sdk.send(sent))).toMatch(/send_at|deliverytime|start_time|schedule/);
  });

  it("reads a mail by its id, or reports that the sandbox does not support it", async () => {
    const id = await sdk.send(letter());
    if (unreadable[key]) expect(await refusal(sdk.read(id))).toContain(unreadable[key]);
    else expect(JSON.stringify(await sdk.read(id))).toMatch(/sent|processed|delivered/i);
  });

  it("refuses a stored template", async () => {
    const sent = letter();
    expect(await refusal(sdk.template(sent))).toContain(unsupported);
    expect(await listMailTo(sandbox, sent.to[0]!)).toEqual([]);
  });

  it("refuses a bad key", async () => {
    const wrong = Object.fromEntries(
      Object.entries(keys[key]!.credentials).map(([name, value]) => [
        name,
        /key/i.test(name) ? `${value.slice(0, -1)}!` : value,
      ]),
    );
    const sent = letter();
    expect(await refusal(open(wrong, sandbox.originByProvider[key]!).send(sent))).toContain(
      badKey[key],
    );
    expect(await listMailTo(sandbox, sent.to[0]!)).toEqual([]);
  });
});
