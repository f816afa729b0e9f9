import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { AdviceCheck, DmarcReports, DmarcSource, TlsReports } from "pennymail";
import { queries } from "../../data/queries.ts";
import { formatDay, formatNumber, formatRate } from "../../format.ts";
import { ofService, t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Figure } from "../../parts/figure.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { adviceNames } from "./advice-names.ts";

const tones = {
  pass: "good",
  warn: "warn",
  fail: "bad",
  absent: "quiet",
  unknown: "quiet",
} as const;

/** What Gmail and Yahoo ask of senders, and the standards that the domain uses. */
export function DomainAdvice({ domainId }: { domainId: number }) {
  const { data, error } = useQuery(queries.domainAdvice(domainId));
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={160} />;
  return (
    <Card title={t("What mailbox providers ask")}>
      <p className="quiet">
        {t(
          "Gmail and Yahoo require the first ones of everybody who sends much. Complaints are " +
            "those of the last 30 days in all your sites.",
        )}
      </p>
      <PlainTable
        label={t("What mailbox providers ask")}
        columns={adviceColumns}
        rows={data.checks}
        keyOf={({ name }) => name}
      />
    </Card>
  );
}

const adviceColumns: PlainColumn<AdviceCheck>[] = [
  {
    label: t("Check"),
    render: ({ name, isRequired }) => (
      <>
        {adviceNames[name]}
        {!isRequired && name !== "volume" && <small>{t("Optional")}</small>}
      </>
    ),
  },
  {
    label: t("Result"),
    render: ({ result }) => <StatusMark status={result} tone={tones[result]} />,
  },
  {
    label: t("Meaning"),
    breaks: true,
    render: ({ message, found }) => (
      <>
        {ofService(message)}
        {found && <small className="mono">{found}</small>}
      </>
    ),
  },
];

/** Mailbox providers report who sent email with the domain in From. */
export function DmarcSection({ domainId }: { domainId: number }) {
  const { data, error } = useQuery(queries.dmarcReports(domainId));
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={160} />;
  return (
    <Card title={t("DMARC reports of the last 30 days")}>
      {data.reports === 0 ? <NoDmarcReports /> : <DmarcFigures report={data} />}
    </Card>
  );
}

const NoDmarcReports = () => (
  <p className="quiet">
    {t(
      "No report has come yet. Let a site receive email under Inbound, and publish the DMARC " +
        "records above, which then name its address.",
    )}
  </p>
);

function DmarcFigures({ report }: { report: DmarcReports }) {
  const { messages, passed, passRate, quarantined, rejected, sources, sourceCount } = report;
  return (
    <>
      <div className="figures">
        <Figure label={t("Emails")} value={formatNumber(messages)}>
          <small>{t("Reports: {number}", { number: formatNumber(report.reports) })}</small>
        </Figure>
        <Figure label={t("Passed DMARC")} value={formatRate(passRate)}>
          <small>{t("{number} emails", { number: formatNumber(passed) })}</small>
        </Figure>
        <Figure label={t("Sent to spam")} value={formatNumber(quarantined)}>
          <small>{t("Because of your policy")}</small>
        </Figure>
        <Figure label={t("Refused")} value={formatNumber(rejected)}>
          <small>{t("Because of your policy")}</small>
        </Figure>
      </div>
      <PlainTable
        label={t("Sources")}
        columns={sourceColumns}
        rows={sources.slice(0, maxRows)}
        keyOf={({ ip }) => ip ?? "others"}
      />
      {sourceCount > maxRows && (
        <p className="quiet">
          {t("{number} more sources are in the API.", {
            number: formatNumber(sourceCount - maxRows),
          })}
        </p>
      )}
    </>
  );
}

const maxRows = 30;

const sourceColumns: PlainColumn<DmarcSource>[] = [
  {
    label: t("Server"),
    breaks: true,
    render: ({ ip, dkimDomain, spfDomain }) => (
      <>
        <span className="mono">{ip ?? t("Others")}</span>
        {(dkimDomain ?? spfDomain) && <small>{dkimDomain ?? spfDomain}</small>}
      </>
    ),
  },
  {
    label: "DMARC",
    render: ({ messages, passed }) => <DmarcMark failed={messages - passed} passed={passed} />,
  },
  { label: t("Emails"), isNumber: true, render: ({ messages }) => formatNumber(messages) },
  { label: t("Pass rate"), isNumber: true, render: ({ passRate }) => formatRate(passRate) },
  {
    label: "DKIM",
    isNumber: true,
    isWide: true,
    render: ({ dkimAligned }) => formatNumber(dkimAligned),
  },
  {
    label: "SPF",
    isNumber: true,
    isWide: true,
    render: ({ spfAligned }) => formatNumber(spfAligned),
  },
  {
    label: t("Reported by"),
    isWide: true,
    breaks: true,
    render: ({ reporters }) => reporters.join(", "),
  },
];

function DmarcMark({ failed, passed }: { failed: number; passed: number }) {
  if (!failed) return <StatusMark status="pass" tone="good" />;
  return passed ? (
    <StatusMark status="warn" tone="warn" />
  ) : (
    <StatusMark status="fail" tone="bad" />
  );
}

/** Connections to the mail servers of the domain that were not encrypted as they should be. */
export function TlsSection({ domainId }: { domainId: number }) {
  const { data } = useQuery(queries.tlsReports(domainId));
  if (!data?.reports) return null;
  return (
    <Card title={t("TLS reports of the last 30 days")}>
      <p>
        {t("{failed} of {all} connections to your mail servers failed.", {
          failed: formatNumber(data.failed),
          all: formatNumber(data.failed + data.successful),
        })}
      </p>
      {data.failures.length > 0 && (
        <PlainTable
          label={t("TLS reports")}
          columns={failureColumns}
          rows={data.failures.slice(0, maxRows)}
          keyOf={({ result, host }) => `${result} ${host}`}
        />
      )}
    </Card>
  );
}

const failureColumns: PlainColumn<TlsReports["failures"][number]>[] = [
  {
    label: t("Reason"),
    breaks: true,
    render: ({ result, host }) => (
      <>
        <span className="mono">{result}</span>
        {host && <small>{host}</small>}
      </>
    ),
  },
  { label: t("Connections"), isNumber: true, render: ({ sessions }) => formatNumber(sessions) },
  { label: t("Last"), render: ({ lastDay }) => formatDay(lastDay) },
  {
    label: t("Reported by"),
    isWide: true,
    breaks: true,
    render: ({ reporters }) => reporters.join(", "),
  },
];
