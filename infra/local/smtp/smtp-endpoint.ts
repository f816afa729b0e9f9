// The SMTP server for programs that send by SMTP: user names are free, and the password is an API
// key. It accepts nothing without a login, and so is no open relay.
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerSession } from "smtp-server";
import { authenticate } from "../../../shared/http/authenticate.ts";
import { EmailAddress } from "../../../shared/kernel/email-fields.ts";
import { isLoopbackIp, networkOf } from "../../../shared/kernel/ip-addresses.ts";
import { CliError } from "../cli-error.ts";
import type { ServiceSettings } from "../production.ts";
import { acceptMessage, maxRecipients, type SmtpAnswer } from "./accept-message.ts";
import { readMessageId } from "./message-identity.ts";

interface SmtpEndpoint {
  /** `host:port` */
  address: string;
  /** Waits for messages in progress, up to `seconds`. */
  stop(seconds: number): Promise<void>;
}

interface SmtpSettings {
  host: string;
  port: number;
  certificate: { cert: Buffer; key: Buffer } | undefined;
}

const maxMessageBytes = 25 * 1024 * 1024;
/** What all connections together may hold in memory. */
const maxBufferedBytes = 100 * 1024 * 1024;
const maxConnections = 100;
const maxConnectionsPerNetwork = 20;
const maxFailuresPerMinute = 10;
const socketSeconds = 60;

/** Undefined without SMTP_PORT. Throws CliError for settings that cannot work. */
export function readSmtpSettings(settings: ServiceSettings): SmtpSettings | undefined {
  const { SMTP_PORT, SMTP_HOST: host = "127.0.0.1", SMTP_TLS_CERT, SMTP_TLS_KEY } = settings;
  if (!SMTP_PORT) return undefined;
  const port = Number(SMTP_PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new CliError(`SMTP_PORT must be a number from 0 to 65535, not ${SMTP_PORT}`);
  if (Boolean(SMTP_TLS_CERT) !== Boolean(SMTP_TLS_KEY))
    throw new CliError("SMTP_TLS_CERT and SMTP_TLS_KEY must be set together");
  if (!SMTP_TLS_CERT && host !== "localhost" && !isLoopbackIp(host))
    throw new CliError(
      `With SMTP_HOST=${host}, API keys would cross the network unencrypted: set SMTP_TLS_CERT ` +
        "and SMTP_TLS_KEY to the files of a certificate",
    );
  const certificate = SMTP_TLS_CERT
    ? { cert: readPem("SMTP_TLS_CERT", SMTP_TLS_CERT), key: readPem("SMTP_TLS_KEY", SMTP_TLS_KEY!) }
    : undefined;
  return { host, port, certificate };
}

function readPem(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new CliError(`${name} cannot be read: ${(error as Error).message}`);
  }
}

const refusal = (responseCode: number, text: string) =>
  Object.assign(new Error(text), { responseCode });

/** One line of ASCII, as a reply must be. */
const toReply = ({ enhanced, text }: SmtpAnswer): string =>
  `${enhanced} ${text.replace(/[^ -~]+/g, " ").slice(0, 400)}`;

export async function startSmtpEndpoint(
  { host, port, certificate }: SmtpSettings,
  reportError: (error: unknown) => void,
): Promise<SmtpEndpoint> {
  const limits = createLimits();
  const inProgress = new Set<Promise<unknown>>();
  let bufferedBytes = 0;

  const server = new SMTPServer({
    banner: "Pennymail",
    authMethods: ["PLAIN", "LOGIN"],
    // Only on this machine: see readSmtpSettings.
    ...(certificate ?? { disabledCommands: ["STARTTLS"], allowInsecureAuth: true }),
    disableReverseLookup: true,
    hideDSN: true,
    size: maxMessageBytes,
    maxClients: maxConnections,
    maxRecipients,
    maxAllowedUnauthenticatedCommands: 10,
    socketTimeout: socketSeconds * 1000,
    logger: false,
    onConnect(session, done) {
      done(limits.connect(session) ? null : refusal(421, "4.7.0 Too many connections"));
    },
    onClose: limits.close,
    onAuth({ password }, session, done) {
      if (limits.isBlocked(session))
        return done(refusal(454, "4.7.0 Too many wrong API keys: try again in a minute"));
      const credentials = { headers: { authorization: `Bearer ${password ?? ""}` }, cookies: {} };
      authenticate(credentials, "POST").then(
        () => done(null, { user: password }),
        (error: unknown) => {
          const isWrong = (error as { kind?: string }).kind === "unauthenticated";
          if (isWrong) limits.countFailure(session);
          else reportError(error);
          done(
            isWrong
              ? refusal(535, "5.7.8 The password must be a valid API key")
              : refusal(454, "4.7.0 The API key cannot be checked now"),
          );
        },
      );
    },
    onRcptTo({ address }, _, done) {
      const { success } = EmailAddress.safeParse(address);
      done(success ? null : refusal(553, "5.1.3 The recipient is not a valid email address"));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      let size = 0;
      let isTooMuch = false;
      const release = () => {
        bufferedBytes -= size;
        size = 0;
        chunks.length = 0;
      };
      stream.on("data", (chunk: Buffer) => {
        if (isTooMuch || stream.sizeExceeded) return;
        size += chunk.length;
        bufferedBytes += chunk.length;
        chunks.push(chunk);
        isTooMuch = bufferedBytes > maxBufferedBytes;
        if (isTooMuch) release();
      });
      // The client hung up.
      stream.on("close", () => {
        if (!stream.readableEnded) release();
      });
      stream.on("end", () => {
        if (stream.sizeExceeded) {
          release();
          const limit = maxMessageBytes / 1024 / 1024;
          return done(refusal(552, `5.3.4 The message is larger than ${limit} MB`));
        }
        if (isTooMuch) return done(refusal(451, "4.3.1 Too many messages at once: try again"));
        const work = accept(Buffer.concat(chunks), session).then(
          (answer) =>
            answer.code === 250
              ? done(null, toReply(answer))
              : done(refusal(answer.code, toReply(answer))),
          (error: unknown) => {
            reportError(error);
            done(refusal(451, "4.3.0 The message cannot be stored now"));
          },
        );
        inProgress.add(work);
        void work.finally(() => {
          inProgress.delete(work);
          release();
        });
      });
    },
  });
  // Clients may hang up at any time.
  server.on("error", () => {});
  await listen(server, host, port);
  return {
    address: `${host}:${(server.server.address() as AddressInfo).port}`,
    stop: async (seconds) => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const timer = new Promise((resolve) => setTimeout(resolve, seconds * 1000).unref());
      await Promise.race([Promise.all(inProgress), timer]);
      for (const { _socket } of server.connections) _socket.destroy();
      await closed;
    },
  };
}

async function accept(bytes: Buffer, session: SMTPServerSession): Promise<SmtpAnswer> {
  return acceptMessage({
    bytes,
    recipients: [...new Set(session.envelope.rcptTo.map(({ address }) => address))],
    messageId: readMessageId(bytes),
    apiKey: String(session.user),
    address: session.remoteAddress,
  });
}

const listen = (server: SMTPServer, host: string, port: number) =>
  new Promise<void>((resolve, reject) => {
    server.server.once("error", (error) =>
      reject(new CliError(`SMTP_PORT ${port} on ${host} cannot be used: ${error.message}`)),
    );
    server.listen(port, host, resolve);
  });

/** Connections, and wrong keys in this minute, by network. */
function createLimits() {
  const connections = new Map<string, number>();
  const failures = new Map<string, number>();
  let failuresSince = 0;
  const recentFailures = () => {
    const minute = Math.floor(performance.now() / 60_000);
    if (minute !== failuresSince) failures.clear();
    failuresSince = minute;
    return failures;
  };
  const networkIn = ({ remoteAddress }: SMTPServerSession) => networkOf(remoteAddress);
  const counted = new WeakSet<SMTPServerSession>();
  return {
    connect(session: SMTPServerSession): boolean {
      const network = networkIn(session);
      const open = connections.get(network) ?? 0;
      if (open >= maxConnectionsPerNetwork) return false;
      counted.add(session);
      connections.set(network, open + 1);
      return true;
    },
    close(session: SMTPServerSession): void {
      if (!counted.delete(session)) return;
      const network = networkIn(session);
      const left = (connections.get(network) ?? 1) - 1;
      if (left > 0) connections.set(network, left);
      else connections.delete(network);
    },
    isBlocked: (session: SMTPServerSession): boolean =>
      (recentFailures().get(networkIn(session)) ?? 0) >= maxFailuresPerMinute,
    countFailure(session: SMTPServerSession): void {
      const network = networkIn(session);
      recentFailures().set(network, (recentFailures().get(network) ?? 0) + 1);
    },
  };
}
