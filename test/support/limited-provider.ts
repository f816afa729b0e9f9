// A provider that answers each request with the next of some responses.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { vi } from "vitest";

interface PlannedResponse {
  status: number;
  headers?: Record<string, string>;
  json: unknown;
}

/** Stands in for the provider until the tests of the file end or `stop` is called. */
export async function startLimitedProvider(key: string, responses: PlannedResponse[]) {
  const urls: string[] = [];
  const server = createServer((request, response) => {
    urls.push(request.url!);
    const { status, headers = {}, json } = responses[urls.length - 1]!;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  vi.stubEnv(`PROVIDER_URL_${key.toUpperCase()}`, `http://127.0.0.1:${port}`);
  return {
    /** The paths of the requests. */
    urls,
    stop: () => {
      vi.unstubAllEnvs();
      server.closeAllConnections();
      server.close();
    },
  };
}
