// Names on the command line: `sendingConfigs` is `sending-configs`.
import { type CliOperation, operations } from "./operations.ts";

export const kebabCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const operationsOf = (group: string): CliOperation[] =>
  operations.filter((operation) => kebabCase(operation.group) === group);

/** `emails send` is also `send`, as in the SDK. */
const mainGroup = "emails";

/** The operation of a command; undefined if there is none. */
export const findOperation = (group = "", action = ""): CliOperation | undefined =>
  operationsOf(group).find((operation) => kebabCase(operation.action) === action);

export const findMainOperation = (action = ""): CliOperation | undefined =>
  findOperation(mainGroup, action);

export const mainOperations = (): CliOperation[] => operationsOf(mainGroup);
