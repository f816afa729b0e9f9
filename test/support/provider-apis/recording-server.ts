// An HTTP server in place of a provider: it records requests and responds as the test sets it.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface RecordedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  /** The port of the client, which is the same for all requests over one connection. */
  port: number | undefined;
}

export interface CannedReply {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** `reset` cuts the connection after the whole request was received. */
export type ServerBehaviour = CannedReply | "reset";

export interface RecordingServer {
  origin: string;
  requests: RecordedRequest[];
  /** Sets the response to all later requests. */
  setReply(behaviour: ServerBehaviour): void;
  close(): Promise<void>;
}

export async function startRecordingServer(): Promise<RecordingServer> {
  const requests: RecordedRequest[] = [];
  let behaviour: ServerBehaviour = { status: 500 };
  const server = createServer(async (incoming, response) => {
    const body = await buffer(incoming);
    const { method = "", url: path = "", socket } = incoming;
    requests.push({
      method,
      path,
      headers: incoming.headers as Record<string, string>,
      body,
      port: socket.remotePort,
    });
    if (behaviour === "reset") return incoming.socket.destroy();
    response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    setReply: (reply) => {
      behaviour = reply;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
