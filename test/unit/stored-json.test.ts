import { expect, test } from "vitest";
import * as z from "zod";
import { groups } from "../../functions/route-groups.ts";
import { Problem } from "../../shared/errors.ts";
import { validate } from "../../shared/http/validate.ts";
import { isStorableNumber, storedJson, storedObject } from "../../shared/kernel/stored-json.ts";

const beyond = [
  2 ** 53,
  -(2 ** 53),
  1e100,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  9e-131,
  5e-324,
];
const within = [0, -0, 1, 0.1, -1.5, 2 ** 53 - 1, 1 - 2 ** 53, 1e-130, 123456789.12345679];

test("accepts exactly the numbers that DynamoDB and its client can store", () => {
  expect(within.filter((number) => !isStorableNumber(number))).toEqual([]);
  expect(beyond.filter(isStorableNumber)).toEqual([]);
});

const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
const faultsOf = (value: unknown, maxBytes = 10_000) =>
  storedJson(maxBytes)
    .safeParse(value)
    .error?.issues.map(({ path, message }) => [path.join("."), message]);

test.each([
  ["a number deep inside", { a: [{ n: 2 ** 53 }] }, "a.0.n", "number"],
  ["a lone surrogate in a text", { a: "\ud83d" }, "a", "surrogate"],
  ["a lone surrogate in a name", { "\ude00": 1 }, "\ude00", "surrogate"],
  ["33 levels", nested(33), "", "32 levels"],
  ["a name of 256 characters", { ["x".repeat(256)]: 1 }, "x".repeat(256), "255"],
  ["10,001 bytes", "x".repeat(9_999), "", "10,000 bytes"],
])("refuses %s and names the place", (_, value, path, message) => {
  expect(faultsOf(value)).toEqual([[path, expect.stringContaining(message)]]);
});

test("accepts 32 levels, names of 255 characters, emoji and exactly the maximum size", () => {
  for (const value of [nested(32), { ["x".repeat(255)]: "😀" }, "x".repeat(9_998), null, undefined])
    expect(faultsOf(value)).toBeUndefined();
  expect(storedObject(100).safeParse([]).success).toBe(false);
});

type Path = (string | number)[];
interface Place {
  path: Path;
  /** The value at this path is free JSON, so every value inside must be checked. */
  free: boolean;
}

/**
 * Finds every place in a schema that accepts a number or free JSON.
 */
function placesIn(schema: z.ZodType, path: Path = [], seen: z.ZodType[] = []): Place[] {
  const { documentedAs } = z.globalRegistry.get(schema) ?? {};
  // Checked elsewhere: rows by `rowsOf`, and segment rules by their own test.
  if (documentedAs) return [];
  if (seen.includes(schema)) return [];
  const inside = (one: unknown, ...step: Path) =>
    placesIn(one as z.ZodType, [...path, ...step], [...seen, schema]);
  // Integers of a schema are safe integers, which DynamoDB can store.
  if (schema instanceof z.ZodNumberFormat) return [];
  if (schema instanceof z.ZodNumber) return [{ path, free: false }];
  if (schema instanceof z.ZodUnknown || schema instanceof z.ZodAny) return [{ path, free: true }];
  if (schema instanceof z.ZodRecord) return inside(schema.valueType, nameIn(schema));
  if (schema instanceof z.ZodArray) return inside(schema.element, 0);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((one) => inside(one));
  if (schema instanceof z.ZodPipe) return inside(schema.in);
  if (schema instanceof z.ZodLazy) return inside(schema.unwrap());
  if (schema instanceof z.ZodObject) {
    const own = Object.entries(schema.shape).flatMap(([name, one]) => inside(one, name));
    return schema.def.catchall instanceof z.ZodUnknown
      ? [...own, { path: [...path, "hostile"], free: true }]
      : own;
  }
  const { innerType } = schema.def as { innerType?: z.ZodType };
  return innerType ? inside(innerType) : [];
}

/** A name that the record takes. Some take only locales. */
const nameIn = ({ keyType }: z.ZodRecord): string =>
  (keyType as z.ZodType).safeParse("hostile").success ? "hostile" : "de";

/** Copies `value` and replaces the value at a path. */
function withAt(value: unknown, [step, ...rest]: Path, put: unknown): unknown {
  if (step === undefined) return put;
  if (typeof step === "number")
    return [withAt(Array.isArray(value) ? value[0] : undefined, rest, put)];
  const fields = typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  return { ...fields, [step]: withAt((fields as Record<string, unknown>)[step], rest, put) };
}

/** A valid body, made of the example of its schema. */
const surroundings = (schema: z.ZodType): unknown => ({
  ...((z.globalRegistry.get(schema)?.examples ?? [{}]) as object[])[0],
  ...(schema instanceof z.ZodObject &&
    "designJson" in schema.shape && {
      designJson: { fields: [{ name: "size", options: [{ value: "S" }] }] },
    }),
});

/** Returns the paths of the errors of a value, or undefined if the schema accepts it. */
function refusedPaths(schema: z.ZodType, value: unknown): string[] | undefined {
  try {
    validate(schema, value);
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.details?.map(({ path }) => path) ?? [];
  }
}

/** Lists that must be empty, and bytes of a file, are refused as a whole. */
const contains = (path: Path) => (refused: string) =>
  `${path.join(".")}.`.startsWith(`${refused}.`);

// The handler checks rows one by one, with the schema that documents them.
const rowsOf = (body: z.ZodType): z.ZodType[] =>
  body instanceof z.ZodObject
    ? Object.values(body.shape).flatMap((field) => {
        const { documentedAs } =
          field instanceof z.ZodArray
            ? (z.globalRegistry.get(field.element as z.ZodType) ?? {})
            : {};
        return documentedAs instanceof z.ZodType ? [documentedAs] : [];
      })
    : [];

const bodies = groups
  .flatMap(({ routes }) => routes)
  // The MCP server stores nothing: the API checks each tool call.
  .filter(({ key }) => key !== "POST /mcp")
  .flatMap(({ key, body }) =>
    body
      ? [body, ...rowsOf(body)].map((schema, i) => [i ? `a row of ${key}` : key, schema] as const)
      : [],
  );
const targets = bodies.flatMap(([key, schema]) =>
  placesIn(schema).map((place) => ({ key, schema, ...place })),
);

test("finds the free JSON fields of the whole API", () => {
  const found = targets.map(({ key, path }) => `${key.replace("/api/v1", "")} ${path.join(".")}`);
  for (const one of [
    "POST /contacts customFields.hostile",
    "a row of POST /contacts/bulk customFields.hostile",
    "POST /wh/sq/{secret} customFields.hostile",
    "POST /send metadata.hostile",
    "POST /send variables.hostile",
    "a row of POST /send/batch metadata.hostile",
    "POST /templates designJson",
    "POST /templates/{id}/render variables.hostile",
    "POST /forms designJson.hostile",
    "POST /forms designJson.fields.0.hostile",
    "POST /tracking/event properties.hostile",
    "POST /events/custom properties.hostile",
    "POST /sending-configs ratePerSecond",
  ])
    expect(found).toContain(one);
});

test.each(targets.map((one) => [`${one.key} ${one.path.join(".")}`, one] as const))(
  "%s refuses numbers that cannot be stored",
  (_, target) => {
    const { schema, path, free } = target;
    for (const number of beyond)
      for (const at of free ? [path, [...path, "a", 0, "n"]] : [path])
        expect(
          refusedPaths(schema, withAt(surroundings(schema), at, number))?.some(contains(at)),
          `${number} at ${at.join(".")}`,
        ).toBe(true);
  },
);

test.each([
  "POST /api/v1/segments",
  "POST /api/v1/segments/preview-count",
  "POST /api/v1/segments/why",
  "POST /api/v1/sequences/{id}/steps",
])("rules of %s refuse numbers that cannot be stored", (wanted) => {
  const [, schema] = bodies.find(([key]) => key === wanted)!;
  const fields = ["score", "id", "sendCount", "customFields.n", "event.bought"];
  for (const field of fields)
    for (const value of [...beyond.filter(Number.isFinite), [2 ** 53]]) {
      const rules = {
        match: "all",
        conditions: [{ field, operator: Array.isArray(value) ? "in" : "equals", value }],
      };
      const body = { name: "x", rules, steps: [{ type: "condition", conditionConfig: rules }] };
      expect(refusedPaths(schema, body), `${field} ${value}`).toContainEqual(
        expect.stringMatching(/conditions\.0\.value$/),
      );
    }
});
