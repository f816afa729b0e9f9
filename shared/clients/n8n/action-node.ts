// The node whose operations are those of the API. n8n makes the requests that the fields describe
// ("declarative style").
import { groups, operations } from "../cli/operations.ts";
import { operations as table } from "../sdk/operation-table.ts";
import { commonDescription } from "./common-description.ts";
import { apiUrlExpression } from "./credentials.ts";
import { createProperties } from "./operation-properties.ts";

class Pennymail {
  description = {
    ...commonDescription,
    displayName: "Pennymail",
    name: "pennymail",
    group: ["output"],
    subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
    description: "Send email, and work with contacts, campaigns and sequences",
    defaults: { name: "Pennymail" },
    usableAsTool: true,
    inputs: ["main"],
    outputs: ["main"],
    requestDefaults: {
      baseURL: apiUrlExpression,
      ignoreHttpStatusErrors: true,
      headers: { Accept: "application/json", "Content-Type": "application/json" },
    },
    properties: createProperties({ groups, operations, table }),
  };
}

// n8n wants this name, which the client of the SDK has, too.
export { Pennymail };
