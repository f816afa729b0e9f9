// Structured JSON logs. What is logged never holds an address, a body or a secret: ids, counts, names of routes and errors only.
import { Logger } from "@aws-lambda-powertools/logger";
import { config } from "./config.ts";

let logger: Logger | undefined;
const log = () => {
  logger ??= new Logger({ serviceName: "pennymail", logLevel: config.logLevel as "INFO" });
  return logger;
};

export type Facts = Record<string, string | number | boolean | undefined>;

export const info = (message: string, facts: Facts): void => log().info(message, { facts });

/** An error of ours, with its stack. Whoever throws keeps addresses, bodies and secrets out of its message. */
export const failure = (message: string, error: unknown, facts: Facts = {}): void =>
  log().error(message, { facts, error: error instanceof Error ? error : new Error(String(error)) });
