// multipart/form-data (RFC 7578): one file, and texts.
import { invalid } from "../errors.ts";
import type { Request } from "./route.ts";

export interface Form {
  file: { bytes: Uint8Array; name: string } | undefined;
  fields: Record<string, string>;
}

/** Throws 400 when it cannot be read, or has more than one file. */
export async function formOf({ headers, rawBody }: Request): Promise<Form> {
  const body = new Uint8Array(rawBody.buffer as ArrayBuffer, rawBody.byteOffset, rawBody.length);
  const read = new Response(body, { headers: { "content-type": headers["content-type"] ?? "" } }).formData();
  const data = await read.catch(() => {
    throw invalid("The body is not valid multipart/form-data", { code: "invalid_form" });
  });
  const entries = [...data.entries()];
  const files = entries.flatMap(([, value]) => (typeof value === "string" ? [] : [value]));
  if (files.length > 1) throw invalid("The form has more than one file", { code: "invalid_form" });
  const [file] = files;
  return {
    file: file && { bytes: await file.bytes(), name: file.name },
    fields: Object.fromEntries(entries.flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : []))),
  };
}
