import { Button, Checkbox, NumberInput, Skeleton, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { CreateSiteRequest, Site, TrackingDomainState } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { ofService, t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { DnsRow } from "../../parts/dns-records.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormDialog } from "../../parts/form.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { RecordSelect } from "../../parts/record-select.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { PreferencePageDialog } from "./preference-page.tsx";

const refreshes = ["sites", "organization"];

/** A site is a brand with its own audience, forms and emails. */
export function Sites() {
  const { data, error } = useQuery(queries.sites());
  const mayWrite = useRight("organization:write");
  const [edited, setEdited] = useState<Site | "new">();
  const [deleted, setDeleted] = useState<Site>();
  const [paged, setPaged] = useState<Site>();
  const remove = useChange({
    run: ({ id }: Site) => api.sites.delete(id),
    refreshes: [...refreshes, "jobs"],
    onDone: () => setDeleted(undefined),
  });
  const columns: PlainColumn<Site>[] = [
    {
      label: t("Site"),
      render: ({ name, domain }) => (
        <>
          {name}
          {domain && <small>{domain}</small>}
        </>
      ),
    },
    {
      label: t("Frequency cap"),
      isWide: true,
      render: ({ sendFrequencyCapDays: days }) =>
        days ? t("One email in {days, plural, one {# day} other {# days}}", { days }) : t("None"),
    },
    {
      label: t("Actions"),
      isAction: true,
      render: (site) =>
        mayWrite && (
          <div className="buttons">
            <Button variant="default" size="compact-xs" onClick={() => setEdited(site)}>
              {t("Edit")}
            </Button>
            <Button variant="default" size="compact-xs" onClick={() => setPaged(site)}>
              {t("Preference page")}
            </Button>
            <Button variant="default" size="compact-xs" onClick={() => setDeleted(site)}>
              {t("Delete")}
            </Button>
          </div>
        ),
    },
  ];
  return (
    <>
      <ErrorNote error={error} />
      <Card title={t("Sites")}>
        <p className="quiet">{t("A site is a brand with its own audience, forms and emails.")}</p>
        {data ? (
          <PlainTable
            label={t("Sites")}
            columns={columns}
            rows={data.sites}
            keyOf={({ id }) => id}
          />
        ) : (
          <Skeleton h={120} />
        )}
        {mayWrite && (
          <div className="buttons">
            <Button variant="default" onClick={() => setEdited("new")}>
              {t("Add site")}
            </Button>
          </div>
        )}
      </Card>
      {edited && (
        <SiteDialog
          key={edited === "new" ? "new" : edited.id}
          site={edited === "new" ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      {paged && (
        <PreferencePageDialog key={paged.id} site={paged} onClose={() => setPaged(undefined)} />
      )}
      <ConfirmDialog
        title={t("Delete site")}
        action={t("Delete {name}", { name: deleted?.name ?? "" })}
        isDangerous
        target={deleted}
        change={remove}
        typed={deleted?.name}
        onClose={() => setDeleted(undefined)}
      >
        {t(
          "All contacts, templates, sequences, campaigns, forms and statistics " +
            "of {name} are deleted, and its scheduled email is cancelled. This " +
            "cannot be undone.",
          { name: deleted?.name },
        )}
      </ConfirmDialog>
    </>
  );
}

interface SiteDialogProps {
  /** Undefined for a new site. */
  site: Site | undefined;
  onClose(): void;
}

/** The API suppresses at the first one, as it always did. */
const usualSoftBounceLimit = 3;

function SiteDialog({ site, onClose }: SiteDialogProps) {
  const name = useTextField(site?.name);
  const domain = useTextField(site?.domain ?? "");
  const address = useTextField(site?.physicalAddress ?? "");
  const company = useTextField(site?.companyName ?? "");
  const replyTo = useTextField(site?.replyTo ?? "");
  const autoBcc = useTextField(site?.autoBcc ?? "");
  const [capDays, setCapDays] = useState<number | "">(site?.sendFrequencyCapDays ?? "");
  const [reminder, setReminder] = useState<number | "">(site?.confirmationReminderHours ?? "");
  const tracking = useTextField(site?.trackingDomain ?? "");
  const [hasArchive, setArchive] = useState(site?.archive ?? false);
  const [templateId, setTemplateId] = useState(site?.confirmationTemplateId ?? null);
  const [bounces, setBounces] = useState<number | "">(
    site ? (site.softBounceLimit ?? "") : usualSoftBounceLimit,
  );
  const saving = useChange({
    run: () => {
      const request: CreateSiteRequest = {
        name: name.value,
        domain: domain.value || null,
        companyName: company.value || null,
        physicalAddress: address.value || null,
        replyTo: replyTo.value || null,
        autoBcc: autoBcc.value || null,
        sendFrequencyCapDays: capDays === "" ? null : capDays,
        softBounceLimit: bounces === "" ? null : bounces,
        confirmationReminderHours: reminder === "" ? null : reminder,
        archive: hasArchive,
      };
      return site
        ? api.sites.update(site.id, {
            ...request,
            confirmationTemplateId: templateId,
            trackingDomain: tracking.value || null,
          })
        : api.sites.create(request);
    },
    refreshes,
    onDone: onClose,
  });
  return (
    <FormDialog
      title={site ? t("Edit {name}", { name: site.name }) : t("Add site")}
      action={t("Save site")}
      submission={saving}
      opened
      onClose={onClose}
    >
      <TextInput label={t("Name")} required data-autofocus data-field="name" {...name.input} />
      <TextInput
        label={t("Website (optional)")}
        placeholder="shop.example"
        data-field="domain"
        {...domain.input}
      />
      <TextInput
        label={t("Company (optional)")}
        description={t("In the footer of marketing email. Without it, the name of the site.")}
        maxLength={200}
        data-field="companyName"
        {...company.input}
      />
      <Textarea
        label={t("Postal address (optional)")}
        description={t("In the footer of marketing email. Without it, that of the organization.")}
        autosize
        minRows={2}
        data-field="physicalAddress"
        {...address.input}
      />
      <NumberInput
        label={t("Days between marketing emails to a contact (optional)")}
        min={1}
        allowDecimal={false}
        value={capDays}
        onChange={(value) => setCapDays(value === "" ? "" : Number(value))}
      />
      <NumberInput
        label={t("Soft bounces in a row that suppress an address (optional)")}
        description={t(
          "A full mailbox is a soft bounce. It stops marketing email until an email is delivered " +
            "or 30 days are over. Without a number, the first one suppresses.",
        )}
        min={1}
        max={10}
        allowDecimal={false}
        value={bounces}
        onChange={(value) => setBounces(value === "" ? "" : Number(value))}
      />
      <TextInput
        label={t("Replies to (optional)")}
        description={t("Answers go to this address. Without it, they go to that of the sender.")}
        type="email"
        data-field="replyTo"
        {...replyTo.input}
      />
      <TextInput
        label={t("Copy of every single email to (optional)")}
        type="email"
        data-field="autoBcc"
        {...autoBcc.input}
      />
      {site && (
        <RecordSelect
          group="templates"
          siteId={site.id}
          label={t("Email that asks to confirm (optional)")}
          description={t("A template with the link {{ confirmUrl }}. Without one: our text.")}
          clearable
          clearButtonProps={{ "aria-label": t("Use our text") }}
          value={templateId}
          onChange={setTemplateId}
        />
      )}
      <NumberInput
        label={t("Hours until a reminder to confirm (optional)")}
        description={t("It is sent once. Without a number, there is none.")}
        min={1}
        max={720}
        allowDecimal={false}
        value={reminder}
        onChange={(value) => setReminder(value === "" ? "" : Number(value))}
      />
      {site && (
        <TextInput
          label={t("Domain of tracked links (optional)")}
          description={t("Your host name in links that Pennymail tracks, below a verified domain.")}
          placeholder="click.shop.example"
          data-field="trackingDomain"
          {...tracking.input}
        />
      )}
      {site?.trackingDomainState && <TrackingRecord state={site.trackingDomainState} />}
      <Checkbox
        label={t("Public archive")}
        description={t("A page with the campaigns that you show there, and an RSS feed.")}
        checked={hasArchive}
        onChange={({ currentTarget: { checked } }) => setArchive(checked)}
      />
      {site?.archive && (
        <a href={site.archiveUrl} target="_blank" rel="noreferrer">
          {site.archiveUrl}
        </a>
      )}
    </FormDialog>
  );
}

const recordStates = { pending: "pending", verified: "found", failing: "wrong" } as const;

/** The DNS record of the tracking domain, and why new email does not use the domain. */
function TrackingRecord({ state }: { state: TrackingDomainState }) {
  const { status, reason, record } = state;
  return (
    <>
      <ul className="dns">
        <DnsRow
          record={{
            ...record,
            purpose: "tracking",
            provider: null,
            required: true,
            state: recordStates[status],
            found: [],
            note: null,
            link: null,
          }}
        />
      </ul>
      {reason && <p className="quiet">{ofService(reason)}</p>}
    </>
  );
}
