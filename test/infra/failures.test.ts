// Failures of the built bundles. Each runs in its own process, with logging, like in Lambda.
import { execFile } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { queues } from "../../shared/queues.ts";
import type {} from "../support/setup/bundles.ts";

const dist = inject("dist");

/** The response of DynamoDB to every call. With `undefined`, calls get no response. */
let answer: { status: number; type: string } = { status: 400, type: "" };
let server: Server;
let env: Record<string, string>;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on("end", () => {
      const body = { __type: `com.amazonaws.dynamodb.v20120810#${answer.type}`, message: "no" };
      response.writeHead(answer.status, { "content-type": "application/x-amz-json-1.0" });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  env = {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "a",
    AWS_SECRET_ACCESS_KEY: "b",
    TABLE_NAME: "table",
    PUBLIC_URL: "https://mail.example.com",
    QUEUE_URL_REPORT: `${url}/1/report`,
  };
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Run {
  result: {
    statusCode: number;
    headers: Record<string, string>;
    body: string;
    batchItemFailures: object[];
  };
  /** Lines of the log. */
  log: { level: string; message: string; error?: { stack: string } }[];
}

async function invokeBundle(
  bundle: string,
  event: object,
  settings: Record<string, string> = env,
): Promise<Run> {
  const file = join(dist, bundle, "index.cjs");
  const code = `
    const { handler } = require(${JSON.stringify(file)});
    handler(${JSON.stringify(event)}, {}).then((result) => console.log("RESULT " + JSON.stringify(result)));`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["-e", code], {
    env: settings,
  });
  const lines = `${stdout}\n${stderr}`.split("\n");
  const result = lines.find((line) => line.startsWith("RESULT "))?.slice(7) ?? "null";
  const log = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  return { result: JSON.parse(result), log };
}

const request = {
  routeKey: "ANY /api/v1/sites",
  rawPath: "/api/v1/sites",
  rawQueryString: "",
  headers: { authorization: `Bearer pm_live_${"x".repeat(48)}` },
  requestContext: { requestId: "r-1", http: { method: "GET", sourceIp: "192.0.2.1" } },
};

const errorsIn = ({ log }: Run) => log.filter(({ level }) => level === "ERROR");

describe("a request", () => {
  test("that its role does not allow is a 500 without details, and the log names our file and line", async () => {
    answer = { status: 400, type: "AccessDeniedException" };
    const outcome = await invokeBundle("http/sites", request);
    expect(outcome.result.statusCode).toBe(500);
    expect(JSON.parse(outcome.result.body)).toEqual({
      error: "The request failed because of an internal error",
      code: "internal",
      docs: "https://mail.example.com/api/v1/docs/errors#internal",
      requestId: "r-1",
    });
    const [error] = errorsIn(outcome);
    expect(error).toMatchObject({ message: "request failed" });
    expect(error!.error!.stack).toMatch(/shared\/[\w/-]+\.ts:\d+:\d+/);
  });

  test("that fails in a lazy module is a 500, and the log names its file and line", async () => {
    const name = `1-${"a".repeat(40)}.jpg`;
    const photo = {
      ...request,
      routeKey: "ANY /api/v1/photos/{orgId}/{name}",
      rawPath: `/api/v1/photos/1/${name}`,
      pathParameters: { orgId: "1", name },
      headers: {},
    };
    // The setting BUCKET_NAME is missing.
    const outcome = await invokeBundle("http/stock-photos", photo);
    expect(outcome.result.statusCode).toBe(500);
    expect(errorsIn(outcome)[0]!.error!.stack).toMatch(/shared\/adapters\/s3\/objects\.ts:\d+:\d+/);
  });

  test.each([
    ["throttled", { status: 400, type: "ProvisionedThroughputExceededException" }],
    ["out of service", { status: 500, type: "InternalServerError" }],
  ])("to a table that is %s is a 503 with Retry-After", async (_, failing) => {
    answer = failing;
    const { result } = await invokeBundle("http/sites", request);
    expect(result.statusCode).toBe(503);
    expect(Number(result.headers["retry-after"])).toBeGreaterThan(0);
  });

  test("to a function with a missing setting is a 500, and the log names the setting", async () => {
    const { TABLE_NAME: _, ...lacking } = env;
    const outcome = await invokeBundle("http/sites", request, lacking);
    expect(outcome.result.statusCode).toBe(500);
    expect(errorsIn(outcome)[0]!.error!.stack).toContain("TABLE_NAME");
  });
});

test("an unreadable message of a batch fails alone, and the others are handled", async () => {
  answer = { status: 400, type: "ResourceNotFoundException" };
  const message = (messageId: string, body: string) => ({
    messageId,
    receiptHandle: messageId,
    body,
    attributes: { ApproximateReceiveCount: "1" },
  });
  const good = (id: number) => JSON.stringify({ orgId: 1, reportId: id });
  const Records = [
    message("1", good(1)),
    message("2", "{ broken"),
    message("3", good(3)),
    message("4", good(4)),
  ];
  const outcome = await invokeBundle(`queue/${queues.report.name}`, { Records });
  const failures = errorsIn(outcome).map(({ message: text }) => text);
  expect(failures.filter((text) => text === "message unreadable")).toHaveLength(1);
  expect(failures.filter((text) => text === "message failed")).toHaveLength(3);
  expect(outcome.result.batchItemFailures).toHaveLength(4);
});
