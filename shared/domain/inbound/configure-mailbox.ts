// Sets the bounce mailbox of a sending config. It is checked at its server before it is stored.
import { randomUUID } from "node:crypto";
import { absent, equals } from "../../adapters/dynamodb/conditions.ts";
import { get, put, remove, transact, write } from "../../adapters/dynamodb/table.ts";
import { type ImapFault, type ImapStep, useFolder } from "../../adapters/imap/imap-client.ts";
import type { CallerScope } from "../../caller.ts";
import { conflict, invalid } from "../../errors.ts";
import { keys } from "../../keys.ts";
import { sanitizeError } from "../../providers/provider-http.ts";
import * as sites from "../identity/sites.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import {
  type BounceMailbox,
  type BounceMailboxItem,
  type BounceMailboxSettings,
  openPassword,
  sealPassword,
  toApi,
  toServer,
} from "./bounce-mailbox.ts";
import { enqueueMailboxRead, readIn } from "./mailbox-reads.ts";

/** Null without a mailbox. Throws 404 if the config does not exist. */
export async function findMailbox(
  caller: CallerScope,
  configId: number,
): Promise<BounceMailbox | null> {
  const [item] = await Promise.all([
    get<BounceMailboxItem>(keys.bounceMailbox(caller.orgId, configId)),
    sendingConfigs.find(caller, configId),
  ]);
  return item ? toApi(item) : null;
}

/**
 * Logs in, opens the folder and stores the settings. The mailbox is read at once, and goes on where
 * it was if it is the same folder. 400 if the server refuses, with the field that is to blame.
 */
export async function setMailbox(
  caller: CallerScope,
  configId: number,
  { password, moveTo, ...settings }: BounceMailboxSettings,
): Promise<BounceMailbox> {
  const { orgId } = caller;
  const key = keys.bounceMailbox(orgId, configId);
  const [before] = await Promise.all([
    get<BounceMailboxItem>(key),
    sendingConfigs.find(caller, configId),
    sites.find(caller, settings.siteId),
  ]);
  const server = { ...settings, port: settings.port ?? (settings.tls === "tls" ? 993 : 143) };
  const secret = password ?? (await storedPassword(before, server));
  await check(toServer(server, secret), { ...server, moveTo: moveTo ?? undefined });
  const isSameFolder =
    before !== undefined &&
    [...serverFields, "folder" as const].every((field) => before[field] === server[field]);
  // The reading of the old settings goes on meanwhile.
  const { position } = (isSameFolder && (await get<BounceMailboxItem>(key))) || {};
  const item: BounceMailboxItem = {
    ...server,
    orgId,
    configId,
    ...(moveTo && { moveTo }),
    sealedPassword: await sealPassword(orgId, configId, secret),
    revision: randomUUID(),
    ...(position && { position }),
    failures: 0,
    skipped: before?.skipped ?? 0,
    ...(isSameFolder && before.lastReadAt && { lastReadAt: before.lastReadAt }),
    ...readIn(configId, secondsUntilFound),
  };
  const unchanged = before ? equals("revision", before.revision) : absent("revision");
  if (!(await transact(put(key, item, { if: unchanged }))))
    throw conflict("The mailbox was changed by another request: read it again, then retry");
  await enqueueMailboxRead(orgId, configId);
  return toApi(item);
}

/** If its message is lost, the due index finds the first reading after so long. */
const secondsUntilFound = 60;

/** Stops the reading. Email in the mailbox stays. */
export async function removeMailbox(caller: CallerScope, configId: number): Promise<void> {
  await sendingConfigs.find(caller, configId);
  await write(remove(keys.bounceMailbox(caller.orgId, configId)));
}

const serverFields = ["host", "port", "tls", "user"] as const;
type ServerFields = Pick<BounceMailboxItem, (typeof serverFields)[number]>;

/** A stored password goes only to the server that it was entered for. */
async function storedPassword(
  before: BounceMailboxItem | undefined,
  server: ServerFields,
): Promise<string> {
  if (!before) throw fieldError("password", "is required");
  if (serverFields.some((field) => before[field] !== server[field]))
    throw fieldError("password", "is required if host, port, tls or user change");
  return openPassword(before);
}

const checkSeconds = 20;

async function check(
  server: Parameters<typeof useFolder>[0],
  { folder, moveTo, afterReading }: Pick<BounceMailboxItem, "folder" | "moveTo" | "afterReading">,
): Promise<void> {
  const use = { folder, moveTo, changes: afterReading !== "keep", seconds: checkSeconds };
  const fault = await useFolder(server, use, async () => {});
  if (fault) throw fieldError(fieldOf[fault.step], explainFault(fault, server.password));
}

const fieldOf: Record<ImapStep, string> = {
  host: "host",
  connect: "host",
  login: "password",
  folder: "folder",
  target: "moveTo",
  read: "folder",
  message: "folder",
};

const explanations: Record<ImapStep, string> = {
  host: "The address of the server is not allowed",
  connect: "The server could not be reached",
  login: "The server refused the login",
  folder: "The folder could not be opened",
  target: "The folder for read email could not be used",
  read: "The server stopped while it was read",
  message: "The server did not return an email",
};

/** A sentence for people, without the password. */
export const explainFault = ({ step, text }: ImapFault, password: string): string =>
  sanitizeError(`${explanations[step]}: ${text}`, [password]);

const fieldError = (path: string, message: string) =>
  invalid(`${path}: ${message}`, { details: [{ path, message: `${path}: ${message}` }] });
