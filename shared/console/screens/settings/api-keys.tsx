import { Button, Checkbox, Select, Skeleton, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ApiKey } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useRights, useSite } from "../../data/session.ts";
import { formatAgo, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { CopyAction } from "../../parts/copy-action.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormCard } from "../../parts/form.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";

export function ApiKeys() {
  const { data, error } = useQuery(queries.apiKeys());
  const mayWrite = useRight("credentials:write");
  return (
    <>
      <ErrorNote error={error} />
      <Card title={t("API keys")}>
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
  if (scopes.includes("*")) return t("Everything");
  if (scopes.join() === sendScopes.join()) return t("Send only");
  if (scopes.length > 3 && scopes.every(isReadRight)) return t("Read only");
  return scopes.length > 6 ? t("{count} rights", { count: scopes.length }) : scopes.join(", ");
}

const areaNames: Record<string, string> = {
  account: t("Account"),
  audience: t("Audience"),
  audit: t("Audit"),
  content: t("Content"),
  credentials: t("Credentials"),
  login: t("Login"),
  marketing: t("Marketing"),
  organization: t("Organization"),
  payment: t("Payment"),
  sending: t("Sending"),
  statistics: t("Statistics"),
  team: t("Team"),
};
const actionNames: Record<string, string> = {
  content: t("content"),
  export: t("export"),
  notice: t("notice"),
  read: t("read"),
  write: t("write"),
};

/** "Audience: read" */
const labelOf = (right: string): string => {
  const [area = "", action = ""] = right.split(":");
  return `${areaNames[area] ?? area}: ${actionNames[action] ?? action}`;
};

const presets = [
  { value: "all", label: t("Everything that you may do") },
  { value: "send", label: t("Send email, and read what became of it") },
  { value: "read", label: t("Read, and change nothing") },
  { value: "custom", label: t("Chosen rights") },
];

const periods = [
  { value: "never", label: t("Never") },
  { value: "30", label: t("In 30 days") },
  { value: "90", label: t("In 90 days") },
  { value: "365", label: t("In a year") },
];
const dayMs = 24 * 3600 * 1000;
const endIn = (days: string): string | null =>
  days === "never" ? null : new Date(Date.now() + Number(days) * dayMs).toISOString();

function KeyTable({ keys, mayWrite }: { keys: ApiKey[]; mayWrite: boolean }) {
  const { timezone } = useMe().organization;
  const { sites } = useSite();
  const siteName = (siteId: number) =>
    sites.find(({ id }) => id === siteId)?.name ?? t("Site {siteId}", { siteId });
  const [revoked, setRevoked] = useState<ApiKey>();
  const revoke = useChange({
    run: ({ id }: ApiKey) => api.apiKeys.delete(id),
    refreshes: ["apiKeys"],
    onDone: () => setRevoked(undefined),
  });
  if (keys.length === 0)
    return <p className="quiet">{t("Programs need a key to call the API.")}</p>;
  const columns: PlainColumn<ApiKey>[] = [
    {
      label: t("Key"),
      render: ({ name, prefix }) => (
        <>
          {name}
          <small className="mono">{prefix}…</small>
        </>
      ),
    },
    {
      label: t("Access"),
      isWide: true,
      render: ({ scopes, siteId }) => (
        <span title={scopes.join(", ")}>
          {describeScopes(scopes)}
          <small>{siteId === null ? t("All sites") : siteName(siteId)}</small>
        </span>
      ),
    },
    {
      label: t("Expires"),
      isWide: true,
      render: ({ expiresAt }) => {
        if (expiresAt === null) return t("Never");
        return expiresAt <= new Date().toISOString() ? (
          <StatusMark status="expired" tone="bad" />
        ) : (
          formatTime(expiresAt, timezone)
        );
      },
    },
    {
      label: t("Last used"),
      render: ({ lastUsedAt }) => (lastUsedAt ? formatAgo(lastUsedAt, timezone) : t("Never")),
    },
    {
      label: t("Actions"),
      isAction: true,
      render: (key) =>
        mayWrite && (
          <Button variant="default" size="compact-xs" onClick={() => setRevoked(key)}>
            {t("Revoke")}
          </Button>
        ),
    },
  ];
  return (
    <>
      <PlainTable label={t("API keys")} columns={columns} rows={keys} keyOf={({ id }) => id} />
      <ConfirmDialog
        title={t("Revoke API key")}
        action={t("Revoke {name}", { name: revoked?.name ?? "" })}
        isDangerous
        target={revoked}
        change={revoke}
        typed={revoked?.name}
        onClose={() => setRevoked(undefined)}
      >
        {t("Programs that use this key are refused within 5 seconds. This cannot be undone.")}
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
  const [days, setDays] = useState("never");
  const scopesByPreset: Record<string, string[]> = {
    all: ["*"],
    send: sendScopes,
    read: rights.filter(isReadRight),
    custom: chosen,
  };
  const scopes = scopesByPreset[preset]!;
  const creating = useChange({
    run: () =>
      api.apiKeys.create({
        name: name.value,
        scopes,
        siteId: siteId ? Number(siteId) : null,
        expiresAt: endIn(days),
      }),
    refreshes: ["apiKeys"],
    onDone: () => name.set(""),
  });
  return (
    <FormCard
      title={t("New API key")}
      action={t("Create key")}
      submission={creating}
      isDisabled={scopes.length === 0}
    >
      <TextInput className="narrow" label={t("Name")} required data-field="name" {...name.input} />
      <Select
        className="narrow"
        label={t("What the key may do")}
        allowDeselect={false}
        data={presets}
        value={preset}
        onChange={(value) => setPreset(value ?? "all")}
      />
      {preset === "custom" && (
        <Checkbox.Group label={t("Rights")} value={chosen} onChange={setChosen}>
          <div className="choices">
            {rights.map((right) => (
              <Checkbox key={right} value={right} label={labelOf(right)} />
            ))}
          </div>
        </Checkbox.Group>
      )}
      <Select
        className="narrow"
        label={t("Site (optional)")}
        description={t("The only site that the key can access.")}
        placeholder={t("All sites")}
        clearable
        clearButtonProps={{ "aria-label": t("All sites") }}
        data={sites.map(({ id, name: siteName }) => ({ value: String(id), label: siteName }))}
        value={siteId}
        onChange={setSiteId}
      />
      <Select
        className="narrow"
        label={t("Expires")}
        description={t("Programs with an expired key are refused.")}
        allowDeselect={false}
        data={periods}
        value={days}
        onChange={(value) => setDays(value ?? "never")}
      />
      {creating.data && (
        <p className="answer" role="status">
          <span>{t("Copy the key now. It is not shown again.")}</span>
          <span className="mono breaks">
            {creating.data.key}{" "}
            <CopyAction value={creating.data.key ?? ""} label={t("Copy the key")} />
          </span>
        </p>
      )}
    </FormCard>
  );
}
