// Handles paths of no group: redirects entry paths to the API reference, else 404.
import { type HttpHandler, unknownPath } from "../../shared/http/dispatch.ts";

/** Paths that people try first. */
const entryPaths = new Set(["/api/v1", "/api/v1/", "/docs"]);
const referencePath = "/api/v1/docs";

export const handler: HttpHandler = async (event, context) => {
  const { method } = event.requestContext.http;
  if (/^(GET|HEAD)$/.test(method) && entryPaths.has(event.rawPath))
    return { statusCode: 302, headers: { location: referencePath }, body: "" };
  return unknownPath(event, context);
};
