import { expect, test } from "vitest";
import { findReservedName, mayContainReservedName } from "../../shared/kernel/json.ts";

test.each([
  ['{"customFields":{"constructor":"x"}}', "customFields.constructor"],
  ['{"__proto__":{"a":1}}', "__proto__"],
  ['{"a":[1,{"toString" : 1}]}', "a.1.toString"],
  ['{"a":{"\\u0063onstructor":1}}', "a.constructor"],
])("in %s, %s is found", (json, path) => {
  expect(mayContainReservedName(json)).toBe(true);
  expect(findReservedName(JSON.parse(json))).toBe(path);
});

test.each([
  '{"a":"constructor","b":["__proto__"],"length":1}',
  '{"a":"{\\"constructor\\":1}"}',
  "[]",
  "5",
])("in %s no field is so called", (json) => {
  expect(findReservedName(JSON.parse(json))).toBeUndefined();
  expect(mayContainReservedName(json)).toBe(false);
});
