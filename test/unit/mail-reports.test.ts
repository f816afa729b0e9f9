// Reports of several mail servers.
import { describe, expect, test } from "vitest";
import { readReport } from "../../shared/providers/inbound-mail/mail-report.ts";
import { messageIdsOf, parseMime } from "../../shared/providers/inbound-mail/received-mail.ts";
import { bounces, complaint, delay } from "../support/mail-reports.ts";

const about = { to: "ann@example.net", id: "1041.0123456789abcdef0123" };
const read = async (text: string) => readReport((await parseMime(text))!);

const expected: Record<string, object> = {
  postfix: { type: "bounce", bounceType: "hard" },
  exim: { type: "bounce", bounceType: "hard" },
  qmail: { type: "bounce", bounceType: "hard" },
  exchange: { type: "bounce", bounceType: "soft" },
  gmail: { type: "bounce", bounceType: "hard" },
};

describe.each(Object.keys(bounces))("a bounce of %s", (server) => {
  test("has the address, the kind, the words of the server and the message id", async () => {
    const found = await read(bounces[server]!(about));
    expect(found).toMatchObject({
      kind: "bounce",
      recipients: [{ details: expected[server] }],
    });
    expect([about.to, undefined]).toContain(found!.recipients[0]!.email);
    expect(found!.recipients[0]!.reason).toMatch(/^55[04]/);
    expect(messageIdsOf({ headers: found!.original }, "message-id")).toEqual([
      `${about.id}@shop.example`,
    ]);
  });
});

/** The report of Postfix with another status, and another reply of the server. */
const withReply = (status: string, reply: string): string =>
  bounces.postfix!(about)
    .replace("Status: 5.1.1", `Status: ${status}`)
    .replace(/^Diagnostic-Code: .*(\r\n .*)*/m, `Diagnostic-Code: smtp; ${reply}`);

test.each([
  ["550 No such user here", "bounce hard"],
  ["550 <spam@virus.example>: Recipient unknown", "bounce hard"],
  ["554 This user doesn't have a yahoo.com account", "bounce hard"],
  ["552 1 Requested mail action aborted, mailbox not found", "bounce hard"],
  ["551 not our customer", "bounce hard"],
  ["550 Mailbox quota exceeded", "bounce soft"],
  ["552 Requested mail action aborted: exceeded storage allocation", "bounce soft"],
  ["550 Connection timed out", "bounce soft"],
  ["554 Transaction failed", "bounce soft"],
  ["503 Improper sequence of commands", "bounce soft"],
  ["554 Message rejected as spam", "dropped message"],
  ["550 Content rejected", "dropped message"],
  ["550 The message is too large", "dropped message"],
  ["550 blocked using zen.spamhaus.org", "dropped sender"],
  ["554 Your IP address is on a blacklist", "dropped sender"],
  ["550 Failed DMARC policy of the sender", "dropped sender"],
  ["554-Transaction failed 554-Reject due to policy restrictions.", "dropped sender"],
  ["554 IP=5.2.12.34 - A problem occurred. (Ask your postmaster for help)", "dropped sender"],
  ["550 <shop@virus.example>: Sender address rejected: user unknown", "dropped sender"],
  ["571 No PTR Record found. Reverse DNS required", "dropped sender"],
])("without a code of RFC 3463, the words of the server tell: %s", async (reply, becomes) => {
  const { details, reason } = (await read(withReply("5.0.0", reply)))!.recipients[0]!;
  expect(reason).toBe(reply);
  expect(Object.values(details).join(" ")).toBe(becomes);
});

test.each([
  // Microsoft 365
  ["5.4.1", "550 5.4.1 Recipient address rejected: Access denied", "bounce hard"],
  ["5.4.1", "550 5.4.1 All recipient addresses rejected : Access denied", "bounce hard"],
  ["5.4.310", "550 5.4.310 DNS domain does not exist", "bounce hard"],
  ["5.0.350", "550 5.0.350 Remote server returned an error -> 550 5.1.1 Unknown", "bounce hard"],
  ["5.0.350", "550 5.0.350 Remote server returned an error -> 552 5.2.2 Full", "bounce soft"],
  ["5.4.316", "550 5.4.316 Message expired, connection refused", "bounce soft"],
  ["5.1.90", "550 5.1.90 You've reached your daily limit for recipients", "dropped sender"],
  // Gmail
  ["4.0.0", "DNS Error: lookup of example.test responded with code NXDOMAIN", "bounce hard"],
  ["5.2.1", "550-5.2.1 The user is receiving mail at a rate that prevents", "bounce soft"],
  // Others
  ["5.4.1", "554 5.4.1 No answer from host", "bounce soft"],
  ["5.7.1", "550 5.7.1 Recipient address rejected: User unknown", "bounce hard"],
  ["5.7.1", "550 5.7.1 The reverse DNS record does not exist", "dropped sender"],
  ["5.1.0", "550 5.1.0 192.0.2.1 is not allowed to send per its SPF record", "dropped sender"],
  ["5.1.0", "5.1.0 - Unknown address error 550-'5.2.2 <a@b.example>... Full'", "bounce soft"],
  ["5.1.0", "550 5.1.0 Address rejected", "bounce hard"],
  ["5.1.1", "550 5.7.1 IP address blacklisted by recipient", "dropped sender"],
])("the first code that tells something counts: %s %s", async (status, reply, becomes) => {
  const { details } = (await read(withReply(status, reply)))!.recipients[0]!;
  expect(Object.values(details).join(" ")).toBe(becomes);
});

test.each([
  ["without the fields about the mail", /^Reporting-MTA[\s\S]*?\r\n\r\n(?=Final)/m, ""],
  ["with all fields in one group", "+0000 (UTC)\r\n\r\nFinal", "+0000 (UTC)\r\nFinal"],
  ["with a comment", "Action: failed", "Action: failed (expired)"],
])("a report %s is read", async (_, before, after) => {
  const mail = bounces.postfix!(about);
  expect(mail.replace(before, after)).not.toBe(mail);
  expect((await read(mail.replace(before, after)))!.recipients).toMatchObject([
    { email: about.to, details: { type: "bounce", bounceType: "hard" } },
  ]);
});

const eximReply = /SMTP error from[\s\S]*?No such user here/;

test.each([
  ["retry timeout exceeded", "bounce soft"],
  ["mailbox is full: retry timeout exceeded", "bounce soft"],
  ["Unrouteable address", "bounce hard"],
  ["all hosts have been failing for a long time", "bounce soft"],
])("without a reply, the text for people tells: %s", async (words, becomes) => {
  const { details, reason } = (await read(bounces.exim!(about).replace(eximReply, words)))!
    .recipients[0]!;
  expect(Object.values(details).join(" ")).toBe(becomes);
  expect(reason).toBeUndefined();
});

test("a mail that is late is no bounce", async () => {
  expect((await read(delay(about)))!.recipients).toMatchObject([
    { email: about.to, details: { type: "deferred" } },
  ]);
});

test("a complaint names the mail, and a report of another type is none", async () => {
  expect(await read(complaint(about))).toMatchObject({
    kind: "complaint",
    recipients: [{ email: about.to, details: { type: "spam_report" } }],
  });
  const other = complaint(about).replace("Feedback-Type: abuse", "Feedback-Type: not-spam");
  expect(await read(other)).toBeUndefined();
});

test.each([
  ["Sorry, no mailbox here by that name. (#5.1.1)", "failure notice", "bounce hard"],
  ["The mailbox is full.", "failure notice", "bounce soft"],
  ["It failed.", "Undeliverable: Hello", "bounce soft"],
  ["Remote host said: 554 Rejected by spam filter", "Mail delivery failed", "dropped message"],
  ["421 Try again later", "Warning: delivery delayed, mail not be delivered yet", "deferred"],
])("a text of a mail server without any standard says: %s", async (text, subject, becomes) => {
  const mail = bounces.qmail!(about)
    .replace(/192\.0\.2\.1 does[\s\S]*?192\.0\.2\.1\./, text)
    .replace("failure notice", subject);
  const { details } = (await read(mail))!.recipients[0]!;
  expect(Object.values(details).join(" ")).toBe(becomes);
});

test("an answer of a machine without a return path is no bounce", async () => {
  const away = bounces.qmail!(about).replace("failure notice", "Out of office: 550 mails");
  expect(await read(away)).toBeUndefined();
  const person = bounces.qmail!(about)
    .replace("Return-Path: <>", "Return-Path: <ann@example.net>")
    .replace("MAILER-DAEMON@", "ann@");
  expect(await read(person)).toBeUndefined();
});

test("a reply, an answer of a machine and a receipt are no reports", async () => {
  const headers = "From: a@b.example\r\nSubject: Hello\r\n";
  expect(await read(`${headers}\r\nNo`)).toBeUndefined();
  expect(await read(`${headers}Auto-Submitted: auto-replied\r\n\r\nAway`)).toBeUndefined();
  const delivered = bounces.postfix!(about).replace("Action: failed", "Action: delivered");
  expect((await read(delivered))!.recipients).toEqual([]);
});
