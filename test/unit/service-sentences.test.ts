// The sentences of the service in German: each pattern is one that the service writes.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { germanAnswers } from "../../shared/console/language/german-answers.ts";
import { createSentenceTranslator } from "../../shared/console/language/service-sentences.ts";

const folder = join(import.meta.dirname, "../../shared");
/** The source, with texts that are put together on several lines joined, and without Markdown. */
const source = globSync("{domain,email}/**/*.ts", { cwd: folder })
  .map((file) => readFileSync(join(folder, file), "utf8"))
  .join("\n")
  .replaceAll(/["`] \+\s+["`]/g, "")
  .replaceAll(/\\?`/g, "");

describe("sentences of the service", () => {
  const translate = createSentenceTranslator(germanAnswers);

  test.each(Object.keys(germanAnswers))("is written by the service: %s", (english) => {
    // Shorter parts are put together from words.
    const missing = english
      .replaceAll("`", "")
      .split(/\{\w+\}|[.,:;“”"()] ?| and | the email |^The /)
      .filter((part) => part.trim().length > 16 && !source.includes(part.trim()));
    expect(missing).toEqual([]);
  });

  test("has the values of each pattern", () => {
    const valuesOf = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
    const wrong = Object.entries(germanAnswers).filter(
      ([english, text]) => String(valuesOf(english)) !== String(valuesOf(text)),
    );
    expect(wrong).toEqual([]);
  });

  test("translates a value with a pattern, and sentence by sentence", () => {
    expect(translate("20 % of the mails bounced (1). This is a healthy rate.")).toBe(
      "20 % der E-Mails waren unzustellbar (1). Das ist eine gesunde Quote.",
    );
    expect(
      translate(
        "ann@shop.example is on the suppression list since 2026-12-01 09:00 UTC, because " +
          "it was imported. It gets no email.",
      ),
    ).toBe(
      "ann@shop.example steht seit 2026-12-01 09:00 UTC auf der Sperrliste: Sie wurde importiert. " +
        "Die Adresse erhält keine E-Mails.",
    );
    expect(translate("41 rows: 40 added, 1 refused")).toBe(
      "41 Zeilen: 40 hinzugefügt, 1 abgelehnt",
    );
    expect(translate("A sentence that nobody knows.")).toBe("A sentence that nobody knows.");
  });
});
