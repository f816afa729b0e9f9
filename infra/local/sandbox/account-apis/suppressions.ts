// The suppression lists of the stand-ins: addresses of the simulator that bounced, complained or
// unsubscribed, until they are removed.
import { ok } from "../request-reader.ts";
import { queryOf } from "../search.ts";
import { simulatedOutcome } from "../simulator.ts";
import type { SandboxCall, SandboxProvider, SandboxResponse } from "../types.ts";

type Reason = "bounced" | "complained" | "unsubscribed";
interface Listed {
  email: string;
  reason: Reason;
}

const reasons = new Set<string>(["bounced", "complained", "unsubscribed"]);
const removedKind = "removed suppression";

function list({ sent, resources }: SandboxCall, only?: Reason): Listed[] {
  const emails = new Set(sent(() => true).map(({ to }) => to.email.toLowerCase()));
  return [...emails].sort().flatMap((email) => {
    const reason = simulatedOutcome(email) ?? "";
    const isListed = reasons.has(reason) && !resources.get(removedKind, email);
    return isListed && (!only || only === reason) ? [{ email, reason: reason as Reason }] : [];
  });
}

function remove(call: SandboxCall, email: string): boolean {
  const isListed = list(call).some((one) => one.email === email.toLowerCase());
  if (isListed) call.resources.put(removedKind, email.toLowerCase(), {});
  return isListed;
}

/** The part of the list that `limit` and `offset` of the query select. */
function pageOf(call: SandboxCall, rows: Listed[]): Listed[] {
  const query = queryOf(call);
  const offset = Number(query.get("offset") ?? 0);
  return rows.slice(offset, offset + Number(query.get("limit") ?? 100));
}

const removeLast =
  (done: SandboxResponse) =>
  (call: SandboxCall): SandboxResponse =>
    remove(call, call.params.at(-1)!) ? done : { status: 404, body: { message: "not found" } };
const noContent: SandboxResponse = { status: 204 };

const sendgridList = (reason: Reason) => (call: SandboxCall) =>
  Number(queryOf(call).get("offset")) < 0
    ? { status: 400, body: { errors: [{ message: "offset must not be negative" }] } }
    : ok(
        pageOf(call, list(call, reason)).map(({ email }) => ({ created: 1, email, reason: "550" })),
      );

const mailgunList = (reason: Reason) => (call: SandboxCall) =>
  ok({
    items: pageOf(call, list(call, reason)).map(({ email }) => ({ address: email, code: "550" })),
    paging: { next: `https://api.mailgun.net${call.request.path}?page=next&limit=1000` },
  });

const postmarkReasons = {
  bounced: "HardBounce",
  complained: "SpamComplaint",
  unsubscribed: "ManualSuppression",
};
const sparkpostSources = {
  bounced: "Bounce Rule",
  complained: "Spam Complaint",
  unsubscribed: "List Unsubscribe",
};
const brevoCodes = {
  bounced: "hardBounce",
  complained: "contactFlaggedAsSpam",
  unsubscribed: "unsubscribedViaEmail",
};
const mandrillReasons = { bounced: "hard-bounce", complained: "spam", unsubscribed: "unsub" };
const resendOrigins = { bounced: "bounce", complained: "complaint", unsubscribed: "manual" };
const smtp2goReasons = { bounced: "bounce", complained: "spam", unsubscribed: "unsubscribe" };

const fieldOf = (call: SandboxCall, name: string): string =>
  String((call.json() as Record<string, unknown>)[name]);

export const suppressionRoutes: Record<string, SandboxProvider["routes"]> = {
  sendgrid: {
    "GET /v3/suppression/bounces": sendgridList("bounced"),
    "GET /v3/suppression/spam_reports": sendgridList("complained"),
    "GET /v3/suppression/unsubscribes": sendgridList("unsubscribed"),
    "DELETE /v3/suppression/bounces/:email": removeLast(noContent),
    "DELETE /v3/suppression/spam_reports/:email": removeLast(noContent),
    "DELETE /v3/asm/suppressions/global/:email": removeLast(noContent),
  },
  ses: {
    // SES lists no unsubscribed addresses.
    "GET /v2/email/suppression/addresses": (call) =>
      ok({
        SuppressedDestinationSummaries: list(call)
          .filter(({ reason }) => reason !== "unsubscribed")
          .map(({ email, reason }) => ({
            EmailAddress: email,
            Reason: reason === "bounced" ? "BOUNCE" : "COMPLAINT",
            LastUpdateTime: 1_764_547_200,
          })),
      }),
    "DELETE /v2/email/suppression/addresses/:email": removeLast(ok({})),
  },
  postmark: {
    "GET /message-streams/outbound/suppressions/dump": (call) =>
      ok({
        Suppressions: list(call).map(({ email, reason }) => ({
          EmailAddress: email,
          SuppressionReason: postmarkReasons[reason],
          Origin: "Recipient",
        })),
      }),
    "POST /message-streams/outbound/suppressions/delete"(call) {
      const { Suppressions } = call.json() as { Suppressions: { EmailAddress: string }[] };
      return ok({
        Suppressions: Suppressions.map((one) => {
          if (simulatedOutcome(one.EmailAddress) === "complained")
            return { ...one, Status: "Failed", Message: "Spam complaints cannot be removed." };
          remove(call, one.EmailAddress);
          return { ...one, Status: "Deleted", Message: null };
        }),
      });
    },
  },
  mailgun: {
    "GET /v3/:domain/bounces": mailgunList("bounced"),
    "GET /v3/:domain/complaints": mailgunList("complained"),
    "GET /v3/:domain/unsubscribes": mailgunList("unsubscribed"),
    "DELETE /v3/:domain/bounces/:email": removeLast(ok({ message: "removed" })),
    "DELETE /v3/:domain/complaints/:email": removeLast(ok({ message: "removed" })),
    "DELETE /v3/:domain/unsubscribes/:email": removeLast(ok({ message: "removed" })),
  },
  sparkpost: {
    "GET /api/v1/suppression-list": (call) =>
      ok({
        results: list(call).map(({ email, reason }) => ({
          recipient: email,
          type: "non_transactional",
          source: sparkpostSources[reason],
          description: "550 5.1.1",
        })),
        links: [],
      }),
    "DELETE /api/v1/suppression-list/:email": removeLast(noContent),
  },
  brevo: {
    "GET /v3/smtp/blockedContacts": (call) =>
      ok({
        contacts: pageOf(call, list(call)).map(({ email, reason }) => ({
          email,
          reason: { code: brevoCodes[reason], message: "blocked" },
          blockedAt: "2026-12-01T09:00:00.000Z",
        })),
        count: list(call).length,
      }),
    "DELETE /v3/smtp/blockedContacts/:email": removeLast(noContent),
  },
  mandrill: {
    "POST /api/:version/rejects/list": (call) =>
      ok(list(call).map(({ email, reason }) => ({ email, reason: mandrillReasons[reason] }))),
    "POST /api/:version/rejects/delete"(call) {
      const email = fieldOf(call, "email");
      return ok({ email, deleted: remove(call, email) });
    },
  },
  resend: {
    "GET /suppressions": (call) =>
      ok({
        object: "list",
        has_more: false,
        data: list(call).map(({ email, reason }) => ({
          id: email,
          email,
          origin: resendOrigins[reason],
        })),
      }),
    "DELETE /suppressions/:email": removeLast(ok({ object: "suppression", deleted: true })),
  },
  smtp2go: {
    "POST /v3/suppression/view": (call) =>
      ok({
        request_id: "sandbox",
        data: {
          continue_token: null,
          results: list(call).map(({ email, reason }) => ({
            email_address: email,
            reason: smtp2goReasons[reason],
            block_description: "",
          })),
        },
      }),
    "POST /v3/suppression/remove"(call) {
      const email_address = fieldOf(call, "email_address");
      const removed = remove(call, email_address);
      return ok({ request_id: "sandbox", data: { suppressions: [{ email_address, removed }] } });
    },
  },
};
