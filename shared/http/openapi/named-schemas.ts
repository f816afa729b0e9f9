// Gives the schemas of request bodies and responses names in the components, so that generators
// make one type of each: `CreateListRequest`, `ContactPage`, `ListEnvelope`.
import { capitalize } from "../operation-id.ts";
import type { OperationObject } from "./document.ts";
import { type Components, componentPrefix, idOf, type JsonSchema } from "./json-schemas.ts";
import type { MediaType } from "./response-objects.ts";

/** Replaces the inline schemas of the operation by references. Throws if a name is taken. */
export function nameSchemas(
  { operationId, requestBody, responses }: OperationObject,
  components: Components,
): void {
  const base = capitalize(operationId);
  const refer = (id: string, schema: JsonSchema) =>
    schema.$ref || !hasFields(schema) ? schema : addComponent(id, schema, components);
  const nameEnvelope = (media: MediaType) => {
    const { properties } = media.schema;
    if (!properties?.data) return;
    properties.data = refer(pageName(properties.data) ?? `${base}Result`, properties.data);
    media.schema = refer(envelopeName(properties.data, base), media.schema);
  };
  const content = requestBody?.content ?? {};
  const json = content["application/json"]?.schema;
  for (const [type, media] of Object.entries(content)) {
    const isOther = json && JSON.stringify(json) !== JSON.stringify(media.schema);
    media.schema = refer(base + (isOther ? suffixByType[type] : "Request"), media.schema);
  }
  for (const response of Object.values(responses))
    if ("content" in response) Object.values(response.content ?? {}).forEach(nameEnvelope);
}

/**
 * Names the alternatives of each named schema by the field that they require first:
 * `ListMembersWithContactIds`. Throws if a name is taken.
 */
export function nameAlternatives(components: Components): void {
  for (const [id, schema] of Object.entries(components))
    for (const keyword of ["anyOf", "oneOf"] as const)
      if (schema[keyword])
        components[id] = {
          ...schema,
          [keyword]: schema[keyword].map((one) => {
            const [field] = one.properties ? (one.required ?? []) : [];
            return field ? addComponent(`${id}With${capitalize(field)}`, one, components) : one;
          }),
        };
}

/** Returns a reference to the new component. */
function addComponent(id: string, schema: JsonSchema, components: Components): JsonSchema {
  const known = components[id];
  if (known && JSON.stringify(known) !== JSON.stringify(schema))
    throw new Error(`Two schemas would be named ${id}`);
  components[id] = schema;
  return { $ref: componentPrefix + id };
}

/** An object without known fields needs no name. */
const hasFields = ({ properties = {}, anyOf, oneOf }: JsonSchema): boolean =>
  Object.keys(properties).length > 0 || Boolean(anyOf ?? oneOf);

/** `ContactPage` for a page of contacts. */
function pageName({ properties = {} }: JsonSchema): string | undefined {
  const { pagination, ...others } = properties;
  const [items, more] = Object.values(others);
  const item = pagination && !more ? idOf(items?.items) : undefined;
  return item && `${item}Page`;
}

function envelopeName(data: JsonSchema, base: string): string {
  if (data.type === "null") return "EmptyEnvelope";
  return `${idOf(data)?.replace(/Result$/, "") ?? base}Envelope`;
}

/** A body can have another schema as a form than as JSON. */
const suffixByType: Record<string, string> = {
  "application/x-www-form-urlencoded": "Form",
  "multipart/form-data": "Upload",
};
