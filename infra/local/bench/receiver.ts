// A server of somebody else's: it notes who calls, and answers as it is told.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface Received {
  /** On the clock of `performance.now()`. */
  at: number;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  status: number;
}

export interface Receiver {
  url: string;
  calls: Received[];
  close(): Promise<void>;
}

/** `answer` gives the status. */
export async function openReceiver(answer: (call: Omit<Received, "status">) => number = () => 200): Promise<Receiver> {
  const calls: Received[] = [];
  const server = createServer(async (request, response) => {
    const call = { at: performance.now(), path: request.url!, headers: request.headers, body: await buffer(request) };
    const status = answer(call);
    calls.push({ ...call, status });
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls, close };
}
