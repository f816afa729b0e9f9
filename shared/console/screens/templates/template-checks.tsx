import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { MailFinding } from "pennymail";
import { queries } from "../../data/queries.ts";
import { formatNumber } from "../../format.ts";
import { ofService, t } from "../../language/translate.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { type ShownDraft, variablesOf } from "./draft.ts";

const tones: Record<MailFinding["severity"], "bad" | "warn" | "info"> = {
  error: "bad",
  warning: "warn",
  hint: "info",
};

/** What recipients would see broken: size, links, images, words and fields. */
export function TemplateChecks({ template, draft, contact }: ShownDraft) {
  const { subject, html, text } = draft;
  const variables = variablesOf(contact);
  const { data, error } = useQuery(
    queries.templateCheck(template.id, { subject, html, text, variables }),
  );
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={160} />;
  return (
    <div className="stack">
      <p role="status">
        {data.findings.length === 0 ? t("Nothing was found.") : `${summaryOf(data.findings)}.`}{" "}
        <span className="quiet">
          {t("The HTML has {number} KB. Gmail cuts off after 102 KB.", {
            number: formatNumber(Math.ceil(data.htmlBytes / 1024)),
          })}
        </span>
      </p>
      <ul className="findings">
        {data.findings.map(({ code, severity, message, examples }) => (
          <li key={code}>
            <StatusMark status={severity} tone={tones[severity]} />
            <p>{ofService(message)}</p>
            {examples.length > 0 && <small>{examples.join(" · ")}</small>}
          </li>
        ))}
      </ul>
    </div>
  );
}

const countTexts: Record<MailFinding["severity"], (count: number) => string> = {
  error: (count) => t("{count, plural, one {# error} other {# errors}}", { count }),
  warning: (count) => t("{count, plural, one {# warning} other {# warnings}}", { count }),
  hint: (count) => t("{count, plural, one {# hint} other {# hints}}", { count }),
};

const summaryOf = (findings: MailFinding[]): string =>
  (["error", "warning", "hint"] as const)
    .map((severity) => {
      const count = findings.filter((one) => one.severity === severity).length;
      return [severity, count] as const;
    })
    .filter(([, count]) => count)
    .map(([severity, count]) => countTexts[severity](count))
    .join(", ");
