// Links of the OpenAPI document: from a created record to the operations on it. They follow from
// paths and schemas.
import type { OperationObject, Paths } from "./document.ts";
import { type Components, idOf, type JsonSchema, resolveSchema } from "./json-schemas.ts";
import type { ResponseObject } from "./response-objects.ts";

export interface Link {
  operationId: string;
  /** Runtime expressions by the name of a path parameter. */
  parameters: Record<string, string>;
}

/** Adds links to each response of a POST that contains a record with operations of its own. */
export function addLinks(paths: Paths, components: Components): void {
  for (const [path, { post }] of Object.entries(paths))
    for (const [status, response] of Object.entries(post?.responses ?? {})) {
      if (!status.startsWith("2") || !("content" in response)) continue;
      const data = dataOf(response, components);
      const recordPath = data && findRecordPath(path, data, { paths, components });
      const links = recordPath && createLinks(recordPath, { path, paths });
      if (links) response.links = links;
    }
}

/**
 * `/contacts/{id}` for `/contacts`, else the path of the GET that returns the same kind of record:
 * `/imports/{id}` for `/imports/upload`.
 */
function findRecordPath(
  path: string,
  data: JsonSchema,
  { paths, components }: { paths: Paths; components: Components },
): string | undefined {
  if (!resolveSchema(data, components).properties?.id) return undefined;
  const recordPaths = Object.keys(paths).filter((one) => /\/{(id|\w+Id)}$/.test(one));
  const below = recordPaths.find((one) => one.replace(/\/{\w+}$/, "") === path);
  const returnsSame = (one: string) => {
    const response = paths[one]!.get?.responses[200];
    const returned = response && "content" in response && dataOf(response, components);
    return returned && idOf(data) !== undefined && idOf(returned) === idOf(data);
  };
  if (parametersOf(path).length && !below) return undefined;
  return below ?? recordPaths.find((one) => returnsSame(one) && parametersOf(one).length === 1);
}

/** Links to the operations on the record that need no further parameter in the path. */
function createLinks(
  recordPath: string,
  { path, paths }: { path: string; paths: Paths },
): Record<string, Link> | undefined {
  const names = parametersOf(recordPath);
  const parameters = Object.fromEntries(
    names.map((name, i) => [
      name,
      i === names.length - 1 ? "$response.body#/data/id" : `$request.path.${name}`,
    ]),
  );
  const targets = Object.entries(paths)
    .filter(([one]) => one === recordPath || one.startsWith(`${recordPath}/`))
    .filter(([one]) => one !== path && parametersOf(one).length === names.length)
    .flatMap(([, methods]) => Object.values(methods));
  return Object.fromEntries(
    targets.map(({ operationId }: OperationObject) => [operationId, { operationId, parameters }]),
  );
}

const parametersOf = (path: string): string[] =>
  [...path.matchAll(/{(\w+)}/g)].map(([, name = ""]) => name);

function dataOf({ content }: ResponseObject, components: Components): JsonSchema | undefined {
  const schema = content?.["application/json"]?.schema;
  return schema && resolveSchema(schema, components).properties?.data;
}
