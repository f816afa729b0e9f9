// The S3 client.
import { S3Client } from "@aws-sdk/client-s3";
import { config } from "../../config.ts";

// A body has up to 25 MB. Without limits, a dead connection would block a function until Lambda
// ends it. A busy process may take seconds to notice that it is connected.
const timeouts = {
  connectionTimeout: 5_000,
  requestTimeout: 60_000,
  throwOnRequestTimeout: true,
};

let client: S3Client | undefined;
export const s3 = (): S3Client => {
  // By default a presigned PUT requires the checksum of an empty body. Hosts other than AWS need
  // path-style URLs.
  client ??= new S3Client({
    requestHandler: timeouts,
    requestChecksumCalculation: "WHEN_REQUIRED",
    forcePathStyle: config.usesOwnS3,
  });
  return client;
};
