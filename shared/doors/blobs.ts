// The only file that speaks S3. A key is `<kind>/<organization>/<name>`, so that lifecycle rules go by kind.
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { config } from "../config.ts";

let client: S3Client | undefined;
const s3 = () => {
  // A presigned PUT would otherwise carry the checksum of an empty body; other hosts than AWS are addressed by path.
  client ??= new S3Client({ requestChecksumCalculation: "WHEN_REQUIRED", forcePathStyle: Boolean(process.env.AWS_ENDPOINT_URL_S3) });
  return client;
};

export async function put(key: string, body: Uint8Array, type = "application/octet-stream"): Promise<void> {
  await s3().send(new PutObjectCommand({ Bucket: config.bucket, Key: key, Body: body, ContentType: type }));
}

/** undefined when there is none, or when it is larger than `maxBytes`. */
export async function get(key: string, maxBytes = 30_000_000): Promise<Uint8Array | undefined> {
  try {
    const { Body, ContentLength = 0 } = await s3().send(new GetObjectCommand({ Bucket: config.bucket, Key: key }));
    return ContentLength > maxBytes ? undefined : await Body?.transformToByteArray();
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}

/** Its size in bytes; undefined when there is none. */
export async function sizeOf(key: string): Promise<number | undefined> {
  try {
    const { ContentLength } = await s3().send(new HeadObjectCommand({ Bucket: config.bucket, Key: key }));
    return ContentLength;
  } catch (error) {
    if ((error as Error).name === "NotFound") return undefined;
    throw error;
  }
}

export async function copy(from: string, to: string): Promise<void> {
  await s3().send(new CopyObjectCommand({ Bucket: config.bucket, Key: to, CopySource: `${config.bucket}/${from}` }));
}

export async function remove(key: string): Promise<void> {
  await s3().send(new DeleteObjectCommand({ Bucket: config.bucket, Key: key }));
}

/** A URL to which anyone may PUT exactly `size` bytes once it is known, for `seconds`. */
export const uploadUrl = (key: string, type: string, size: number, seconds: number): Promise<string> =>
  getSignedUrl(s3(), new PutObjectCommand({ Bucket: config.bucket, Key: key, ContentType: type, ContentLength: size }), {
    expiresIn: seconds,
    signableHeaders: new Set(["content-type", "content-length"]),
  });
