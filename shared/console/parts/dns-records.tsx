import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { DnsRecord } from "pennymail";
import { useProviderNames } from "../data/provider-names.ts";
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
  dmarc_reports: t("Consent to DMARC reports"),
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

export function DnsRow({ record }: { record: DnsRecord }) {
  const { purpose, provider, type, name, value, required, state, found, note, link } = record;
  const providerName = useProviderNames();
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
      {note && <p className="quiet">{noteOf(record, provider ? providerName(provider) : "")}</p>}
      {link && (
        <a href={link} target="_blank" rel="noreferrer">
          {t("Show it at the provider")}
        </a>
      )}
    </li>
  );
}

/** Why the record is there, and where the reader finds what is not known here. */
function noteOf({ purpose, name, value }: DnsRecord, provider: string): string {
  if (purpose === "ownership")
    return t("Proves that the domain belongs to your organization. Keep this record.");
  if (purpose === "verification")
    return t("Proves to {provider} that the domain is yours. Keep this record.", { provider });
  if (purpose === "tracking") return t("Lets tracked links and opens use your domain.");
  if (purpose === "return_path")
    return name
      ? t("Receives bounces, and aligns SPF with your domain.")
      : t("{provider} shows it, if you use a bounce address of your own.", { provider });
  if (purpose === "dkim") {
    if (!provider) return t("A DKIM key, or a CNAME to one.");
    return name
      ? t("{provider} shows its value.", { provider })
      : t("{provider} shows its name and its value.", { provider });
  }
  if (purpose === "spf")
    return value
      ? t("A domain has one SPF record. If there is one, add these hosts to it.")
      : t("Your providers need nothing here.");
  if (purpose === "dmarc_reports")
    return t(
      "Your DMARC reports go to another domain, which must agree. Add this record to the DNS of " +
        "that domain, else mailbox providers send no reports.",
    );
  return t("A start. When all your email passes, change none to quarantine or reject.");
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
