// The catalog of the MCP server. The build replaces this module by the finished catalog.
import type { McpCatalog } from "../shared/http/mcp/catalog.ts";

let catalog: Promise<McpCatalog> | undefined;

/** Created once per process. */
export const getMcpCatalog = (): Promise<McpCatalog> => {
  catalog ??= createCatalogOfService();
  return catalog;
};

const createCatalogOfService = async (): Promise<McpCatalog> => {
  const [{ createCatalog }, { groups }, { getOpenApiDocument }] = await Promise.all([
    import("../shared/http/mcp/create-catalog.ts"),
    import("./route-groups.ts"),
    import("./openapi-document.ts"),
  ]);
  return createCatalog(groups, await getOpenApiDocument());
};
