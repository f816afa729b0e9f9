// An SMTP server that accepts every mail and counts the mails of each recipient. It keeps no mail.
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { type CountingProvider, createMailCounter } from "./counting-provider.ts";

/**
 * Confirms each mail and says goodbye after `latencyMs`. A mail counts before it is confirmed. The
 * addresses are those of `startCountingProvider`.
 */
export async function startCountingSmtpServer(
  recipients: number,
  latencyMs: number,
): Promise<CountingProvider> {
  const counter = createMailCounter(recipients);
  const sockets = new Set<Socket>();
  let mostConnections = 0;
  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay());
    mostConnections = Math.max(mostConnections, sockets.size);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
    const wait = async () => {
      if (latencyMs) await pause(latencyMs);
    };
    serve(socket, {
      async accept(addresses) {
        await wait();
        for (const email of addresses) counter.count(email);
      },
      leave: wait,
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted: counter.accepted,
    mostCallsInFlight: () => mostConnections,
    takeCounts: counter.takeCounts,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

const replies: Record<string, string> = {
  EHLO: "250-sink\r\n250-PIPELINING\r\n250 SIZE 50000000",
  HELO: "250 sink",
  DATA: "354 Go ahead",
  QUIT: "221 Bye",
};
const endOfContent = "\r\n.\r\n";

interface SmtpSession {
  accept(recipients: string[]): Promise<void>;
  /** Resolves when the server may answer QUIT. */
  leave(): Promise<void>;
}

function serve(socket: Socket, session: SmtpSession): void {
  let [received, isContent, addresses]: [string, boolean, string[]] = ["", false, []];
  const takeUntil = (mark: string): string | undefined => {
    const end = received.indexOf(mark);
    if (end < 0) return undefined;
    const taken = received.slice(0, end);
    received = received.slice(end + mark.length);
    return taken;
  };
  const readNext = async (): Promise<boolean> => {
    const text = takeUntil(isContent ? endOfContent : "\r\n");
    if (text === undefined) return false;
    if (isContent) {
      isContent = false;
      await session.accept(addresses.splice(0));
      socket.write("250 Accepted\r\n");
      return true;
    }
    const command = text.slice(0, 4).toUpperCase();
    if (command === "MAIL" || command === "RSET") addresses = [];
    if (command === "RCPT") addresses.push(/<([^>]+)>/.exec(text)?.[1] ?? "");
    isContent = command === "DATA";
    if (command === "QUIT") await session.leave();
    socket.write(`${replies[command] ?? "250 Ok"}\r\n`);
    if (command === "QUIT") socket.end();
    return true;
  };
  let reading = Promise.resolve();
  socket.on("data", (bytes) => {
    reading = reading.then(async () => {
      received += bytes.toString("latin1");
      while (await readNext());
    });
  });
  socket.write("220 sink ESMTP\r\n");
}
