// Guides in Markdown. They are part of the description of the OpenAPI document, so that the API
// reference shows them and programs find them.
import { readFileSync } from "node:fs";
import type { Operation } from "./document.ts";

/** In this order. */
const guideNames = [
  "first-send",
  "sdk",
  "cli",
  "authentication",
  "requests-and-responses",
  "errors",
  "paging",
  "idempotency",
  "rate-limits",
  "variables",
  "send-status",
  "provider-webhooks",
  "webhooks",
  "files",
  "suppression-import",
];

/** `[log in](#logIn)` becomes a link to that operation in the API reference. */
export function readGuides(operations: Operation[]): string {
  const folder = new URL("../guides/", import.meta.url);
  const text = guideNames
    .map((name) => readFileSync(new URL(`${name}.md`, folder), "utf8"))
    .join("\n");
  return text.replace(/\]\(#(\w+)\)/g, (_, id: string) => {
    const operation = operations.find(({ operationId }) => operationId === id);
    // A document of few groups, as in tests, lacks some operations.
    return operation ? `](#tag/${operation.tags[0]}/${id})` : `](#${id})`;
  });
}
