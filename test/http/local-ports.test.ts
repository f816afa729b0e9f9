// Other users of this machine and web pages in a browser on it can reach every port that `npm start`
// opens.
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { canIsolate } from "../../infra/local/engines/guarded-engines.ts";
import { knowsPorts, listeningPorts, withDescendants } from "../support/listening-ports.ts";
import { startServiceProcess } from "../support/service-process.ts";

interface Answer {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
}

const call = (
  port: number,
  {
    method = "POST",
    path = "/",
    headers = {},
  }: Partial<Record<"method" | "path", string>> & {
    headers?: Record<string, string>;
  },
) =>
  new Promise<Answer>((resolve, reject) => {
    const target = { host: "127.0.0.1", port, method, path, agent: false, headers };
    request(target, async (response) => {
      const { statusCode, headers: received } = response;
      resolve({ status: statusCode!, headers: received, body: await text(response) });
    })
      .on("error", (error: NodeJS.ErrnoException) =>
        // The stand-in for SMTP answers with a greeting, and closes the connection.
        error.code?.startsWith("HPE_") ? resolve(notHttp) : reject(error),
      )
      .end();
  });

const notHttp: Answer = { status: 403, headers: {}, body: "" };

/** As a caller signs who does not know the credentials. */
const forged = {
  authorization:
    "AWS4-HMAC-SHA256 Credential=local/20261129/us-east-1/dynamodb/aws4_request, " +
    `SignedHeaders=host;x-amz-date, Signature=${"0".repeat(64)}`,
  "x-amz-date": "20261129T000000Z",
  "x-amz-content-sha256": "0".repeat(64),
};
const targets = [
  "DynamoDB_20120810.ListTables",
  "TrentService.Decrypt",
  "secretsmanager.GetSecretValue",
  "AmazonSQS.ListQueues",
];

/** Mandrill responds with 500 to every request that it refuses. */
function expectRefused({ status, body }: Answer) {
  const isMandrill = body.startsWith('{"status":"error","code":');
  expect([isMandrill ? 500 : 401, 403]).toContain(status);
}

test.runIf(knowsPorts && canIsolate())(
  "every port refuses a foreign Host, an Origin and a missing credential",
  async () => {
    const DATA_DIR = await mkdtemp(join(tmpdir(), "pennymail-ports-"));
    onTestFinished(() => rm(DATA_DIR, { recursive: true }));
    const service = await startServiceProcess({ DATA_DIR });
    onTestFinished(() => service.stop());
    const servicePort = Number(new URL(service.url).port);
    const ports = listeningPorts(service.pid).filter((port) => port !== servicePort);
    // Ten providers, the engine and its readers, SQS and S3, KMS.
    expect(ports.length).toBeGreaterThanOrEqual(13);
    for (const port of ports) {
      const host = `127.0.0.1:${port}`;
      const attempts = [
        { headers: { host: `rebind.evil.example:${port}` } },
        { headers: { host: `localhost:${port}` } },
        { headers: { host, origin: "https://evil.example" } },
        { headers: { host, origin: `http://${host}` } },
        {
          method: "OPTIONS",
          headers: {
            host,
            origin: "https://evil.example",
            "access-control-request-method": "POST",
          },
        },
      ];
      for (const attempt of attempts) {
        const { status, headers } = await call(port, attempt);
        expect([attempt, status]).toEqual([attempt, 403]);
        expect(headers["access-control-allow-origin"]).toBeUndefined();
      }
      for (const target of targets)
        for (const credential of [{}, forged]) {
          const headers = { host, "x-amz-target": target, ...credential };
          expectRefused(await call(port, { headers }));
        }
      for (const path of ["/pennymail/key", "/pennymail", "/000000000000/send"])
        expectRefused(await call(port, { method: "GET", path }));
    }
    const local = (headers: Record<string, string>) =>
      call(servicePort, { method: "GET", path: "/_local/inbox", headers });
    expect((await local({ host: "rebind.evil.example" })).status).toBe(403);
    expect((await local({ origin: "https://evil.example" })).status).toBe(403);
    const contacts = await call(servicePort, { method: "GET", path: "/api/v1/contacts" });
    expect(contacts.status).toBe(401);
  },
);

test.runIf(knowsPorts)("the processes of the engine get no settings of the service", async () => {
  const secrets = { SYSTEM_SENDER_CREDENTIALS: '{"apiKey":"a secret"}', PEXELS_API_KEY: "pexels" };
  const service = await startServiceProcess(secrets);
  onTestFinished(() => service.stop());
  const children = withDescendants(service.pid).slice(1);
  expect(children.length).toBeGreaterThanOrEqual(2);
  for (const pid of children) {
    const names = readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      .map((entry) => entry.split("=")[0]);
    for (const name of [...Object.keys(secrets), "DATA_DIR", "AWS_SECRET_ACCESS_KEY"])
      expect(names).not.toContain(name);
  }
});

test.runIf(knowsPorts)("the engine ends with the service, even after SIGKILL", async () => {
  const service = await startServiceProcess();
  const children = withDescendants(service.pid).slice(1);
  service.kill("SIGKILL");
  await service.exitCode;
  const isRunning = (pid: number) => {
    try {
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false;
    }
  };
  await expect.poll(() => children.filter(isRunning)).toEqual([]);
});
