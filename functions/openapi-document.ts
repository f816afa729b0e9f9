// The OpenAPI document of all groups. The build replaces this module by the finished document, so
// that a function with the document does not bundle the code of every group.
import type { OpenApiDocument } from "../shared/http/openapi/document.ts";

let document: Promise<OpenApiDocument> | undefined;

/** Created once per process, because it takes 0.1 seconds. */
export const getOpenApiDocument = (): Promise<OpenApiDocument> => {
  document ??= createDocument();
  return document;
};

const createDocument = async (): Promise<OpenApiDocument> => {
  const [{ createOpenApiDocument }, { groups }] = await Promise.all([
    import("../shared/http/openapi/document.ts"),
    import("./route-groups.ts"),
  ]);
  return createOpenApiDocument(groups);
};
