// Marketing mail as its readers get it, from a service of this process's own: with the sandbox for a provider, and with its domain at
// hand, so that a mail goes out whatever the interface has for it.
import "./quick-passwords.ts";
import { type Service, startService } from "../../infra/local/service.ts";
import { now } from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import * as lanes from "../../shared/domain/sending/lanes.ts";
import * as sendingConfigs from "../../shared/domain/sending-configs.ts";
import * as sites from "../../shared/domain/sites.ts";
import { write } from "../../shared/doors/table.ts";
import { type Client, type Mail, mailTo, must, signedUp } from "./client.ts";
import { staged } from "./staged.ts";

export const opened = (): Promise<Service> => startService({ PORT: "0", DATA_DIR: ":memory:", LOG_LEVEL: "ERROR" });

export interface Reader {
  client: Client;
  email: string;
  contactId: number;
  sendId: number;
  mail: Mail;
  /** Of the footer. */
  page: string;
  /** Of the header. */
  oneClick: string;
  /** As the owner sees the contact. */
  status(): Promise<string>;
}

export interface News {
  email?: string;
  html?: string;
  provider?: "resend" | "mandrill";
  compliance?: object;
}

let readers = 0;

/** Somebody who got a newsletter of a site called Søren & Sons. */
export async function reader({ url: service }: Service, { email, html, provider = "resend", compliance }: News = {}): Promise<Reader> {
  const client = await signedUp({ service });
  const { call, siteId, orgId } = client;
  const to = email ?? `ann${++readers}@example.com`;
  must(200, await call("PUT", `/sites/${siteId}`, { companyName: "Søren & Sons", physicalAddress: "1 High Street\nLondon" }));
  if (compliance) must(200, await call("PUT", "/compliance", compliance));
  const { id: contactId } = must(201, await call<{ id: number }>("POST", "/contacts", { email: to, firstName: "Ann" })).body.data;
  const configId = await configured(client, service, provider);
  const who = { orgId };
  const [site, config, item] = await Promise.all([
    sites.find(who, siteId),
    sendingConfigs.find(who, configId),
    contacts.item(who, contactId),
  ]);
  const source = { kind: "campaign" as const, id: orgId };
  const shot = { orgId, site, config, source, subject: "News", html: html ?? "<p>Hello {{ firstName }}</p>", at: now() };
  const { sendIds, writes } = await staged(shot, [item]);
  await write(...writes);
  await lanes.arrived(orgId, configId);
  const mail = await mailTo(to, service);
  const [, page = ""] = /Unsubscribe: (\S+)/.exec(mail.text ?? "") ?? [];
  const [, oneClick = ""] = /^<(.*)>$/.exec(headerOf(mail, "list-unsubscribe")) ?? [];
  const status = async () => must(200, await call<{ status: string }>("GET", `/contacts/${contactId}`)).body.data.status;
  return { client, email: to, contactId, sendId: sendIds.get(contactId)!, mail, page, oneClick, status };
}

export const headerOf = ({ headers }: Mail, name: string): string =>
  Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1] ?? "";

async function configured({ call }: Client, service: string, provider: string): Promise<number> {
  const sandbox = (await (await fetch(`${service}/_local/sandbox`, { headers: { accept: "application/json" } })).json()) as {
    data: { providers: Record<string, object> };
  };
  const fields = { provider, fromEmail: "news@pennymail.test", ...sandbox.data.providers[provider] };
  return must(201, await call<{ id: number }>("POST", "/sending-configs", fields)).body.data.id;
}
