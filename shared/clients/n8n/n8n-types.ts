// The parts of n8n's interfaces (types of the package `n8n-workflow`) that the nodes use. The
// package with the nodes has no dependencies, so they are declared here.

export interface DisplayOptions {
  show: Record<string, (string | boolean)[]>;
}

/** What a field, or the choice of an operation, adds to the request. */
export interface Routing {
  request?: { method?: string; url?: string; headers?: Record<string, string> };
  send?: {
    type?: "body" | "query";
    property?: string;
    /** Whether the function in `operations` makes the requests. */
    paginate?: boolean;
    preSend?: PrepareRequest[];
  };
  output?: { postReceive: ReadResponse[] };
  operations?: { pagination: ReadPages };
}

export interface NodeOption {
  name: string;
  value: string;
  description?: string;
  /** What the list of actions shows. */
  action?: string;
  routing?: Routing;
}

/** A field of a node or of its credentials. */
export interface NodeProperty {
  displayName: string;
  name: string;
  type: string;
  default: unknown;
  description?: string;
  placeholder?: string;
  required?: boolean;
  noDataExpression?: boolean;
  typeOptions?: Record<string, unknown>;
  options?: (NodeOption | NodeProperty)[];
  displayOptions?: DisplayOptions;
  routing?: Routing;
}

export interface HttpOptions {
  method: string;
  url: string;
  body?: unknown;
  qs?: Record<string, unknown>;
  headers?: Record<string, unknown>;
  json?: boolean;
  ignoreHttpStatusErrors?: boolean;
  returnFullResponse?: boolean;
}

export interface FullResponse {
  statusCode: number;
  body?: unknown;
}

export interface NodeItem {
  json: Record<string, unknown>;
}

/** `this` of the functions of a node that runs for one item. */
export interface ItemContext {
  getNodeParameter(name: string, fallback?: unknown): unknown;
}

/** `this` of a function that makes the requests of one item. */
export interface PagingContext extends ItemContext {
  makeRoutingRequest(request: { options: HttpOptions }): Promise<NodeItem[]>;
}

export type PrepareRequest = (this: ItemContext, options: HttpOptions) => Promise<HttpOptions>;
export type ReadResponse = (
  this: ItemContext,
  items: NodeItem[],
  response: FullResponse,
) => Promise<NodeItem[]>;
export type ReadPages = (
  this: PagingContext,
  request: { options: HttpOptions },
) => Promise<NodeItem[]>;

/** `this` of the functions that create and delete a webhook. */
export interface HookContext {
  getNodeParameter(name: string): unknown;
  /** The URL of the trigger at n8n. */
  getNodeWebhookUrl(name: string): string | undefined;
  /** Is stored with the workflow. */
  getWorkflowStaticData(kind: "node"): Record<string, unknown>;
  getWorkflow(): { name?: string };
  getCredentials(name: string): Promise<Record<string, unknown>>;
  helpers: {
    httpRequestWithAuthentication(
      this: HookContext,
      credentials: string,
      options: HttpOptions,
    ): Promise<FullResponse>;
  };
}

/** `this` of the function that gets a request for the trigger. */
export interface WebhookContext {
  getWorkflowStaticData(kind: "node"): Record<string, unknown>;
  getRequestObject(): {
    headers: Record<string, string | string[] | undefined>;
    rawBody?: Uint8Array;
    readRawBody?(): Promise<void>;
  };
  getResponseObject(): { status(code: number): { send(text: string): { end(): void } } };
}

/** Without data, no workflow starts. */
export interface WebhookAnswer {
  noWebhookResponse?: boolean;
  workflowData?: NodeItem[][];
}
