import { Button, Skeleton, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ApiKey } from "pennymail";
import { type FormEvent, useState } from "react";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatAgo } from "../../format.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { CopyAction } from "../../parts/copy-action.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";

export function ApiKeys() {
  const { data, error } = useQuery(queries.apiKeys());
  const mayWrite = useRight("credentials:write");
  return (
    <div className="stack pad">
      <ErrorNote error={error} />
      <section className="card" aria-labelledby="keys">
        <h2 id="keys">API keys</h2>
        {data ? <KeyTable keys={data.apiKeys} mayWrite={mayWrite} /> : <Skeleton h={120} />}
      </section>
      {mayWrite && <NewKey />}
    </div>
  );
}

function KeyTable({ keys, mayWrite }: { keys: ApiKey[]; mayWrite: boolean }) {
  const { timezone } = useMe().organization;
  const queryClient = useQueryClient();
  const [revoked, setRevoked] = useState<ApiKey>();
  const revoke = useMutation({
    mutationFn: (id: number) => api.apiKeys.delete(id),
    onSuccess: async () => {
      setRevoked(undefined);
      await queryClient.invalidateQueries({ queryKey: ["apiKeys"] });
    },
  });
  if (keys.length === 0) return <p className="quiet">Programs need a key to call the API.</p>;
  return (
    <>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col" className="wide">
              Scopes
            </th>
            <th scope="col">Last used</th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <td>
                {key.name}
                <small className="mono">{key.prefix}…</small>
              </td>
              <td className="wide">{key.scopes.join(", ").replace(/^\*$/, "Everything")}</td>
              <td>{key.lastUsedAt ? formatAgo(key.lastUsedAt, timezone) : "Never"}</td>
              <td>
                {mayWrite && (
                  <Button variant="default" size="compact-xs" onClick={() => setRevoked(key)}>
                    Revoke
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <ConfirmDialog
        title="Revoke API key"
        action={`Revoke ${revoked?.name ?? ""}`}
        isDangerous
        opened={revoked !== undefined}
        isRunning={revoke.isPending}
        error={revoke.error}
        onConfirm={() => revoked && revoke.mutate(revoked.id)}
        onClose={() => setRevoked(undefined)}
      >
        Programs that use this key are refused within 5 seconds. This cannot be undone.
      </ConfirmDialog>
    </>
  );
}

function NewKey() {
  const [name, setName] = useState("");
  const queryClient = useQueryClient();
  const creating = useMutation({
    mutationFn: () => api.apiKeys.create({ name }),
    onSuccess: async () => {
      setName("");
      await queryClient.invalidateQueries({ queryKey: ["apiKeys"] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.mutate();
  };
  return (
    <form className="card stack" aria-labelledby="new-key" onSubmit={submit}>
      <h2 id="new-key">New API key</h2>
      <TextInput
        className="narrow"
        label="Name"
        description="The key may do everything that you may do."
        required
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <ErrorNote error={creating.error} />
      {creating.data && (
        <p className="answer" role="status">
          <span>Copy the key now. It is not shown again.</span>
          <span className="mono">
            {creating.data.key} <CopyAction value={creating.data.key ?? ""} label="Copy the key" />
          </span>
        </p>
      )}
      <div className="buttons">
        <Button type="submit" loading={creating.isPending}>
          Create key
        </Button>
      </div>
    </form>
  );
}
