// Hands mails over to an SMTP server (RFC 5321), over connections that stay open. A deployed
// function loads this module with its first mail, because it contains nodemailer.
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import type { NodemailerError } from "nodemailer";
import SMTPConnection, {
  type SMTPConnectionEnvelope,
  type SMTPEnvelope,
} from "nodemailer/lib/smtp-connection";
import { addSeconds, now } from "../../clock.ts";
import { createLimiter } from "../../kernel/parallel.ts";
import { composeMime, type MimeMail } from "./mime.ts";
import { NotPublicHost, openSocket } from "./open-socket.ts";

export interface SmtpServer {
  host: string;
  port: number;
  /** `starttls` requires it: without TLS, nothing is sent. */
  tls: "none" | "starttls" | "tls";
  user?: string | undefined;
  password?: string | undefined;
  /** The most connections of this process. */
  connections: number;
  mailsPerConnection: number;
  /** The name in EHLO. */
  clientName: string;
  /** The operator set the address, so it need not be public. */
  isOwn: boolean;
}

export interface SmtpMail extends MimeMail {
  /** Address that bounces go to. */
  sender: string;
  /** Further recipients, whom the mail does not name. The first address in `to` decides. */
  bcc: string[];
}

/** The last step that began. In `wait` and `connect`, nothing of the mail was sent. */
type SmtpStep = "wait" | "host" | "connect" | "login" | "sender" | "recipient" | "data" | "message";

/**
 * The last reply of the server. `code` is absent if the connection was lost: after `message`, the
 * server may have the mail; before it, it does not.
 */
export interface SmtpReply {
  step: SmtpStep;
  code?: number | undefined;
  text: string;
  /** The Message-ID that the server gives the mail in place of ours, without angle brackets. */
  newMessageId?: string | undefined;
}

// The whole call takes at most as long as a request to the API of a provider.
const startWithinSeconds = 10;
const endWithinSeconds = 25;

/**
 * Hands over the mails, each with its own outcome. After the server could not be reached, no
 * further mail is tried. A mail that would begin after `notAfter` is not sent.
 */
export async function sendMails(
  server: SmtpServer,
  mails: SmtpMail[],
  notAfter?: Date,
): Promise<SmtpReply[]> {
  const pool = poolOf(server);
  const startBefore = addSeconds(startWithinSeconds);
  const times = {
    startBefore: notAfter && notAfter < startBefore ? notAfter : startBefore,
    endBefore: addSeconds(endWithinSeconds),
  };
  let unreachable: SmtpReply | undefined;
  return Promise.all(
    mails.map((mail) =>
      pool.limiter.run(async () => {
        if (unreachable) return unreachable;
        const reply = await sendMail(pool, mail, times);
        if (noSessionSteps.has(reply.step)) unreachable = reply;
        return reply;
      }),
    ),
  );
}

/** Connects and logs in, and sends nothing. Undefined if the server accepted that. */
export async function checkLogin(server: SmtpServer): Promise<SmtpReply | undefined> {
  const session = await open(server, { startBefore: addSeconds(startWithinSeconds) });
  if ("step" in session) return session;
  close(session);
  return undefined;
}

const noSessionSteps = new Set<SmtpStep>(["host", "connect", "login"]);

interface Times {
  startBefore: Date;
  endBefore: Date;
}

interface Session {
  connection: SMTPConnection;
  socket: Socket;
  mails: number;
  idleSince: Date;
}

interface Pool {
  server: SmtpServer;
  idle: Session[];
  /** Sessions that have a mail, or are opened for one. */
  busy: number;
  /** Until then, no connection is opened while others are busy: the server refused one more. */
  fullUntil?: Date;
  /** Wakes mails that wait for a busy session, one each. */
  waiting: Set<() => void>;
  limiter: ReturnType<typeof createLimiter>;
}

// Each pool is of one server with its credentials.
const pools = new Map<string, Pool>();
const maxPools = 1000;

function poolOf(server: SmtpServer): Pool {
  const key = JSON.stringify(server);
  const pool = pools.get(key) ?? createPool(server);
  pools.delete(key);
  pools.set(key, pool);
  const [[oldestKey, oldest] = []] = pools;
  if (pools.size > maxPools && oldest?.limiter.isIdle()) {
    for (const session of oldest.idle.splice(0)) close(session);
    pools.delete(oldestKey!);
  }
  return pool;
}

const createPool = (server: SmtpServer): Pool => ({
  server,
  idle: [],
  busy: 0,
  waiting: new Set(),
  limiter: createLimiter(server.connections),
});

async function sendMail(pool: Pool, mail: SmtpMail, times: Times): Promise<SmtpReply> {
  let message: Buffer | undefined;
  for (;;) {
    if (now() >= times.startBefore) return tooLate;
    message ??= composeMime(mail);
    const known = takeIdle(pool);
    if (!known && pool.busy && pool.fullUntil && now() < pool.fullUntil) {
      await waitForSession(pool, times);
      continue;
    }
    pool.busy++;
    const reply = await tryMail(pool, known, { mail, message, times }).finally(() => {
      pool.busy--;
      const [wake] = pool.waiting;
      wake?.();
    });
    // The server had closed the idle connection.
    const isStale = known && reply.step !== "message" && isLost(reply);
    if (isStale) continue;
    if (!isRefusedConnection(reply) || !(pool.busy || pool.idle.length)) return reply;
    pool.fullUntil = addSeconds(fullSeconds);
  }
}

interface Attempt {
  mail: SmtpMail;
  message: Buffer;
  times: Times;
}

async function tryMail(
  pool: Pool,
  known: Session | undefined,
  { mail, message, times }: Attempt,
): Promise<SmtpReply> {
  const session = known ?? (await open(pool.server, times));
  if ("step" in session) return session;
  const reply = await transact(session, mail, { message, times });
  if (canReuse(session, reply)) await release(pool, session, reply);
  else await close(session);
  return reply;
}

const fullSeconds = 60;

/** The server answered, and has too many connections. */
const isRefusedConnection = ({ step, code = 0 }: SmtpReply): boolean =>
  step === "connect" && code >= 400 && code < 500;

/** Until a session is no longer busy, or it is too late for the mail. */
async function waitForSession(pool: Pool, { startBefore }: Times): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = () => {
    pool.waiting.delete(wake);
    resolve();
  };
  pool.waiting.add(wake);
  const timer = setTimeout(wake, Math.max(1, startBefore.getTime() - now().getTime()));
  await promise;
  clearTimeout(timer);
}

const tooLate: SmtpReply = { step: "wait", text: "The mail waited too long for a connection" };

const isLost = ({ code }: SmtpReply): boolean => code === undefined || code === 421;

// Servers close idle connections after minutes. By the clock, because a frozen process notices
// neither the time nor that a server hung up.
const maxIdleSeconds = 10;

function takeIdle({ idle }: Pool): Session | undefined {
  for (let session = idle.pop(); session; session = idle.pop()) {
    if (!session.connection.destroyed && session.idleSince > addSeconds(-maxIdleSeconds))
      return ref(session);
    close(session);
  }
  return undefined;
}

function ref(session: Session): Session {
  session.socket.ref();
  return session;
}

const canReuse = ({ connection }: Session, reply: SmtpReply): boolean =>
  !isLost(reply) && !connection.destroyed;

async function release(pool: Pool, session: Session, { step }: SmtpReply): Promise<void> {
  session.mails++;
  // A refused sender or recipient leaves the transaction open.
  const isClean = step === "message" || (await reset(session));
  if (!isClean || session.mails >= pool.server.mailsPerConnection) return close(session);
  session.idleSince = now();
  session.socket.unref();
  pool.idle.push(session);
  setTimeout(() => {
    for (const old of pool.idle.filter((one) => one.idleSince <= addSeconds(-maxIdleSeconds))) {
      pool.idle.splice(pool.idle.indexOf(old), 1);
      close(old);
    }
  }, maxIdleSeconds * 1000).unref();
}

const resetMs = 5000;

function reset({ connection, socket }: Session): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), resetMs);
  const onClose = () => resolve(false);
  socket.once("close", onClose);
  connection.reset((error) => resolve(!error));
  return promise.finally(() => {
    clearTimeout(timer);
    socket.off("close", onClose);
  });
}

const goodbyeMs = 1000;

/**
 * Says goodbye. Resolves when the connection is closed: a server with a limit counts it until then.
 */
async function close({ connection, socket }: Session): Promise<void> {
  if (socket.closed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once("close", () => resolve());
  const timer = setTimeout(() => socket.destroy(), goodbyeMs);
  if (!connection.destroyed) connection.quit();
  await promise;
  clearTimeout(timer);
}

async function open(
  server: SmtpServer,
  { startBefore }: Pick<Times, "startBefore">,
): Promise<Session | SmtpReply> {
  const { host, port, tls, isOwn } = server;
  const timeoutMs = Math.max(1, startBefore.getTime() - now().getTime());
  const startedAt = performance.now();
  let socket: Socket;
  try {
    socket = await openSocket({ host, port }, { timeoutMs, isOwn });
  } catch (error) {
    const step = error instanceof NotPublicHost ? "host" : "connect";
    return { step, text: textOf(error) };
  }
  const leftMs = Math.max(1, timeoutMs - (performance.now() - startedAt));
  const connection = new SMTPConnection({
    connection: socket,
    host,
    port,
    secure: tls === "tls",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
    name: server.clientName,
    connectionTimeout: leftMs,
    greetingTimeout: leftMs,
    socketTimeout: endWithinSeconds * 1000,
    maxResponseSize: 64_000,
  });
  const fault = (await connect(connection)) ?? (await logIn(connection, server, leftMs));
  if (!fault) return { connection, socket, mails: 0, idleSince: now() };
  connection.close();
  socket.destroy();
  return fault;
}

const toReply = (step: SmtpStep, error: NodemailerError): SmtpReply => ({
  step,
  code: error.responseCode,
  text: textOf(error),
});

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Undefined after the greeting, EHLO and STARTTLS. */
function connect(connection: SMTPConnection): Promise<SmtpReply | undefined> {
  const { promise, resolve } = Promise.withResolvers<SmtpReply | undefined>();
  // Later errors reach the callback of the step that they interrupt.
  connection.on("error", (error: NodemailerError) => resolve(toReply("connect", error)));
  connection.on("end", () =>
    resolve({ step: "connect", text: "The server closed the connection" }),
  );
  connection.connect((error) => resolve(error ? toReply("connect", error) : undefined));
  return promise;
}

function logIn(
  connection: SMTPConnection,
  { user, password }: SmtpServer,
  timeoutMs: number,
): Promise<SmtpReply | undefined> {
  const { promise, resolve } = Promise.withResolvers<SmtpReply | undefined>();
  if (user === undefined || password === undefined) return Promise.resolve(undefined);
  if (!connection.allowsAuth)
    return Promise.resolve({ step: "login", code: 503, text: "The server offers no login" });
  const timer = setTimeout(
    () => resolve({ step: "connect", text: "The server did not respond to the login in time" }),
    timeoutMs,
  );
  connection.on("error", (error: NodemailerError) => resolve(toReply("connect", error)));
  connection.on("end", () => resolve({ step: "connect", text: "The connection was lost" }));
  connection.login({ user, pass: password }, (error) =>
    resolve(error ? toReply("login", error) : undefined),
  );
  return promise.finally(() => clearTimeout(timer));
}

interface Transaction {
  message: Buffer;
  times: Times;
}

const stepOfCommand: Record<string, SmtpStep> = {
  "MAIL FROM": "sender",
  "RCPT TO": "recipient",
  DATA: "data",
};

/**
 * Sends one mail. The content goes out only when the server accepted the recipient: then a refused
 * copy does not matter, and without the recipient no copy is sent.
 */
function transact(
  { connection, socket }: Session,
  mail: SmtpMail,
  { message, times }: Transaction,
): Promise<SmtpReply> {
  const { promise, resolve } = Promise.withResolvers<SmtpReply>();
  const [recipient, ...others] = [...mail.to, ...mail.cc].map(({ email }) => email);
  const envelope: SMTPEnvelope & Partial<Pick<SMTPConnectionEnvelope, "rejectedErrors">> = {
    from: mail.sender,
    to: [recipient!, ...others, ...mail.bcc],
    size: message.length,
    dsn: { id: mail.messageId, ret: "HDRS", notify: ["FAILURE", "DELAY"] },
  };
  let isContentSent = false;
  const content = new Readable({
    read() {
      // The connection adds the refusals to its envelope.
      const refusal = envelope.rejectedErrors?.find((error) => error.recipient === recipient);
      if (refusal) {
        resolve(toReply("recipient", refusal));
        connection.close();
        socket.destroy();
        return;
      }
      isContentSent = true;
      this.push(message);
      this.push(null);
    },
  });
  const stop = () => {
    const step = isContentSent ? "message" : "sender";
    resolve({ step, text: "The server did not respond in time" });
    connection.close();
    socket.destroy();
  };
  const timer = setTimeout(stop, Math.max(1, times.endBefore.getTime() - now().getTime()));
  connection.send(envelope, content, (error, info) => {
    const newMessageId = info?.serverMessageId?.replace(/[<>]/g, "");
    if (!error)
      return resolve({ step: "message", code: 250, text: info?.response ?? "", newMessageId });
    resolve(toTransactionReply(error, isContentSent));
  });
  return promise.finally(() => clearTimeout(timer));
}

function toTransactionReply(error: NodemailerError, isContentSent: boolean): SmtpReply {
  const { code, command = "", responseCode } = error;
  const text = textOf(error);
  const isRefusal = code === "EENVELOPE" || code === "EMESSAGE";
  // A reply that was cut off says nothing about the content.
  if (isContentSent)
    return { step: "message", code: (isRefusal && responseCode) || undefined, text };
  const step = stepOfCommand[command] ?? "sender";
  // Larger than the server announced, or an address that no server accepts.
  const codeOfClient = isRefusal ? permanentCode : undefined;
  return { step, code: responseCode || codeOfClient, text };
}

const permanentCode = 554;
