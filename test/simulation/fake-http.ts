// node:http without sockets: a request becomes a call of the simulated network.
import { EventEmitter } from "node:events";
import nodeHttp from "node:http";
import { ConnectionLost } from "./network.ts";

export interface SimulatedRequest {
  method: string;
  url: URL;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Buffer;
}

export interface SimulatedResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

type Answer = (request: SimulatedRequest) => Promise<SimulatedResponse>;

/** The module `node:http`, and `node:https`. */
export function createHttpModule(answer: Answer): Record<string, unknown> {
  const request = (url: string, options: { method?: string; headers?: object }) =>
    new FakeClientRequest(new URL(url), options, answer);
  const module = { ...nodeHttp, request };
  return { ...module, default: module };
}

class FakeClientRequest extends EventEmitter {
  readonly reusedSocket = true;
  readonly #url: URL;
  readonly #options: { method?: string; headers?: object };
  readonly #answer: Answer;
  #isDone = false;

  constructor(url: URL, options: { method?: string; headers?: object }, answer: Answer) {
    super();
    this.#url = url;
    this.#options = options;
    this.#answer = answer;
  }

  end(body: string | Uint8Array = ""): void {
    const { method = "GET", headers = {} } = this.#options;
    const given = Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]);
    const request = {
      method,
      url: this.#url,
      headers: Object.fromEntries(given) as Record<string, string>,
      body: Buffer.from(body as string),
    };
    this.emit("socket", {});
    this.#answer(request).then(
      (response) => this.#respond(response),
      (error: unknown) => this.destroy(toSocketError(error)),
    );
  }

  #respond({ status, headers, body }: SimulatedResponse): void {
    if (this.#isDone) return;
    this.#isDone = true;
    const incoming = Object.assign(new EventEmitter(), {
      destroy() {},
      // The body, as a stream has it. A real stream would take most of the time of the request.
      async *[Symbol.asyncIterator]() {
        if (body) yield Buffer.from(body);
      },
      statusCode: status,
      headers,
      headersDistinct: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]),
      ),
    });
    this.emit("response", incoming);
    if (body) incoming.emit("data", Buffer.from(body));
    incoming.emit("end");
    incoming.emit("close");
    this.emit("close");
  }

  destroy(error: Error): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.emit("error", error);
    this.emit("close");
  }
}

const toSocketError = (error: unknown): Error =>
  error instanceof ConnectionLost
    ? Object.assign(new Error(error.message), { code: "ETIMEDOUT" })
    : (error as Error);
