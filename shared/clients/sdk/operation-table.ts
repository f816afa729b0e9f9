import type { OperationTable } from "./operation.ts";

/** The operations of the API. In the package, those of the OpenAPI document. */
export const operations: OperationTable = {};
