// The HTTP server in front: one address, open from the first moment, answering 503 until the service behind it is there.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { type Address, urlOf } from "./address.ts";
import { type Asked, maxBodyBytes, read, refuse, reply } from "./gateway.ts";
import { Trouble } from "./trouble.ts";

export interface Front {
  url: string;
  /** Who answers from now on. */
  answer(by: (asked: Asked) => Promise<APIGatewayProxyStructuredResultV2>): void;
  /** Takes no further requests, and gives those in work `seconds` to end. */
  stop(seconds: number): Promise<void>;
}

interface Settings extends Address {
  /** Told of errors that are ours. */
  report(error: unknown): void;
}

export async function listen({ host, port, report }: Settings): Promise<Front> {
  let by = async (_: Asked) => refuse(503, "unavailable", "The service is starting");
  const server = createServer((request, response) => void serve(request, response, (asked) => by(asked), report));
  server.keepAliveTimeout = 65_000;
  server.on("clientError", unreadable);
  await opened(server, host, port);
  return {
    url: urlOf({ host, port: (server.address() as AddressInfo).port }),
    answer: (next) => {
      by = next;
    },
    stop: (seconds) => closed(server, seconds),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  by: (asked: Asked) => Promise<APIGatewayProxyStructuredResultV2>,
  report: (error: unknown) => void,
) {
  response.on("error", () => {}); // the client went away while we wrote
  try {
    const asked = await read(request).catch(() => "gone" as const);
    if (asked === "gone") return response.destroy();
    reply(response, asked ? await by(asked) : refuse(413, "payload_too_large", `The body is larger than ${maxBodyBytes / 2 ** 20} MB`));
  } catch (error) {
    report(error);
    if (response.headersSent) response.destroy();
    else reply(response, refuse(500, "internal", "Something went wrong on our side"));
  }
}

/** What is not HTTP, or has headers without end. */
function unreadable(error: Error & { code?: string }, socket: Socket) {
  if (!socket.writable) return socket.destroy();
  const status = error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
  const { headers, body } = refuse(400, "validation_failed", "The request cannot be read");
  const lines = Object.entries({ ...headers, "content-length": body!.length, connection: "close" }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.end([`HTTP/1.1 ${status}`, ...lines, "", body].join("\r\n"));
}

const opened = (server: Server, host: string, port: number) =>
  new Promise<void>((resolve, reject) => {
    server.once("error", (error: Error & { code?: string }) => reject(new Trouble(trouble(error, host, port))));
    server.listen(port, host, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });

function trouble({ code, message }: Error & { code?: string }, host: string, port: number): string {
  if (code === "EADDRINUSE") return `Port ${port} on ${host} is taken: stop what uses it, or set PORT`;
  if (code === "EACCES") return `Port ${port} on ${host} may not be used: set PORT to one above 1023`;
  return `The address ${host}:${port} (HOST, PORT) cannot be used: ${message}`;
}

const closed = (server: Server, seconds: number) =>
  new Promise<void>((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), seconds * 1000);
    // A connection falls idle when its request is answered, and would then be kept open for the next.
    const idle = setInterval(() => server.closeIdleConnections(), 20);
    server.close(() => {
      clearTimeout(late);
      clearInterval(idle);
      resolve();
    });
  });
