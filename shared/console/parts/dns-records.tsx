import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { DnsRecord } from "pennymail";
import { queries } from "../data/queries.ts";
import { inSentence, t } from "../language/translate.ts";
import { tNodes } from "../language/translate-nodes.ts";
import { CopyAction } from "./copy-action.tsx";
import { ErrorNote } from "./error-note.tsx";
import { StatusMark } from "./status-mark.tsx";

const purposes: Record<DnsRecord["purpose"], string> = {
  ownership: t("Ownership"),
  dkim: t("Signature (DKIM)"),
  spf: t("Allowed senders (SPF)"),
  dmarc: t("Policy (DMARC)"),
  return_path: t("Bounce address"),
  verification: t("Ownership at the provider"),
  tracking: t("Links with your domain"),
};
const tones = { found: "good", pending: "warn", wrong: "bad" } as const;

/** The DNS records of a domain, read again every 10 seconds until they are there. */
export function DnsRecords({ domainId }: { domainId: number }) {
  const { data, error } = useQuery(queries.domain(domainId));
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={160} />;
  return (
    <div className="stack">
      <p>
        {tNodes(
          "Add these records where the DNS of {domain} is managed. This page looks " +
            "for them every 10 seconds; DNS itself can take an hour.",
          { domain: <b>{data.name}</b> },
        )}
      </p>
      <ul className="dns">
        {data.dnsRecords.map((record) => (
          <DnsRow key={`${record.purpose} ${record.type} ${record.name}`} record={record} />
        ))}
      </ul>
    </div>
  );
}

function DnsRow({ record }: { record: DnsRecord }) {
  const { purpose, type, name, value, required, state, found, note, link } = record;
  return (
    <li>
      <p className="dns-head">
        <b>{purposes[purpose]}</b>
        <StatusMark status={state} tone={tones[state]} />
        {!required && <small>{t("Improves delivery")}</small>}
      </p>
      <dl className="dns-fields">
        <dt>{t("Type")}</dt>
        <dd>{type}</dd>
        {name && <CopyField label={t("Name")} value={name} />}
        {value && <CopyField label={t("Value")} value={value} />}
        {state === "wrong" && found.length > 0 && (
          <>
            <dt>{t("Found")}</dt>
            <dd className="mono">{found.join(", ")}</dd>
          </>
        )}
      </dl>
      {note && <p className="quiet">{note}</p>}
      {link && (
        <a href={link} target="_blank" rel="noreferrer">
          {t("Show it at the provider")}
        </a>
      )}
    </li>
  );
}

function CopyField({ label, value }: { label: string; value: string }) {
  return (
    <>
      <dt>{label}</dt>
      <dd className="mono">
        {value}{" "}
        <CopyAction value={value} label={t("Copy the {label}", { label: inSentence(label) })} />
      </dd>
    </>
  );
}
