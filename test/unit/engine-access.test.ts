// Which requests the ports of the local engines accept.
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { Hash } from "@smithy/core/serde";
import { SignatureV4 } from "@smithy/signature-v4";
import { expect, test } from "vitest";
import { createRequestReader } from "../../infra/local/engines/connection-guard.ts";
import { findRefusal } from "../../infra/local/engines/request-check.ts";

const secretAccessKey = "0123456789abcdef0123456789abcdef01234567";
const host = "127.0.0.1:4567";
const accepted = { host, secretAccessKey };
const body = '{"TableName":"pennymail"}';

const signWith = async (key: string): Promise<Record<string, string>> => {
  const signer = new SignatureV4({
    service: "dynamodb",
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: key },
    sha256: Hash.bind(null, "sha256"),
  });
  const headers = { host, "x-amz-target": "DynamoDB.GetItem" };
  const request = { method: "POST", protocol: "http:", hostname: host, path: "/", headers, body };
  return (await signer.sign(request, { signingDate: new Date("2026-11-29T10:00:00Z") })).headers;
};
const headersOfService = await signWith(secretAccessKey);
const signed = () => ({ ...headersOfService });
const refusal = (headers: Record<string, string>, target = "/", method = "POST") =>
  findRefusal({ method, target, headers }, accepted);

test("accepts what the service signs, and nothing else", async () => {
  expect(refusal(signed())).toBeUndefined();
  const notSigned = "The request is not signed with the credentials of this service";
  expect(refusal({ host })).toBe(notSigned);
  expect(refusal(await signWith("another key"))).toBe(notSigned);
  expect(refusal({ ...signed(), "x-amz-target": "DynamoDB.PutItem" })).toBe(notSigned);
  expect(refusal({ ...signed(), "x-amz-content-sha256": "0".repeat(64) })).toBe(notSigned);
  expect(refusal(signed(), "/other")).toBe(notSigned);
});

test("refuses a foreign host and every origin", () => {
  const ownHost = `The header Host must be ${host}`;
  for (const foreign of ["evil.example", "localhost:4567", "127.0.0.1:4568", "127.0.0.1", ""])
    expect(refusal({ ...signed(), host: foreign })).toBe(ownHost);
  for (const origin of ["https://evil.example", `http://${host}`, "null", ""])
    expect(refusal({ ...signed(), origin })).toBe("Web pages cannot call this port");
});

test("accepts a presigned URL of the SDK until it expires, for its object only", async () => {
  const client = new S3Client({
    endpoint: `http://${host}`,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: "local", secretAccessKey },
    requestChecksumCalculation: "WHEN_REQUIRED",
  });
  const presign = async (expiresIn: number) => {
    const command = new PutObjectCommand({ Bucket: "pennymail", Key: "1/a file (1).txt" });
    const { pathname, search } = new URL(await getSignedUrl(client, command, { expiresIn }));
    return pathname + search;
  };
  const url = await presign(60);
  expect(refusal({ host }, url, "PUT")).toBeUndefined();
  expect(refusal({ host }, url, "GET")).toBeDefined();
  expect(refusal({ host }, url.replace("file", "other"), "PUT")).toBeDefined();
  expect(
    refusal({ host }, url.replace("X-Amz-Expires=60", "X-Amz-Expires=600"), "PUT"),
  ).toBeDefined();
  expect(refusal({ host }, await presign(0), "PUT")).toBeDefined();
});

const requestText = (headers: Record<string, string> = signed()) =>
  [
    "POST / HTTP/1.1",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n");

test("passes on all bytes of accepted requests, however they are split", () => {
  const bytes = Buffer.from(requestText() + requestText() + requestText());
  for (const size of [1, 7, 100, bytes.length]) {
    const read = createRequestReader(accepted);
    const passed: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      const { parts, refusal: why } = read(bytes.subarray(at, at + size));
      expect(why).toBeUndefined();
      passed.push(...parts);
    }
    expect(Buffer.concat(passed).equals(bytes)).toBe(true);
  }
});

test("checks every request of a connection", () => {
  const read = createRequestReader(accepted);
  expect(read(Buffer.from(requestText())).refusal).toBeUndefined();
  const { parts, refusal: why } = read(Buffer.from(requestText({ host })));
  expect(why).toBeDefined();
  expect(parts).toEqual([]);
});

test.each([
  [
    "a body in chunks",
    requestText().replace("Content-Length: ", "Transfer-Encoding: chunked\r\nX: "),
  ],
  ["a header that comes twice", requestText().replace("\r\n", "\r\nhost: evil.example\r\n")],
  ["a line that continues a header", requestText().replace("\r\n\r\n", "\r\n more\r\n\r\n")],
  ["a line that ends without \\r", requestText().replace("\r\n", "\r\nX: 1\nY: 2\r\n")],
  [
    "a length that is no number",
    requestText().replace(/Content-Length: \d+/, "Content-Length: +1"),
  ],
  ["an absolute URL", requestText().replace("POST /", "POST http://evil.example/")],
  ["another protocol", requestText().replace("HTTP/1.1", "HTTP/1.0")],
])("refuses %s", (_, text) => {
  expect(createRequestReader(accepted)(Buffer.from(text)).refusal).toBe(
    "The request is not valid HTTP",
  );
});

test("refuses headers that are too large, also when they never end", () => {
  const endless = Buffer.from(`POST / HTTP/1.1\r\nX: ${"x".repeat(20_000)}`);
  expect(createRequestReader(accepted)(endless).refusal).toBe("The headers are too large");
});
