// A real SMTP server on this machine that keeps what it receives, and fails as a test asks.
import { generateKeyPairSync } from "node:crypto";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { createSelfSignedCert } from "../../infra/local/sandbox/sns-certificate.ts";

export type SmtpStage = "greeting" | "login" | "sender" | "recipient" | "content" | "confirmation";

/** `drop`: closes the connection. `silent`: never answers. Otherwise a reply, such as `451 Later`. */
export type SmtpFailure = "drop" | "silent" | `${number} ${string}`;

export interface ReceivedMail {
  sender: string;
  recipients: string[];
  dsn: unknown;
  secure: boolean;
  user: string | undefined;
  content: string;
}

export interface FailingSmtpServer {
  port: number;
  /** Complete mails, also those that were not confirmed. */
  received: ReceivedMail[];
  /** How often a stage fails before it works. A stage may fail for one address only. */
  failures: Partial<Record<SmtpStage, { failure: SmtpFailure; times: number; address?: string }>>;
  connections: number;
  /** Closes the connections that are open. */
  hangUp(): void;
  close(): Promise<void>;
}

export const smtpHost = "smtp.pennymail.test";
export const smtpLogin = { user: "ada", password: "the password ü" };

/** The key of the certificate of all servers. */
export const smtpCertificateKey = generateKeyPairSync("rsa", { modulusLength: 2048 })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();
/** The certificate of all servers. */
export const smtpCertificate = createSelfSignedCert(smtpCertificateKey, smtpHost);

export async function startFailingSmtpServer(
  options: SMTPServerOptions = {},
): Promise<FailingSmtpServer> {
  const failing: FailingSmtpServer = {
    port: 0,
    received: [],
    failures: {},
    connections: 0,
    hangUp: () => {
      for (const { _socket } of server.connections) _socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        failing.hangUp();
        server.close(() => resolve());
      }),
  };
  const drop = (sessionId: string) =>
    [...server.connections].find(({ session }) => session.id === sessionId)?._socket.destroy();
  const fail = (
    stage: SmtpStage,
    sessionId: string,
    address = "",
  ): Error | "silent" | undefined => {
    const planned = failing.failures[stage];
    if (!planned?.times || (planned.address && planned.address !== address)) return undefined;
    planned.times--;
    if (planned.failure === "drop" && stage !== "content") drop(sessionId);
    if (planned.failure === "drop" || planned.failure === "silent") return "silent";
    const [, code, text] = /^(\d+) (.*)$/.exec(planned.failure)!;
    return Object.assign(new Error(text), { responseCode: Number(code) });
  };
  const answer = (
    failure: Error | "silent" | undefined,
    done: (error?: Error | null) => void,
  ): void => {
    if (failure !== "silent") done(failure);
  };
  const server = new SMTPServer({
    key: smtpCertificateKey,
    cert: smtpCertificate,
    disableReverseLookup: true,
    authOptional: true,
    hideDSN: false,
    logger: false,
    onConnect: ({ id }, done) => {
      failing.connections++;
      answer(fail("greeting", id), done);
    },
    onAuth: ({ username, password }, { id }, done) => {
      const failure = fail("login", id);
      if (failure === "silent") return;
      if (failure) return done(failure);
      const isKnown = username === smtpLogin.user && password === smtpLogin.password;
      if (isKnown) done(null, { user: username });
      else done(Object.assign(new Error("5.7.8 Wrong password"), { responseCode: 535 }));
    },
    onMailFrom: ({ address }, { id }, done) => answer(fail("sender", id, address), done),
    onRcptTo: ({ address }, { id }, done) => answer(fail("recipient", id, address), done),
    onData: async (stream, { id, envelope, secure, user }, done) => {
      const early = fail("content", id);
      if (early === "silent") return void stream.once("data", () => drop(id)).on("error", () => {});
      const content = await buffer(stream).catch(() => undefined);
      if (!content) return;
      if (early) return done(early);
      failing.received.push({
        sender: envelope.mailFrom ? envelope.mailFrom.address : "",
        recipients: envelope.rcptTo.map(({ address }) => address),
        dsn: envelope.dsn,
        secure,
        user: user as string | undefined,
        content: content.toString(),
      });
      answer(fail("confirmation", id), done);
    },
    ...options,
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  failing.port = (server.server.address() as AddressInfo).port;
  return failing;
}
