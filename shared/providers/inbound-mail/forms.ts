// Bodies of forms: multipart/form-data and application/x-www-form-urlencoded. Providers put mail
// into them as it is, so each field has its own charset.
import type { StoredRequest } from "./received-mail.ts";

/** In its texts and files, each character is a byte. */
export type BinaryForm = FormData;

const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1");
const toBinary = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");

/** Undefined if the body is no form. */
export async function readForm({
  contentType,
  body,
}: StoredRequest): Promise<BinaryForm | undefined> {
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType)) {
    const form = new FormData();
    for (const [name, value] of new URLSearchParams(toBinary(body)))
      form.append(name, toBinary(Buffer.from(value)));
    return form;
  }
  if (!/^multipart\/form-data\b/i.test(contentType)) return undefined;
  // `formData` reads texts as UTF-8.
  const text = Buffer.from(toBinary(body));
  return new Response(text, { headers: { "content-type": contentType } })
    .formData()
    .catch(() => undefined);
}

/** The bytes of a field, also if the provider sent it as a file. */
export async function bytesField(form: BinaryForm, name: string): Promise<Buffer | undefined> {
  const value = form.get(name);
  if (value === null) return undefined;
  return bytesOf(typeof value === "object" ? await value.text() : value);
}

/** The text of a field. A charset that is not known is read as UTF-8. */
export async function textField(
  form: BinaryForm,
  name: string,
  charset?: unknown,
): Promise<string | undefined> {
  const bytes = await bytesField(form, name);
  return bytes && decode(bytes, typeof charset === "string" ? charset : "utf-8");
}

function decode(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString();
  }
}

interface FormFile {
  name: string;
  type: string;
  content: Uint8Array;
}

export async function fileField(form: BinaryForm, name: string): Promise<FormFile | undefined> {
  const value = form.get(name);
  if (typeof value !== "object" || value === null) return undefined;
  return {
    name: bytesOf(value.name).toString(),
    type: value.type,
    content: new Uint8Array(bytesOf(await value.text())),
  };
}
