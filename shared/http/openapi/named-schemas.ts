// Gives the schemas of request bodies and responses names in the components, so that generators
// make one type of each: `CreateListRequest`, `ListEnvelope`.
import type { Operation } from "./document.ts";
import { componentPrefix, type JsonSchema } from "./json-schemas.ts";
import type { MediaType } from "./response-objects.ts";

type Components = Record<string, JsonSchema>;

/** Replaces the inline schemas of the operation by references. */
export function nameSchemas(
  { operationId, requestBody, responses }: Operation,
  components: Components,
): void {
  const base = operationId.charAt(0).toUpperCase() + operationId.slice(1);
  const named = (id: string, schema: JsonSchema): JsonSchema => {
    if (schema.$ref || !hasShape(schema)) return schema;
    const known = components[id];
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`${operationId} has two different schemas that would be named ${id}`);
    components[id] = schema;
    return { $ref: componentPrefix + id };
  };
  for (const [type, media] of Object.entries(requestBody?.content ?? {}))
    media.schema = named(base + (suffixByType[type] ?? "Request"), media.schema);
  const envelope = (media: MediaType) => {
    const { properties } = media.schema;
    if (!properties?.data) return;
    properties.data = named(`${base}Result`, properties.data);
    const id = properties.data.$ref?.replace(componentPrefix, "").replace(/Result$/, "");
    media.schema = named(`${id ?? base}Envelope`, media.schema);
  };
  for (const answer of Object.values(responses))
    if ("content" in answer) Object.values(answer.content ?? {}).forEach(envelope);
}

/** An object without known fields needs no name. */
const hasShape = ({ properties = {}, anyOf, oneOf }: JsonSchema): boolean =>
  Object.keys(properties).length > 0 || Boolean(anyOf ?? oneOf);

/** A body that is sent in several types can have a schema for each. */
const suffixByType: Record<string, string> = {
  "application/x-www-form-urlencoded": "Form",
  "multipart/form-data": "Upload",
};
