// Loaded into the processes of test/http with `--import`. Requests to /_local/* of the stage go to
// LOCAL_PAGES, and the sandbox is told of each sending config, so that it can post webhooks.
import "./localhost.ts";

const stage = new URL(process.env.BASE_URL!);
const localPages = process.env.LOCAL_PAGES!;
const plain = globalThis.fetch;
const observed = new Set(["POST", "PUT", "DELETE"]);

globalThis.fetch = async (input, init) => {
  const { origin, pathname, search } = new URL(input instanceof Request ? input.url : input);
  if (origin !== stage.origin) return plain(input, init);
  if (pathname.startsWith("/_local/")) return plain(`${localPages}${pathname}${search}`, init);
  const response = await plain(input, init);
  const method = init?.method ?? "GET";
  if (response.ok && observed.has(method) && pathname.startsWith("/api/v1/sending-configs")) {
    const call = {
      method,
      path: pathname,
      requestBody: init?.body,
      responseBody: await response.clone().text(),
    };
    await plain(`${localPages}/observed`, { method: "POST", body: JSON.stringify(call) });
  }
  return response;
};
