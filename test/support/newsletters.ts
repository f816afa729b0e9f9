// Marketing mail as its recipients get it. The service runs in this process and sends to the
// sandbox. The mail is staged directly, without a campaign.
import "./quick-passwords.ts";
import { type LocalService, startLocalService } from "../../infra/local/service.ts";
import { write } from "../../shared/adapters/dynamodb/table.ts";
import { now } from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import type { ContactTopics } from "../../shared/domain/audience/topics/contact-topic-schemas.ts";
import type { NewTopic, Topic } from "../../shared/domain/audience/topics/topic-schema.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import * as lanes from "../../shared/domain/sending/bulk/lanes.ts";
import {
  expectStatus,
  type ReceivedMail,
  signedUp,
  type TestClient,
  waitForMail,
} from "./api-client.ts";
import { stageMail } from "./staged.ts";

export const startNewsletterService = (): Promise<LocalService> =>
  startLocalService({ PORT: "0", DATA_DIR: ":memory:", LOG_LEVEL: "ERROR" });

export interface NewsletterReader {
  client: TestClient;
  email: string;
  contactId: number;
  sendId: number;
  mail: ReceivedMail;
  /** The link of the footer. */
  unsubscribePageUrl: string;
  /** The URL of the List-Unsubscribe header. */
  oneClickUrl: string;
  /** Reads the status of the contact. */
  status(): Promise<string>;
  /** Reads which topics the contact is subscribed to, by name. */
  chosen(): Promise<Record<string, boolean>>;
}

export interface NewsletterOptions {
  email?: string;
  html?: string;
  provider?: "resend" | "mandrill";
  compliance?: object;
  /** Topics of the site, in their order. The newsletter is on the first. */
  topics?: Partial<NewTopic>[];
}

let readers = 0;

/** Sends a newsletter of a site called Søren & Sons to a new contact. */
export async function sendNewsletter(
  { url: service }: LocalService,
  { email, html, provider = "resend", compliance, topics = [] }: NewsletterOptions = {},
): Promise<NewsletterReader> {
  const client = await signedUp({ service });
  const { call, siteId, orgId } = client;
  const to = email ?? `ann${++readers}@example.com`;
  expectStatus(
    200,
    await call("PUT", `/sites/${siteId}`, {
      companyName: "Søren & Sons",
      physicalAddress: "1 High Street\nLondon",
    }),
  );
  if (compliance) expectStatus(200, await call("PUT", "/compliance", compliance));
  const { id: contactId } = expectStatus(
    201,
    await call<{ id: number }>("POST", "/contacts", { email: to, firstName: "Ann" }),
  ).body.data;
  const created: Topic[] = [];
  for (const topic of topics)
    created.push(expectStatus(201, await call<Topic>("POST", "/topics", topic)).body.data);
  const configId = await createSendingConfig(client, service, provider);
  const owner = { orgId };
  const [site, config, item] = await Promise.all([
    sites.find(owner, siteId),
    sendingConfigs.find(owner, configId),
    contacts.findItem(owner, contactId),
  ]);
  const source = { kind: "campaign" as const, id: orgId };
  const mailing = {
    orgId,
    site,
    config,
    source,
    topic: created[0],
    subject: "News",
    html: html ?? "<p>Hello {{ firstName }}</p>",
    startedAt: now(),
  };
  const { sendIds, writes } = await stageMail(mailing, [item]);
  await write(...writes);
  await lanes.announceArrival(orgId, configId);
  const mail = await waitForMail(to, service);
  const [, unsubscribePageUrl = ""] = /Unsubscribe: (\S+)/.exec(mail.text ?? "") ?? [];
  const [, oneClickUrl = ""] = /^<(.*)>$/.exec(findHeader(mail, "list-unsubscribe")) ?? [];
  const chosen = async () => {
    const { topics: found } = expectStatus(
      200,
      await call<ContactTopics>("GET", `/contacts/${contactId}/topics`),
    ).body.data;
    return Object.fromEntries(found.map(({ name, subscribed }) => [name, subscribed]));
  };
  const status = async () =>
    expectStatus(200, await call<{ status: string }>("GET", `/contacts/${contactId}`)).body.data
      .status;
  return {
    client,
    email: to,
    contactId,
    sendId: sendIds.get(contactId)!,
    mail,
    unsubscribePageUrl,
    oneClickUrl,
    status,
    chosen,
  };
}

export const findHeader = ({ headers }: ReceivedMail, name: string): string =>
  Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1] ?? "";

/** With an account of the provider sandbox. */
export async function createSendingConfig(
  { call }: TestClient,
  service: string,
  provider: string,
): Promise<number> {
  const sandbox = (await (
    await fetch(`${service}/_local/sandbox`, { headers: { accept: "application/json" } })
  ).json()) as {
    data: { providers: Record<string, object> };
  };
  const fields = {
    provider,
    fromEmail: "news@pennymail.test",
    ...sandbox.data.providers[provider],
  };
  return expectStatus(201, await call<{ id: number }>("POST", "/sending-configs", fields)).body.data
    .id;
}
