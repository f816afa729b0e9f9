// The language of the mail that asks a contact to confirm.
import { expect, test } from "vitest";
import { languageOf } from "../../shared/domain/forms/contact-confirmations.ts";

test.each([
  ["de-AT", "de"],
  ["ar", "ar"],
  ["zh-Hant", undefined],
  [null, undefined],
])("a contact with the locale %s is asked in %s", (locale, language) =>
  expect(languageOf({ locale })).toBe(language),
);
