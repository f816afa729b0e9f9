// The pages /_local/* that the specification in test/http uses, served beside a deployed stage: the
// sandbox's own, and `settle`.
// The stage's clock cannot be moved, nor its plans: the specification that needs this is left out
// (see specification.ts).
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
    // A call of /api/v1/sending-configs that was answered, as route-local-pages.ts saw it.
    if (pathname === "/observed") {
      sandbox.observeApiCall(JSON.parse(body));
      response.end();
      return;
    }
    const asked = {
      method: request.method ?? "GET",
      path: pathname,
      query: searchParams,
      headers: request.headers as Record<string, string>,
      body: Buffer.from(body),
    };
    const answer = await sandbox.handleLocalRequest(asked);
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
