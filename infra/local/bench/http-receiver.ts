// An HTTP server that stands in for a customer's endpoint. It records each call.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface ReceivedCall {
  /** In milliseconds of `performance.now()`. */
  at: number;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  status: number;
}

export interface BenchReceiver {
  url: string;
  calls: ReceivedCall[];
  close(): Promise<void>;
}

/** `statusFor` returns the status of the response. */
export async function startReceiver(
  statusFor: (call: Omit<ReceivedCall, "status">) => number = () => 200,
): Promise<BenchReceiver> {
  const calls: ReceivedCall[] = [];
  const server = createServer(async (request, response) => {
    const call = {
      at: performance.now(),
      path: request.url!,
      headers: request.headers,
      body: await buffer(request),
    };
    const status = statusFor(call);
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
