import {
  Button,
  PasswordInput,
  Select,
  Skeleton,
  Switch,
  TagsInput,
  TextInput,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Sso, SsoSettings } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { CopyAction } from "../../parts/copy-action.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormCard } from "../../parts/form.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { useUnsavedDraft } from "../../parts/unsaved-changes.ts";

const refreshes = ["sso"];

/** Sign-in with the identity provider of the organization, by OpenID Connect. */
export function SingleSignOn() {
  const { data, error } = useQuery(queries.singleSignOn());
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={300} />;
  return (
    <>
      <ProviderForm key={data.settings?.updatedAt ?? "new"} sso={data} />
      {data.settings && <TestCard settings={data.settings} loginUrl={data.loginUrl} />}
    </>
  );
}

type Role = NonNullable<SsoSettings["defaultRole"]>;

const roles = [
  { value: "viewer", label: t("Viewer") },
  { value: "marketer", label: t("Marketer") },
  { value: "developer", label: t("Developer") },
  { value: "admin", label: t("Admin") },
] satisfies { value: Role; label: string }[];

function ProviderForm({ sso: { settings, redirectUri } }: { sso: Sso }) {
  const mayWrite = useRight("login:write");
  const issuer = useTextField(settings?.issuer);
  const clientId = useTextField(settings?.clientId);
  const clientSecret = useTextField();
  const [domains, setDomains] = useState(settings?.domains ?? []);
  const [defaultRole, setDefaultRole] = useState(settings?.defaultRole ?? null);
  const [enforced, setEnforced] = useState(settings?.enforced ?? false);
  const saving = useChange({
    run: () =>
      api.sso.update({
        issuer: issuer.value,
        clientId: clientId.value,
        domains,
        defaultRole,
        enforced,
        ...(clientSecret.value && { clientSecret: clientSecret.value }),
      }),
    refreshes,
  });
  const texts = [issuer.value, clientId.value, clientSecret.value];
  useUnsavedDraft([texts, domains, defaultRole, enforced], saving);
  return (
    <FormCard
      title={t("Identity provider")}
      state={saving.isSuccess ? t("Saved") : ""}
      action={t("Save provider")}
      submission={saving}
      isDisabled={!mayWrite}
    >
      <div className="stack narrow">
        <p>
          {t("Enter this address at the provider as the redirect URI:")}
          <br />
          <span className="mono breaks">{redirectUri}</span>{" "}
          <CopyAction value={redirectUri} label={t("Copy the redirect URI")} />
        </p>
        <TextInput
          label={t("Issuer")}
          type="url"
          placeholder="https://login.company.example"
          required
          data-field="issuer"
          {...issuer.input}
        />
        <TextInput label={t("Client id")} required data-field="clientId" {...clientId.input} />
        <PasswordInput
          label={t("Client secret")}
          description={settings ? t("Empty keeps the stored one.") : undefined}
          autoComplete="off"
          required={!settings}
          data-field="clientSecret"
          {...clientSecret.input}
        />
        <TagsInput
          label={t("Domains of the members' addresses")}
          description={t("Each must be verified under Domains.")}
          value={domains}
          onChange={setDomains}
        />
        <Select
          label={t("Role of a new member (optional)")}
          description={t("Without it, only people with an invitation can sign in.")}
          clearable
          data={roles}
          value={defaultRole}
          onChange={(role) => setDefaultRole(role as Role | null)}
        />
        <Switch
          label={t("Members must sign in with the provider")}
          checked={enforced}
          onChange={(event) => setEnforced(event.currentTarget.checked)}
        />
      </div>
    </FormCard>
  );
}

interface TestCardProps {
  settings: SsoSettings;
  loginUrl: string;
}

function TestCard({ settings, loginUrl }: TestCardProps) {
  const mayWrite = useRight("login:write");
  const [removed, setRemoved] = useState<string>();
  const testing = useChange({ run: () => api.sso.test(), refreshes });
  const remove = useChange({
    run: (_issuer: string) => api.sso.delete(),
    refreshes,
    onDone: () => setRemoved(undefined),
  });
  return (
    <Card title={t("Test")}>
      <p>
        {tNodes("Members can start at {address}", {
          address: <span className="mono breaks">{loginUrl}</span>,
        })}{" "}
        <CopyAction value={loginUrl} label={t("Copy the address of the sign-in")} />
      </p>
      {settings.lastFailure && (
        <p className="tone-bad">
          {t("The last sign-in failed: {reason}", { reason: settings.lastFailure.reason })}
        </p>
      )}
      <ErrorNote error={testing.error} />
      {testing.data && (
        <ul className="checks" role="status">
          {testing.data.checks.map(({ name, passed, message }) => (
            <li key={name}>
              <StatusMark
                status={passed ? t("Passed") : t("Failed")}
                tone={passed ? "good" : "bad"}
              />
              {message}
            </li>
          ))}
        </ul>
      )}
      {mayWrite && (
        <div className="buttons">
          <Button variant="default" loading={testing.isPending} onClick={() => testing.mutate()}>
            {t("Test the provider")}
          </Button>
          <Button variant="default" onClick={() => setRemoved(settings.issuer)}>
            {t("Turn off single sign-on")}
          </Button>
        </div>
      )}
      <ConfirmDialog
        title={t("Turn off single sign-on")}
        action={t("Turn off")}
        isDangerous
        target={removed}
        change={remove}
        typed={removed}
        onClose={() => setRemoved(undefined)}
      >
        {t("Members who signed in with the provider are signed out, and need a password.")}
      </ConfirmDialog>
    </Card>
  );
}
