// The only file that speaks S3. A key is `<kind>/<organization>/<name>`, so that lifecycle rules go by kind.
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
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

export interface Piece {
  bytes: Uint8Array;
  /** Another one when the blob was written anew. */
  tag: string;
}

/** `length` bytes from `from` on, or as many as there are; undefined when there is no such blob. */
export async function piece(key: string, from: number, length: number): Promise<Piece | undefined> {
  try {
    const { Body, ETag } = await s3().send(
      new GetObjectCommand({ Bucket: config.bucket, Key: key, Range: `bytes=${from}-${from + length - 1}` }),
    );
    return { bytes: await Body!.transformToByteArray(), tag: ETag ?? "" };
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

/** A blob that is put part by part: all but the last of at least 5 MB, at most 10,000. One that is not finished within a day is dropped. */
export async function beginParts(key: string, type: string): Promise<string> {
  const { UploadId } = await s3().send(new CreateMultipartUploadCommand({ Bucket: config.bucket, Key: key, ContentType: type }));
  return UploadId!;
}

/** `part` counts from 1; put again it takes the place of the first. Answers with what `finishParts` wants to know of it. */
export async function putPart(key: string, uploadId: string, part: number, body: Uint8Array): Promise<string> {
  const { ETag } = await s3().send(
    new UploadPartCommand({ Bucket: config.bucket, Key: key, UploadId: uploadId, PartNumber: part, Body: body }),
  );
  return ETag!;
}

/** Safe to repeat. */
export async function finishParts(key: string, uploadId: string, tags: string[]): Promise<void> {
  const Parts = tags.map((ETag, i) => ({ ETag, PartNumber: i + 1 }));
  try {
    await s3().send(
      new CompleteMultipartUploadCommand({ Bucket: config.bucket, Key: key, UploadId: uploadId, MultipartUpload: { Parts } }),
    );
  } catch (error) {
    // Finished before, it is no upload any more.
    if ((error as Error).name !== "NoSuchUpload" || (await sizeOf(key)) === undefined) throw error;
  }
}

/** A URL from which anyone may read it, for `seconds`, as a file of this name. */
export const downloadUrl = (key: string, filename: string, seconds: number): Promise<string> =>
  getSignedUrl(
    s3(),
    new GetObjectCommand({ Bucket: config.bucket, Key: key, ResponseContentDisposition: `attachment; filename="${filename}"` }),
    { expiresIn: seconds },
  );
