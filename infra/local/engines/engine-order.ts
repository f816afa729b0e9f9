// What the service tells the guard process of its DynamoDB engines, and what the guard reports.
import type { AcceptedRequests } from "./request-check.ts";

/** A command line. `portPlaceholder` stands for the port. */
export type EngineCommand = [command: string, ...args: string[]];
export const portPlaceholder = "{port}";

/** Sent together with a server that listens on the port for the service. */
export interface EngineOrder {
  command: EngineCommand;
  env: Record<string, string>;
  accepted: AcceptedRequests;
  /** The data is on disk, so an engine that ends is started again. */
  persistent: boolean;
  /** The guard is in a network namespace of its own. */
  isolated: boolean;
}

export type GuardReport = { ready: true } | { failed: string } | { restarted: string };
