// The package zod, with schemas that are created when they are first used. A process of the service
// has 3,000 schemas and uses a few of them, and a simulation starts many processes.
import * as zod from "zod";

type Create = (...args: unknown[]) => object;
type Schema = Record<string | symbol, unknown>;

/** Functions of zod that return a schema and look at nothing but their arguments. */
const creators = {
  string: zod.string,
  object: zod.object,
  looseObject: zod.looseObject,
  array: zod.array,
  record: zod.record,
  enum: zod.enum,
  literal: zod.literal,
  int: zod.int,
  number: zod.number,
  boolean: zod.boolean,
  null: zod.null,
  unknown: zod.unknown,
  union: zod.union,
  discriminatedUnion: zod.discriminatedUnion,
  custom: zod.custom,
  lazy: zod.lazy,
  preprocess: zod.preprocess,
  templateLiteral: zod.templateLiteral,
  url: zod.url,
  email: zod.email,
};

/** Methods of a schema that return another schema. */
const derivations = new Set<string | symbol>([
  "describe",
  "meta",
  "optional",
  "nullable",
  "default",
  "min",
  "max",
  "int",
  "regex",
  "refine",
  "superRefine",
  "transform",
  "trim",
  "toLowerCase",
  "extend",
  "partial",
  "pick",
  "omit",
  "array",
  "pipe",
  "catch",
  "readonly",
  "strict",
  "length",
  "nonnegative",
  "positive",
  "check",
  "overwrite",
]);

/** The exports of zod, whose functions create lazy schemas. */
export const lazyZod: Record<string, unknown> = {
  ...zod,
  ...Object.fromEntries(
    Object.entries(creators).map(([name, create]) => [
      name,
      (...args: unknown[]) => createLazily(() => (create as Create)(...args)),
    ]),
  ),
};

function createLazily(create: () => object): object {
  let created: Schema | undefined;
  const schema = () => {
    created ??= create() as Schema;
    return created;
  };
  return new Proxy(
    {},
    {
      get: (_, name) =>
        !created && derivations.has(name)
          ? (...args: unknown[]) =>
              // Without an argument, `meta` reads.
              args.length || name !== "meta"
                ? createLazily(() => (schema()[name] as Create)(...args))
                : (schema().meta as Create)()
          : schema()[name],
      set: (_, name, value) => Reflect.set(schema(), name, value),
      has: (_, name) => name in schema(),
      ownKeys: () => Reflect.ownKeys(schema()),
      getOwnPropertyDescriptor: (_, name) => {
        const found = Reflect.getOwnPropertyDescriptor(schema(), name);
        return found && { ...found, configurable: true };
      },
      getPrototypeOf: () => Reflect.getPrototypeOf(schema()),
    },
  );
}
