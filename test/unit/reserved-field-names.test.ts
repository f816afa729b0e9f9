import { expect, test } from "vitest";
import { findReservedName, mayContainReservedName } from "../../shared/kernel/json.ts";

test.each([
  ['{"customFields":{"constructor":"x"}}', "customFields.constructor"],
  ['{"__proto__":{"a":1}}', "__proto__"],
  ['{"a":[1,{"toString" : 1}]}', "a.1.toString"],
  ['{"a":{"\\u0063onstructor":1}}', "a.constructor"],
])("finds the reserved name in %s at %s", (json, path) => {
  expect(mayContainReservedName(json)).toBe(true);
  expect(findReservedName(JSON.parse(json))).toBe(path);
});

test.each([
  '{"a":"constructor","b":["__proto__"],"length":1}',
  '{"a":"{\\"constructor\\":1}"}',
  "[]",
  "5",
])("finds no reserved name in %s", (json) => {
  expect(findReservedName(JSON.parse(json))).toBeUndefined();
  expect(mayContainReservedName(json)).toBe(false);
});
