// Guides in Markdown. They are part of the description of the OpenAPI document, so that the API
// reference shows them and programs find them.
import { readFileSync } from "node:fs";
import { errorMeanings } from "../../error-codes.ts";
import type { OperationObject } from "./document.ts";

/** In this order. */
const guideNames = [
  "first-send",
  "welcome-series",
  "automations",
  "newsletter",
  "recurring",
  "languages",
  "topics",
  "importing",
  "webhook-receiver",
  "website",
  "segment",
  "automation-tools",
  "custom-domain",
  "missing-email",
  "sandbox",
  "other-apis",
  "from-mailchimp",
  "from-listmonk",
  "gdpr",
  "sdk",
  "cli",
  "mcp",
  "authentication",
  "teams",
  "single-sign-on",
  "requests-and-responses",
  "errors",
  "paging",
  "idempotency",
  "rate-limits",
  "variables",
  "react-email",
  "send-status",
  "provider-webhooks",
  "opens-and-clicks",
  "inbound",
  "webhooks",
  "event-stream",
  "files",
  "suppression-import",
];

/** The rows of a table in Markdown. */
const errorTable = Object.entries(errorMeanings)
  .map(
    ([code, { statuses, cause, remedy }]) =>
      `| \`${code}\` | ${statuses.join(", ")} | ${cause} | ${remedy} |`,
  )
  .join("\n");

const read = (name: string): string =>
  readFileSync(new URL(`../guides/${name}.md`, import.meta.url), "utf8");

/**
 * Links lead to places of the API reference: `[log in](#logIn)` to that operation, and
 * `[SDK](sdk.md)` to that guide.
 */
export function readGuides(operations: OperationObject[]): string {
  return guideNames
    .map(read)
    .join("\n")
    .replace("{{ errorCodes }}", errorTable)
    .replace(/\]\(([\w-]+)\.md\)/g, (_, name: string) => `](#description/${anchorOf(read(name))})`)
    .replace(/\]\(#(\w+)\)/g, (_, id: string) => {
      const operation = operations.find(({ operationId }) => operationId === id);
      // A document of few groups, as in tests, lacks some operations.
      return operation ? `](#tag/${operation.tags[0]}/${id})` : `](#${id})`;
    });
}

/** The anchor that the reference gives to a guide: its title in lower case with hyphens. */
const anchorOf = (guide: string): string =>
  /^# (.*)/
    .exec(guide)![1]!
    .toLowerCase()
    .replace(/[^\w -]/g, "")
    .replaceAll(" ", "-");
