// Runs nodes of a package in the engine of n8n. In place of n8n's database, the credentials and the
// data of a workflow are in memory.
import { createRequire } from "node:module";
import { join } from "node:path";
import type { HttpOptions, NodeItem, WebhookAnswer } from "../../shared/clients/n8n/n8n-types.ts";
import { project } from "./install.ts";

/** What the tests use of n8n-core and n8n-workflow, whose types are not installed. */
interface N8n {
  PackageDirectoryLoader: new (
    folder: string,
  ) => {
    loadAll(): Promise<void>;
    nodeTypes: Record<string, { type: NodeType }>;
    credentialTypes: Record<string, { type: CredentialType }>;
    known: Record<"nodes" | "credentials", Record<string, { className: string }>>;
  };
  Workflow: new (options: object) => Workflow;
  RoutingNode: new (context: object, type: NodeType) => { runNode(): Promise<NodeItem[][]> };
  ExecuteContext: new (...args: unknown[]) => object;
  HookContext: new (...args: unknown[]) => object;
  WebhookContext: new (...args: unknown[]) => object;
  createEmptyRunExecutionData(): object;
}

export interface NodeType {
  description: {
    version: number;
    usableAsTool?: boolean;
    properties: { name: string; options?: { value: string }[] }[];
    iconUrl: object;
    codex?: object;
  };
  webhookMethods: { default: Record<"checkExists" | "create" | "delete", () => Promise<boolean>> };
  webhook(): Promise<WebhookAnswer>;
}

interface CredentialType {
  authenticate: { properties: { headers: Record<string, string> } };
  test: { request: Record<string, unknown> };
}

interface Workflow {
  expression: {
    getParameterValue(value: unknown, ...args: unknown[]): unknown;
    getSimpleParameterValue(node: object, value: unknown, mode: string, keys: object): unknown;
  };
}

export interface Credentials {
  baseUrl: string;
  apiKey: string;
}

export type Engine = Awaited<ReturnType<typeof startEngine>>;

/** Loads the package in the folder. */
export async function startEngine(folder: string) {
  const load = createRequire(join(project, "package.json"));
  const n8n: N8n = { ...load("n8n-workflow"), ...load("n8n-core") };
  const loader = new n8n.PackageDirectoryLoader(folder);
  await loader.loadAll();
  const typeOf = (name: string) => loader.nodeTypes[name]!.type;
  const credentialType = loader.credentialTypes.pennymailApi!.type;

  /** A workflow with one node. */
  const openWorkflow = (nodeName: string, parameters: object, credentials: Credentials) => {
    const node = {
      id: "1",
      webhookId: "8f2c",
      name: nodeName,
      type: nodeName,
      typeVersion: 1,
      position: [0, 0],
      parameters,
      credentials: { pennymailApi: { id: "1", name: "Pennymail" } },
    };
    const nodeTypes = { getByNameAndVersion: typeOf, getByName: typeOf };
    const workflow = new n8n.Workflow({
      id: "1",
      name: "Test",
      nodes: [node],
      connections: {},
      active: false,
      nodeTypes,
    });
    const evaluate = (value: unknown) =>
      workflow.expression.getSimpleParameterValue(node, value, "internal", {
        $credentials: credentials,
      });
    const credentialsHelper = {
      getParentTypes: () => [],
      isCredentialUsableByNode: () => true,
      getDecrypted: async () => ({ ...credentials }),
      preAuthentication: async () => undefined,
      authenticate: async (_: unknown, __: string, options: HttpOptions) => ({
        ...options,
        headers: {
          ...options.headers,
          ...(evaluate(credentialType.authenticate.properties.headers) as object),
        },
      }),
    };
    const additionalData = {
      credentialsHelper,
      webhookBaseUrl: "",
      executionId: "1",
      variables: {},
      currentNodeExecutionIndex: 0,
    };
    return {
      workflow,
      node: (workflow as unknown as { nodes: Record<string, object> }).nodes[nodeName]!,
      additionalData,
      evaluate,
    };
  };

  const known = Object.entries({ ...loader.known.nodes, ...loader.known.credentials });
  return {
    typeOf,
    /** Names of the classes by name of the node or the credentials. */
    classNames: Object.fromEntries(known.map(([name, { className }]) => [name, className])),
    /** Runs the action node with the items, and returns the items of its output. */
    async run(credentials: Credentials, parameters: object, items: object[] = [{}]) {
      const opened = openWorkflow("pennymail", parameters, credentials);
      const input = items.map((json) => ({ json }));
      const data = { main: [input] };
      const context = new n8n.ExecuteContext(
        ...[opened.workflow, opened.node, opened.additionalData, "manual"],
        ...[n8n.createEmptyRunExecutionData(), 0, input, data],
        ...[{ node: opened.node, data, source: null }, []],
      );
      const [output = []] = await new n8n.RoutingNode(context, typeOf("pennymail")).runNode();
      return output.map(({ json }) => json);
    },
    /** The request that tests the credentials. */
    testRequest(credentials: Credentials) {
      const { evaluate } = openWorkflow("pennymail", {}, credentials);
      const { authenticate, test } = credentialType;
      const headers = evaluate(authenticate.properties.headers) as Record<string, string>;
      return { ...(evaluate(test.request) as Record<string, unknown>), authentication: headers };
    },
    /** A workflow that begins with the trigger. `origin` is the address of n8n. */
    openTrigger(credentials: Credentials, parameters: object, origin: string) {
      const opened = openWorkflow("pennymailTrigger", parameters, credentials);
      const { workflow, node } = opened;
      const additionalData = { ...opened.additionalData, webhookBaseUrl: origin };
      const { webhookMethods, webhook } = typeOf("pennymailTrigger");
      const callHook = (name: keyof typeof webhookMethods.default) =>
        webhookMethods.default[name].call(
          new n8n.HookContext(workflow, node, additionalData, "trigger", "activate"),
        );
      return {
        checkExists: () => callHook("checkExists"),
        create: () => callHook("create"),
        remove: () => callHook("delete"),
        receive: (httpRequest: object, httpResponse: object) => {
          const withRequest = { ...additionalData, httpRequest, httpResponse };
          const webhookData = { webhookDescription: { name: "default" } };
          return webhook.call(
            new n8n.WebhookContext(workflow, node, withRequest, "webhook", webhookData, [], null),
          );
        },
      };
    },
  };
}
