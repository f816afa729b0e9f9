import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { MailFinding } from "pennymail";
import { queries } from "../../data/queries.ts";
import { formatNumber } from "../../format.ts";
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
        {data.findings.length === 0 ? "Nothing was found." : `${summaryOf(data.findings)}.`}{" "}
        <span className="quiet">
          The HTML has {formatNumber(Math.ceil(data.htmlBytes / 1024))} KB. Gmail cuts off after 102
          KB.
        </span>
      </p>
      <ul className="findings">
        {data.findings.map(({ code, severity, message, examples }) => (
          <li key={code}>
            <StatusMark status={severity} tone={tones[severity]} />
            <p>{message}</p>
            {examples.length > 0 && <small>{examples.join(" · ")}</small>}
          </li>
        ))}
      </ul>
    </div>
  );
}

const summaryOf = (findings: MailFinding[]): string =>
  (["error", "warning", "hint"] as const)
    .map((severity) => [severity, findings.filter((one) => one.severity === severity).length])
    .filter(([, count]) => count)
    .map(([severity, count]) => `${count} ${severity}${count === 1 ? "" : "s"}`)
    .join(", ");
