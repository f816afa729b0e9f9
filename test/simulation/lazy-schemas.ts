// The package zod, with schemas that are created when they are first used. A process of the service
// has 3,000 schemas and uses a few of them, and a simulation starts many processes.
import * as zod from "zod";

// Compiling a schema, or looking for cycles in it, takes longer than checking the few values that a
// process checks with it. Values from JSON have no cycles.
zod.config({
  jitless: true,
  memoizer: { attach() {}, guard() {}, alloc: (_schema, _payload, empty) => empty },
});

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

/** The target of a proxy: how its schema is created, and the schema once it is. */
interface LazySchema {
  create(): object;
  created: Schema | undefined;
}

function createLazily(create: () => object): object {
  return new Proxy<LazySchema>({ create, created: undefined }, handler as ProxyHandler<LazySchema>);
}

function created(lazy: LazySchema): Schema {
  lazy.created ??= lazy.create() as Schema;
  return lazy.created;
}

// All proxies share one handler, because a process has thousands of them.
const handler: Required<
  Pick<
    ProxyHandler<LazySchema>,
    "get" | "set" | "has" | "ownKeys" | "getOwnPropertyDescriptor" | "getPrototypeOf"
  >
> = {
  get: (lazy, name) =>
    !lazy.created && derivations.has(name)
      ? (...args: unknown[]) =>
          // Without an argument, `meta` reads.
          args.length || name !== "meta"
            ? createLazily(() => (created(lazy)[name] as Create)(...args))
            : (created(lazy).meta as Create)()
      : created(lazy)[name],
  set: (lazy, name, value) => Reflect.set(created(lazy), name, value),
  has: (lazy, name) => name in created(lazy),
  ownKeys: (lazy) => Reflect.ownKeys(created(lazy)),
  getOwnPropertyDescriptor: (lazy, name) => {
    const found = Reflect.getOwnPropertyDescriptor(created(lazy), name);
    return found && { ...found, configurable: true };
  },
  getPrototypeOf: (lazy) => Reflect.getPrototypeOf(created(lazy)),
};
