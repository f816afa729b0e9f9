import { Button, Skeleton, TagsInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Domain } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatAgo } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { DnsRecords } from "../../parts/dns-records.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Form, FormCard } from "../../parts/form.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { DmarcSection, DomainAdvice, TlsSection } from "./domain-reports.tsx";
import { GmailSection } from "./gmail-figures.tsx";

const refreshes = ["domains", "organization"];

/** The domains that the organization proved to be its own. */
export function Domains() {
  const { data, error } = useQuery(queries.domains());
  const mayWrite = useRight("credentials:write");
  return (
    <>
      <ErrorNote error={error} />
      {data && data.domains.length > 0 ? (
        <DomainTable domains={data.domains} mayWrite={mayWrite} />
      ) : (
        <Card title={t("Domains")}>
          {data ? (
            <p className="quiet">
              {t("Email from a domain with these records reaches more inboxes.")}
            </p>
          ) : (
            <Skeleton h={120} />
          )}
        </Card>
      )}
      {mayWrite && <NewDomain />}
      <Card title={t("Google Postmaster Tools")}>
        <p>
          <Link to="/settings/{-$section}" params={{ section: "postmaster" }}>
            {t("What Gmail counts about your domains")}
          </Link>
        </p>
      </Card>
    </>
  );
}

const tones = { pending: "warn", verified: "good", lost: "bad", failed: "bad" } as const;

function DomainTable({ domains, mayWrite }: { domains: Domain[]; mayWrite: boolean }) {
  const { timezone } = useMe().organization;
  const [openId, setOpenId] = useState(domains.find(({ status }) => status !== "verified")?.id);
  const [deleted, setDeleted] = useState<Domain>();
  const remove = useChange({
    run: ({ id }: Domain) => api.domains.delete(id),
    refreshes,
    onDone: () => setDeleted(undefined),
  });
  const open = domains.find(({ id }) => id === openId);
  const columns: PlainColumn<Domain>[] = [
    {
      label: t("Domain"),
      render: ({ name, statusReason }) => (
        <>
          {name}
          {statusReason && <small>{statusReason}</small>}
        </>
      ),
    },
    {
      label: t("Status"),
      render: ({ status }) => <StatusMark status={status} tone={tones[status]} />,
    },
    {
      label: t("Checked"),
      isWide: true,
      render: ({ lastCheckedAt }) =>
        lastCheckedAt ? formatAgo(lastCheckedAt, timezone) : t("Never"),
    },
    {
      label: t("Actions"),
      isAction: true,
      render: (domain) => (
        <div className="buttons">
          <Button
            variant="default"
            size="compact-xs"
            aria-expanded={domain.id === openId}
            onClick={() => setOpenId(domain.id === openId ? undefined : domain.id)}
          >
            {domain.status === "verified" ? t("Records and reports") : t("DNS records")}
          </Button>
          {mayWrite && (
            <Button variant="default" size="compact-xs" onClick={() => setDeleted(domain)}>
              {t("Delete")}
            </Button>
          )}
        </div>
      ),
    },
  ];
  return (
    <>
      <Card title={t("Domains")}>
        <PlainTable label={t("Domains")} columns={columns} rows={domains} keyOf={({ id }) => id} />
        {open && <DnsRecords domainId={open.id} />}
        {open && mayWrite && <Selectors key={open.id} domain={open} />}
      </Card>
      {open && <DomainAdvice domainId={open.id} />}
      {open && <DmarcSection domainId={open.id} />}
      {open && <TlsSection domainId={open.id} />}
      {open && <GmailSection domainId={open.id} />}
      <ConfirmDialog
        title={t("Delete domain")}
        action={t("Delete {name}", { name: deleted?.name ?? "" })}
        isDangerous
        target={deleted}
        change={remove}
        typed={deleted?.name}
        onClose={() => setDeleted(undefined)}
      >
        {t(
          "Another organization can then prove that it owns {name}. To get it " +
            "back, you publish new DNS records.",
          { name: deleted?.name },
        )}
      </ConfirmDialog>
    </>
  );
}

/** The provider chooses the names of its signature records, so only a person can tell them. */
function Selectors({ domain }: { domain: Domain }) {
  const [selectors, setSelectors] = useState(domain.dkimSelectors);
  const saving = useChange({
    run: () => api.domains.update(domain.id, { dkimSelectors: selectors }),
    refreshes,
  });
  return (
    <Form action={t("Check these signatures")} submission={saving} className="stack narrow">
      <TagsInput
        label={t("Names of the provider's signature records (DKIM selectors)")}
        description={t("The part before ._domainkey. Press Enter after each.")}
        value={selectors}
        onChange={setSelectors}
      />
    </Form>
  );
}

function NewDomain() {
  const name = useTextField();
  const adding = useChange({
    run: () => api.domains.create({ name: name.value }),
    refreshes,
    onDone: () => name.set(""),
  });
  return (
    <FormCard title={t("New domain")} action={t("Show DNS records")} submission={adding}>
      <TextInput
        className="narrow"
        label={t("Domain of your senders")}
        placeholder="shop.example"
        required
        data-field="name"
        {...name.input}
      />
    </FormCard>
  );
}
