// The HTTP server. It listens from the start and responds with 503 until the service is ready.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, BlockList, type Socket } from "node:net";
import { CliError } from "./cli-error.ts";
import { errorResponse, type Gateway, headOf, readBody, writeResponse } from "./gateway.ts";
import { callableUrl, type ListenAddress } from "./listen-address.ts";

export interface HttpFront {
  url: string;
  /** Sets the gateway that responds from now on. */
  setHandler(handler: Gateway): void;
  /** Accepts no more requests and gives those in progress `seconds` to end. */
  stop(seconds: number): Promise<void>;
}

interface HttpServerSettings extends ListenAddress {
  /** Reverse proxies whose X-Forwarded-For is trusted; none by default. */
  proxies?: BlockList;
  /** Receives internal errors. */
  reportError(error: unknown): void;
}

export async function startHttpServer({
  host,
  port,
  proxies = new BlockList(),
  reportError,
}: HttpServerSettings): Promise<HttpFront> {
  let gateway = starting;
  const server = createServer(
    (request, response) => void handleRequest({ request, response, proxies }, gateway, reportError),
  );
  server.keepAliveTimeout = 65_000;
  server.on("clientError", rejectMalformed);
  await bindServer(server, host, port);
  return {
    url: callableUrl({ host, port: (server.address() as AddressInfo).port }),
    setHandler: (next) => {
      gateway = next;
    },
    stop: (seconds) => closeServer(server, seconds),
  };
}

const starting: Gateway = {
  answer: async () => errorResponse(503, "unavailable", "The service is starting"),
  maxBytes: async () => 0,
};

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  proxies: BlockList;
}

async function handleRequest(
  { request, response, proxies }: Exchange,
  handler: Gateway,
  report: (error: unknown) => void,
) {
  response.on("error", () => {}); // the client disconnected
  try {
    const head = headOf(request, proxies);
    const body = await readBody(request, () => handler.maxBytes(head)).catch(() => undefined);
    if (!body) return response.destroy(); // the client disconnected
    writeResponse(response, await handler.answer({ ...head, body }));
  } catch (error) {
    report(error);
    if (response.headersSent) response.destroy();
    else
      writeResponse(
        response,
        errorResponse(500, "internal", "The request failed because of an internal error"),
      );
  }
}

/** Rejects requests that are not HTTP, or whose headers are too large. */
function rejectMalformed(error: Error & { code?: string }, socket: Socket) {
  if (!socket.writable) return socket.destroy();
  const status =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "431 Request Header Fields Too Large"
      : "400 Bad Request";
  const { headers, body } = errorResponse(
    400,
    "validation_failed",
    "The request is not valid HTTP, or its headers are too large",
  );
  const lines = Object.entries({
    ...headers,
    "content-length": body!.length,
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status}`, ...lines, "", body].join("\r\n"));
}

const bindServer = (server: Server, host: string, port: number) =>
  new Promise<void>((resolve, reject) => {
    server.once("error", (error: Error & { code?: string }) =>
      reject(new CliError(bindErrorMessage(error, host, port))),
    );
    server.listen(port, host, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });

function bindErrorMessage(
  { code, message }: Error & { code?: string },
  host: string,
  port: number,
): string {
  if (code === "EADDRINUSE")
    return `Port ${port} on ${host} is taken: stop what uses it, or set PORT`;
  if (code === "EACCES")
    return `Port ${port} on ${host} requires administrator rights: set PORT to a port above 1023`;
  return `The address ${host}:${port} (HOST, PORT) cannot be used: ${message}`;
}

const closeServer = (server: Server, seconds: number) =>
  new Promise<void>((resolve) => {
    const forceCloseTimer = setTimeout(() => server.closeAllConnections(), seconds * 1000);
    // Keep-alive would otherwise hold connections open after their last response.
    const idle = setInterval(() => server.closeIdleConnections(), 20);
    server.close(() => {
      clearTimeout(forceCloseTimer);
      clearInterval(idle);
      resolve();
    });
  });
