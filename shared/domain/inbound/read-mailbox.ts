// Reads a bounce mailbox: hands each new message to the worker that stores mail of the inbound
// endpoint. A message is stored in the queue before it is deleted or moved, and before the position
// passes it, so a crash loses none. Repeated messages count once: see store-inbound.ts.
import { equals } from "../../adapters/dynamodb/conditions.ts";
import { get, remove, transact, update, write } from "../../adapters/dynamodb/table.ts";
import { type ImapFault, type ImapSession, useFolder } from "../../adapters/imap/imap-client.ts";
import { addSeconds, now } from "../../clock.ts";
import { undefinedIfMissing } from "../../errors.ts";
import * as log from "../../kernel/log.ts";
import * as records from "../../kernel/records.ts";
import { keys } from "../../keys.ts";
import * as sites from "../identity/sites.ts";
import type { SendingConfig } from "../senders/sending-config-schema.ts";
import {
  type BounceMailboxItem,
  type MailboxPosition,
  openPassword,
  toServer,
} from "./bounce-mailbox.ts";
import { explainFault } from "./configure-mailbox.ts";
import { readIn, secondsAfterFailures, secondsBetweenReads } from "./mailbox-reads.ts";
import { queueMail } from "./receive-inbound.ts";

const maxMessages = 500;
const messagesPerSave = 25;
/** Then no further message is begun. */
const readSeconds = 40;
/** Then the connection is closed, within the time of a job. */
const connectionSeconds = 70;
/** Mail that is in the folder when its reading begins. Stored mail is known for 60 days. */
const firstReadSeconds = 30 * 24 * 3600;
/** After so many tries, a message that the server does not return is left out. */
const maxTries = 3;

/**
 * Reads new messages for at most a minute, and saves when to go on. A mailbox whose sending config
 * or site was deleted is removed.
 */
export async function readMailbox(orgId: number, configId: number): Promise<void> {
  const mailbox = await get<BounceMailboxItem>(keys.bounceMailbox(orgId, configId));
  if (!mailbox) return;
  if (!(await hasOwners(mailbox))) return write(remove(keys.bounceMailbox(orgId, configId)));
  const password = await openPassword(mailbox);
  const { folder, moveTo, afterReading } = mailbox;
  const use = { folder, moveTo, changes: afterReading !== "keep", seconds: connectionSeconds };
  const run: Run = { mailbox, skipped: mailbox.skipped, hasMore: false };
  const fault = await useFolder(toServer(mailbox, password), use, (session) =>
    readMessages(session, run),
  );
  if (fault) return saveFailure(run, fault, explainFault(fault, password));
  await save(run, {
    set: {
      failures: 0,
      lastReadAt: now().toISOString(),
      ...readIn(configId, run.hasMore ? 0 : secondsBetweenReads),
    },
    remove: ["failingSince", "lastError"],
  });
}

async function hasOwners({ orgId, configId, siteId }: BounceMailboxItem): Promise<boolean> {
  const [config, site] = await Promise.all([
    records.find<SendingConfig>("CONFIG", { orgId }, configId).catch(undefinedIfMissing),
    sites.find({ orgId }, siteId).catch(undefinedIfMissing),
  ]);
  return config !== undefined && site !== undefined;
}

interface Run {
  mailbox: BounceMailboxItem;
  /** Undefined until the folder is open. */
  position?: MailboxPosition;
  skipped: number;
  /** The next round begins at once. */
  hasMore: boolean;
}

async function readMessages(session: ImapSession, run: Run): Promise<void> {
  const until = addSeconds(readSeconds);
  const position = startOf(run.mailbox, session.uidValidity);
  run.position = position;
  const since = position.uid === 0 ? addSeconds(-firstReadSeconds) : undefined;
  const uids = await session.listUids(position.uid, since);
  let read = 0;
  for (const uid of uids) {
    if (read >= maxMessages || now() >= until) break;
    await readMessage(session, run, uid);
    run.position = { uidValidity: session.uidValidity, uid };
    if (++read % messagesPerSave === 0 && !(await save(run))) return;
  }
  run.hasMore = read < uids.length;
}

/** Where to go on. If the server has new uids, all recent messages are read again. */
const startOf = ({ position }: BounceMailboxItem, uidValidity: string): MailboxPosition =>
  position?.uidValidity === uidValidity ? position : { uidValidity, uid: 0 };

async function readMessage(session: ImapSession, run: Run, uid: number): Promise<void> {
  const { orgId, siteId, configId, afterReading, moveTo } = run.mailbox;
  const { failed } = run.position!;
  if (failed?.uid === uid && failed.tries >= maxTries) {
    log.warn("mail of a bounce mailbox is left out", { orgId, configId, uid });
    run.skipped++;
    return;
  }
  run.position = {
    ...run.position!,
    failed: { uid, tries: failed?.uid === uid ? failed.tries : 0 },
  };
  const source = await session.readMessage(uid);
  if (!source) return;
  await queueMail({ orgId, siteId, provider: "imap", contentType: "message/rfc822" }, source);
  if (afterReading === "delete") await session.remove(uid);
  if (afterReading === "move") await session.move(uid, moveTo!);
}

async function saveFailure(run: Run, { step }: ImapFault, lastError: string): Promise<void> {
  const { orgId, configId, failures: before, failingSince } = run.mailbox;
  log.warn("bounce mailbox could not be read", { orgId, configId, step });
  const { failed } = run.position ?? {};
  if (failed && step === "message")
    run.position = { ...run.position!, failed: { ...failed, tries: failed.tries + 1 } };
  const failures = before + 1;
  await save(run, {
    set: {
      failures,
      lastError,
      failingSince: failingSince ?? now().toISOString(),
      ...readIn(configId, secondsAfterFailures(failures)),
    },
  });
}

/** False if the settings were changed or removed: another reading goes on with the new ones. */
const save = (
  { mailbox, position, skipped }: Run,
  { set = {}, remove: removed = [] }: { set?: object; remove?: string[] } = {},
): Promise<boolean> =>
  transact(
    update(
      keys.bounceMailbox(mailbox.orgId, mailbox.configId),
      { set: { ...(position && { position }), skipped, ...set }, remove: removed },
      { if: equals("revision", mailbox.revision) },
    ),
  );
