import { Button, Skeleton, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ApiKey } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatAgo } from "../../format.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { CopyAction } from "../../parts/copy-action.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormCard } from "../../parts/form.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { useTextField } from "../../parts/text-field.ts";

export function ApiKeys() {
  const { data, error } = useQuery(queries.apiKeys());
  const mayWrite = useRight("credentials:write");
  return (
    <>
      <ErrorNote error={error} />
      <Card title="API keys">
        {data ? <KeyTable keys={data.apiKeys} mayWrite={mayWrite} /> : <Skeleton h={120} />}
      </Card>
      {mayWrite && <NewKey />}
    </>
  );
}

function KeyTable({ keys, mayWrite }: { keys: ApiKey[]; mayWrite: boolean }) {
  const { timezone } = useMe().organization;
  const [revoked, setRevoked] = useState<ApiKey>();
  const revoke = useChange({
    run: ({ id }: ApiKey) => api.apiKeys.delete(id),
    refreshes: ["apiKeys"],
    onDone: () => setRevoked(undefined),
  });
  if (keys.length === 0) return <p className="quiet">Programs need a key to call the API.</p>;
  const columns: PlainColumn<ApiKey>[] = [
    {
      label: "Key",
      render: ({ name, prefix }) => (
        <>
          {name}
          <small className="mono">{prefix}…</small>
        </>
      ),
    },
    {
      label: "Scopes",
      isWide: true,
      render: ({ scopes }) => scopes.join(", ").replace(/^\*$/, "Everything"),
    },
    {
      label: "Last used",
      render: ({ lastUsedAt }) => (lastUsedAt ? formatAgo(lastUsedAt, timezone) : "Never"),
    },
    {
      label: "Actions",
      isAction: true,
      render: (key) =>
        mayWrite && (
          <Button variant="default" size="compact-xs" onClick={() => setRevoked(key)}>
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <>
      <PlainTable label="API keys" columns={columns} rows={keys} keyOf={({ id }) => id} />
      <ConfirmDialog
        title="Revoke API key"
        action={`Revoke ${revoked?.name ?? ""}`}
        isDangerous
        target={revoked}
        change={revoke}
        onClose={() => setRevoked(undefined)}
      >
        Programs that use this key are refused within 5 seconds. This cannot be undone.
      </ConfirmDialog>
    </>
  );
}

function NewKey() {
  const name = useTextField();
  const creating = useChange({
    run: () => api.apiKeys.create({ name: name.value }),
    refreshes: ["apiKeys"],
    onDone: () => name.set(""),
  });
  return (
    <FormCard title="New API key" action="Create key" submission={creating}>
      <TextInput
        className="narrow"
        label="Name"
        description="The key may do everything that you may do."
        required
        {...name.input}
      />
      {creating.data && (
        <p className="answer" role="status">
          <span>Copy the key now. It is not shown again.</span>
          <span className="mono">
            {creating.data.key} <CopyAction value={creating.data.key ?? ""} label="Copy the key" />
          </span>
        </p>
      )}
    </FormCard>
  );
}
