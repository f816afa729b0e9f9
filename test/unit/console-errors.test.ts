// What the console says about errors of the API.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type * as z from "zod";
import { groups } from "../../functions/route-groups.ts";
import {
  codeTexts,
  errorText,
  fieldName,
  fieldText,
} from "../../shared/console/parts/error-texts.ts";
import { errorMeanings } from "../../shared/error-codes.ts";
import type { Problem, ProblemDetail } from "../../shared/errors.ts";
import { validate } from "../../shared/http/validate.ts";

/** Methods, paths, names of fields and settings, and words of programs. */
const programWords =
  /\b(GET|POST|PUT|PATCH|DELETE)\b|\/api\/|\b[a-z]+[A-Z]\w*\b|\b[A-Z]+_[A-Z_]+\b|\b(null|true|false|array|object|UUID|IANA)\b/;

test("each code has a text for people", () => {
  const ofTheSdk = ["connection_failed", "timeout", "unexpected_response"];
  expect(Object.keys(codeTexts).toSorted()).toEqual(
    [...Object.keys(errorMeanings), ...ofTheSdk].toSorted(),
  );
  expect(Object.values(codeTexts).filter((text) => programWords.test(text))).toEqual([]);
});

test.each([
  ["conflict", "Verify shop.example first: add it with POST /domains", codeTexts.conflict],
  ["conflict", "the campaign was sent", "The campaign was sent."],
  ["not_configured", "Billing is not configured: set STRIPE_SECRET_KEY", codeTexts.not_configured],
  ["provider_refused", "SendGrid says: no credits left!", "SendGrid says: no credits left!"],
  ["unauthorized", "Unauthorized", "You are signed out. Sign in again."],
  ["a_code_of_the_future", "Something", codeTexts.internal],
])("%s with the message %j is told as: %s", (code, message, text) => {
  expect(errorText({ code, message })).toBe(text);
});

test.each([
  [
    "email",
    "email: must be one valid email address",
    "Enter an email address, such as ann@example.com.",
  ],
  ["name", "name: is required", "Fill in this field."],
  ["name", "name: must have at most 1,000 characters", "Enter at most 1,000 characters."],
  ["ratePerSecond", "ratePerSecond: must be a number from 1 to 5", "Enter a number from 1 to 5."],
  [
    "scheduledAt",
    "scheduledAt must not be in the past: to send now, use POST /campaigns/:id/send",
    "Choose a time in the future.",
  ],
  ["url", "url: must begin with https://", "Enter an address that begins with https://."],
  ["role", "role: must be null for an owner", "This value is not possible here."],
  ["text", "text: is too silly", "Is too silly."],
  ["text", "text: must rhyme", "This must rhyme."],
])("%s: %j is told as: %s", (path, message, text) => {
  expect(fieldText({ path, message })).toBe(text);
});

test("fields of customers have the names that customers gave", () => {
  expect(fieldName("customFields.Letzter Kauf")).toBe("Letzter Kauf");
  expect(fieldName("fromEmail")).toBe("Sender address");
  expect(fieldName("nodes.3")).toBeUndefined();
});

/** What the validation says. */
function detailsOf(schema: z.ZodType, value: unknown): ProblemDetail[] {
  try {
    validate(schema, value);
    return [];
  } catch (error) {
    return (error as Problem).details ?? [];
  }
}

/** Each field has a value of a type that no field takes, or a text that no field takes. */
const everyField = (schema: z.ZodType, value: unknown) =>
  Object.fromEntries(Object.keys((schema as z.ZodObject).shape ?? {}).map((name) => [name, value]));
const wrongBodies = (schema: z.ZodType) =>
  [Number.NaN, [[]], "\u0000", -1e300, {}].map((value) => everyField(schema, value));

test("what the validation says about an empty and a wrong request has no words of programs", () => {
  const wrong = groups
    .flatMap(({ routes }) => routes)
    .flatMap(({ body }) =>
      body ? [{}, ...wrongBodies(body)].flatMap((one) => detailsOf(body, one)) : [],
    )
    .map((detail) => fieldText(detail));
  expect(wrong.length).toBeGreaterThan(500);
  expect([...new Set(wrong)].filter((text) => programWords.test(text))).toEqual([]);
});

test("no message of the domain about a field shows words of programs", () => {
  const folder = join(import.meta.dirname, "../../shared");
  const files = globSync("{domain,kernel,http}/**/*.ts", { cwd: folder });
  const messages = files.flatMap((file) =>
    [
      ...readFileSync(join(folder, file), "utf8").matchAll(
        /["`]((?:must|needs|cannot) [^"`]{4,})["`]/g,
      ),
    ].map(([, message = ""]) => message),
  );
  expect(messages.length).toBeGreaterThan(90);
  const texts = messages.map((message) => fieldText({ path: "field", message }));
  expect([...new Set(texts)].filter((text) => programWords.test(text))).toEqual([]);
});
