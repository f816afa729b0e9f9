// Bodies of forms: multipart/form-data and application/x-www-form-urlencoded.
import type { StoredRequest } from "./received-mail.ts";

/** Undefined if the body is no form. */
export async function readForm({
  contentType,
  body,
}: StoredRequest): Promise<FormData | undefined> {
  if (!/^(multipart\/form-data|application\/x-www-form-urlencoded)\b/i.test(contentType))
    return undefined;
  const bytes = new Uint8Array(body);
  return new Response(bytes, { headers: { "content-type": contentType } })
    .formData()
    .catch(() => undefined);
}

/** The text of a field, also if the provider sent it as a file. */
export async function textField(form: FormData, name: string): Promise<string | undefined> {
  const value = form.get(name);
  return typeof value === "object" ? value?.text() : value;
}

export const fileField = (form: FormData, name: string): File | undefined => {
  const value = form.get(name);
  return typeof value === "object" && value !== null ? value : undefined;
};
