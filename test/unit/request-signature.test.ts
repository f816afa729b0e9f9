// Our signature of requests to AWS is that of the SDK's signer.
import { createHash, createHmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import { expect, test } from "vitest";
import { signRequest } from "../../shared/adapters/aws/request-signature.ts";

/** The hash that the SDK's signer takes. */
class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret ? createHmac("sha256", secret as string) : createHash("sha256");
  }
  update(data: Uint8Array | string) {
    this.#hash.update(data);
  }
  async digest() {
    return new Uint8Array(this.#hash.digest());
  }
}

const keys = { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" };
const at = new Date("2026-11-23T10:45:02.123Z");

test.for([
  { name: "DynamoDB", service: "dynamodb", path: "/", keys },
  {
    name: "temporary keys",
    service: "sqs",
    path: "/",
    keys: { ...keys, sessionToken: "FwoGZXIv" },
  },
  { name: "a path with special characters", service: "ses", path: "/v2/email/a%40b%20c", keys },
])("the signature is that of the SDK: $name", async ({ service, path, keys }) => {
  const headers = { host: "service.eu-central-1.amazonaws.com", "x-amz-target": "Target  Name " };
  const body = '{"TableName":"mail","Key":{"pk":{"S":"ä"}}}';
  const region = "eu-central-1";
  const signer = new SignatureV4({ service, region, credentials: keys, sha256: Sha256 });
  const expected = await signer.sign(
    {
      method: "POST",
      protocol: "https:",
      hostname: headers.host,
      path,
      query: {},
      headers,
      body,
    },
    { signingDate: at },
  );
  const signed = signRequest(
    { method: "POST", path, headers, body },
    { keys, service, region, at },
  );
  expect(signed.authorization).toBe(expected.headers.authorization);
  expect(signed["x-amz-date"]).toBe(expected.headers["x-amz-date"]);
});
