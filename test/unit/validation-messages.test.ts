import { expect, test } from "vitest";
import * as z from "zod";
import { CustomFields } from "../../shared/domain/audience/contacts/custom-fields.ts";
import type { Problem } from "../../shared/errors.ts";
import { validate } from "../../shared/http/validate.ts";
import { EmailAddress } from "../../shared/kernel/email-fields.ts";
import { validationMessages } from "../../shared/kernel/validation-messages.ts";

const cases: [string, z.ZodType, unknown, string][] = [
  ["a number where a text belongs", z.string(), 5, "must be a text"],
  ["half of a whole number", z.int().min(1).max(100), 1.5, "must be a whole number from 1 to 100"],
  [
    "a text where a whole number belongs",
    z.int().positive(),
    "x",
    "must be a whole number, at least 1",
  ],
  [
    "no number in a query",
    z.coerce.number().int().min(1).max(100),
    "abc",
    "must be a whole number from 1 to 100",
  ],
  ["a text where a number belongs", z.number().max(5), "x", "must be a number, at most 5"],
  ["too much", z.int().max(1000), 1001, "must be at most 1,000"],
  ["too little", z.number().positive(), 0, "must be more than 0"],
  ["a text for true or false", z.boolean(), "yes", "must be true or false"],
  ["an object for a list", z.array(z.int()), {}, "must be a list"],
  ["a list for an object", z.object({}), [], "must be an object"],
  ["a list for fields by name", z.record(z.string(), z.int()), [], "must be an object"],
  ["none of the words", z.enum(["new", "old"]), "odd", "must be one of: new, old"],
  ["not the only word", z.literal("email"), "fax", "must be email"],
  ["an empty text", z.string().min(1), "", "must not be empty"],
  ["an empty list", z.array(z.int()).min(1), [], "must not be empty"],
  ["a long text", z.string().max(3), "four", "must have at most 3 characters"],
  ["a long list", z.array(z.int()).max(1), [1, 2], "must have at most 1 item"],
  ["no time", z.iso.datetime(), "tomorrow", "must be a date and time such as 2026-01-31T09:30:00Z"],
  ["no date", z.iso.date(), "tomorrow", "must be a date such as 2026-01-31"],
  ["no address", z.email(), "ada", "must be a valid email address"],
  ["neither of two", z.union([z.string(), z.int()]), true, "must be a text or a whole number"],
  [
    "a wrong one of several objects",
    z.union([z.string(), z.object({ a: z.int() })]),
    { a: "x" },
    "is not valid: a must be a whole number",
  ],
  ["fields that must not be", z.strictObject({}), { colour: 1 }, "has unknown fields: colour"],
  ["no multiple", z.int().multipleOf(5), 7, "must be a multiple of 5"],
  [
    "words of the schema's own",
    z.string().regex(/^a/, "must begin with a"),
    "b",
    "must begin with a",
  ],
];

test.each(cases)("describes %s", (_, schema, value, expected) => {
  expect(schema.safeParse(value, { error: validationMessages }).error?.issues[0]?.message).toBe(
    expected,
  );
});

test("the message names the field, and the details have one entry for each error", () => {
  const schema = z.object({
    a: z.object({ b: z.array(z.int()) }),
    kind: z.enum(["x", "y"]),
    name: z.string(),
    by: z.union([z.string(), z.int()]),
  });
  expect(() => validate(schema, { a: { b: [1, "two"] } })).toThrow(
    expect.objectContaining({
      message: "a.b.1: must be a whole number",
      details: [
        { path: "a.b.1", message: "a.b.1: must be a whole number" },
        { path: "kind", message: "kind is required" },
        { path: "name", message: "name is required" },
        { path: "by", message: "by is required" },
      ],
    }),
  );
  expect(() => validate(schema, [])).toThrow("The body: must be an object");
});

test("for several kinds of body, errors are about the closest one and name unknown fields", () => {
  const schema = z.union([z.object({ name: z.string() }), z.object({ tagId: z.int() })]);
  const messageOf = (value: unknown) => {
    try {
      return validate(schema, value);
    } catch (error) {
      const { message, details } = error as Problem;
      return [message, ...details!.map(({ path }) => path)];
    }
  };
  expect(messageOf({ tag: "vip" })).toEqual([
    "name is required (not known here: tag)",
    "name",
    "tag",
  ]);
  expect(messageOf({ tagId: "x" })).toEqual(["tagId: must be a whole number", "tagId"]);
  expect(messageOf([])).toEqual(["The body: must be an object", ""]);
  expect(() => validate(z.looseObject({ a: z.string() }), { b: 1 })).toThrow(/^a is required$/);
  expect(() =>
    validate(z.object({ a: z.array(z.union([z.string(), z.object({ b: z.int() })])) }), {
      a: ["x", { b: "y" }],
    }),
  ).toThrow(/^a\.1\.b: must be a whole number$/);
});

test("a field that is missing in a nested object is named with the unknown fields beside it", () => {
  const person = z.object({ to: z.string(), tag: z.object({ name: z.string() }).nullish() });
  const schema = z.object({ people: z.array(person).default([]) });
  expect(() => validate(schema, { people: [{ to: "a" }, { email: "b" }], note: "" })).toThrow(
    expect.objectContaining({
      message: "people.1.to is required (not known here: note, people.1.email)",
      details: [
        { path: "people.1.to", message: "people.1.to is required" },
        { path: "note", message: "note is unknown" },
        { path: "people.1.email", message: "people.1.email is unknown" },
      ],
    }),
  );
  expect(() => validate(schema, { people: [{ to: "a", tag: { title: "x" } }] })).toThrow(
    "people.0.tag.name is required (not known here: people.0.tag.title)",
  );
});

test("what is wrong with an address or a value of a custom field is said in plain words", () => {
  const schema = z.object({ to: EmailAddress.optional(), customFields: CustomFields.optional() });
  expect(() => validate(schema, { to: "Ada <ada@example.com>" })).toThrow(
    "to: must be one valid email address, without a name",
  );
  expect(() => validate(schema, { customFields: { plan: {} } })).toThrow(
    "customFields.plan: must be a text or a number or true or false or null",
  );
});
