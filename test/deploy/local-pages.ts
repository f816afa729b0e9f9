// The pages /_local/* that test/http uses, for a deployed stage: the pages of the sandbox, and
// `settle`. The clock and the plans of a stage cannot be changed, so the tests that need this are
// excluded (see specification.ts).
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Sandbox } from "../../infra/local/sandbox/sandbox.ts";

export interface LocalPages {
  origin: string;
  close(): void;
}

export async function openLocalPages(
  sandbox: Sandbox,
  settle: () => Promise<void>,
): Promise<LocalPages> {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://local");
    const body = await text(request);
    if (pathname === "/_local/settle") {
      await settle();
      response.end("{}");
      return;
    }
    // A successful request to /api/v1/sending-configs, reported by route-local-pages.ts.
    if (pathname === "/observed") {
      sandbox.observeApiCall(JSON.parse(body));
      response.end();
      return;
    }
    const localRequest = {
      method: request.method ?? "GET",
      path: pathname,
      query: searchParams,
      headers: request.headers as Record<string, string>,
      body: Buffer.from(body),
    };
    const answer = await sandbox.handleLocalRequest(localRequest);
    response.writeHead(answer?.status ?? 404, answer?.headers).end(answer?.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
