// The types of the API that the runtime itself names. In the package, all types of the OpenAPI
// document.

/** Code of an error. */
export type ErrorCode = string;

/** The methods of the client by group. */
export interface Api {
  emails: EmailsMethods;
}

export type EmailsMethods = Record<string, (...args: unknown[]) => unknown>;

export interface WebhookEvent {
  timestamp: string;
}
