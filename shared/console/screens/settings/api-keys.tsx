import { Button, Checkbox, Select, Skeleton, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ApiKey } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useRights, useSite } from "../../data/session.ts";
import { capitalize, formatAgo } from "../../format.ts";
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

const sendScopes = ["send:write", "sends:read"];

/** The rights that the user has and can give to a key. */
function useGrantableRights(): string[] {
  const has = useRights();
  const roles = useQuery(queries.roles()).data?.roles ?? [];
  const named = new Set(roles.flatMap(({ scopes }) => scopes));
  return [...named].filter((right) => right !== "*" && !right.startsWith("login:") && has(right));
}

const isReadRight = (right: string): boolean => right.endsWith(":read");

function describeScopes(scopes: readonly string[]): string {
  if (scopes.includes("*")) return "Everything";
  if (scopes.join() === sendScopes.join()) return "Send only";
  if (scopes.length > 3 && scopes.every(isReadRight)) return "Read only";
  return scopes.length > 6 ? `${scopes.length} rights` : scopes.join(", ");
}

/** "Audience: read" */
const labelOf = (right: string): string => {
  const [area = "", action = ""] = right.split(":");
  return `${capitalize(area)}: ${action}`;
};

const presets = [
  { value: "all", label: "Everything that you may do" },
  { value: "send", label: "Send email, and read what became of it" },
  { value: "read", label: "Read, and change nothing" },
  { value: "custom", label: "Chosen rights" },
];

function KeyTable({ keys, mayWrite }: { keys: ApiKey[]; mayWrite: boolean }) {
  const { timezone } = useMe().organization;
  const { sites } = useSite();
  const siteName = (siteId: number) =>
    sites.find(({ id }) => id === siteId)?.name ?? `Site ${siteId}`;
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
      label: "Access",
      isWide: true,
      render: ({ scopes, siteId }) => (
        <span title={scopes.join(", ")}>
          {describeScopes(scopes)}
          <small>{siteId === null ? "All sites" : siteName(siteId)}</small>
        </span>
      ),
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
        typed={revoked?.name}
        onClose={() => setRevoked(undefined)}
      >
        Programs that use this key are refused within 5 seconds. This cannot be undone.
      </ConfirmDialog>
    </>
  );
}

function NewKey() {
  const name = useTextField();
  const { sites } = useSite();
  const rights = useGrantableRights();
  const [preset, setPreset] = useState("all");
  const [chosen, setChosen] = useState<string[]>([]);
  const [siteId, setSiteId] = useState<string | null>(null);
  const scopesByPreset: Record<string, string[]> = {
    all: ["*"],
    send: sendScopes,
    read: rights.filter(isReadRight),
    custom: chosen,
  };
  const scopes = scopesByPreset[preset]!;
  const creating = useChange({
    run: () =>
      api.apiKeys.create({ name: name.value, scopes, siteId: siteId ? Number(siteId) : null }),
    refreshes: ["apiKeys"],
    onDone: () => name.set(""),
  });
  return (
    <FormCard
      title="New API key"
      action="Create key"
      submission={creating}
      isDisabled={scopes.length === 0}
    >
      <TextInput className="narrow" label="Name" required {...name.input} />
      <Select
        className="narrow"
        label="What the key may do"
        allowDeselect={false}
        data={presets}
        value={preset}
        onChange={(value) => setPreset(value ?? "all")}
      />
      {preset === "custom" && (
        <Checkbox.Group label="Rights" value={chosen} onChange={setChosen}>
          <div className="choices">
            {rights.map((right) => (
              <Checkbox key={right} value={right} label={labelOf(right)} />
            ))}
          </div>
        </Checkbox.Group>
      )}
      <Select
        className="narrow"
        label="Site (optional)"
        description="The only site that the key can access."
        placeholder="All sites"
        clearable
        clearButtonProps={{ "aria-label": "All sites" }}
        data={sites.map(({ id, name: siteName }) => ({ value: String(id), label: siteName }))}
        value={siteId}
        onChange={setSiteId}
      />
      {creating.data && (
        <p className="answer" role="status">
          <span>Copy the key now. It is not shown again.</span>
          <span className="mono breaks">
            {creating.data.key} <CopyAction value={creating.data.key ?? ""} label="Copy the key" />
          </span>
        </p>
      )}
    </FormCard>
  );
}
