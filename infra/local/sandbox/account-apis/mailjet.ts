// Mailjet: callback URLs of events, sender domains and their DNS records.
import * as z from "zod";
import { ok, parseBody, refuse } from "../request-reader.ts";
import { queryOf } from "../search.ts";
import type { SandboxAccount, SandboxCall, SandboxProvider, SandboxResponse } from "../types.ts";
import { dkimKey, hasRecords } from "./domains.ts";

const eventNames = ["sent", "open", "click", "bounce", "blocked", "spam", "unsub"];
const changes = { Url: z.url(), Version: z.literal(2), Status: z.literal("alive").optional() };
const NewCallback = z.strictObject({
  ...changes,
  EventType: z.enum(eventNames),
  IsBackup: z.literal(false),
});
interface Callback {
  ID: number;
  EventType: string;
  Url: string;
}
interface Sender {
  ID: number;
  Email: string;
  Status: string;
}

const refusal = (status: number, code: string, message: string): SandboxResponse => ({
  status,
  body: { ErrorIdentifier: code, ErrorCode: code, ErrorMessage: message, StatusCode: status },
});
const badRequest = (path: string, message: string) =>
  refusal(400, "mj-0003", `${path}: ${message}`);
const data = (...Data: object[]) => ok({ Count: Data.length, Data, Total: Data.length });
const firstSender: Sender = { ID: 1, Email: "*@pennymail.test", Status: "Active" };

export const mailjetAccountRoutes: SandboxProvider["routes"] = {
  "GET /v3/REST/apikey/:key": ({ params: [APIKey] }) =>
    data({ APIKey, IsActive: true, IsMaster: true, RunLevel: "Normal" }),
  "GET /v3/REST/eventcallbackurl": ({ resources }) => data(...resources.list<Callback>("callback")),
  "POST /v3/REST/eventcallbackurl"(call) {
    const body = parseBody(NewCallback, call.json(), badRequest);
    const isTaken = call.resources
      .list<Callback>("callback")
      .some(({ EventType }) => EventType === body.EventType);
    if (isTaken) return refusal(400, "MJ18", `An object with EventType ${body.EventType} exists`);
    return saveCallback(call, { ID: call.resources.nextId(), ...body });
  },
  "PUT /v3/REST/eventcallbackurl/:id"(call) {
    const [id = ""] = call.params;
    const stored = call.resources.get<Callback>("callback", id);
    const body = parseBody(z.strictObject(changes), call.json(), badRequest);
    return stored ? saveCallback(call, { ...stored, ...body }) : notFound();
  },
  "GET /v3/REST/sender"(call) {
    const domain = queryOf(call).get("Domain");
    const senders = [firstSender, ...call.resources.list<Sender>("sender")];
    return data(...senders.filter(({ Email }) => !domain || Email.endsWith(`@${domain}`)));
  },
  "POST /v3/REST/sender"(call) {
    const Body = z.strictObject({ Email: z.string().startsWith("*@") });
    const { Email } = parseBody(Body, call.json(), badRequest);
    const exists = call.resources.list<Sender>("sender").some((one) => one.Email === Email);
    if (exists) return refusal(400, "MJ18", "There is an already existing sender");
    const sender = { ID: call.resources.nextId() + 1, Email, Status: "Inactive" };
    call.resources.put("sender", sender.ID, sender);
    return { status: 201, body: { Count: 1, Data: [sender], Total: 1 } };
  },
  "POST /v3/REST/sender/:id/validate"(call) {
    const sender = findSender(call, (one) => String(one.ID) === call.params[0]);
    if (!hasRecords(domainOf(sender))) return refusal(400, "mj-0008", "Token not found");
    call.resources.put("sender", sender.ID, { ...sender, Status: "Active" });
    return data({ ValidationMethod: "DNS", Errors: {}, GlobalError: "" });
  },
  "GET /v3/REST/dns/:domain"(call) {
    const sender = findSender(call, (one) => domainOf(one) === call.params[0]);
    return data(dnsOf(call.account, sender));
  },
  "POST /v3/REST/dns/:id/check"(call) {
    const sender = findSender(call, (one) => String(one.ID) === call.params[0]);
    const DKIMStatus = hasRecords(domainOf(sender)) ? "OK" : "Error";
    return data({ DKIMStatus, DKIMErrors: [] });
  },
};

const domainOf = ({ Email }: Sender): string => Email.slice("*@".length);

function dnsOf(account: SandboxAccount, sender: Sender) {
  const token = account.deriveHex(`mailjet ${sender.Email}`, 40);
  const domain = domainOf(sender);
  return {
    ...{ ID: sender.ID, Domain: domain, IsCheckInProgress: false },
    DKIMRecordName: `mailjet._domainkey.${domain}.`,
    DKIMRecordValue: `k=rsa; p=${dkimKey(account)}`,
    DKIMStatus: sender.Status === "Active" ? "OK" : "Not checked",
    OwnerShipToken: token.slice(8),
    OwnerShipTokenRecordName: `mailjet._${token.slice(0, 8)}.${domain}.`,
    SPFRecordValue: "v=spf1 include:spf.mailjet.com ?all",
    SPFStatus: "Not checked",
  };
}

function saveCallback(call: SandboxCall, callback: Callback): SandboxResponse {
  call.resources.put("callback", callback.ID, { Status: "alive", ...callback });
  call.watch(callback.Url);
  return data(callback);
}

const notFound = () => refusal(404, "mj-0004", "Object not found");

const findSender = ({ resources }: SandboxCall, matches: (sender: Sender) => boolean): Sender =>
  [firstSender, ...resources.list<Sender>("sender")].find(matches) ?? refuse(notFound());
