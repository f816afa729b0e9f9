// A proxy that loses requests and responses at random: the connection breaks before the service gets
// the request, after it answered, or in the middle of its response.
import { createServer, request as forward, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface LossyProxy {
  url: string;
  lost: { requests: number; responses: number };
  close(): void;
}

/** `chance` returns numbers from 0 to 1. A third of the calls is lost. */
export async function startLossyProxy(target: string, chance: () => number): Promise<LossyProxy> {
  const lost = { requests: 0, responses: 0 };
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const fate = chance();
    if (fate < 0.1) {
      lost.requests++;
      outgoing.destroy();
      return;
    }
    const { statusCode = 500, headers, content } = await forwardRequest(target, incoming, body);
    if (fate > 1 / 3) {
      outgoing.writeHead(statusCode, headers).end(content);
      return;
    }
    lost.responses++;
    if (fate < 0.2) outgoing.destroy();
    else {
      outgoing.writeHead(statusCode, headers);
      outgoing.write(content.subarray(0, content.length / 2), () => outgoing.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, lost, close };
}

type ForwardedResponse = Pick<IncomingMessage, "statusCode" | "headers"> & { content: Buffer };

const forwardRequest = (
  target: string,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
): Promise<ForwardedResponse> =>
  new Promise((resolve, reject) => {
    const call = forward(new URL(url!, target), { method: method!, headers }, async (response) => {
      const { statusCode, headers: answered } = response;
      resolve({ statusCode, headers: answered, content: await buffer(response) });
    });
    call.once("error", reject).end(body);
  });
