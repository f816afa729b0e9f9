// A real HTTP server on 127.0.0.1 in a provider's place: it keeps what it was asked and answers
// what it was told to.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface RecordedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  /** The caller's: the same for every request over one connection. */
  port: number | undefined;
}

export interface CannedReply {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** `reset`: the connection is cut once the whole request has come in. */
export type ServerBehaviour = CannedReply | "reset";

export interface RecordingServer {
  origin: string;
  requests: RecordedRequest[];
  /** The answer to every request from now on. */
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
