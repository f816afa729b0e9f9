// A customer's webhook endpoint: it records deliveries and verifies their signatures as documented,
// with code that is independent of the service.
import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface ReceivedDelivery {
  headers: IncomingHttpHeaders & { "webhook-id": string };
  body: string;
  event: {
    event: string;
    sendId: number;
    contactId: number | null;
    email: string;
    timestamp: string;
  };
}

type EndpointAnswer = number | "hang" | "cut";

export interface CustomerEndpoint {
  url: string;
  deliveries: ReceivedDelivery[];
  /** The response to a delivery. */
  answer:
    | EndpointAnswer
    | ((delivery: ReceivedDelivery) => EndpointAnswer | Promise<EndpointAnswer>);
  /** The body of a response. */
  answerText: string;
  /** The largest number of concurrent calls. */
  maxConcurrent: number;
  close(): void;
}

export async function startCustomerEndpoint(
  answer: CustomerEndpoint["answer"] = 200,
): Promise<CustomerEndpoint> {
  let open = 0;
  const server = createServer(async (request, response) => {
    state.maxConcurrent = Math.max(state.maxConcurrent, ++open);
    response.once("close", () => open--);
    const body = await text(request);
    const delivery: ReceivedDelivery = {
      headers: request.headers as ReceivedDelivery["headers"],
      body,
      event: JSON.parse(body),
    };
    state.deliveries.push(delivery);
    const status = typeof state.answer === "function" ? await state.answer(delivery) : state.answer;
    if (status === "cut") request.socket.destroy();
    else if (status !== "hang") response.writeHead(status).end(state.answerText);
  });
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  const state: CustomerEndpoint = {
    ...{ url: "", deliveries: [], answer, answerText: "" },
    ...{ maxConcurrent: 0, close },
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  return state;
}

/** Verifies X-Webhook-Signature. */
export const hasValidSignature = (
  { headers, body }: Pick<ReceivedDelivery, "body"> & { headers: IncomingHttpHeaders },
  secret: string,
  header = "x-webhook-signature",
) => headers[header] === createHmac("sha256", secret).update(body).digest("hex");

/** Verifies the signature of Standard Webhooks. `whsec` is the secret for its libraries. */
export function hasStandardSignature(
  { headers, body }: Pick<ReceivedDelivery, "body"> & { headers: IncomingHttpHeaders },
  whsec: string,
): boolean {
  const key = Buffer.from(whsec.replace(/^whsec_/, ""), "base64");
  const signed = createHmac("sha256", key)
    .update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`)
    .digest("base64");
  return String(headers["webhook-signature"]).split(" ").includes(`v1,${signed}`);
}

export const toWhsec = (secret: string): string =>
  `whsec_${Buffer.from(secret).toString("base64")}`;
