// Records the requests that the service makes to other servers.
import { WebClient, type WebRequest } from "../../shared/adapters/http/client.ts";

interface RecordedRequest {
  method: string;
  url: string;
  body: string;
}

/** Reads that some providers answer by POST. SNS subscribes an address only once, too. */
const readsByPost =
  /Action=(Get|List|Subscribe)|\/(view|list|domains|info|ping2|permissions|email_cycle)(\.json)?$/;

function textOf(body: WebRequest["body"]): string {
  if (typeof body === "string") return body;
  return body instanceof FormData
    ? new URLSearchParams([...body] as [string, string][]).toString()
    : "";
}

/** Records until `stop`. */
export function recordRequests() {
  const requests: RecordedRequest[] = [];
  const { open } = WebClient.prototype;
  WebClient.prototype.open = function (request) {
    const { method = "GET", url, body } = request;
    requests.push({ method, url, body: textOf(body) });
    return open.call(this, request);
  };
  return {
    requests,
    stop() {
      WebClient.prototype.open = open;
    },
    /** The requests that create a webhook or a domain. */
    creations: () =>
      requests.filter(
        ({ method, url, body }) =>
          method === "POST" &&
          !readsByPost.test(url) &&
          !readsByPost.test(body) &&
          creates(url, body),
      ),
  };
}

const creates = (url: string, body: string): boolean =>
  /webhook|eventcallback|domains|event-destinations|identities|configuration-sets/.test(url)
    ? !/(validate|verify|check)$/.test(url)
    : /Action=Create/.test(body);
