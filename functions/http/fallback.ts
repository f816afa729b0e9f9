// Handles paths of no group: redirects those that people type, else 404.
import { type HttpHandler, unknownPath } from "../../shared/http/dispatch.ts";

const referencePath = "/api/v1/docs";
/** Where the paths lead that people try first. */
const entryPaths = new Map([
  ["/api/v1", referencePath],
  ["/api/v1/", referencePath],
  ["/docs", referencePath],
  ["/app/", "/app"],
]);

export const handler: HttpHandler = async (event, context) => {
  const { method } = event.requestContext.http;
  const location = entryPaths.get(event.rawPath);
  if (location !== undefined && /^(GET|HEAD)$/.test(method))
    return { statusCode: 302, headers: { location }, body: "" };
  return unknownPath(event, context);
};
