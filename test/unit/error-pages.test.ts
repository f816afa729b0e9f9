// Error pages for browsers that submit a form or follow a link.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as z from "zod";
import { errorPageWording } from "../../shared/email/wording/by-topic.ts";
import { limited, Problem, tooLarge } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { route } from "../../shared/http/route.ts";
import { renderErrorPage } from "../../shared/pages/error-page.ts";
import { invokeRoute } from "../support/lambda-requests.ts";

beforeEach(() => vi.stubEnv("LOG_LEVEL", "SILENT"));
afterEach(() => void vi.unstubAllEnvs());

const errors: Record<string, () => Error> = {
  limited: () => limited("Too many requests", { bodyFields: { retryAfter: 30 } }),
  large: () => tooLarge("The form is larger than 4 KB"),
  bug: () => new Error("secret words"),
};
const routes = [
  route("POST /form/:error", "A form", {
    auth: "public",
    rawBodyTypes: { "application/x-www-form-urlencoded": z.object({}) },
    returns: z.string(),
    contentType: "text/html",
    handle: async ({ params: { error } }) => {
      throw (errors[error] ?? (() => new Problem("missing", "The form does not exist.")))();
    },
  }),
  route("POST /json", "A script's", {
    auth: "public",
    body: z.object({ name: z.string() }),
    returns: z.object({}),
    handle: async () => ({}),
  }),
];
const shown = routeGroup({ name: "shown", errorPage: renderErrorPage }, routes);
const browser = {
  accept: "text/html,application/xhtml+xml,*/*;q=0.8",
  "accept-language": "de-AT,en;q=0.5",
};

test.each([
  ["limited", 429, errorPageWording.de.busyTitle],
  ["large", 413, errorPageWording.de.largeTitle],
  ["unknown", 404, errorPageWording.de.goneTitle],
  ["bug", 500, errorPageWording.de.oursTitle],
])(
  "an error (%s) keeps its status and is a page in the browser's language",
  async (error, status, title) => {
    const answer = await invokeRoute<string>(shown, "POST /form/:error", {
      params: { error },
      headers: browser,
    });
    expect([answer.status, answer.headers["content-type"]]).toEqual([
      status,
      "text/html; charset=utf-8",
    ]);
    expect(answer.body.data).toContain(`<h1>${title}</h1>`);
    expect(answer.body.data).toContain(answer.headers["x-request-id"]);
    expect(answer.body.data).not.toContain("secret");
    expect(answer.headers["content-security-policy"]).toContain("default-src 'none'");
    expect(answer.headers["retry-after"]).toBe(error === "limited" ? "30" : undefined);
  },
);

test("an error for an invalid body is a page for browsers and JSON for other clients", async () => {
  const raw = Buffer.from("{");
  const headers = { "content-type": "application/json" };
  const page = await invokeRoute<string>(shown, "POST /json", {
    raw,
    headers: { ...headers, accept: "text/html" },
  });
  expect([page.status, page.body.data]).toEqual([
    400,
    expect.stringContaining(errorPageWording.en.wrongTitle),
  ]);
  for (const accept of ["*/*", "application/json"]) {
    const response = await invokeRoute(shown, "POST /json", {
      raw,
      headers: { ...headers, accept },
    });
    expect([response.status, response.body.code]).toEqual([400, "invalid_json"]);
  }
});

test("errors of routes with a credential are always JSON", async () => {
  const response = await invokeRoute(routeGroup("hidden", routes), "POST /form/:error", {
    params: { error: "limited" },
    headers: browser,
  });
  expect([response.status, response.body.code]).toEqual([429, "rate_limited"]);
});
