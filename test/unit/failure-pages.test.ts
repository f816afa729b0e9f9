// What a browser shows when a form that it has sent, or a link that it followed, cannot be served.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as z from "zod";
import { limited, Problem, tooLarge } from "../../shared/errors.ts";
import { route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { failure } from "../../shared/pages/failure.ts";
import { failureWords } from "../../shared/pages/failure-words.ts";
import { ask } from "../support/events.ts";

beforeEach(() => vi.stubEnv("LOG_LEVEL", "SILENT"));
afterEach(() => void vi.unstubAllEnvs());

const errors: Record<string, () => Error> = {
  limited: () => limited("Too many requests", { facts: { retryAfter: 30 } }),
  large: () => tooLarge("The form is larger than 4 kB"),
  bug: () => new Error("secret words"),
};
const routes = [
  route("POST /form/:error", "A form", {
    auth: "public",
    raw: { "application/x-www-form-urlencoded": z.object({}) },
    returns: z.string(),
    type: "text/html",
    handle: async ({ params: { error } }) => {
      throw (errors[error] ?? (() => new Problem("missing", "There is no such form")))();
    },
  }),
  route("POST /json", "A script's", {
    auth: "public",
    body: z.object({ name: z.string() }),
    returns: z.object({}),
    handle: async () => ({}),
  }),
];
const shown = group({ name: "shown", failurePage: failure }, routes);
const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "accept-language": "de-AT,en;q=0.5" };

test.each([
  ["limited", 429, failureWords.de.busyTitle],
  ["large", 413, failureWords.de.largeTitle],
  ["unknown", 404, failureWords.de.goneTitle],
  ["bug", 500, failureWords.de.oursTitle],
])("an error (%s) keeps its status and is a page in the browser's language", async (error, status, title) => {
  const answer = await ask<string>(shown, "POST /form/:error", { params: { error }, headers: browser });
  expect([answer.status, answer.headers["content-type"]]).toEqual([status, "text/html; charset=utf-8"]);
  expect(answer.body.data).toContain(`<h1>${title}</h1>`);
  expect(answer.body.data).toContain(answer.headers["x-request-id"]);
  expect(answer.body.data).not.toContain("secret");
  expect(answer.headers["content-security-policy"]).toContain("default-src 'none'");
  expect(answer.headers["retry-after"]).toBe(error === "limited" ? "30" : undefined);
});

test("a broken body is a page for a browser, and JSON for who does not ask for pages", async () => {
  const raw = Buffer.from("{");
  const headers = { "content-type": "application/json" };
  const page = await ask<string>(shown, "POST /json", { raw, headers: { ...headers, accept: "text/html" } });
  expect([page.status, page.body.data]).toEqual([400, expect.stringContaining(failureWords.en.wrongTitle)]);
  for (const accept of ["*/*", "application/json"]) {
    const told = await ask(shown, "POST /json", { raw, headers: { ...headers, accept } });
    expect([told.status, told.body.code]).toEqual([400, "invalid_json"]);
  }
});

test("where people are not met, an error is JSON whatever is asked for", async () => {
  const told = await ask(group("hidden", routes), "POST /form/:error", { params: { error: "limited" }, headers: browser });
  expect([told.status, told.body.code]).toEqual([429, "rate_limited"]);
});
