import { Button, NumberInput, Skeleton, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { CreateSiteRequest, Site } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormDialog } from "../../parts/form.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { useTextField } from "../../parts/text-field.ts";

const refreshes = ["sites", "organization"];

/** A site is a brand with its own audience, forms and emails. */
export function Sites() {
  const { data, error } = useQuery(queries.sites());
  const mayWrite = useRight("organization:write");
  const [edited, setEdited] = useState<Site | "new">();
  const [deleted, setDeleted] = useState<Site>();
  const remove = useChange({
    run: ({ id }: Site) => api.sites.delete(id),
    refreshes: [...refreshes, "jobs"],
    onDone: () => setDeleted(undefined),
  });
  const columns: PlainColumn<Site>[] = [
    {
      label: "Site",
      render: ({ name, domain }) => (
        <>
          {name}
          {domain && <small>{domain}</small>}
        </>
      ),
    },
    {
      label: "Frequency cap",
      isWide: true,
      render: ({ sendFrequencyCapDays: days }) =>
        days ? `One email in ${days} ${days === 1 ? "day" : "days"}` : "None",
    },
    {
      label: "Actions",
      isAction: true,
      render: (site) =>
        mayWrite && (
          <div className="buttons">
            <Button variant="default" size="compact-xs" onClick={() => setEdited(site)}>
              Edit
            </Button>
            <Button variant="default" size="compact-xs" onClick={() => setDeleted(site)}>
              Delete
            </Button>
          </div>
        ),
    },
  ];
  return (
    <>
      <ErrorNote error={error} />
      <Card title="Sites">
        <p className="quiet">A site is a brand with its own audience, forms and emails.</p>
        {data ? (
          <PlainTable label="Sites" columns={columns} rows={data.sites} keyOf={({ id }) => id} />
        ) : (
          <Skeleton h={120} />
        )}
        {mayWrite && (
          <div className="buttons">
            <Button variant="default" onClick={() => setEdited("new")}>
              Add site
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
      <ConfirmDialog
        title="Delete site"
        action={`Delete ${deleted?.name ?? ""}`}
        isDangerous
        target={deleted}
        change={remove}
        typed={deleted?.name}
        onClose={() => setDeleted(undefined)}
      >
        All contacts, templates, sequences, campaigns, forms and statistics of {deleted?.name} are
        deleted, and its scheduled email is cancelled. This cannot be undone.
      </ConfirmDialog>
    </>
  );
}

interface SiteDialogProps {
  /** Undefined for a new site. */
  site: Site | undefined;
  onClose(): void;
}

function SiteDialog({ site, onClose }: SiteDialogProps) {
  const name = useTextField(site?.name);
  const domain = useTextField(site?.domain ?? "");
  const address = useTextField(site?.physicalAddress ?? "");
  const company = useTextField(site?.companyName ?? "");
  const autoBcc = useTextField(site?.autoBcc ?? "");
  const [capDays, setCapDays] = useState<number | "">(site?.sendFrequencyCapDays ?? "");
  const [bounces, setBounces] = useState<number | "">(site?.softBounceLimit ?? "");
  const saving = useChange({
    run: () => {
      const request: CreateSiteRequest = {
        name: name.value,
        domain: domain.value || null,
        companyName: company.value || null,
        physicalAddress: address.value || null,
        autoBcc: autoBcc.value || null,
        sendFrequencyCapDays: capDays === "" ? null : capDays,
        softBounceLimit: bounces === "" ? null : bounces,
      };
      return site ? api.sites.update(site.id, request) : api.sites.create(request);
    },
    refreshes,
    onDone: onClose,
  });
  return (
    <FormDialog
      title={site ? `Edit ${site.name}` : "Add site"}
      action="Save site"
      submission={saving}
      opened
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus {...name.input} />
      <TextInput label="Website (optional)" placeholder="shop.example" {...domain.input} />
      <TextInput
        label="Company (optional)"
        description="In the footer of marketing email. Without it, the name of the site."
        maxLength={200}
        {...company.input}
      />
      <Textarea
        label="Postal address (optional)"
        description="In the footer of marketing email. Without it, that of the organization."
        autosize
        minRows={2}
        {...address.input}
      />
      <NumberInput
        label="Days between marketing emails to a contact (optional)"
        min={1}
        allowDecimal={false}
        value={capDays}
        onChange={(value) => setCapDays(value === "" ? "" : Number(value))}
      />
      <NumberInput
        label="Soft bounces in a row that suppress an address (optional)"
        description="A full mailbox is a soft bounce. Without a number, the first one suppresses."
        min={1}
        max={10}
        allowDecimal={false}
        value={bounces}
        onChange={(value) => setBounces(value === "" ? "" : Number(value))}
      />
      <TextInput label="Copy of every single email to (optional)" type="email" {...autoBcc.input} />
    </FormDialog>
  );
}
