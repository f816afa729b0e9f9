// Reads one folder of a mailbox by IMAP (RFC 3501, RFC 9051). A deployed function loads this module
// with its first mailbox, because it contains imapflow.
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { ImapFlow, type ImapFlowError, type ImapTransport } from "imapflow";
import { NotPublicHost, openSocket } from "../smtp/open-socket.ts";

export interface ImapServer {
  host: string;
  port: number;
  /** `starttls` requires it: without TLS, no password is sent. */
  tls: "none" | "starttls" | "tls";
  user: string;
  password: string;
  /** The operator set the address, so it need not be public. */
  isOwn: boolean;
}

/** The step that failed. `message`: the server is well, and one message cannot be read. */
export type ImapStep = "host" | "connect" | "login" | "folder" | "target" | "read" | "message";

export interface ImapFault {
  step: ImapStep;
  /** What the server or the network says. */
  text: string;
}

export interface ImapSession {
  /** Uids are valid as long as the server keeps this number. */
  uidValidity: string;
  /** Ascending uids above `after`. `since`: only of messages that arrived on this day or later. */
  listUids(after: number, since?: Date): Promise<number[]>;
  /** At most `maxMessageBytes` from its start. Undefined if the message was deleted. */
  readMessage(uid: number): Promise<Buffer | undefined>;
  remove(uid: number): Promise<void>;
  move(uid: number, folder: string): Promise<void>;
}

interface FolderUse {
  folder: string;
  /** The folder that messages are moved to must exist. */
  moveTo?: string | undefined;
  /** Whether messages are deleted or moved. */
  changes: boolean;
  /** The connection is closed after so many seconds. */
  seconds: number;
}

/** A report of a mail server has some kilobytes. Of a larger message, only the start is read. */
const maxMessageBytes = 20_000_000;

const connectSeconds = 10;
const silenceSeconds = 20;

/**
 * Logs in, opens the folder and runs `use`. Returns the fault of the server, or undefined. Throws
 * what `use` throws for other reasons.
 */
export async function useFolder(
  server: ImapServer,
  { folder, moveTo, changes, seconds }: FolderUse,
  use: (session: ImapSession) => Promise<void>,
): Promise<ImapFault | undefined> {
  let client: ImapFlow | undefined;
  const timer = setTimeout(() => client?.close(), seconds * 1000);
  try {
    const socket = await openConnection(server);
    client = createClient(server, socket);
    await attempt("connect", () => client!.connect());
    const opened = await attempt("folder", () =>
      client!.mailboxOpen(folder, { readOnly: !changes }),
    );
    if (changes && opened.readOnly) throw new StepFailed("folder", "The folder is read-only");
    if (moveTo !== undefined) await requireFolder(client, moveTo);
    await use(toSession(client, String(opened.uidValidity)));
    await client.logout().catch(() => {});
    return undefined;
  } catch (error) {
    if (error instanceof StepFailed) return { step: error.step, text: error.message };
    throw error;
  } finally {
    clearTimeout(timer);
    client?.close();
  }
}

class StepFailed extends Error {
  readonly step: ImapStep;
  constructor(step: ImapStep, text: string) {
    super(text);
    this.step = step;
  }
}

/** Turns an error of the connection into a failure of this step. */
async function attempt<T>(step: ImapStep, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const { authenticationFailed } = error as ImapFlowError;
    throw new StepFailed(authenticationFailed ? "login" : step, textOf(error as ImapFlowError));
  }
}

const textOf = ({ responseText, reason, message }: ImapFlowError): string =>
  responseText || reason || message;

async function openConnection({ host, port, isOwn }: ImapServer): Promise<Socket> {
  try {
    const socket = await openSocket({ host, port }, { timeoutMs: connectSeconds * 1000, isOwn });
    return socket.setNoDelay();
  } catch (error) {
    const step = error instanceof NotPublicHost ? "host" : "connect";
    throw new StepFailed(step, (error as Error).message);
  }
}

function createClient({ host, port, tls, user, password }: ImapServer, socket: Socket): ImapFlow {
  const client = new ImapFlow({
    host,
    port,
    secure: tls === "tls",
    doSTARTTLS: tls === "starttls",
    auth: { user, pass: password },
    transport: transportOver(socket),
    logger: false,
    clientInfo: { name: "Pennymail" },
    disableAutoIdle: true,
    disableCompression: true,
    connectionTimeout: connectSeconds * 1000,
    greetingTimeout: connectSeconds * 1000,
    socketTimeout: silenceSeconds * 1000,
    maxLineLength: 16_000_000,
    maxLiteralSize: maxMessageBytes,
    maxResponseSize: maxMessageBytes + 1_000_000,
    maxResponseTokens: 100_000,
  });
  // The command that is interrupted rejects, too.
  client.on("error", () => {});
  return client;
}

/** The connection is open: its address was checked before. */
const transportOver = (socket: Socket): ImapTransport => ({
  connect({ secure, host, servername }, onConnect) {
    if (secure) return connectTls({ socket, host, ...(servername && { servername }) }, onConnect);
    process.nextTick(onConnect);
    return socket;
  },
  upgrade: (plain, { host, servername }, onSecure) =>
    connectTls({ socket: plain as Socket, host, ...(servername && { servername }) }, onSecure),
});

async function requireFolder(client: ImapFlow, folder: string): Promise<void> {
  const status = await attempt("target", () => client.status(folder, { uidNext: true }));
  if (!status) throw new StepFailed("target", "The folder does not exist");
}

const toSession = (client: ImapFlow, uidValidity: string): ImapSession => ({
  uidValidity,
  async listUids(after, since) {
    const found = await attempt("read", () =>
      client.search({ uid: `${after + 1}:*`, ...(since && { since }) }, { uid: true }),
    );
    if (!found) throw new StepFailed("read", "The server refused the search for new messages");
    // "9:*" also finds the last message if its uid is below 9 (RFC 3501, section 9).
    return found.filter((uid) => uid > after).toSorted((a, b) => a - b);
  },
  async readMessage(uid) {
    const query = { uid: true, source: { start: 0, maxLength: maxMessageBytes } };
    const message = await client.fetchOne(String(uid), query, { uid: true }).catch(failReading);
    if (!message) return undefined;
    if (!message.source) throw new StepFailed("message", "The server left out its text");
    return message.source;
  },
  async remove(uid) {
    const done = await attempt("read", () => client.messageDelete(String(uid), { uid: true }));
    if (!done) throw new StepFailed("read", "The server did not delete the message");
  },
  async move(uid, folder) {
    const done = await attempt("read", () =>
      client.messageMove(String(uid), folder, { uid: true }),
    );
    if (!done) throw new StepFailed("target", "The server did not move the message");
  },
});

function failReading(error: ImapFlowError): never {
  throw new StepFailed(isOfMessage(error) ? "message" : "read", textOf(error));
}

const unreadableCodes = ["LiteralTooLarge", "LineTooLarge", "ResponseTooLarge", "TooManyTokens"];

/** The server refuses the message, or sends more than was asked for. */
const isOfMessage = ({ code = "", responseStatus = "" }: ImapFlowError): boolean =>
  (["NO", "BAD"].includes(responseStatus) && code !== "ETHROTTLE") ||
  unreadableCodes.includes(code) ||
  code.startsWith("ParserError");
